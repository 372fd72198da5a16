#include "signals.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sticky/base/error.hpp"

namespace sticky::cli {

SignalQueue::SignalQueue(std::initializer_list<int> signals) : fd_(-1) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals)
    sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd_ < 0) fail<SystemError>("signalfd: {}", std::strerror(errno));
}

SignalQueue::~SignalQueue() {
  close(fd_);
}

std::optional<int> SignalQueue::next() {
  signalfd_siginfo arrived{};
  if (read(fd_, &arrived, sizeof arrived) != sizeof arrived) return std::nullopt;
  return static_cast<int>(arrived.ssi_signo);
}

void unblock_all_signals() {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace sticky::cli
