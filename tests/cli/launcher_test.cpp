#include "launcher.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "sticky/io/run_folder.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::cli {
namespace {

using namespace std::chrono_literals;

TEST(Launch, IsEndedWhenNoCoordinatorComesOfIt) {
  const test::TempDir dir;

  EXPECT_EQ(launch({.line = {"sleep", "1000"}, .run_dir = dir.path() + "/d", .start_limit = 100ms}),
            5);
}

TEST(Launch, IsEndedEvenIfMpirunDoesNotListen) {
  const test::TempDir dir;

  EXPECT_EQ(launch({.line = {"sh", "-c", "trap '' TERM; sleep 1000; sleep 1000"},
                    .run_dir = dir.path() + "/d",
                    .start_limit = 100ms}),
            5);
}

TEST(Launch, SaysWhatEndedTheOneThatStartsTheRanks) {
  const test::TempDir dir;
  testing::internal::CaptureStderr();

  EXPECT_EQ(launch({.line = {"env", "A=1", "sh", "-c", "kill -SEGV $$"},
                    .run_dir = dir.path() + "/d",
                    .start_limit = 100s}),
            5);

  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("did not start: sh was ended by signal 11"));
}

TEST(Launch, NamesTheOneThatIsMissing) {
  const test::TempDir dir;
  testing::internal::CaptureStderr();

  EXPECT_EQ(launch({.line = {"env", "A=1", "no-such-mpirun"}, .run_dir = dir.path() + "/d"}), 1);

  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("cannot start 'no-such-mpirun'"));
}

// A launch in a folder beside one whose lock this process holds, as another run would.
class LaunchBesideAnotherRun : public testing::Test {
 protected:
  LaunchBesideAnotherRun() {
    std::filesystem::create_directory(scratch_.path() + "/d");
    write("lock_of_ours", R"({"token": "ours", "host": "elsewhere", "pid": 1})");
    write("summary", R"({"exit_code": 3, "ending": "complete"})");
  }

  int launch_script(const std::string& script) {
    return launch({.line = {"sh", "-c", "cd '" + scratch_.path() + "'; " + script},
                   .run_dir = scratch_.path() + "/d",
                   .start_limit = 100s});
  }

  // Asked to stop, the launcher passes that on once it has seen the coordinator.
  static constexpr const char* kOursEnds =
      "trap 'is_seen=1' USR1; cp summary d/summary.json; mv lock_of_ours d/lock; "
      "kill -TERM $PPID; until [ \"$is_seen\" ]; do sleep 0.01; done; ";
  static constexpr const char* kOtherTakesIt = "cp other/lock d/new; mv d/new d/lock; ";

 private:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(scratch_.path() + "/" + name) << text;
  }

  const test::TempDir scratch_;
  const std::unique_ptr<io::RunFolder> other_ =
      io::RunFolder::open(scratch_.path() + "/other", io::RunFolder::Mode::create);
};

TEST_F(LaunchBesideAnotherRun, ThatTookTheFolderFirstHasDoneNothing) {
  EXPECT_EQ(launch_script(kOtherTakesIt), 1);
}

TEST_F(LaunchBesideAnotherRun, ThatTookTheFolderAfterwardsEndsAsItsSummarySays) {
  EXPECT_EQ(launch_script(std::string(kOursEnds) + kOtherTakesIt), 3);
}

TEST_F(LaunchBesideAnotherRun, ThatWentOnAndRemovedItsSummaryEndsAsTheSummarySaid) {
  EXPECT_EQ(launch_script(std::string(kOursEnds) + kOtherTakesIt + "rm d/summary.json"), 3);
}

TEST_F(LaunchBesideAnotherRun, WhoseFolderIsTakenAwayHasStarted) {
  testing::internal::CaptureStderr();

  EXPECT_EQ(launch_script("trap 'is_seen=1' USR1; mv lock_of_ours d/lock; kill -TERM $PPID; "
                          "until [ \"$is_seen\" ]; do sleep 0.01; done; mv d moved"),
            5);

  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("/d was moved or removed while the run went on"));
  EXPECT_THAT(said, testing::Not(testing::HasSubstr("did not start")));
}

}  // namespace
}  // namespace sticky::cli
