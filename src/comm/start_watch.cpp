#include "start_watch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "sticky/comm/proc.hpp"

namespace sticky::comm {

namespace {

using namespace std::chrono_literals;

constexpr Duration kTurn = 500ms;

// Under a wrapper script the parent is the script, whose children say nothing of other ranks.
bool is_daemon(pid_t pid) {
  constexpr std::array<std::string_view, 6> kDaemons{"orterun", "orted",  "prterun",
                                                     "prted",   "mpirun", "mpiexec"};
  const std::string name = std::filesystem::path(program_of(pid)).filename().string();
  return std::ranges::find(kDaemons, name) != kDaemons.end();
}

StartView look_around() {
  const pid_t parent = ::getppid();
  const std::string self = own_path();
  StartView view{.ranks = {}, .n_children = -1};
  const auto children = living_children_of(parent);
  if (is_daemon(parent)) view.n_children = static_cast<i64>(children.size());
  for (const pid_t child : children)
    if (child != ::getpid() && program_of(child) == self) view.ranks.insert(child);
  return view;
}

i64 n_ranks_here() {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  i64 n = 0;
  if (text != nullptr) {
    const std::string_view digits(text);
    std::from_chars(digits.data(), digits.data() + digits.size(), n);
  }
  return n;
}

}  // namespace

std::optional<std::string> StartJudge::judge(Duration elapsed, const StartView& view) {
  const bool is_alone = n_expected_ == 1;  // spawned: who else is here does not matter
  if (!is_alone) seen_.insert(view.ranks.begin(), view.ranks.end());
  if (!is_alone && !gone_since_ && seen_.size() > view.ranks.size()) gone_since_ = elapsed;
  if (view.n_children > n_children_) {
    n_children_ = view.n_children;
    last_new_child_ = elapsed;
  }
  if (gone_since_ && elapsed - *gone_since_ >= limits_.gone)
    return "another rank of this node ended before MPI had started";
  if (view.n_children >= 0 && view.n_children < n_expected_ &&
      elapsed - last_new_child_ >= limits_.unseen)
    return fmt::format("only {} of this node's {} ranks are alive", view.n_children, n_expected_);
  if (elapsed >= limits_.whole)
    return fmt::format(
        "MPI has not started within {} s: a rank has died, hangs, or was never there",
        std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
  return std::nullopt;
}

StartWatch::StartWatch(std::function<void(const std::string& why)> give_up)
    : give_up_(std::move(give_up)),
      thread_([this] { watch(); }) {}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StartWatch::watch() {
  const SteadyClock clock;
  const TimePoint start = clock.now();
  StartJudge judge(n_ranks_here());
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    lock.unlock();
    const auto why = judge.judge(clock.now() - start, look_around());
    lock.lock();
    if (is_over_) return;
    if (why) {
      give_up_(*why);
      return;
    }
    changed_.wait_for(lock, kTurn, [this] { return is_over_; });
  }
}

}  // namespace sticky::comm
