// The parent of mpirun. It keeps mpirun in a process group of its own, because mpirun answers
// Ctrl-C by killing every rank within seconds; a drain instead goes to rank 0 alone, by SIGUSR1. It
// is a child subreaper: ranks that outlive mpirun become its children, so that they can be found
// and killed without any doubt about whose pid that is.
#include "launcher.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/clock.hpp"
#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/comm/proc.hpp"

#include "launch_line.hpp"
#include "lock_view.hpp"
#include "mpirun_noise.hpp"
#include "progress_line.hpp"
#include "run_files.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include "watched_file.hpp"

namespace sticky::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kTurn{250};
constexpr seconds kKillAfter{4};      // mpirun needs up to that long to end its ranks by itself
constexpr seconds kTeardown{3};       // for the ranks to follow a coordinator that has died,
constexpr seconds kLongTeardown{15};  // and one that has said all it had to
constexpr seconds kLookEvery{1};
constexpr seconds kAfterLastRank{10};  // for mpirun to end when no rank has come to anything
constexpr int kTaken = 1;
constexpr int kEndedEarly = 4;
constexpr int kDidNotStart = 5;
constexpr int kFolderLost = 5;
constexpr int kNotStarted = 127;  // as a shell says it

std::string token_of(const std::optional<LockView>& lock) {
  return lock ? lock->token : "";
}

i64 own_start_ticks() {
  const auto stat = comm::stat_of(getpid());
  return stat ? stat->start_ticks : 0;
}

// Between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const std::vector<char*>& argv, int stdin_fd, int stderr_fd) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // the launcher killed hard: mpirun then ends its ranks
  unblock_all_signals();
  std::signal(SIGPIPE, SIG_DFL);
  if (stdin_fd >= 0) dup2(stdin_fd, STDIN_FILENO);
  dup2(stderr_fd, STDERR_FILENO);
  execvp(argv[0], argv.data());
  _exit(kNotStarted);
}

class Launcher {
 public:
  explicit Launcher(const Launch& launch)
      : launch_(launch),
        signals_({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD}),
        summary_(launch.run_dir, "summary.json"),
        job_(launch.run_dir, "job.json"),
        status_(launch.run_dir, "status.json"),
        token_before_(token_of(lock_of(launch.run_dir))),
        living_(STDERR_FILENO) {}

  int run() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    start();
    while (!has_ended_) {
      wait_for_something();
      while (const auto signal = signals_.next())
        on_signal(*signal);
      reap();
      watch_coordinator();
      keep_ending();
      if (!coordinator_) watch_start();
      drain_if_wanted();
      kill_if_late();
      forward_output();
      if (launch_.draws_line) draw();
    }
    forward_output();
    kill_orphans();
    if (!unfinished_.empty()) print_line(unfinished_ + '\n');
    finish_line();
    living_.clear();
    return exit_code();
  }

 private:
  void start() {
    std::array<int, 2> pipe_ends{-1, -1};
    if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
      fail<SystemError>("pipe: {}", std::strerror(errno));
    // A program in a background process group that reads the terminal would be stopped.
    const int nothing = launch_.reads_stdin ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    std::vector<std::string> words = launch_.line;
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);

    mpirun_ = fork();
    if (mpirun_ == 0) become(argv, nothing, pipe_ends[1]);
    const int fork_error = errno;
    if (nothing >= 0) close(nothing);
    close(pipe_ends[1]);
    output_ = pipe_ends[0];
    fcntl(output_, F_SETFL, O_NONBLOCK);
    if (mpirun_ < 0) fail<SystemError>("cannot start {}: {}", words[0], std::strerror(fork_error));
    setpgid(mpirun_, mpirun_);  // also here: whoever comes first
  }

  void wait_for_something() const {
    std::array<pollfd, 2> fds{{{signals_.fd(), POLLIN, 0}, {output_, POLLIN, 0}}};
    (void)poll(fds.data(), is_output_open_ ? 2 : 1, static_cast<int>(kTurn.count()));
  }

  void on_signal(int signal) {
    if (signal == SIGCHLD) return;
    ++n_stop_signals_;
    if (n_stop_signals_ == 1) {
      say("stopping: what runs is finished, the rest waits for a resume (once more: stop now)");
    } else {
      say("stopping now");
      end_ranks(n_stop_signals_ == 2 ? SIGTERM : SIGKILL);
    }
  }

  // Another launch may hold the folder.
  [[nodiscard]] bool can_be_ours(const LockView& lock) const {
    const bool is_older = lock.is_local && lock.start_ticks < own_start_ticks();
    return lock.token != token_before_ && !is_older;
  }

  void watch_coordinator() {
    if (!coordinator_) {
      const auto lock = lock_of(launch_.run_dir);
      if (!lock || !can_be_ours(*lock)) return;
      coordinator_ = lock;
    }
    if (!coordinator_->is_local || is_holder_alive(*coordinator_)) return;
    if (!coordinator_gone_) coordinator_gone_ = clock_.now();
    const seconds patience = summary_.is_new() ? kLongTeardown : kTeardown;
    if (!kill_at_ && clock_.now() - *coordinator_gone_ >= patience) end_ranks(SIGTERM);
  }

  [[nodiscard]] std::optional<int> code_of_summary() const {
    const auto summary = summary_.is_new() ? read_summary(launch_.run_dir) : std::nullopt;
    if (!summary) return std::nullopt;
    return static_cast<int>(summary->find("exit_code")->as_integer());
  }

  // While it is there: a run that goes on with the folder, as soon as ours is over, removes it.
  void keep_ending() {
    if (!coordinator_ || ending_) return;
    try {
      ending_ = code_of_summary();
    } catch (const FormatError&) {
      // exit_code() tells
    }
  }

  // Of this launch nobody lives any more when this is asked. A coordinator that was seen and holds
  // the folder still is another launch's; one that was seen and has made way for another was ours.
  [[nodiscard]] bool was_folder_taken() const {
    const auto lock = lock_of(launch_.run_dir);
    if (!lock || !lock->is_local || !lock->is_in_use) return false;
    if (coordinator_) return coordinator_->token == lock->token;
    return !can_be_ours(*lock) || !summary_.is_new();
  }

  // Before there is a coordinator nobody else ends ranks that hang.
  void watch_start() {
    if (kill_at_ || clock_.now() < next_look_) return;
    next_look_ = clock_.now() + kLookEvery;
    if (launch_.start_limit && clock_.now() - started_ >= *launch_.start_limit) {
      give_up_start(fmt::format("no coordinator has come to {} in {} s", launch_.run_dir,
                                std::chrono::duration_cast<seconds>(*launch_.start_limit).count()));
      return;
    }
    if (is_rank_here()) {
      last_rank_ = clock_.now();
    } else if (last_rank_ && clock_.now() - *last_rank_ >= kAfterLastRank) {
      give_up_start(starter_of(launch_.line) + " does not end, though its ranks have");
    }
  }

  [[nodiscard]] bool is_rank_here() const {
    const std::string program = comm::own_path();
    return std::ranges::any_of(comm::living_children_of(mpirun_),
                               [&](pid_t child) { return comm::program_of(child) == program; });
  }

  void give_up_start(const std::string& why) {
    say(fmt::format("{}: ending it. Nothing was done yet: start it again", why));
    end_ranks(SIGTERM);
  }

  void end_ranks(int signal) {
    kill(-mpirun_, signal);
    if (!kill_at_) kill_at_ = clock_.now() + kKillAfter;
  }

  // The coordinator may not stand yet when the user has already changed their mind: asked again at
  // every turn until it does.
  void drain_if_wanted() {
    if (n_stop_signals_ == 0 || is_drain_sent_ || !coordinator_) return;
    is_drain_sent_ = kill(coordinator_->is_local ? coordinator_->pid : mpirun_, SIGUSR1) == 0;
  }

  void kill_if_late() {
    if (kill_at_ && clock_.now() >= *kill_at_) kill(-mpirun_, SIGKILL);
  }

  void reap() {
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
      if (pid != mpirun_) continue;
      has_ended_ = true;
      was_not_started_ = WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted;
      if (WIFSIGNALED(status) && !kill_at_) killed_by_ = WTERMSIG(status);
    }
  }

  void draw() {
    if (clock_.now() < next_draw_) return;
    next_draw_ = clock_.now() + seconds(1);
    if (const std::string line = progress(); !line.empty() && !is_line_finished_)
      living_.show(line);
  }

  // Of this launch; empty: nothing to tell yet.
  std::string progress() {
    if (!status_.is_new()) return "";  // that of an earlier run
    const auto status = read_status(launch_.run_dir);
    const auto view = status ? view_of(*status) : std::nullopt;
    return view ? progress_line(*view, rates_.update(*view)) : "";
  }

  // What was drawn last is older than the summary that comes now: the final counts stay above it.
  void finish_line() {
    if (!launch_.draws_line || is_line_finished_ || !summary_.is_new()) return;
    is_line_finished_ = true;
    living_.clear();
    if (const std::string line = progress(); !line.empty()) say(line);
  }

  void forward_output() {
    std::array<char, 4096> chunk{};
    while (is_output_open_) {
      const ssize_t n = read(output_, chunk.data(), chunk.size());
      if (n < 0) return;
      is_output_open_ = n > 0;
      unfinished_.append(chunk.data(), static_cast<std::size_t>(n));
      std::size_t begin = 0;
      for (auto end = unfinished_.find('\n'); end != std::string::npos;
           end = unfinished_.find('\n', begin)) {
        print_line(unfinished_.substr(begin, end + 1 - begin));
        begin = end + 1;
      }
      unfinished_.erase(0, begin);
    }
  }

  // Noise is for run.log alone, where there is one.
  void print_line(const std::string& line) {
    if (is_mpirun_noise(line) && append_to_log(launch_.run_dir, line)) return;
    finish_line();
    living_.print_above(line);
  }

  void kill_orphans() {
    const TimePoint give_up = clock_.now() + seconds(5);
    while (clock_.now() < give_up) {
      for (const pid_t child : comm::children_of(getpid()))
        kill(child, SIGKILL);
      if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
    }
  }

  [[nodiscard]] int exit_code() const {
    if (was_not_started_) {
      complain(fmt::format("cannot start '{}': is it installed, and in PATH?",
                           starter_of(launch_.line)));
      return 1;
    }
    if (was_folder_taken()) {
      complain(fmt::format("another run took {} at the same moment: this one did nothing",
                           launch_.run_dir));
      return kTaken;
    }
    if (const auto code = ending_ ? ending_ : code_of_summary()) return *code;
    if (coordinator_ && !std::filesystem::exists(launch_.run_dir)) {
      complain(fmt::format("{} was moved or removed while the run went on, which ended it",
                           launch_.run_dir));
      return kFolderLost;
    }
    if (job_.is_new() || coordinator_) {
      complain(
          fmt::format("the run ended without a summary; what was answered is kept. Go on with: {}",
                      resume_line(launch_.run_dir)));
      return kEndedEarly;
    }
    if (n_stop_signals_ > 0) {
      complain("stopped before the run began");
      return kEndedEarly;
    }
    complain("the run did not start: " +
             (killed_by_ == 0
                  ? "the reason stands above"
                  : fmt::format("{} was ended by signal {} ({})", starter_of(launch_.line),
                                killed_by_, strsignal(killed_by_))));
    return kDidNotStart;
  }

  static void complain(const std::string& text) { tell("error: {}\n", text); }
  void say(const std::string& text) { living_.print_above(text + "\n"); }

  const Launch& launch_;
  SignalQueue signals_;
  SteadyClock clock_;
  TimePoint started_ = clock_.now();
  TimePoint next_look_{};
  std::optional<TimePoint> last_rank_;  // when one was last alive here
  WatchedFile summary_;
  WatchedFile job_;  // written as soon as the folder is the coordinator's
  WatchedFile status_;
  std::string token_before_;
  std::optional<LockView> coordinator_;
  std::optional<TimePoint> coordinator_gone_;
  std::optional<int> ending_;  // the exit code of our summary
  LivingLine living_;
  RateMeter rates_;
  TimePoint next_draw_{};
  bool is_line_finished_ = false;
  pid_t mpirun_ = -1;
  int output_ = -1;  // what mpirun writes to standard error
  bool is_output_open_ = true;
  std::string unfinished_;  // of its last line
  int n_stop_signals_ = 0;
  bool is_drain_sent_ = false;
  bool has_ended_ = false;
  bool was_not_started_ = false;
  int killed_by_ = 0;  // a signal that ended mpirun, and was not ours
  std::optional<TimePoint> kill_at_;
};

}  // namespace

int launch(const Launch& launch) {
  return Launcher(launch).run();
}

}  // namespace sticky::cli
