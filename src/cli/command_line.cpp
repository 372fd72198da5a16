// The only file that includes CLI11, whose headers take longer to compile than all commands
// together.
#include "command_line.hpp"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/config/reference.hpp"

#include "rank.hpp"
#include "version.hpp"
#include "wiring.hpp"

namespace sticky::cli {
namespace {

constexpr int kUsage = 1;
constexpr const char* kRetryFlag = "--retry-errors";

constexpr const char* kRunFooter =
    "Started alone, it starts a coordinator and its workers with mpirun, turns Ctrl-C into an\n"
    "orderly stop (a second one: now) and returns the run's exit code:\n"
    "  0 all answered   1 usage or configuration   2 input refused   3 some requests failed\n"
    "  4 stopped early, `stickyinvoc resume RUN_DIR` goes on   5 fatal\n"
    "Under mpirun or srun it is one rank; then the truth is exit_code in RUN_DIR/summary.json.\n\n"
    "Examples:\n"
    "  stickyinvoc run job.toml --workers 2\n"
    "  stickyinvoc run -i prompts.jsonl --model smollm2.gguf --set sampling.max_tokens=64\n"
    "  mpirun -n 5 stickyinvoc run job.toml -o runs/five\n"
    "  stickyinvoc run --model smollm2.gguf --prompt \"Name three rivers.\"";
constexpr const char* kResumeFooter =
    "The configuration is that of the run (RUN_DIR/job.json); the number of workers may differ.\n"
    "Requests that changed since are answered anew. Exit codes: as `stickyinvoc run`.";
constexpr const char* kCheckFooter =
    "Checks the configuration, the model's files, every input line and MPI; counts tokens and "
    "tells\n"
    "what memory a worker needs. Loads no weights and starts nothing.\n"
    "Exit code 0 no problems, 1 configuration or model, 2 only input lines.";
constexpr const char* kRenderFooter =
    "Needs the model's tokenizer files only: config.json and weights may be missing.\n"
    "Exit code 0 when every line rendered, else 3.\n\n"
    "Example: stickyinvoc render job.toml --line 1";

constexpr const char* kResizeFooter =
    "Works on a run that goes on, from any machine that sees its folder, as the user who started "
    "it.\n"
    "Waits until the run has said what it makes of the order.\n"
    "Exit code 0 accepted, 1 refused, or no run is at work there.\n\n"
    "Examples:\n"
    "  stickyinvoc resize runs/five --workers 8\n"
    "  stickyinvoc resize runs/five --add node7:4 --drain node3";

// An empty value is most often an unset variable of a script: it must not stand for the default.
CLI::Validator not_empty(const std::string& key) {
  return {[key](const std::string& value) { return value.empty() ? key + " is empty" : ""; }, ""};
}

// Each flag takes one value, so that a job file may follow it; again for more.
void add_list(CLI::App& command,
              const char* names,
              const char* type,
              std::vector<std::string>& values,
              const char* help,
              const char* key) {
  command.add_option(names, values, help)
      ->type_name(type)
      ->check(not_empty(key))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_set(CLI::App& command, std::vector<std::string>& sets) {
  add_list(command, "--set", "a.b.c=VALUE", sets,
           "Any key of a job file (docs/configuration.md); again for more", "a.b.c=VALUE");
}

void add_job_flags(CLI::App& command, JobFlags& flags) {
  command.add_option("job", flags.job_file, "Job file; not needed when flags say enough")
      ->type_name("JOB.toml")
      ->check(not_empty("the job file"));
  add_list(command, "-i,--input", "FILE", flags.inputs,
           "Input file (JSON Lines), - is standard input; again for more", "input.files");
  command.add_option("--model", flags.model, "Model folder or .gguf file")
      ->type_name("PATH")
      ->check(not_empty("the model"));
  add_set(command, flags.sets);
}

void add_run_dir(CLI::App& command, std::string& run_dir) {
  command.add_option("run_dir", run_dir, "Folder of the run")
      ->type_name("RUN_DIR")
      ->required()
      ->check(not_empty("RUN_DIR"));
}

void add_worker_flags(CLI::App& command, LaunchFlags& flags) {
  command
      .add_option("--workers", flags.n_workers,
                  "Workers to start beside the coordinator (default: one)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  command.add_option("--launcher", flags.launcher, "What starts the ranks (default: mpirun)")
      ->check(CLI::IsMember({"mpirun", "srun"}).description(""))
      ->type_name("mpirun|srun");
}

void add_launch_flags(CLI::App& command, LaunchFlags& flags) {
  add_worker_flags(command, flags);
  command.add_flag("--print-launch", flags.is_print_only,
                   "Print the command that would start the ranks, and do nothing");
  command.add_flag("--no-progress", flags.is_quiet, "No progress lines");
}

// The flags of a command live as long as the action that is made of them.
template <class Flags, class Command>
void act_on(CLI::App& command, std::shared_ptr<Flags> flags, Wish& wish, Command what) {
  command.callback([flags, what, &wish] { wish.action = [flags, what] { return what(*flags); }; });
}

void add_run(CLI::App& app, const Invoked& invoked, Wish& wish) {
  const auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "Answer a file of requests");
  add_job_flags(*command, flags->job);
  command->add_option("-o,--output", flags->run_dir, "Run folder (default: runs/<job>-<UTC time>)")
      ->type_name("RUN_DIR")
      ->check(not_empty("output.dir"));
  command->add_flag("--resume", flags->is_resume,
                    "Go on with the run that the folder holds, if it holds one");
  command->add_option("--prompt", flags->prompt, "Answer this one prompt on the terminal instead")
      ->type_name("TEXT")
      ->check(not_empty("the prompt"));
  add_launch_flags(*command, flags->launch);
  command->footer(kRunFooter);
  act_on(*command, flags, wish, [&invoked](const RunFlags& f) { return run(invoked, f); });
}

void add_resume(CLI::App& app, const Invoked& invoked, Wish& wish) {
  const auto flags = std::make_shared<ResumeFlags>();
  CLI::App* command = app.add_subcommand("resume", "Do what is missing of an earlier run");
  add_run_dir(*command, flags->run_dir);
  command->add_flag(fmt::format("{}{{{}}}", kRetryFlag, kRetryAll), flags->retry,
                    "Try requests again that failed; --retry-errors=CODE: with that code only");
  add_set(*command, flags->sets);
  add_launch_flags(*command, flags->launch);
  command->footer(kResumeFooter);
  act_on(*command, flags, wish, [&invoked](const ResumeFlags& f) { return resume(invoked, f); });
}

void add_check(CLI::App& app, Wish& wish) {
  const auto flags = std::make_shared<CheckFlags>();
  CLI::App* command =
      app.add_subcommand("check", "Find everything that is wrong with a job, without running it");
  add_job_flags(*command, flags->job);
  add_worker_flags(*command, flags->launch);
  command->footer(kCheckFooter);
  act_on(*command, flags, wish, check);
}

void add_render(CLI::App& app, Wish& wish) {
  const auto flags = std::make_shared<RenderFlags>();
  CLI::App* command =
      app.add_subcommand("render", "Print the exact prompt text and token ids of requests");
  add_job_flags(*command, flags->job);
  auto* line =
      command->add_option("--line", flags->line, "The request on this line of the input, from 1")
          ->type_name("N")
          ->check(CLI::Range(i64{1}, i64{1} << 53).description(""));
  auto* all = command->add_flag("--all", flags->is_all, "Every request")->excludes(line);
  command->add_flag(
      "--json", flags->is_json,
      "One line a request: {\"id\",\"text\",\"token_ids\"} or {\"id\",\"line\",\"error\"}");
  command->footer(kRenderFooter);
  command->callback([line, all, flags, &wish] {
    if (line->count() + all->count() == 0) throw CLI::RequiredError("one of --line N and --all");
    wish.action = [flags] { return render(*flags); };
  });
}

void add_inspect(CLI::App& app, Wish& wish) {
  const auto model = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("inspect", "Tell what a model holds and whether it can run");
  command->add_option("model", *model, "Model folder or .gguf file")
      ->type_name("MODEL")
      ->required()
      ->check(not_empty("MODEL"));
  command->footer("Exit code 0 when it can run on this machine, else 1.");
  act_on(*command, model, wish, inspect);
}

void add_status(CLI::App& app, Wish& wish) {
  const auto flags = std::make_shared<StatusFlags>();
  CLI::App* command = app.add_subcommand("status", "Tell how a run is getting on, or how it ended");
  add_run_dir(*command, flags->run_dir);
  command->add_flag("--watch", flags->is_watching, "Stay until the run has ended");
  command->add_flag("--exit-code", flags->gives_exit_code,
                    "End with the run's own exit code; 4 while it has none");
  command->footer("Reads the files of the run folder only, from any machine that sees them.");
  command->callback([flags, &wish] {
    wish.action = [flags] { return status(*flags); };
    wish.is_code_the_answer = flags->gives_exit_code;
  });
}

// What a coordinator starts; no command for people.
void add_worker(CLI::App& app, const Invoked& invoked, Wish& wish) {
  const auto flags = std::make_shared<WorkerFlags>();
  CLI::App* command = app.add_subcommand(kWorkerCommand)->group("");
  command->add_option("--place", flags->place);
  command->add_option("--workers", flags->n_workers);
  command->add_flag("--elsewhere", flags->is_elsewhere);
  act_on(*command, flags, wish,
         [&invoked](const WorkerFlags& f) { return run_spawned(invoked, f); });
}

void add_resize(CLI::App& app, Wish& wish) {
  const auto flags = std::make_shared<ResizeFlags>();
  CLI::App* command =
      app.add_subcommand("resize", "Give a running run more workers, or fewer, or other hosts");
  add_run_dir(*command, flags->run_dir);
  auto* workers =
      command->add_option("--workers", flags->n_workers, "The run is to have this many workers")
          ->type_name("N")
          ->check(CLI::Range(1, 1'000'000).description(""));
  add_list(*command, "--add", "HOST[:SLOTS]", flags->adds,
           "More workers, on this host (default: one); again for more", "HOST");
  add_list(*command, "--drain", "HOST", flags->drains,
           "The workers of this host finish what they do and leave; again for more", "HOST");
  for (const char* other : {"--add", "--drain"})
    workers->excludes(command->get_option(other));
  command->footer(kResizeFooter);
  command->callback([workers, flags, &wish] {
    if (workers->count() == 0 && flags->adds.empty() && flags->drains.empty())
      throw CLI::RequiredError("one of --workers N, --add HOST and --drain HOST");
    wish.action = [flags] { return resize(*flags); };
  });
}

void add_printing_flag(
    CLI::App& app, const char* name, const char* help, Wish& wish, std::string (*text)()) {
  app.add_flag_callback(
      name,
      [&wish, text] {
        wish.action = [text] {
          fmt::print("{}", text());
          return 0;
        };
      },
      help);
}

// CLI11 takes `--flag=` for `--flag`, and `--option= next` for `--option next`.
void refuse_missing_values(const Invoked& invoked) {
  for (int i = 1; i < invoked.argc; ++i) {
    const std::string_view word = invoked.argv[i];
    if (word == "--") return;
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    const std::string_view name = word.substr(0, word.size() - 1);
    if (name == kRetryFlag)
      fail<ConfigError>(
          "{} is empty: {} alone tries all again that failed, {}=CODE those with that error code, "
          "such as worker_lost",
          word, name, name);
    fail<ConfigError>("{} is empty: a value is expected behind it, if anything", word);
  }
}

}  // namespace

Wish read_command_line(const Invoked& invoked) {
  refuse_missing_values(invoked);
  Wish wish;
  CLI::App app("Batch inference over MPI with a transformer that is loaded once", "stickyinvoc");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(36);
  add_printing_flag(app, "--version", "Print version, MPI and CPU", wish, version_text);
  add_printing_flag(app, "--print-config-reference",
                    "Print docs/configuration.md: every key of a job file", wish,
                    config::reference);
  add_run(app, invoked, wish);
  add_resume(app, invoked, wish);
  add_check(app, wish);
  add_render(app, wish);
  add_inspect(app, wish);
  add_status(app, wish);
  add_resize(app, wish);
  add_worker(app, invoked, wish);
  try {
    app.parse(invoked.argc, invoked.argv);
  } catch (const CLI::ParseError& error) {
    return {.action = {}, .exit_code = app.exit(error) == 0 ? 0 : kUsage};
  }
  if (wish.action == nullptr) {
    tell("{}", app.help());
    wish.exit_code = kUsage;
  }
  return wish;
}

}  // namespace sticky::cli
