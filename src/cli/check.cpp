#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/comm/proc.hpp"
#include "sticky/topology/usable_cpus.hpp"

#include "commands.hpp"
#include "flag_sources.hpp"
#include "input_check.hpp"
#include "launch_line.hpp"
#include "model_report.hpp"
#include "progress_line.hpp"
#include "text_model.hpp"

namespace sticky::cli {
namespace {

constexpr int kConfigWrong = 1;
constexpr int kInputWrong = 2;

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
      const model::Description description = describe_model(loaded_.config.worker);
      fmt::print("{}", model_text(description));
      if (!description.can_run) bad(description.obstacle);
      is_model_good_ = description.can_run;
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
      const InputCheck check = is_model_good_ ? check_input(loaded_.config, print)
                                              : check_lines_alone(loaded_.config, print);
      n_bad_lines_ = check.n_bad;
      fmt::print("  requests    {}, {} of them wrong\n", with_commas(check.n_lines),
                 with_commas(check.n_bad));
      if (is_model_good_)
        fmt::print("  tokens      {} of prompts (the longest has {}), at most {} of answers\n",
                   with_commas(check.prompt_tokens), with_commas(check.longest_prompt),
                   with_commas(check.most_new_tokens));
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
    if (request.mpirun.kind == MpirunVersion::Kind::missing && request.launcher == "mpirun")
      bad("mpirun was not found: install Open MPI, load its module, or set run.launcher = "
          "\"srun\"");
    const i64 n_cpus = topology::usable_cpus();
    const i64 n_threads = config.worker.backend.n_threads;
    fmt::print("  cores       {} usable here: {} a worker\n", n_cpus,
               n_threads > 0 ? n_threads : std::max<i64>(1, n_cpus / n_workers));
    fmt::print("  command     {}\n", fmt::join(launch_line(request), " "));
  }

  [[nodiscard]] bool has_model() const {
    const std::string key = fmt::format("state.{}.model", loaded_.config.worker.state.name);
    const bool is_refused = std::ranges::any_of(
        loaded_.problems,
        [&](const config::Problem& problem) { return problem.text.starts_with(key); });
    return !loaded_.config.worker.state.model.empty() && !is_refused;
  }

  [[nodiscard]] int conclude() const {
    if (n_problems_ == 0 && n_bad_lines_ == 0) fmt::print("no problems\n");
    if (n_problems_ > 0) fmt::print("{} problems\n", n_problems_);
    if (n_bad_lines_ > 0)
      fmt::print("{} wrong lines: each would become a record in errors.jsonl\n", n_bad_lines_);
    return n_problems_ > 0 ? kConfigWrong : n_bad_lines_ > 0 ? kInputWrong : 0;
  }

  const config::Loaded& loaded_;
  i64 n_problems_ = 0;
  i64 n_bad_lines_ = 0;
  bool is_model_good_ = false;
};

}  // namespace

int check(const CheckFlags& flags) {
  config::Sources sources = sources_of(flags.job);
  add_launch_sources(flags.launch, sources);
  return Check(config::load(sources)).run();
}

}  // namespace sticky::cli
