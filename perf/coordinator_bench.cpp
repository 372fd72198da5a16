// What the coordinator itself costs: dispatch, results and bookkeeping without a model, without
// files and without MPI. Workers echo on threads of their own over in-process links, so messages
// are encoded and decoded as in life; the time is the processor time of the coordinator's thread
// alone.
//   coordinator_bench [N_INVOCATIONS [PAYLOAD_BYTES]]
#include "sticky/coordinator/coordinator.hpp"

#include <cstdlib>
#include <thread>
#include <time.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sticky/base/log.hpp"
#include "sticky/comm/in_process_transport.hpp"
#include "sticky/comm/local_processes.hpp"
#include "sticky/worker/worker_loop.hpp"
#include "tests/support/echo_service.hpp"
#include "tests/support/memory_run.hpp"

namespace sticky {
namespace {

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Counts and forgets: the cost of writing is the journal's, on its own thread.
class CountedResults final : public io::ResultsLog {
 public:
  void append(bool is_error, std::string) override { ++(is_error ? n_errors : n); }
  [[nodiscard]] i64 n_queued() const override { return 0; }
  [[nodiscard]] Written written() const override { return {n, n_errors}; }
  void flush() override {}
  [[nodiscard]] std::string failure() const override { return {}; }
  i64 n = 0;
  i64 n_errors = 0;
};

// Lines without a reader's cost.
class ReadyFeed final : public coordinator::LineFeed {
 public:
  ReadyFeed(i64 n, i64 n_bytes) : n_(n), payload_(static_cast<std::size_t>(n_bytes), 'x') {}
  [[nodiscard]] coordinator::Portion take() override {
    coordinator::Portion portion;
    for (int k = 0; k < 1024 && at_ < n_; ++k, ++at_) {
      io::InputLine& line = portion.lines.emplace_back();
      line.id = {at_};
      line.custom_id = fmt::format("r{}", at_);
      line.file = "lines.jsonl";
      line.payload = payload_;
    }
    portion.has_ended = at_ == n_;
    return portion;
  }

 private:
  i64 n_;
  std::string payload_;
  i64 at_ = 0;
};

struct Case {
  const char* name;
  i64 batch;     // invocations a message; 0: all that fit
  i64 slots;     // of each worker
  i64 n_a_step;  // results a message
};

void work(protocol::Transport& transport, const Case& shape) {
  const auto processes = comm::make_local_processes();
  const SteadyClock clock;
  (void)worker::run_worker(
      {.transport = transport,
       .processes = *processes,
       .clock = clock,
       .make_service =
           [&](const worker::Options&, WorkerId) {
             return std::make_unique<test::EchoService>(
                 test::EchoService::Shape{.slots = shape.slots, .n_per_step = shape.n_a_step});
           },
       .self = comm::this_process(),
       .device = "",
       .is_asked_to_leave = [] { return false; },
       .abandon = nullptr});
}

void run(const Case& shape, i64 n, i64 n_bytes) {
  constexpr i64 kWorkers = 2;
  auto links = comm::make_in_process_links(kWorkers);
  std::vector<std::thread> workers;
  for (const auto& link : links.workers)
    workers.emplace_back([&] { work(*link, shape); });

  const auto processes = comm::make_local_processes();
  CountedResults results;
  test::MemoryFolder folder;
  const SteadyClock clock;
  ReadyFeed feed(n, n_bytes);
  coordinator::Options options;
  options.batch = shape.batch;
  coordinator::Coordinator coordinator(
      options, {.worker_options_json = to_json(worker::Options{}).dump(), .state_name = "echo"},
      feed,
      {.transport = *links.coordinator,
       .processes = *processes,
       .results = results,
       .folder = folder,
       .clock = clock});
  const double cpu = thread_seconds();
  const TimePoint begin = clock.now();
  while (coordinator.turn(std::chrono::milliseconds(2))) {
  }
  const double cpu_seconds = thread_seconds() - cpu;
  const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
  (void)coordinator.finish();
  for (std::thread& worker : workers)
    worker.join();
  fmt::print("{:<24} {:>9} invocations of {} B: {:>9.0f} /s  {:.2f} us of coordinator CPU each\n",
             shape.name, results.n, n_bytes, static_cast<double>(n) / seconds,
             1e6 * cpu_seconds / static_cast<double>(n));
}

}  // namespace
}  // namespace sticky

int main(int argc, char** argv) {
  const sticky::i64 n = argc > 1 ? std::atoll(argv[1]) : 500'000;
  const sticky::i64 n_bytes = argc > 2 ? std::atoll(argv[2]) : 1024;
  sticky::log::set_level(sticky::log::Level::warning);
  sticky::run({.name = "batched, 1024 slots", .batch = 0, .slots = 1024, .n_a_step = 256}, n,
              n_bytes);
  sticky::run({.name = "batched, 64 slots", .batch = 0, .slots = 64, .n_a_step = 32}, n, n_bytes);
  sticky::run({.name = "one a message, 64 slots", .batch = 1, .slots = 64, .n_a_step = 1}, n / 5,
              n_bytes);
}
