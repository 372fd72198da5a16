#include "sticky/comm/local_processes.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace sticky::comm {
namespace {

using protocol::PeerId;
using protocol::ProcessName;
using testing::ElementsAre;
using testing::IsEmpty;

// Field 22 as proc(5) counts it, for a command without brackets or blanks.
i64 start_ticks(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string field;
  for (int k = 0; k < 22; ++k)
    file >> field;
  return std::stoll(field);
}

// A child that waits for ever, and is reaped at the end whatever happened to it.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;)
        ::pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] ProcessName name() const {
    ProcessName name = this_process();
    name.pid = pid_;
    name.start_ticks = start_ticks(pid_);
    return name;
  }
  // Waits until it has ended, without reaping it.
  void await_end() const {
    siginfo_t found{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &found, WEXITED | WNOWAIT);
  }
  [[nodiscard]] bool is_alive() const {
    siginfo_t found{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &found, WEXITED | WNOHANG | WNOWAIT);
    return found.si_pid == 0;
  }

 private:
  pid_t pid_;
};

TEST(LocalProcesses, ThisProcessIsNamedAsProcTellsIt) {
  const ProcessName self = this_process();

  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_EQ(self.start_ticks, start_ticks(::getpid()));
  EXPECT_GT(self.pid_namespace, 0);
  EXPECT_FALSE(self.host.empty());
}

TEST(LocalProcesses, TheEndOfAWatchedProcessIsReportedOnce) {
  const auto processes = make_local_processes();
  const Child child;

  ASSERT_TRUE(processes->watch(PeerId{4}, child.name()));
  EXPECT_THAT(processes->ended(), IsEmpty());
  EXPECT_TRUE(processes->kill(child.name()));
  child.await_end();

  EXPECT_THAT(processes->ended(), ElementsAre(PeerId{4}));
  EXPECT_THAT(processes->ended(), IsEmpty());
}

TEST(LocalProcesses, AFrozenProcessIsKilledToo) {
  const auto processes = make_local_processes();
  const Child child;
  ::kill(static_cast<pid_t>(child.name().pid), SIGSTOP);

  EXPECT_TRUE(processes->kill(child.name()));
  child.await_end();
}

TEST(LocalProcesses, AnotherProcessOfTheSamePidIsLeftAlone) {
  const auto processes = make_local_processes();
  const Child child;
  ProcessName earlier = child.name();
  --earlier.start_ticks;

  EXPECT_FALSE(processes->kill(earlier));
  EXPECT_TRUE(child.is_alive());
  EXPECT_TRUE(processes->watch(PeerId{1}, earlier));
  EXPECT_THAT(processes->ended(), ElementsAre(PeerId{1}));
}

TEST(LocalProcesses, ProcessesOfElsewhereAndThisOneAreNeitherWatchedNorKilled) {
  const auto processes = make_local_processes();
  const Child child;
  ProcessName other_host = child.name(), other_container = child.name();
  other_host.host += "-other";
  ++other_container.pid_namespace;

  for (const ProcessName& process : {other_host, other_container, this_process()}) {
    EXPECT_FALSE(processes->watch(PeerId{1}, process));
    EXPECT_FALSE(processes->kill(process));
  }
  EXPECT_TRUE(child.is_alive());
}

}  // namespace
}  // namespace sticky::comm
