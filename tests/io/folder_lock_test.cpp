#include "src/io/folder_lock.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

using testing::HasSubstr;

constexpr i64 kLongAgo = 1'000'000'000;
constexpr i64 kFarAhead = 9'000'000'000;

// A process that has ended: its id and start time can be nobody's now.
LockHolder ended_process() {
  LockHolder holder = LockHolder::self();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  holder.pid = child;
  holder.token = "another";
  return holder;
}

LockHolder elsewhere(i64 beat) {
  LockHolder holder = LockHolder::self();
  holder.token = "another";
  holder.host = "another-host";
  holder.boot_id = "another-boot";
  holder.pid = 4242;
  holder.job = "job-17";
  holder.beat = beat;
  return holder;
}

}  // namespace

TEST(LockHolder, SurvivesItsJson) {
  const LockHolder holder = elsewhere(17);
  const auto read = LockHolder::from_json(holder.to_json());

  ASSERT_TRUE(read);
  EXPECT_EQ(read->to_json(), holder.to_json());
  EXPECT_EQ(read->job, "job-17");
  EXPECT_EQ(read->beat, 17);
}

TEST(LockHolder, TornTextIsNoHolder) {
  const std::string text = elsewhere(17).to_json();
  for (std::size_t n = 0; n + 1 < text.size(); ++n)
    EXPECT_FALSE(LockHolder::from_json(text.substr(0, n))) << n;
  EXPECT_FALSE(LockHolder::from_json("{}"));
  EXPECT_FALSE(LockHolder::from_json("7"));
}

TEST(LockHolder, ALivingProcessHoldsADeadOneDoesNotAndAnUnseenOneFor60Seconds) {
  LockHolder holder = elsewhere(1000);

  EXPECT_FALSE(is_stale(holder, Liveness::alive, 100'000));
  EXPECT_TRUE(is_stale(holder, Liveness::dead, 1000));
  EXPECT_FALSE(is_stale(holder, Liveness::unseen, 1059));
  EXPECT_TRUE(is_stale(holder, Liveness::unseen, 1060));
  EXPECT_FALSE(is_stale(holder, Liveness::unseen, 100));  // from a clock ahead of ours
}

TEST(LockHolder, ProcessesAreSeenOnlyWhereTheirNumberMeansSomething) {
  const LockHolder self = LockHolder::self();
  LockHolder reused = self;
  reused.start_ticks -= 1;
  LockHolder rebooted = self;
  rebooted.boot_id = "another-boot";
  LockHolder contained = self;
  contained.pid_namespace = "another-namespace";

  EXPECT_EQ(liveness_of(self), Liveness::alive);
  EXPECT_EQ(liveness_of(reused), Liveness::dead);
  EXPECT_EQ(liveness_of(ended_process()), Liveness::dead);
  EXPECT_EQ(liveness_of(rebooted), Liveness::unseen);
  EXPECT_EQ(liveness_of(contained), Liveness::unseen);
  EXPECT_EQ(liveness_of(elsewhere(0)), Liveness::unseen);
}

// After a hard kill of everything, init may need a while to ask for what is left of a coordinator.
TEST(LockHolder, AProcessThatHasEndedAndNobodyAskedForYetIsDead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string json = LockHolder::self().to_json();
    ::_exit(::write(ends[1], json.data(), json.size()) > 0 ? 0 : 1);
  }
  std::string json(4096, '\0');
  const ssize_t n = ::read(ends[0], json.data(), json.size());
  ASSERT_GT(n, 0);
  json.resize(static_cast<std::size_t>(n));
  const auto holder = LockHolder::from_json(json);
  ASSERT_TRUE(holder);

  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(liveness_of(*holder), Liveness::dead);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(FolderLock, ASecondTakerIsToldWhoHoldsIt) {
  const test::TempDir dir;
  const FolderLock lock(dir / "lock");

  try {
    const FolderLock second(dir / "lock");
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr(std::to_string(::getpid())));
    EXPECT_THAT(e.what(), HasSubstr(LockHolder::self().host));
  }
  EXPECT_TRUE(lock.is_held());
}

TEST(FolderLock, IsGoneAfterItsHolder) {
  const test::TempDir dir;
  { const FolderLock lock(dir / "lock"); }

  EXPECT_FALSE(std::filesystem::exists(dir / "lock"));
  const FolderLock again(dir / "lock");
  EXPECT_TRUE(again.is_held());
}

TEST(FolderLock, ADeadHoldersLockIsTakenAtOnceAnUnseenFreshOneIsNot) {
  const test::TempDir dir;
  dir.write("lock", ended_process().to_json());
  { EXPECT_TRUE(FolderLock(dir / "lock").is_held()); }

  dir.write("lock", elsewhere(kLongAgo).to_json());
  { EXPECT_TRUE(FolderLock(dir / "lock").is_held()); }

  dir.write("lock", elsewhere(kFarAhead).to_json());
  EXPECT_THROW(FolderLock(dir / "lock"), ConfigError);
  EXPECT_EQ(test::read_file(dir / "lock"), elsewhere(kFarAhead).to_json());
}

TEST(FolderLock, ALockOfUnreadableTextCountsByItsFilesTime) {
  const test::TempDir dir;
  dir.write("lock", "");
  EXPECT_THROW(FolderLock(dir / "lock"), ConfigError);

  const auto made = std::filesystem::last_write_time(dir / "lock");
  std::filesystem::last_write_time(dir / "lock", made - std::chrono::hours(1));
  EXPECT_TRUE(FolderLock(dir / "lock").is_held());
}

TEST(FolderLock, NothingIsLeftBesideTheLockAfterATake) {
  const test::TempDir dir;
  dir.write("lock", ended_process().to_json());
  const FolderLock lock(dir / "lock");

  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::ElementsAre("lock"));
}

TEST(FolderLock, ABeatRenewsTheTimeAndNothingElse) {
  const test::TempDir dir;
  FolderLock lock(dir / "lock");
  const auto before = LockHolder::from_json(test::read_file(dir / "lock"));

  EXPECT_TRUE(lock.beat());

  auto after = LockHolder::from_json(test::read_file(dir / "lock"));
  ASSERT_TRUE(before && after);
  EXPECT_GE(after->beat, before->beat);
  after->beat = before->beat;
  EXPECT_EQ(after->to_json(), before->to_json());
}

TEST(FolderLock, AHolderWhoseLockWasTakenSeesItAndLeavesTheNewOneAlone) {
  const test::TempDir dir;
  const std::string taken = elsewhere(kFarAhead).to_json();
  {
    FolderLock lock(dir / "lock");
    std::filesystem::remove(dir / "lock");
    EXPECT_FALSE(lock.is_held());
    dir.write("lock", taken);

    EXPECT_FALSE(lock.is_held());
    EXPECT_FALSE(lock.beat());
  }
  EXPECT_EQ(test::read_file(dir / "lock"), taken);
}

}  // namespace sticky::io
