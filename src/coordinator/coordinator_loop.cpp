#include "sticky/coordinator/coordinator_loop.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "sticky/base/log.hpp"
#include "sticky/coordinator/coordinator.hpp"
#include "sticky/coordinator/periodic.hpp"
#include "sticky/coordinator/signs_of_life.hpp"
#include "sticky/coordinator/timeline.hpp"
#include "sticky/protocol/transport.hpp"

namespace sticky::coordinator {

namespace {

using namespace std::chrono_literals;

constexpr Duration kStatusInterval = 1s;
constexpr Duration kLockInterval = 10s;
constexpr Duration kProgressInterval = 500ms;
// How long a turn listens when nothing is to be done: what the reader thread brings waits as long.
constexpr Duration kPatience = 2ms;
constexpr Duration kFarewellTime = 2s;
constexpr Duration kEndTime = 4s;

// Writes status.json and renews the lock, on a thread of its own: a slow file system must stop no
// dispatch.
class Scribe {
 public:
  Scribe(io::RunFolder& folder, const Clock& clock)
      : folder_(folder),
        clock_(clock),
        next_beat_(clock.now() + kLockInterval),
        periodic_(kStatusInterval, [this] { write(); }) {}

  void set_status(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  [[nodiscard]] bool has_lost_lock() const { return has_lost_lock_; }

 private:
  void write() {
    if (has_lost_lock_) return;
    try {
      if (clock_.now() >= next_beat_) {
        next_beat_ = clock_.now() + kLockInterval;
        if (!folder_.beat()) {
          has_lost_lock_ = true;
          return;
        }
      }
      std::string text;
      {
        const std::lock_guard lock(mutex_);
        text = std::exchange(text_, {});
      }
      if (!text.empty()) folder_.write_file("status.json", text);
      has_warned_ = false;
    } catch (const Error& e) {
      // The results decide whether the run can go on; its status is only for people.
      if (!std::exchange(has_warned_, true)) log::warning("status.json: {}", e.what());
    }
  }

  io::RunFolder& folder_;
  const Clock& clock_;
  TimePoint next_beat_;
  bool has_warned_ = false;
  std::atomic<bool> has_lost_lock_ = false;
  std::mutex mutex_;
  std::string text_;
  Periodic periodic_;  // last: its thread uses all of the above
};

// The records stand already.
void write_for_people(io::RunFolder& folder, const char* name, const Json& content) {
  try {
    folder.write_file(name, content.dump_pretty() + "\n");
  } catch (const Error& e) {
    log::warning("{}: {}", name, e.what());
  }
}

// The farewells must be on their way before this process ends. Without MPI_Finalize the workers end
// by themselves, and whoever is stuck even now is killed.
void see_off(Coordinator& coordinator, const Surroundings& around, bool is_end_awaited) {
  const TimePoint begin = around.clock.now();
  const auto is_anything_unsent = [&] {
    for (const protocol::PeerId peer : around.transport.peers())
      if (around.transport.unsent_bytes(peer) > 0) return true;
    return false;
  };
  while (is_anything_unsent() && around.clock.now() < begin + kFarewellTime)
    (void)around.transport.poll(kPatience);
  if (!is_end_awaited) return;
  while (!coordinator.has_everyone_ended() && around.clock.now() < begin + kEndTime)
    (void)around.transport.poll(kPatience);
  coordinator.kill_stragglers();
}

void run_turns(Coordinator& coordinator, Scribe& scribe, const Surroundings& around) {
  TimePoint next_progress = around.clock.now();
  TimePoint next_status = next_progress;
  while (coordinator.turn(kPatience)) {
    if (scribe.has_lost_lock()) coordinator.lose_lock();
    const TimePoint now = around.clock.now();
    if (now < next_progress) continue;
    next_progress = now + kProgressInterval;
    const Progress progress = coordinator.progress();
    around.on_progress(progress);
    if (now >= next_status) {
      next_status = now + kStatusInterval;
      scribe.set_status(to_json(progress).dump_pretty() + "\n");
    }
  }
}

}  // namespace

RunOutcome run_coordinator(const Options& options, Work work, const Surroundings& around) {
  Coordinator::Texts texts{.worker_options_json = std::move(work.worker_options_json),
                           .state_name = std::move(work.state_name),
                           .input_bytes_total = work.input->bytes_total(),
                           .n_results_before = work.done ? work.done->n_results() : 0,
                           .n_errors_before = work.done ? work.done->n_errors() : 0};
  const auto feed = read_ahead(std::move(work.input), std::move(work.done), std::move(work.serves));
  const WorkerBeats beats(around.transport);
  RunOutcome outcome;
  {
    Scribe scribe(around.folder, around.clock);
    Coordinator coordinator(options, std::move(texts), *feed, around);
    run_turns(coordinator, scribe, around);
    outcome = coordinator.finish();
    see_off(coordinator, around, !outcome.may_finalize);
  }
  around.on_progress(outcome.last);
  if (outcome.ending != Ending::lock_lost) {
    write_for_people(around.folder, "status.json", to_json(outcome.last));
    write_for_people(around.folder, "timeline.json", timeline_json(outcome.last));
  }
  return outcome;
}

}  // namespace sticky::coordinator
