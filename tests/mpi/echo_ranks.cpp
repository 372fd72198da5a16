// A run without a model: rank 0 coordinates, the others echo. Prints what it came to as lines
// "key value", for the scripts beside it. One rank: both, in one process.
//   echo_ranks N_REQUESTS PAYLOAD_BYTES STEP_MILLISECONDS [SLOTS [ORPHAN_SECONDS]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/comm/in_process_transport.hpp"
#include "sticky/comm/local_processes.hpp"
#include "sticky/comm/mpi_session.hpp"
#include "sticky/coordinator/coordinator_loop.hpp"
#include "sticky/worker/worker_loop.hpp"
#include "tests/support/echo_service.hpp"
#include "tests/support/memory_run.hpp"

namespace sticky {
namespace {

struct Job {
  i64 n_requests = 0;
  i64 n_bytes = 0;
  Duration step_time{};
  i64 slots = 64;
  double orphan_seconds = 120.0;
};

coordinator::RunOutcome coordinate(const Job& job, protocol::Transport& transport) {
  const auto processes = comm::make_local_processes();
  test::MemoryResults results;
  test::MemoryFolder folder;
  const SteadyClock clock;
  worker::Options worker_options;
  worker_options.orphan_timeout_seconds = job.orphan_seconds;
  const auto begin = std::chrono::steady_clock::now();
  i64 n_reported = -1;
  const auto outcome = coordinator::run_coordinator(
      {},
      {.input = std::make_unique<test::CountedInput>(job.n_requests, job.n_bytes),
       .done = nullptr,
       .worker_options_json = to_json(worker_options).dump(),
       .state_name = "echo"},
      {.transport = transport,
       .processes = *processes,
       .results = results,
       .folder = folder,
       .clock = clock,
       .stop_wish = [] { return coordinator::StopWish::none; },
       .on_progress =
           [&](const coordinator::Progress& progress) {
             if (progress.counts.n_results == std::exchange(n_reported, progress.counts.n_results))
               return;
             fmt::print("progress {}\n", progress.counts.n_results);
             std::fflush(stdout);
           }});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const test::CountedInput expected(job.n_requests, job.n_bytes);
  i64 n_right = 0, n_twice = 0;
  for (i64 id = 0; id < job.n_requests; ++id) {
    const auto it = results.results.find(std::to_string(id) + " " + expected.payload(id));
    if (it == results.results.end()) continue;
    ++n_right;
    if (it->second != 1) ++n_twice;
  }
  fmt::print("exit_code {}\nending {}\nright {}\ntwice {}\nerrors {}\nlosses {}\nfinalize {}\n",
             outcome.exit_code, name_of(outcome.ending), n_right, n_twice, results.errors.size(),
             outcome.last.losses.size(), outcome.may_finalize ? 1 : 0);
  for (const coordinator::Loss& loss : outcome.last.losses)
    fmt::print("cause {} {:.1f}\n", loss.cause, loss.at_seconds);
  fmt::print("seconds {:.3f}\nrate {:.0f}\n", took.count(),
             static_cast<double>(job.n_requests) / took.count());
  std::fflush(stdout);
  return outcome;
}

worker::WorkerEnd work(const Job& job, protocol::Transport& transport) {
  const auto processes = comm::make_local_processes();
  const SteadyClock clock;
  return worker::run_worker(
      {.transport = transport,
       .processes = *processes,
       .clock = clock,
       .make_service =
           [&](const worker::Options&, WorkerId) {
             return std::make_unique<test::EchoService>(test::EchoService::Shape{
                 .slots = job.slots, .n_per_step = job.slots / 2, .step_time = job.step_time});
           },
       .self = comm::this_process(),
       .device = "none",
       .is_asked_to_leave = [] { return false; },
       .abandon =
           [](const std::string& reason) {
             fmt::print(stderr, "{}\n", reason);
             ::_exit(1);
           }});
}

int run_alone(const Job& job) {
  auto links = comm::make_in_process_links(1);
  std::thread worker([&] { (void)work(job, *links.workers[0]); });
  const int exit_code = coordinate(job, *links.coordinator).exit_code;
  worker.join();
  return exit_code;
}

int run(const Job& job, int* argc, char*** argv) {
  comm::MpiSession session(argc, argv);
  int exit_code = 0;
  bool may_finalize = true;
  if (session.size() == 1) {
    exit_code = run_alone(job);
  } else {
    fmt::print("pid {} {}\n", session.rank(), ::getpid());
    std::fflush(stdout);
    if (session.rank() == 0) {
      const auto hub = session.open_hub({});
      const auto outcome = coordinate(job, *hub.transport);
      exit_code = outcome.exit_code;
      may_finalize = outcome.may_finalize;
    } else {
      may_finalize = work(job, *session.open_worker()).may_finalize;
    }
  }
  session.finish(may_finalize, exit_code);
  return exit_code;
}

}  // namespace
}  // namespace sticky

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  sticky::Job job{.n_requests = std::atoll(argv[1]),
                  .n_bytes = std::atoll(argv[2]),
                  .step_time = std::chrono::milliseconds(std::atoll(argv[3]))};
  if (argc > 4) job.slots = std::atoll(argv[4]);
  if (argc > 5) job.orphan_seconds = std::atof(argv[5]);
  return sticky::run(job, &argc, &argv);
}
