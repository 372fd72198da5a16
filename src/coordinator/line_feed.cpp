#include "sticky/coordinator/line_feed.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "sticky/base/error.hpp"

namespace sticky::coordinator {

namespace {

constexpr i64 kAheadBytes = 4 << 20;
constexpr std::size_t kAheadLines = 8192;
constexpr std::size_t kStepLines = 64;  // read between two looks at the lock

i64 size_of(const io::InputLine& line) {
  return static_cast<i64>(sizeof line + line.payload.size());
}

// Shared by the feed and its thread: whoever goes last takes it along.
struct Shared {
  std::unique_ptr<io::InputReader> input;
  std::unique_ptr<io::Done> done;
  std::mutex mutex;
  std::condition_variable changed;
  Portion ahead;
  i64 n_ahead_bytes = 0;
  bool is_stopped = false;
  bool has_thread_ended = false;
};

// Up to kStepLines more lines, fewer where they are long; outside the lock, for a read may take
// long.
Portion read_some(Shared& shared) {
  Portion step;
  i64 n_bytes = 0;
  try {
    while (step.lines.size() < kStepLines && n_bytes < kAheadBytes && !step.has_ended) {
      auto line = shared.input->next();
      if (!line) {
        step.has_ended = true;
      } else if (shared.done && shared.done->take(*line)) {
        ++step.n_done_before;
      } else {
        n_bytes += size_of(*line);
        step.lines.push_back(std::move(*line));
      }
      if (step.n_done_before >= static_cast<i64>(kAheadLines)) break;
    }
  } catch (const Error& e) {
    step.has_ended = true;
    step.failure = e.what();
  }
  step.bytes_read = shared.input->bytes_read();
  return step;
}

void add(Shared& shared, Portion step) {
  for (io::InputLine& line : step.lines) {
    shared.n_ahead_bytes += size_of(line);
    shared.ahead.lines.push_back(std::move(line));
  }
  shared.ahead.n_done_before += step.n_done_before;
  shared.ahead.bytes_read = step.bytes_read;
  shared.ahead.has_ended = step.has_ended;
  shared.ahead.failure = std::move(step.failure);
}

void read_all(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->is_stopped && !shared->ahead.has_ended) {
    if (shared->n_ahead_bytes >= kAheadBytes || shared->ahead.lines.size() >= kAheadLines) {
      shared->changed.wait(lock);
      continue;
    }
    lock.unlock();
    Portion step = read_some(*shared);
    lock.lock();
    add(*shared, std::move(step));
  }
  shared->has_thread_ended = true;
  shared->changed.notify_all();
}

class ReadAhead final : public LineFeed {
 public:
  ReadAhead(std::unique_ptr<io::InputReader> input, std::unique_ptr<io::Done> done) {
    shared_->input = std::move(input);
    shared_->done = std::move(done);
    thread_ = std::thread([shared = shared_] { read_all(shared); });
  }

  ~ReadAhead() override {
    std::unique_lock lock(shared_->mutex);
    shared_->is_stopped = true;
    shared_->changed.notify_all();
    const bool has_ended = shared_->changed.wait_for(lock, std::chrono::seconds(1),
                                                     [&] { return shared_->has_thread_ended; });
    lock.unlock();
    if (has_ended)
      thread_.join();
    else
      thread_.detach();
  }

  [[nodiscard]] Portion take() override {
    const std::lock_guard lock(shared_->mutex);
    Portion portion = std::exchange(shared_->ahead, {});
    shared_->ahead.has_ended = portion.has_ended;
    shared_->ahead.failure = portion.failure;
    shared_->ahead.bytes_read = portion.bytes_read;
    shared_->n_ahead_bytes = 0;
    shared_->changed.notify_all();
    return portion;
  }

 private:
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;
};

}  // namespace

std::unique_ptr<LineFeed> read_ahead(std::unique_ptr<io::InputReader> input,
                                     std::unique_ptr<io::Done> done) {
  return std::make_unique<ReadAhead>(std::move(input), std::move(done));
}

}  // namespace sticky::coordinator
