#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"
#include "sticky/comm/capability.hpp"
#include "sticky/comm/proc.hpp"
#include "sticky/topology/cpu_list.hpp"
#include "sticky/worker/state_plan.hpp"

#include "commands.hpp"
#include "flag_sources.hpp"
#include "input_check.hpp"
#include "launch_line.hpp"
#include "model_report.hpp"
#include "progress_line.hpp"
#include "text_model.hpp"
#include "time_estimate.hpp"

namespace sticky::cli {
namespace {

constexpr int kConfigWrong = 1;
constexpr int kInputWrong = 2;

topology::Share share_of_worker(i64 worker, i64 n_workers) {
  return topology::share_of(topology::own_cpus(), {.local_rank = worker, .n_local = n_workers + 1});
}

i64 threads_each(i64 n_workers) {
  const topology::Share share = share_of_worker(1, n_workers);
  return share.is_common ? 1 : std::ssize(share.cpus);
}

// What the workers of a launch on this machine would be bound to, one a line.
std::string binding_text(i64 n_workers, i64 n_threads) {
  constexpr i64 kMostShown = 16;
  std::string out =
      fmt::format("  binding     {} on this machine's CPUs {}\n", counted(n_workers, "worker"),
                  topology::text_of(topology::own_cpus()));
  for (i64 worker = 1; worker <= std::min(n_workers, kMostShown); ++worker) {
    const topology::Share share = share_of_worker(worker, n_workers);
    const i64 n_own = share.is_common ? 1 : std::ssize(share.cpus);
    out += fmt::format("              worker {}: CPUs {}{}, {}\n", worker,
                       topology::text_of(share.cpus), share.is_common ? " in common" : "",
                       counted(n_threads > 0 ? n_threads : n_own, "thread"));
  }
  if (n_workers > kMostShown) out += "              and so on\n";
  return out;
}

// Goes on after each problem: what it finds later does not depend on what it found before.
class Check {
 public:
  explicit Check(const config::Loaded& loaded) : loaded_(loaded) {}

  int run() {
    section("configuration");
    for (const auto& problem : loaded_.problems)
      bad(config::to_text({problem}));
    if (loaded_.problems.empty()) fmt::print("  all keys are good\n");
    check_model();
    check_input_lines();
    check_launch();
    estimate();
    return conclude();
  }

 private:
  static void section(const char* name) { fmt::print("{}\n", name); }
  void bad(const std::string& text) {
    ++n_problems_;
    fmt::print("  PROBLEM {}\n", text);
  }

  void check_model() {
    if (!has_model()) return;
    section("model");
    try {
      description_ = describe_model(loaded_.config.worker);
      fmt::print("{}", model_text(description_));
      if (!description_.can_run) bad(description_.obstacle);
      is_model_good_ = description_.can_run;
    } catch (const Error& error) {
      bad(error.what());
    }
    try {
      const TextModel text(loaded_.config.worker);
      fmt::print("  tokenizer   {} tokens, {}\n", with_commas(text.files().tokenizer->vocab_size()),
                 text.prompts().has_chat_template() ? "with a chat template" : "no chat template");
    } catch (const Error& error) {
      bad(error.what());
      is_model_good_ = false;
    }
  }

  void check_input_lines() {
    if (loaded_.config.input.files.empty()) return;
    section("input");
    const auto print = [](const std::string& problem) { fmt::print("  PROBLEM {}\n", problem); };
    try {
      input_ = is_model_good_ ? check_input(loaded_.config, print)
                              : check_lines_alone(loaded_.config, print);
      fmt::print("  requests    {}, {} of them wrong\n", with_commas(input_.n_lines),
                 with_commas(input_.n_bad));
      if (is_model_good_)
        fmt::print("  tokens      {} of prompts (the longest has {}), at most {} of answers\n",
                   with_commas(input_.prompt_tokens), with_commas(input_.longest_prompt),
                   with_commas(input_.most_new_tokens));
      else
        fmt::print("  tokens      not counted: that needs a good model\n");
    } catch (const Error& error) {
      bad(error.what());
    }
  }

  void check_launch() {
    section("launch");
    const config::Config& config = loaded_.config;
    const i64 n_workers = std::max<i64>(1, config.run.n_workers);
    LaunchRequest request{.launcher = config.run.launcher,
                          .mpirun = find_mpirun(),
                          .is_root = geteuid() == 0,
                          .n_workers = n_workers,
                          .program = {comm::own_path(), "run", "…"}};
    fmt::print("  MPI         {}\n", request.mpirun.kind == MpirunVersion::Kind::missing
                                         ? "no mpirun in PATH"
                                         : request.mpirun.text);
    const std::string library = comm::library_version();
    fmt::print("  carries     {} is linked: {}\n", library,
               comm::sentence(comm::capability_of(library)));
    if (request.mpirun.kind == MpirunVersion::Kind::missing && request.launcher == "mpirun")
      bad("mpirun was not found: install Open MPI, load its module, or set run.launcher = "
          "\"srun\"");
    fmt::print("{}", binding_text(n_workers, config.worker.backend.n_threads));
    fmt::print("  command     {}\n", fmt::join(launch_line(request), " "));
  }

  void estimate() {
    if (!is_model_good_ || input_.n_lines == input_.n_bad) return;
    section("time");
    worker::Options options = loaded_.config.worker;
    const auto plan = worker::plan_state(*description_.spec, options);
    const i64 n_workers = std::max<i64>(1, loaded_.config.run.n_workers);
    const Workload work{.n_requests = input_.n_lines - input_.n_bad,
                        .prompt_tokens = input_.prompt_tokens,
                        .most_new_tokens = input_.most_new_tokens,
                        .n_workers = n_workers,
                        .n_sequences = plan.engine.max_sequences,
                        .n_chunk = plan.engine.max_batch_tokens};
    options.backend.dtype = options.state.dtype;
    if (options.backend.n_threads == 0) options.backend.n_threads = threads_each(n_workers);
    const auto backend = backend::make_backend(options.backend);
    const bool stores_bf16 =
        !description_.storage.empty() && description_.storage[0].storage == "bf16";
    const Pace pace = measure_pace(*backend, *description_.spec, work, stores_bf16);
    const TimeEstimate time = estimate_time(*description_.spec, work, pace);
    fmt::print(
        "  estimate    {} for prompts and at most {} for answers: {}, each of {}\n"
        "  basis       matrix products measured for {:.1f} s on this machine; attention and "
        "loading\n"
        "              come on top, beginnings that prompts share and short answers make it less\n",
        clock_time(time.prompt_seconds), clock_time(time.answer_seconds),
        counted(n_workers, "worker"), counted(options.backend.n_threads, "thread"),
        pace.measured_seconds);
  }

  [[nodiscard]] bool has_model() const {
    const std::string key = fmt::format("state.{}.model", loaded_.config.worker.state.name);
    const bool is_refused = std::ranges::any_of(
        loaded_.problems,
        [&](const config::Problem& problem) { return problem.text.starts_with(key); });
    return !loaded_.config.worker.state.model.empty() && !is_refused;
  }

  [[nodiscard]] int conclude() const {
    if (n_problems_ == 0 && input_.n_bad == 0) fmt::print("no problems\n");
    if (n_problems_ > 0) fmt::print("{}\n", counted(n_problems_, "problem"));
    if (input_.n_bad > 0)
      fmt::print("{}: each would become a record in errors.jsonl\n",
                 counted(input_.n_bad, "wrong line"));
    return n_problems_ > 0 ? kConfigWrong : input_.n_bad > 0 ? kInputWrong : 0;
  }

  const config::Loaded& loaded_;
  i64 n_problems_ = 0;
  model::Description description_;
  InputCheck input_;
  bool is_model_good_ = false;
};

}  // namespace

int check(const CheckFlags& flags) {
  config::Sources sources = sources_of(flags.job);
  add_launch_sources(flags.launch, sources);
  return Check(config::load(sources)).run();
}

}  // namespace sticky::cli
