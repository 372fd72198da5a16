// What the coordinator costs under mpirun, with workers that answer at once: rank 0 is the real
// coordinator over the real transport, the others run the real worker loop.
//   dispatch_bench part=PART KEY=VALUE…     the keys: struct Job
// Parts:
//   dispatch  lines lie ready in memory, records are counted and forgotten
//   files     the whole way: an input file is read, parsed and hashed, records are written
//   queue     an input file of which nothing is ever answered: memory
// Rank 0 prints one line "key value …".
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/log.hpp"
#include "sticky/comm/local_processes.hpp"
#include "sticky/comm/mpi_session.hpp"
#include "sticky/coordinator/coordinator.hpp"
#include "sticky/coordinator/coordinator_loop.hpp"
#include "sticky/worker/worker_loop.hpp"
#include "tests/support/memory_run.hpp"

#include "perf/dispatch/arguments.hpp"
#include "perf/dispatch/instant_service.hpp"
#include "perf/dispatch/usage.hpp"

namespace sticky::perf {
namespace {

struct Job {
  std::string part;
  i64 n_requests = 0;
  i64 n_bytes = 1024;      // of an input line
  i64 n_reply_bytes = 64;  // of a record
  i64 batch = 0;           // invocations a message; 0: all that fit
  i64 slots = 1024;        // of each worker
  i64 n_a_step = 64;       // answers a message
  std::string folder;      // for the input file and the records
};

Job job_of(int argc, char** argv) {
  Arguments arguments(argc, argv);
  Job job;
  job.part = arguments.text("part", "dispatch");
  job.n_requests = arguments.number("requests", 1'000'000);
  job.n_bytes = arguments.number("bytes", job.n_bytes);
  job.n_reply_bytes = arguments.number("reply", job.n_reply_bytes);
  job.batch = arguments.number("batch", job.batch);
  job.slots = arguments.number("slots", job.slots);
  job.n_a_step = job.part == "queue" ? 0 : arguments.number("a_step", job.n_a_step);
  job.folder = arguments.text("folder", "");
  arguments.expect_none_left();
  return job;
}

// Counts and forgets.
class CountedResults final : public io::ResultsLog {
 public:
  void append(bool is_error, std::string) override { ++(is_error ? n_errors_ : n_results_); }
  [[nodiscard]] i64 n_queued() const override { return 0; }
  [[nodiscard]] Written written() const override { return {n_results_, n_errors_}; }
  void flush() override {}
  [[nodiscard]] std::string failure() const override { return {}; }

 private:
  i64 n_results_ = 0;
  i64 n_errors_ = 0;
};

// Lines of one text, made here and not read. Knows what making them cost, which is none of the
// coordinator's.
class ReadyFeed final : public coordinator::LineFeed {
 public:
  ReadyFeed(i64 n, i64 n_bytes) : n_(n), payload_(static_cast<std::size_t>(n_bytes), 'x') {}

  [[nodiscard]] coordinator::Portion take() override {
    constexpr i64 kAtOnce = 1024, kBlock = 64;
    const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    coordinator::Portion portion;
    for (i64 end = is_open ? std::min(at_ + kAtOnce, n_) : at_; at_ < end;)
      portion.blocks.push_back(make_block(std::min(end, at_ + kBlock)));
    portion.has_ended = at_ == n_;
    cpu_seconds_ += seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
    return portion;
  }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }

  bool is_open = false;

 private:
  protocol::EncodedInvocations make_block(i64 end) {
    std::vector<protocol::Invocation> requests;
    for (; at_ < end; ++at_)
      requests.push_back({.id = {at_},
                          .custom_id = fmt::format("request-{}", at_),
                          .file = "lines.jsonl",
                          .line = at_ + 1,
                          .hash = {},
                          .payload = payload_});
    return protocol::EncodedInvocations(requests);
  }

  i64 n_;
  std::string payload_;
  i64 at_ = 0;
  double cpu_seconds_ = 0.0;
};

std::string worker_options() {
  return to_json(worker::Options{}).dump();
}

// Where a part of the run begins or ends.
struct Mark {
  i64 n = 0;
  Usage usage;
  double feed_seconds = 0.0;
};

double cpu_us(const Mark& from, const Mark& to) {
  const double seconds =
      (to.usage - from.usage).cpu_seconds - (to.feed_seconds - from.feed_seconds);
  return 1e6 * seconds / static_cast<double>(to.n - from.n);
}

double rate(const Mark& from, const Mark& to) {
  return static_cast<double>(to.n - from.n) / (to.usage - from.usage).wall_seconds;
}

// Early: from invocation 10,000 on. Late: the last ones. A twentieth of the run each.
void print_marks(const Mark& begin,
                 const Mark& early,
                 const Mark& early_end,
                 const Mark& late,
                 const Mark& end) {
  fmt::print(
      "requests {} rate {:.0f} cpu_us {:.4f} feed_us {:.4f} early_cpu_us {:.4f} late_cpu_us {:.4f} "
      "early_rate {:.0f} late_rate {:.0f}\n",
      end.n, rate(begin, end), cpu_us(begin, end),
      1e6 * end.feed_seconds / static_cast<double>(end.n), cpu_us(early, early_end),
      cpu_us(late, end), rate(early, early_end), rate(late, end));
}

bool are_all_ready(const coordinator::Reactor& reactor, i64 n_workers) {
  for (i64 id = 1; id <= n_workers; ++id)
    if (reactor.state_of({id}) != coordinator::Reactor::WorkerState::ready) return false;
  return true;
}

// True once the run is finalized.
bool dispatch(const Job& job, protocol::Transport& transport) {
  constexpr auto kPatience = std::chrono::milliseconds(2);
  constexpr i64 kEarly = 10'000;
  const auto n_workers = static_cast<i64>(transport.peers().size());
  const auto processes = comm::make_local_processes();
  const SteadyClock clock;
  CountedResults results;
  test::MemoryFolder folder;
  ReadyFeed feed(job.n_requests, job.n_bytes);
  coordinator::Options options;
  options.batch = job.batch;
  coordinator::Coordinator coordinator(
      options, {.worker_options_json = worker_options(), .state_name = "none"}, feed,
      {.transport = transport,
       .processes = *processes,
       .results = results,
       .folder = folder,
       .clock = clock});
  while (!are_all_ready(coordinator.reactor(), n_workers))
    (void)coordinator.turn(kPatience);
  feed.is_open = true;

  const i64 span = std::max<i64>(1, job.n_requests / 20);
  const i64 wanted[] = {0, std::min(kEarly, job.n_requests / 4),
                        std::min(kEarly, job.n_requests / 4) + span, job.n_requests - span,
                        job.n_requests};
  Mark marks[std::size(wanted)];
  std::size_t n_marks = 0;
  do {
    const i64 n = results.written().n_results;
    while (n_marks < std::size(wanted) && n >= wanted[n_marks])
      marks[n_marks++] = {n, usage(), feed.cpu_seconds()};
  } while (coordinator.turn(kPatience));
  const coordinator::RunOutcome outcome = coordinator.finish();
  if (n_marks < std::size(wanted)) fail<SystemError>("the run broke off: {}", outcome.reason);
  print_marks(marks[0], marks[1], marks[2], marks[3], marks[4]);
  return outcome.may_finalize;
}

// A line is as long as asked for, or a little longer.
void write_input(const std::string& path, const Job& job) {
  std::ofstream out(path);
  for (i64 k = 0; k < job.n_requests; ++k) {
    std::string line =
        fmt::format(R"({{"custom_id": "request-{0:09}", "method": "POST", "url": )"
                    R"("/v1/chat/completions", "body": {{"model": "none", "max_tokens": 8, )"
                    R"("temperature": 0, "messages": [{{"role": "user", "content": "{0:09} )",
                    k);
    constexpr std::string_view kWord = "claim ";
    constexpr std::string_view kEnd = R"("}]}})";
    while (std::ssize(line) + std::ssize(kWord) + std::ssize(kEnd) <= job.n_bytes)
      line += kWord;
    out << line << kEnd << '\n';
  }
}

std::string input_of(const Job& job) {
  const std::string path =
      fmt::format("{}/input-{}-{}.jsonl", job.folder, job.n_requests, job.n_bytes);
  std::filesystem::create_directories(job.folder);
  if (!std::filesystem::exists(path)) write_input(path, job);
  return path;
}

coordinator::Work work_of(const Job& job) {
  io::InputOptions input;
  input.files = {input_of(job)};
  return {.input = io::open_input(input),
          .done = nullptr,
          .worker_options_json = worker_options(),
          .state_name = "none"};
}

bool answer_files(const Job& job, protocol::Transport& transport) {
  const auto processes = comm::make_local_processes();
  const SteadyClock clock;
  test::MemoryFolder folder;
  coordinator::Work work = work_of(job);
  for (const char* name : {"/results.jsonl", "/errors.jsonl"})
    std::filesystem::remove(job.folder + name);
  const auto results = io::ResultsLog::open(job.folder);
  const Usage before = usage();
  const auto outcome = coordinator::run_coordinator({.batch = job.batch}, std::move(work),
                                                    {.transport = transport,
                                                     .processes = *processes,
                                                     .results = *results,
                                                     .folder = folder,
                                                     .clock = clock});
  const Usage used = usage() - before;
  const i64 n = outcome.last.counts.n_results;
  if (n != job.n_requests) fail<SystemError>("only {} results: {}", n, outcome.reason);
  fmt::print("requests {} rate {:.0f} cpu_us {:.4f} thread_us {:.4f}\n", n,
             static_cast<double>(n) / used.wall_seconds,
             1e6 * used.cpu_seconds / static_cast<double>(n),
             1e6 * used.thread_seconds / static_cast<double>(n));
  return outcome.may_finalize;
}

// Goes on until no more is read.
bool fill_queue(const Job& job, protocol::Transport& transport) {
  const auto processes = comm::make_local_processes();
  const SteadyClock clock;
  test::MemoryFolder folder;
  CountedResults results;
  coordinator::Work work = work_of(job);
  const i64 before = own_memory_bytes();
  i64 after = before, n_read = 0;
  bool is_full = false;
  coordinator::Surroundings around{.transport = transport,
                                   .processes = *processes,
                                   .results = results,
                                   .folder = folder,
                                   .clock = clock};
  around.stop_wish = [&] {
    return is_full ? coordinator::StopWish::now : coordinator::StopWish::none;
  };
  around.on_progress = [&](const coordinator::Progress& progress) {
    if (is_full) return;
    is_full = progress.counts.n_held > 0 && progress.counts.n_read == n_read;
    n_read = progress.counts.n_read;
    after = own_memory_bytes();
  };
  const auto outcome = coordinator::run_coordinator({.batch = job.batch}, std::move(work), around);
  fmt::print("requests {} bytes_each {:.1f} bytes {} read {}\n", job.n_requests,
             static_cast<double>(after - before) / static_cast<double>(job.n_requests),
             after - before, n_read);
  return outcome.may_finalize;
}

bool coordinate(const Job& job, protocol::Transport& transport) {
  if (job.part == "dispatch") return dispatch(job, transport);
  if (job.part == "files") return answer_files(job, transport);
  if (job.part == "queue") return fill_queue(job, transport);
  fail<ConfigError>("no such part: {}", job.part);
}

bool work(const Job& job, protocol::Transport& transport) {
  const auto processes = comm::make_local_processes();
  const SteadyClock clock;
  return worker::run_worker({.transport = transport,
                             .processes = *processes,
                             .clock = clock,
                             .make_service =
                                 [&](const worker::Options&, WorkerId) {
                                   return std::make_unique<InstantService>(InstantService::Shape{
                                       job.slots, job.n_a_step, job.n_reply_bytes});
                                 },
                             .self = comm::this_process(),
                             .device = "",
                             .is_asked_to_leave = [] { return false; },
                             .abandon = nullptr})
      .may_finalize;
}

int run(int argc, char** argv) {
  const Job job = job_of(argc, argv);
  log::set_level(log::Level::warning);
  comm::MpiSession session(&argc, &argv);
  if (session.size() == 1) fail<ConfigError>("start this with mpirun: rank 0 has no worker");
  bool may_finalize = false;
  if (session.rank() == 0) {
    const auto hub = session.open_hub({.program = argv[0], .arguments = nullptr});
    may_finalize = coordinate(job, *hub.transport);
  } else {
    may_finalize = work(job, *session.open_worker());
  }
  session.finish(may_finalize, 0);
  return 0;
}

}  // namespace
}  // namespace sticky::perf

int main(int argc, char** argv) {
  try {
    return sticky::perf::run(argc, argv);
  } catch (const sticky::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
