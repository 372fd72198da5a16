#include "sticky/coordinator/line_feed.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "sticky/base/error.hpp"

namespace sticky::coordinator {

namespace {

constexpr i64 kAheadBytes = 4 << 20;
constexpr std::size_t kAheadLines = 8192;
// Read between two looks at the lock, and encoded in one block. A block lives as long as any of its
// invocations, so it is not to be large.
constexpr std::size_t kStepLines = 64;
constexpr i64 kStepBytes = 256 << 10;

// Shared by the feed and its thread: whoever goes last takes it along.
struct Shared {
  std::unique_ptr<io::InputReader> input;
  std::unique_ptr<io::Done> done;
  std::function<bool(std::string_view)> serves;
  bool has_seen_other_model = false;
  std::mutex mutex;
  std::condition_variable changed;
  Portion ahead;
  i64 n_ahead_bytes = 0;
  std::size_t n_ahead_lines = 0;
  bool is_stopped = false;
  bool has_thread_ended = false;
};

struct Step {
  Portion portion;
  std::vector<protocol::Invocation> requests;
  i64 n_bytes = 0;  // of all that is not recorded
  [[nodiscard]] std::size_t n_lines() const { return requests.size() + portion.bad_lines.size(); }
};

// Often a file names the model of where it was written.
void note_model(const io::InputLine& line, Shared& shared, Step& step) {
  if (shared.has_seen_other_model || line.model.empty() || shared.serves(line.model)) return;
  shared.has_seen_other_model = true;
  step.portion.other_model = {line.file, line.line, line.model};
}

void sort_in(io::InputLine line, Shared& shared, Step& step) {
  if (shared.done && shared.done->take(line)) {
    ++step.portion.n_done_before;
    return;
  }
  step.n_bytes += static_cast<i64>(sizeof line + line.payload.size());
  if (!line.error_code.empty()) {
    step.portion.bad_lines.push_back(std::move(line));
    return;
  }
  note_model(line, shared, step);
  step.requests.push_back(to_invocation(std::move(line)));
}

// Outside the lock, for a read may take long.
Step read_some(Shared& shared) {
  Step step;
  step.requests.reserve(kStepLines);
  Portion& portion = step.portion;
  try {
    while (step.n_lines() < kStepLines && step.n_bytes < kStepBytes && !portion.has_ended) {
      if (auto line = shared.input->next())
        sort_in(std::move(*line), shared, step);
      else
        portion.has_ended = true;
      if (portion.n_done_before >= static_cast<i64>(kAheadLines)) break;
    }
  } catch (const Error& e) {
    portion.has_ended = true;
    portion.failure = e.what();
  }
  if (!step.requests.empty()) portion.blocks.emplace_back(step.requests);
  portion.bytes_read = shared.input->bytes_read();
  return step;
}

void add(Shared& shared, Step step) {
  Portion& ahead = shared.ahead;
  shared.n_ahead_bytes += step.n_bytes;
  shared.n_ahead_lines += step.n_lines();
  std::ranges::move(step.portion.blocks, std::back_inserter(ahead.blocks));
  std::ranges::move(step.portion.bad_lines, std::back_inserter(ahead.bad_lines));
  ahead.n_done_before += step.portion.n_done_before;
  if (step.portion.other_model) ahead.other_model = std::move(step.portion.other_model);
  ahead.bytes_read = step.portion.bytes_read;
  ahead.has_ended = step.portion.has_ended;
  ahead.failure = std::move(step.portion.failure);
}

void read_all(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->is_stopped && !shared->ahead.has_ended) {
    if (shared->n_ahead_bytes >= kAheadBytes || shared->n_ahead_lines >= kAheadLines) {
      shared->changed.wait(lock);
      continue;
    }
    lock.unlock();
    Step step = read_some(*shared);
    lock.lock();
    add(*shared, std::move(step));
  }
  shared->has_thread_ended = true;
  shared->changed.notify_all();
}

class ReadAhead final : public LineFeed {
 public:
  ReadAhead(std::unique_ptr<io::InputReader> input,
            std::unique_ptr<io::Done> done,
            std::function<bool(std::string_view)> serves) {
    shared_->input = std::move(input);
    shared_->done = std::move(done);
    shared_->serves = std::move(serves);
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
    shared_->n_ahead_lines = 0;
    shared_->changed.notify_all();
    return portion;
  }

 private:
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;
};

}  // namespace

protocol::Invocation to_invocation(io::InputLine line) {
  return {.id = line.id,
          .custom_id = std::move(line.custom_id),
          .file = std::move(line.file),
          .line = line.line,
          .byte_offset = line.byte_offset,
          .hash = line.hash,
          .payload = std::move(line.payload)};
}

std::unique_ptr<LineFeed> read_ahead(std::unique_ptr<io::InputReader> input,
                                     std::unique_ptr<io::Done> done,
                                     std::function<bool(std::string_view model)> serves) {
  return std::make_unique<ReadAhead>(std::move(input), std::move(done), std::move(serves));
}

}  // namespace sticky::coordinator
