#include "coordinate.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/clock.hpp"
#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"
#include "sticky/base/log.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/coordinator/coordinator_loop.hpp"
#include "sticky/coordinator/signs_of_life.hpp"
#include "sticky/io/input_reader.hpp"
#include "sticky/io/order.hpp"
#include "sticky/io/results_log.hpp"
#include "sticky/worker/intake.hpp"

#include "allocation.hpp"
#include "doors.hpp"
#include "finished.hpp"
#include "input_check.hpp"
#include "progress_line.hpp"
#include "run_files.hpp"
#include "start.hpp"
#include "summary.hpp"
#include "watched_input.hpp"

namespace sticky::cli {
namespace {

using coordinator::StopWish;

constexpr int kConfigWrong = 1;
constexpr int kInputRefused = 2;
constexpr int kUnfinished = 4;
constexpr int kFatal = 5;

void print_to_stderr(log::Level /*level*/, std::string_view line) {
  tell("{}\n", line);
}

double seconds_between(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

// SIGUSR1 comes from the launcher form, SIGTERM from mpirun or the batch system. One drains, the
// next ends at once.
class StopSignals {
 public:
  explicit StopSignals(SignalQueue& signals) : signals_(&signals) {}
  StopWish wish() {
    while (const auto signal = signals_->next()) {
      wish_ = wish_ == StopWish::none ? StopWish::drain : StopWish::now;
      log::info("asked to stop ({}): {}", strsignal(*signal),
                wish_ == StopWish::drain ? "what runs is finished first" : "right now");
    }
    return wish_;
  }

 private:
  SignalQueue* signals_;
  StopWish wish_ = StopWish::none;
};

// A line every 30 s, the first one as soon as there is something to say, and one at the end.
class ProgressPrinter {
 public:
  ProgressPrinter(bool is_on, io::RunFolder& folder) : is_on_(is_on), folder_(folder) {}
  void show(const coordinator::Progress& progress) {
    constexpr double kEverySeconds = 30.0;
    const auto view = view_of(coordinator::to_json(progress));
    if (!view) return;
    const Rates rates = rates_.update(*view);
    const bool is_last = view->phase == "ended";
    if ((view->seconds < next_ && !is_last) || view->n_done == 0) return;
    next_ = view->seconds + kEverySeconds;
    const std::string line = progress_line(*view, rates);
    folder_.log_line(line);
    if (is_on_) tell("{}\n", line);
  }

 private:
  bool is_on_;  // on the terminal; the log has them always
  io::RunFolder& folder_;
  double next_ = 0.0;
  RateMeter rates_;
};

/// The run was asked to stop while it was still preparing.
class Stopped : public Error {
  using Error::Error;
};

class Run {
 public:
  Run(const RankJob& job, const CoordinatorSeat& seat)
      : job_(job),
        seat_(seat),
        stop_(seat.signals),
        started_(std::time(nullptr)),
        start_(clock_.now()) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { log::set_sink(print_to_stderr); }

  /// Whether workers have heard of this run.
  [[nodiscard]] bool has_begun() const { return has_begun_; }

  Coordinated live() {
    loaded_ = job_.resumed_dir.empty() ? config::load(job_.sources) : load_resumed(job_);
    config::throw_if_any(loaded_.problems);
    if (const auto finished = finished_earlier()) {
      tell("{}\n", finished->text);
      return {finished->exit_code, false};
    }
    open_folder();
    try {
      return answer();
    } catch (const ConfigError& error) {
      return give_up(kConfigWrong, error.what());
    } catch (const Stopped& stopped) {
      return give_up(kUnfinished, stopped.what());
    } catch (const std::exception& error) {
      return give_up(kFatal, error.what());
    }
  }

 private:
  // Then the folder is left as it is, and no model is loaded.
  std::optional<Finished> finished_earlier() {
    if (job_.mode == io::RunFolder::Mode::create) return std::nullopt;
    const coordinator::WorkerBeats beats(seat_.transport);
    const bool is_resume = !job_.resumed_dir.empty();
    return finished_run(is_resume ? job_.resumed_dir : loaded_.config.output.dir, loaded_,
                        job_.retry, [this] { stop_if_asked(); });
  }

  void stop_if_asked() {
    if (stop_.wish() != StopWish::none) throw Stopped("asked to stop before any work began");
  }

  void open_folder() {
    std::string& dir = loaded_.config.output.dir;
    if (!job_.resumed_dir.empty()) dir = job_.resumed_dir;
    if (dir.empty()) {
      dir = new_run_dir(loaded_.config.job, started_);
      tell("run folder: {}\n", dir);
    }
    check_run_dir(dir);
    folder_ = io::RunFolder::open(dir, job_.mode);
    // A run that goes on has neither: whoever finds one may trust it.
    std::error_code ignored;
    for (const char* name : {"summary.json", "status.json", "timeline.json"})
      std::filesystem::remove(std::filesystem::path(dir) / name, ignored);
    log::set_sink([this](log::Level level, std::string_view line) {
      print_to_stderr(level, line);
      folder_->log_line(line);
    });
    write_job();
  }

  void write_job() {
    const Json job = Json::object({{"job", loaded_.config.job},
                                   {"directory", current_directory()},
                                   {"config", config::effective_json(loaded_)}});
    folder_->write_file("job.json", job.dump_pretty() + "\n");
  }

  // All that may take long before the first word to workers. Nothing: the input is refused.
  std::optional<coordinator::Work> prepare() {
    const coordinator::WorkerBeats beats(seat_.transport);
    config::Config& config = loaded_.config;
    const auto on_wait = [this] { stop_if_asked(); };
    if (std::ranges::count(config.input.files, "-") > 0)
      config.input.kept_standard_input =
          io::keep_standard_input(folder_->path(), folder_->is_resumed(), on_wait);
    if (config.input.strict) {
      check_ = check_input(
          config, [](const std::string&) {}, on_wait);
      if (check_.n_bad > 0) return std::nullopt;
    }
    return make_work();
  }

  Coordinated answer() {
    const coordinator::LockRenewal renewal(*folder_);
    std::optional<coordinator::Work> work = prepare();
    if (!work)
      return give_up(kInputRefused,
                     fmt::format("input.strict: {} of {} {} wrong, the first: {}", check_.n_bad,
                                 counted(check_.n_lines, "line"), check_.n_bad == 1 ? "is" : "are",
                                 check_.first_problem));
    const auto results =
        io::ResultsLog::open(folder_->path(), [this] { return folder_->holds_lock(); });
    if (loaded_.config.run.share == "chain")
      log::info("load.share = chain: weights are not passed on yet, each worker reads the files");
    ProgressPrinter printer(job_.prints_progress, *folder_);
    RunDoors doors(folder_->path(), loaded_.config.resize, seat_.n_cpus, seat_.spawner);
    const TimePoint run_start = clock_.now();
    has_begun_ = true;
    coordinator::RunOutcome outcome = coordinator::run_coordinator(
        coordinator_options(), *std::move(work),
        {.transport = seat_.transport,
         .processes = seat_.processes,
         .results = *results,
         .folder = *folder_,
         .clock = clock_,
         .doors = doors.open(),
         .stop_wish = [&] { return stop_.wish(); },
         .on_progress = [&](const coordinator::Progress& p) { printer.show(p); }});
    const TimePoint run_end = clock_.now();
    finish_files(outcome);
    write_summary(summary_json(outcome, facts(run_start, run_end), loaded_));
    return {outcome.exit_code, outcome.may_finalize};
  }

  coordinator::Work make_work() {
    coordinator::Work work;
    if (folder_->is_resumed()) {
      WatchedInput earlier(io::open_input(loaded_.config.input), [this] { stop_if_asked(); });
      work.done = io::prepare_resume(folder_->path(), earlier, job_.retry);
      log::info("resuming: {} and {} stand already", counted(work.done->n_results(), "result"),
                counted(work.done->n_errors(), "error"));
    }
    work.input = io::open_input(loaded_.config.input);
    work.worker_options_json = worker_options().dump();
    work.state_name = loaded_.config.worker.state.name;
    if (!loaded_.config.worker.check_model)
      work.serves = [state = loaded_.config.worker.state](std::string_view model) {
        return worker::is_served(state, model);
      };
    return work;
  }

  // Workers of other launches and nodes may stand in other folders.
  [[nodiscard]] Json worker_options() const {
    worker::Options options = loaded_.config.worker;
    const auto absolute = [](std::string& path) {
      if (!path.empty())
        path = std::filesystem::path(absolute_path(path)).lexically_normal().string();
    };
    absolute(options.state.model);
    absolute(options.chat.template_file);
    return worker::to_json(options);
  }

  [[nodiscard]] coordinator::Options coordinator_options() const {
    coordinator::Options options = loaded_.config.coordinator;
    const double limit = loaded_.config.run.time_limit_seconds;
    const double left = limit < 0.0 ? allocation_seconds_left() : limit;
    if (limit < 0.0 && left > 0.0)
      log::info("the allocation ends in {}: the run stops in time", clock_time(left));
    options.time_limit_seconds = left;
    return options;
  }

  void finish_files(coordinator::RunOutcome& outcome) const {
    const config::Config& config = loaded_.config;
    const bool is_whole = outcome.ending == coordinator::Ending::complete;
    if (config.output.order != io::Order::input || !is_whole) return;
    try {
      io::sort_by_input(folder_->path(), config.input.files);
    } catch (const Error& error) {
      outcome.reason =
          fmt::format("the results are complete but could not be sorted: {}", error.what());
      outcome.exit_code = kFatal;
    }
  }

  [[nodiscard]] RunFacts facts(TimePoint run_start, TimePoint run_end) const {
    return {.run_dir = folder_->path(),
            .started = started_,
            .ended = std::time(nullptr),
            .phases = {.prepare = seconds_between(start_, run_start),
                       .run = seconds_between(run_start, run_end),
                       .finish = seconds_between(run_end, clock_.now())},
            .mpi_library = seat_.mpi_library,
            .mpi_capability = seat_.mpi_capability,
            .n_ranks = seat_.n_ranks};
  }

  void write_summary(const Json& summary) {
    std::string why_not_written;
    try {
      folder_->write_file("summary.json", summary.dump_pretty() + "\n");
    } catch (const Error& error) {
      why_not_written = error.what();
    }
    const std::string text = summary_text(summary, folder_->path(), why_not_written);
    folder_->log_line(text);
    tell("{}", text);
  }

  // Before any work of this run: the folder holds what earlier ones left.
  Coordinated give_up(int exit_code, const std::string& reason) {
    coordinator::RunOutcome outcome;
    outcome.exit_code = exit_code;
    outcome.reason = reason;
    outcome.last.counts.n_read = check_.n_lines;
    outcome.last.has_input_ended = exit_code == kInputRefused;
    if (folder_->is_resumed()) {
      outcome.last.counts.n_results_before = count_records(folder_->path(), "results.jsonl");
      outcome.last.counts.n_errors_before = count_records(folder_->path(), "errors.jsonl");
    }
    const TimePoint now = clock_.now();
    write_summary(failed_summary(outcome, facts(now, now), loaded_));
    return {exit_code, false};
  }

  const RankJob& job_;
  const CoordinatorSeat& seat_;
  StopSignals stop_;
  SteadyClock clock_;
  i64 started_;
  TimePoint start_;
  config::Loaded loaded_;
  std::unique_ptr<io::RunFolder> folder_;
  InputCheck check_;
  bool has_begun_ = false;
};

// Workers that wait for their first word are told that none will come. Whether all have said
// goodbye, so that MPI may be finalized.
bool dismiss_workers(protocol::Transport& transport) {
  constexpr std::chrono::seconds kPatience{5};
  constexpr std::chrono::milliseconds kTurn{20};
  const SteadyClock clock;
  const auto workers = transport.peers();
  auto left = workers;
  bool is_anyone_lost = false;
  for (const auto peer : workers)
    transport.send(peer, protocol::Leave{.now = true});
  const TimePoint give_up = clock.now() + kPatience;
  while (!left.empty() && clock.now() < give_up) {
    for (const auto& incoming : transport.poll(kTurn)) {
      const auto* arrived = std::get_if<protocol::Arrived>(&incoming);
      is_anyone_lost = is_anyone_lost || arrived == nullptr;
      if (arrived == nullptr)
        std::erase(left, std::get<protocol::PeerLost>(incoming).peer);
      else if (std::holds_alternative<protocol::Bye>(arrived->message))
        std::erase(left, arrived->from);
    }
  }
  const bool may_finalize = left.empty() && !is_anyone_lost;
  for (const auto peer : workers)
    transport.send(peer, protocol::Farewell{.may_finalize = may_finalize});
  const auto is_unsent = [&](protocol::PeerId peer) { return transport.unsent_bytes(peer) > 0; };
  while (std::ranges::any_of(workers, is_unsent) && clock.now() < give_up)
    (void)transport.poll(kTurn);
  return may_finalize;
}

}  // namespace

Coordinated coordinate(const RankJob& job, const CoordinatorSeat& seat) {
  Coordinated result;
  Run run(job, seat);
  try {
    result = run.live();
  } catch (const ConfigError& error) {
    tell("{}\n", error.what());
    result = {kConfigWrong, false};
  } catch (const Stopped& stopped) {
    tell("{}\n", stopped.what());
    result = {kUnfinished, false};
  } catch (const std::exception& error) {
    tell("{}\n", error.what());
    result = {kFatal, false};
  }
  if (!run.has_begun()) result.may_finalize = dismiss_workers(seat.transport);
  return result;
}

}  // namespace sticky::cli
