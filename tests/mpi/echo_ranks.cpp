// A run without a model: rank 0 coordinates, the others echo. Prints what it came to as lines
// "key value", for the scripts beside it. One rank: both, in one process.
//   echo_ranks KEY=VALUE…    the keys and what they mean: struct Job
// With orders=DIR workers may come and go: DIR/orders is obeyed, lost workers are replaced, and
// what is spawned runs this program with the same arguments.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/comm/in_process_transport.hpp"
#include "sticky/comm/local_processes.hpp"
#include "sticky/comm/mpi_session.hpp"
#include "sticky/coordinator/coordinator_loop.hpp"
#include "sticky/malleability/orders.hpp"
#include "sticky/worker/worker_loop.hpp"
#include "tests/support/blow.hpp"
#include "tests/support/echo_service.hpp"
#include "tests/support/memory_run.hpp"

namespace sticky {
namespace {

struct Job {
  i64 n_requests = 0;
  i64 n_bytes = 0;
  Duration step_time{};
  i64 slots = 64;
  i64 n_per_step = 0;  // answers a step; 0: half of the slots
  i64 lingers_ms = 0;  // between a worker's goodbye and its end, as a device takes to be freed
  double orphan_seconds = 120.0;
  double heartbeat_seconds = 5.0;
  double hang_seconds = 60.0;
  i64 attempts = 3;
  i64 queued_bytes = i64{256} << 20;  // of input that is read ahead
  i64 min_workers = 1;
  i64 hangs_at = -1;  // the request at which the engine of the first one to get it hangs
  i64 forks = 0;      // 1: a worker has a child process that outlives it
  i64 dies_at = -1;   // the request that kills whoever works on it
  double spawn_seconds = 30.0;
  std::string spawns;      // what is spawned instead of this program
  std::string orders_dir;  // a folder whose orders are obeyed; empty: none are
  // Points of a worker's life (test::Blow), by commas: rank 1 dies or freezes at the first, rank 2
  // at the second. What is spawned is spared.
  std::string dies_when;
  std::string freezes_when;
  i64 at_count = 1;
  i64 cannot_fence = 0;  // 1: no process can be killed, as on a host that is out of reach
  // A folder in which each worker with a state holds the lock of its place as long as it lives. Who
  // finds it held says so: a newcomer came before its predecessor's end.
  std::string places_dir;
  i64 place = -1;  // among the workers of this host
};

Job job_of(int argc, char** argv) {
  Job job;
  double step_ms = 0.0;
  const std::map<std::string, i64*, std::less<>> numbers{{"requests", &job.n_requests},
                                                         {"bytes", &job.n_bytes},
                                                         {"slots", &job.slots},
                                                         {"per_step", &job.n_per_step},
                                                         {"min_workers", &job.min_workers},
                                                         {"hangs_at", &job.hangs_at},
                                                         {"dies_at", &job.dies_at},
                                                         {"forks", &job.forks},
                                                         {"lingers_ms", &job.lingers_ms},
                                                         {"attempts", &job.attempts},
                                                         {"queued_bytes", &job.queued_bytes},
                                                         {"at_count", &job.at_count},
                                                         {"cannot_fence", &job.cannot_fence},
                                                         {"place", &job.place}};
  const std::map<std::string, double*, std::less<>> times{{"step_ms", &step_ms},
                                                          {"orphan_s", &job.orphan_seconds},
                                                          {"heartbeat_s", &job.heartbeat_seconds},
                                                          {"hang_s", &job.hang_seconds},
                                                          {"spawn_s", &job.spawn_seconds}};
  const std::map<std::string, std::string*, std::less<>> texts{{"spawns", &job.spawns},
                                                               {"orders", &job.orders_dir},
                                                               {"dies_when", &job.dies_when},
                                                               {"freezes_when", &job.freezes_when},
                                                               {"places", &job.places_dir}};
  for (int k = 1; k < argc; ++k) {
    const std::string word(argv[k]);
    const auto equals = std::min(word.find('='), word.size() - 1);
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (const auto number = numbers.find(key); number != numbers.end())
      *number->second = std::atoll(value.c_str());
    else if (const auto time = times.find(key); time != times.end())
      *time->second = std::atof(value.c_str());
    else if (const auto text = texts.find(key); text != texts.end())
      *text->second = value;
    else
      fail<ConfigError>("no such argument: {}", word);
  }
  job.step_time =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(step_ms));
  return job;
}

// Checks each answer as it comes and keeps a byte of it; knows the longest time between two.
class CheckedResults final : public io::ResultsLog {
  // Shorter than any spawn.
  static constexpr std::chrono::milliseconds kPause{40};

 public:
  explicit CheckedResults(const Job& job)
      : expected_(job.n_requests, job.n_bytes),
        n_times_(static_cast<std::size_t>(job.n_requests)) {}

  void append(bool is_error, std::string record) override {
    const auto now = std::chrono::steady_clock::now();
    if (written_.n_results + written_.n_errors > 0) {
      longest_gap_ = std::max(longest_gap_, now - last_);
      if (now - last_ > kPause) paused_ += now - last_;
    }
    last_ = now;
    ++(is_error ? written_.n_errors : written_.n_results);
    if (is_error) return;
    const i64 id = std::atoll(record.c_str());
    const std::string right = std::to_string(id) + " " + expected_.payload(id);
    if (id >= 0 && id < static_cast<i64>(n_times_.size()) && record == right)
      n_twice_ += n_times_[static_cast<std::size_t>(id)]++ == 1 ? 1 : 0;
  }
  [[nodiscard]] i64 n_queued() const override { return 0; }
  [[nodiscard]] Written written() const override { return written_; }
  void flush() override {}
  [[nodiscard]] std::string failure() const override { return {}; }

  [[nodiscard]] i64 n_right() const {
    return static_cast<i64>(n_times_.size()) - std::ranges::count(n_times_, 0);
  }
  [[nodiscard]] i64 n_twice() const { return n_twice_; }
  [[nodiscard]] double paused_ms() const { return milliseconds(paused_); }
  [[nodiscard]] double longest_gap_ms() const { return milliseconds(longest_gap_); }

 private:
  static double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  }

  test::CountedInput expected_;
  std::vector<unsigned char> n_times_;  // by id: how often its right answer came
  Written written_;
  i64 n_twice_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::chrono::steady_clock::duration longest_gap_{};
  std::chrono::steady_clock::duration paused_{};  // the sum of all that were long
};

// Says how far the run is, when that has changed.
class Reporter {
 public:
  void see(const coordinator::Progress& progress) {
    i64 n_ready = 0;
    for (const coordinator::WorkerStatus& worker : progress.workers) {
      n_ready += worker.state == "ready" ? 1 : 0;
      if (worker.pid > 0 && pids_.insert(worker.pid).second)
        fmt::print("pid {} {}\n", worker.worker.value, worker.pid);
    }
    if (n_ready != std::exchange(n_ready_, n_ready)) fmt::print("ready {}\n", n_ready);
    if (progress.counts.n_results != std::exchange(n_results_, progress.counts.n_results))
      fmt::print("progress {}\n", progress.counts.n_results);
    std::fflush(stdout);
  }

 private:
  i64 n_ready_ = -1;
  i64 n_results_ = -1;
  std::set<i64> pids_;
};

void print_outcome(const coordinator::RunOutcome& outcome, const CheckedResults& results) {
  fmt::print("exit_code {}\nending {}\nright {}\ntwice {}\nerrors {}\nlosses {}\nfinalize {}\n",
             outcome.exit_code, name_of(outcome.ending), results.n_right(), results.n_twice(),
             results.written().n_errors, outcome.last.losses.size(), outcome.may_finalize ? 1 : 0);
  for (const coordinator::Loss& loss : outcome.last.losses)
    fmt::print("cause {} {:.1f}\n", loss.cause, loss.at_seconds);
  for (const coordinator::WorkerStatus& worker : outcome.last.workers)
    fmt::print("answered {} {}\n", worker.worker.value, worker.n_results);
  fmt::print("workers {}\ngap_ms {:.0f}\npaused_ms {:.0f}\n", outcome.last.workers.size(),
             results.longest_gap_ms(), results.paused_ms());
}

std::unique_ptr<protocol::Processes> make_processes(const Job& job) {
  auto processes = comm::make_local_processes();
  if (job.cannot_fence == 0) return processes;
  return std::make_unique<test::UnreachableProcesses>(std::move(processes));
}

coordinator::RunOutcome coordinate(const Job& job,
                                   protocol::Transport& transport,
                                   protocol::Spawner* spawner) {
  const auto processes = make_processes(job);
  CheckedResults results(job);
  test::MemoryFolder folder;
  const SteadyClock clock;
  worker::Options worker_options;
  worker_options.orphan_timeout_seconds = job.orphan_seconds;
  std::optional<malleability::OrderBox> orders;
  coordinator::Doors doors;
  if (!job.orders_dir.empty()) {
    orders.emplace(job.orders_dir);
    doors = {.spawner = spawner,
             .limits = {.min_workers = job.min_workers},
             .take_orders = [&] { return orders->take(); },
             .here = comm::this_process().host};
  }
  Reporter reporter;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = coordinator::run_coordinator(
      {.attempts = job.attempts,
       .heartbeat_timeout_seconds = job.heartbeat_seconds,
       .hang_seconds = job.hang_seconds,
       .max_queued_bytes = job.queued_bytes},
      {.input = std::make_unique<test::CountedInput>(job.n_requests, job.n_bytes),
       .done = nullptr,
       .worker_options_json = to_json(worker_options).dump(),
       .state_name = "echo"},
      {.transport = transport,
       .processes = *processes,
       .results = results,
       .folder = folder,
       .clock = clock,
       .doors = std::move(doors),
       .stop_wish = [] { return coordinator::StopWish::none; },
       .on_progress = [&](const coordinator::Progress& progress) { reporter.see(progress); }});
  print_outcome(outcome, results);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("seconds {:.3f}\nrate {:.0f}\n", took.count(),
             static_cast<double>(job.n_requests) / took.count());
  std::fflush(stdout);
  return outcome;
}

void make_trouble(const Job& job, const protocol::Invocation& invocation) {
  if (invocation.id.value == job.dies_at) ::_exit(9);
  while (invocation.id.value == job.hangs_at && invocation.attempt == 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
}

// The entry of a list by commas that is this rank's.
std::string entry_of(int rank, const std::string& list) {
  std::istringstream entries(list);
  std::string entry;
  for (int k = 0; k < rank && std::getline(entries, entry, ',');)
    ++k;
  return entry;
}

test::Blow blow_for(const Job& job, int rank) {
  const bool is_deadly = !job.dies_when.empty();
  const std::string& list = is_deadly ? job.dies_when : job.freezes_when;
  if (rank < 1 || rank > 1 + std::ranges::count(list, ',')) return {};
  return {entry_of(rank, list), job.at_count, is_deadly ? SIGKILL : SIGSTOP};
}

// Until this process ends, whatever ends it; one that is only stopped still holds it.
void take_place(const Job& job) {
  if (job.places_dir.empty()) return;
  const std::string file = fmt::format("{}/place-{}", job.places_dir, job.place);
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool is_free = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  fmt::print("{} {}\n", is_free ? "place" : "two_holders", job.place);
  std::fflush(stdout);
}

worker::WorkerEnd work(const Job& job, protocol::Transport& transport, test::Blow& blow) {
  if (job.forks != 0 && ::fork() == 0) ::execlp("sleep", "sleep", "20", nullptr);
  const auto processes = make_processes(job);
  const SteadyClock clock;
  return worker::run_worker(
      {.transport = transport,
       .processes = *processes,
       .clock = clock,
       .make_service =
           [&](const worker::Options&, WorkerId) {
             take_place(job);
             return std::make_unique<test::EchoService>(test::EchoService::Shape{
                 .slots = job.slots,
                 .n_per_step = job.n_per_step > 0 ? job.n_per_step : job.slots / 2,
                 .step_time = job.step_time,
                 .before_answer = [&](const protocol::Invocation& one) { make_trouble(job, one); },
                 .before_step = [&] { blow.pass("before_compute"); },
                 .after_step = [&] { blow.pass("after_compute"); }});
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
  test::Blow none;
  std::thread worker([&] { (void)work(job, *links.workers[0], none); });
  const int exit_code = coordinate(job, *links.coordinator, nullptr).exit_code;
  worker.join();
  return exit_code;
}

int run(int argc, char** argv) {
  Job job = job_of(argc, argv);
  comm::MpiSession session(&argc, &argv);
  int exit_code = 0;
  bool may_finalize = true;
  const bool is_worker = session.is_spawned() || session.rank() > 0;
  if (!is_worker) fmt::print("pid {} {}\n", session.rank(), ::getpid());
  std::fflush(stdout);
  if (is_worker) {
    if (!session.is_spawned()) job.place = session.rank() - 1;
    test::Blow blow = session.is_spawned() ? test::Blow() : blow_for(job, session.rank());
    test::StruckTransport transport(session.open_worker(), blow);
    may_finalize = work(job, transport, blow).may_finalize;
    std::this_thread::sleep_for(std::chrono::milliseconds(job.lingers_ms));
  } else if (session.size() == 1 && job.orders_dir.empty()) {
    exit_code = run_alone(job);
  } else {
    const std::string program = job.spawns.empty() ? argv[0] : job.spawns;
    const auto arguments = [&](const protocol::SpawnOrder& order) {
      // Of another program only that much is known: that it takes a number.
      if (!job.spawns.empty()) return std::vector<std::string>{"5"};
      std::vector<std::string> out(argv + 1, argv + argc);
      out.push_back(fmt::format("place={}", order.place));
      return out;
    };
    const auto hub = session.open_hub({.program = program, .arguments = arguments});
    hub.spawner->set_timeout(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(job.spawn_seconds)));
    const auto outcome = coordinate(job, *hub.transport, hub.spawner.get());
    exit_code = outcome.exit_code;
    may_finalize = outcome.may_finalize;
  }
  session.finish(may_finalize, exit_code);
  return exit_code;
}

}  // namespace
}  // namespace sticky

int main(int argc, char** argv) {
  try {
    return sticky::run(argc, argv);
  } catch (const sticky::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
