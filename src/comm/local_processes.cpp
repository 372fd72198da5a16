#include "sticky/comm/local_processes.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "sticky/comm/proc.hpp"

namespace sticky::comm {

namespace {

using protocol::PeerId;
using protocol::ProcessName;

// -1 when there is no such process.
i64 start_ticks_of(i64 pid) {
  const auto stat = stat_of(static_cast<pid_t>(pid));
  return stat ? stat->start_ticks : -1;
}

i64 own_pid_namespace() {
  struct stat found {};
  return ::stat("/proc/self/ns/pid", &found) == 0 ? static_cast<i64>(found.st_ino) : 0;
}

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// A file descriptor that stands for one process and no later one of the same pid.
class PidFd {
 public:
  explicit PidFd(const ProcessName& process) {
    const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
    // The pid may have changed hands before it was opened, but not afterwards.
    if (fd >= 0 && start_ticks_of(process.pid) == process.start_ticks)
      fd_ = fd;
    else if (fd >= 0)
      ::close(fd);
  }
  PidFd(PidFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  PidFd(const PidFd&) = delete;
  PidFd& operator=(const PidFd&) = delete;
  PidFd& operator=(PidFd&&) = delete;
  ~PidFd() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] bool has_ended() const {
    struct pollfd look {
      .fd = fd_, .events = POLLIN, .revents = 0
    };
    return ::poll(&look, 1, 0) > 0;
  }
  [[nodiscard]] bool kill() const {
    return ::syscall(SYS_pidfd_send_signal, fd_, SIGKILL, nullptr, 0) == 0;
  }

 private:
  int fd_ = -1;
};

class LocalProcesses final : public protocol::Processes {
 public:
  [[nodiscard]] bool is_here(const ProcessName& process) const override {
    return process.host == self_.host && process.pid_namespace == self_.pid_namespace;
  }

  bool watch(PeerId peer, const ProcessName& process) override {
    if (!is_here(process) || process.pid == self_.pid) return false;
    PidFd fd(process);
    const bool has_ended = !fd.is_open() && start_ticks_of(process.pid) != process.start_ticks;
    if (has_ended) ended_early_.push_back(peer);
    watched_.erase(peer.value);
    if (fd.is_open()) watched_.emplace(peer.value, std::move(fd));
    return has_ended || watched_.contains(peer.value);
  }

  [[nodiscard]] std::vector<PeerId> ended() override {
    std::vector<PeerId> out = std::exchange(ended_early_, {});
    for (auto it = watched_.begin(); it != watched_.end();) {
      if (it->second.has_ended()) {
        out.push_back({it->first});
        it = watched_.erase(it);
      } else {
        ++it;
      }
    }
    return out;
  }

  bool kill(const ProcessName& process) override {
    if (!is_here(process) || process.pid <= 1 || process.pid == self_.pid) return false;
    const PidFd fd(process);
    if (fd.is_open()) return fd.kill();
    return start_ticks_of(process.pid) == process.start_ticks &&
           ::kill(static_cast<pid_t>(process.pid), SIGKILL) == 0;
  }

 private:
  ProcessName self_ = this_process();
  std::map<i64, PidFd> watched_;
  std::vector<PeerId> ended_early_;
};

}  // namespace

ProcessName this_process() {
  const i64 pid = ::getpid();
  return {.host = own_host(),
          .pid_namespace = own_pid_namespace(),
          .pid = pid,
          .start_ticks = start_ticks_of(pid)};
}

std::unique_ptr<protocol::Processes> make_local_processes() {
  return std::make_unique<LocalProcesses>();
}

}  // namespace sticky::comm
