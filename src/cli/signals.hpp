#pragma once

#include <initializer_list>
#include <optional>

namespace sticky::cli {

/// Signals as a queue that is asked, in place of handlers: they are blocked in this thread and all
/// that it starts later, so it has to be made before any other thread.
class SignalQueue {
 public:
  SignalQueue(std::initializer_list<int> signals);
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;
  ~SignalQueue();

  /// The next signal that has come in; never waits. Several of one kind may arrive as one.
  [[nodiscard]] std::optional<int> next();
  [[nodiscard]] int fd() const { return fd_; }  ///< readable when next() would give one

 private:
  int fd_;
};

/// For a child between fork and exec: signals as a new program expects them.
void unblock_all_signals();

}  // namespace sticky::cli
