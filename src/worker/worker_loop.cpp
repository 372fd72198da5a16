#include "sticky/worker/worker_loop.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "sticky/base/error.hpp"
#include "sticky/base/json.hpp"
#include "sticky/protocol/codec.hpp"

#include "heartbeat.hpp"

namespace sticky::worker {

namespace {

using namespace std::chrono_literals;
using protocol::kCoordinator;
using Reason = protocol::HandBack::Reason;

// How long a worker without work listens before it looks at its other duties.
constexpr Duration kIdlePatience = 20ms;
// A signal reaches all ranks of a launch at once; the coordinator's word is better than our own.
constexpr Duration kWordPatience = 5s;
// For the coordinator's farewell, when it says nothing at all any more.
constexpr Duration kFarewellPatience = 10s;
constexpr Duration kFlushPatience = 2s;

class WorkerLoop {
 public:
  explicit WorkerLoop(const Surroundings& around) : around_(around) {}
  WorkerEnd run();

 private:
  enum class Leaving { no, after_work, now };

  void live();
  void fail(std::string reason);
  void listen(Duration patience);
  void hear(protocol::Message& message);
  void create_state(const protocol::Welcome& welcome);
  void work();
  void send_results(std::vector<protocol::Result> results);
  void refuse(const protocol::RunInvocations& work);
  void take_back(const protocol::TakeBack& wish);
  void hand_everything_back();
  void send_back(Reason reason, std::vector<protocol::Unfinished> unfinished);
  void look_for_signal();
  void leave();
  void flush();
  void send(const protocol::Message& message) { around_.transport.send(kCoordinator, message); }
  [[nodiscard]] bool is_at_work() const { return !is_over_ && leaving_ != Leaving::now; }

  const Surroundings& around_;
  Vitals vitals_;
  std::unique_ptr<Service> service_;
  std::optional<Heartbeat> heartbeat_;
  std::optional<protocol::Welcome> welcome_;  // came, and the state is not yet created
  Leaving leaving_ = Leaving::no;
  std::optional<TimePoint> asked_at_;  // when a signal asked this process to end
  bool has_announced_leave_ = false;   // the coordinator knows that we leave of our own will
  bool is_over_ = false;               // nothing more can be done
  std::optional<protocol::Farewell> farewell_;
  WorkerEnd end_;
};

WorkerEnd WorkerLoop::run() {
  heartbeat_.emplace(around_, vitals_);
  send(protocol::Hello{.host = around_.self.host,
                       .pid = around_.self.pid,
                       .start_ticks = around_.self.start_ticks,
                       .pid_namespace = around_.self.pid_namespace,
                       .device = around_.device});
  try {
    live();
  } catch (const std::exception& e) {
    fail(e.what());
  }
  heartbeat_.reset();
  flush();
  return end_;
}

void WorkerLoop::live() {
  while (is_at_work()) {
    const bool is_idle = vitals_.n_held == 0;
    listen(is_idle ? kIdlePatience : Duration{});
    look_for_signal();
    if (welcome_ && is_at_work()) create_state(*std::exchange(welcome_, std::nullopt));
    if (is_at_work()) work();
    if (leaving_ == Leaving::after_work && vitals_.n_held == 0) break;
  }
  if (!is_over_) leave();
}

// The state is of no use any more. What is held goes back with this word.
void WorkerLoop::fail(std::string reason) {
  is_over_ = end_.has_failed = true;
  end_.reason = std::move(reason);
  send(protocol::StateFailed{end_.reason});
}

// The process is about to end: what was said last must be on its way.
void WorkerLoop::flush() {
  const TimePoint give_up = around_.clock.now() + kFlushPatience;
  while (around_.transport.unsent_bytes(kCoordinator) > 0 && around_.clock.now() < give_up)
    (void)around_.transport.poll(kIdlePatience);
}

void WorkerLoop::listen(Duration patience) {
  for (protocol::Incoming& incoming : around_.transport.poll(patience)) {
    if (auto* arrived = std::get_if<protocol::Arrived>(&incoming)) {
      hear(arrived->message);
    } else {
      is_over_ = true;
      end_.reason =
          "the link to the coordinator is lost: " + std::get<protocol::PeerLost>(incoming).reason;
    }
  }
}

void WorkerLoop::hear(protocol::Message& message) {
  if (auto* work = std::get_if<protocol::RunInvocations>(&message)) {
    if (!service_ || leaving_ != Leaving::no) {
      refuse(*work);
      return;
    }
    for (protocol::Invocation& invocation : work->invocations) {
      service_->submit(std::move(invocation));
      vitals_.n_steps = service_->n_steps();
    }
    vitals_.n_held = service_->n_held();
  } else if (auto* welcome = std::get_if<protocol::Welcome>(&message)) {
    if (!service_) welcome_ = std::move(*welcome);
  } else if (const auto* leave = std::get_if<protocol::Leave>(&message)) {
    if (leave->now)
      leaving_ = Leaving::now;
    else if (leaving_ == Leaving::no)
      leaving_ = Leaving::after_work;
    end_.reason = "the coordinator said so";
  } else if (const auto* wish = std::get_if<protocol::TakeBack>(&message)) {
    take_back(*wish);
  } else if (const auto* fence = std::get_if<protocol::Fence>(&message)) {
    protocol::ProcessName process = around_.self;
    process.pid = fence->pid;
    process.start_ticks = fence->start_ticks;
    (void)around_.processes.kill(process);
  } else if (const auto* farewell = std::get_if<protocol::Farewell>(&message)) {
    farewell_ = *farewell;
  }
}

void WorkerLoop::create_state(const protocol::Welcome& welcome) {
  const TimePoint begin = around_.clock.now();
  try {
    const Options options = options_from_json(Json::parse(welcome.options_json));
    heartbeat_->set_orphan_timeout(std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(options.orphan_timeout_seconds)));
    vitals_.is_loading = true;
    auto service = around_.make_service(options, welcome.worker);
    service->load();
    vitals_.is_loading = false;
    service_ = std::move(service);
  } catch (const std::exception& e) {
    fail(e.what());
    return;
  }
  const Duration took = around_.clock.now() - begin;
  send(protocol::StateReady{.slots = service_->slots(),
                            .arithmetic = service_->arithmetic(),
                            .load_seconds = std::chrono::duration<double>(took).count(),
                            .description = service_->description()});
}

void WorkerLoop::work() {
  if (!service_ || vitals_.n_held == 0) return;
  try {
    send_results(service_->step());
    vitals_.n_steps = service_->n_steps();
    vitals_.n_held = service_->n_held();
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

// All that a step finished, in one message unless it grows too large.
void WorkerLoop::send_results(std::vector<protocol::Result> results) {
  protocol::Results message;
  i64 n_bytes = 0;
  for (protocol::Result& result : results) {
    if (n_bytes >= protocol::kBatchBytes) {
      send(std::exchange(message, {}));
      n_bytes = 0;
    }
    n_bytes += static_cast<i64>(result.record.size());
    message.results.push_back(std::move(result));
  }
  if (!message.results.empty()) send(message);
}

void WorkerLoop::look_for_signal() {
  if (!around_.is_asked_to_leave() || leaving_ != Leaving::no) return;
  const TimePoint now = around_.clock.now();
  if (!asked_at_) asked_at_ = now;
  if (now - *asked_at_ < kWordPatience) return;
  leaving_ = Leaving::after_work;
  end_.reason = "a signal asked this process to end";
  // Tells the coordinator to send nothing more.
  send(protocol::HandBack{});
}

void WorkerLoop::refuse(const protocol::RunInvocations& work) {
  protocol::HandBack back{.reason = Reason::refused, .arithmetic = {}, .invocations = {}};
  for (const protocol::Invocation& invocation : work.invocations)
    back.invocations.push_back({invocation.id, {}});
  send(back);
}

void WorkerLoop::take_back(const protocol::TakeBack& wish) {
  std::vector<protocol::Unfinished> unstarted;
  if (service_) {
    unstarted = service_->take_back(wish.ids);
    vitals_.n_held = service_->n_held();
  }
  send_back(Reason::taken_back, std::move(unstarted));
}

// In one message unless it grows too large, and in one even if there is nothing to give.
void WorkerLoop::send_back(Reason reason, std::vector<protocol::Unfinished> unfinished) {
  protocol::HandBack message{
      .reason = reason, .arithmetic = service_ ? service_->arithmetic() : "", .invocations = {}};
  i64 n_bytes = 0;
  for (protocol::Unfinished& one : unfinished) {
    if (n_bytes >= protocol::kBatchBytes) {
      send(message);
      message.invocations.clear();
      n_bytes = 0;
    }
    n_bytes += static_cast<i64>(sizeof one);
    for (const std::vector<i32>& answer : one.answers)
      n_bytes += static_cast<i64>(sizeof answer + answer.size() * sizeof(i32));
    message.invocations.push_back(std::move(one));
  }
  send(message);
}

void WorkerLoop::hand_everything_back() {
  if (!service_) return;
  try {
    std::vector<protocol::Unfinished> unfinished = service_->hand_back();
    send_results(service_->step());  // what had ended already
    if (!unfinished.empty()) send_back(Reason::leaving, std::move(unfinished));
  } catch (const std::exception& e) {
    end_.reason = e.what();  // Bye gives everything back as well
  }
}

// The last words, then the coordinator's: it knows whether everybody is there to finalize with.
void WorkerLoop::leave() {
  if (leaving_ == Leaving::now) hand_everything_back();
  send(protocol::Bye{end_.reason});
  i64 n_arrived = around_.transport.n_arrived(kCoordinator);
  TimePoint give_up = around_.clock.now() + kFarewellPatience;
  while (!farewell_ && !is_over_ && around_.clock.now() < give_up) {
    listen(kIdlePatience);
    // It beats: other workers are still leaving.
    if (const i64 n = around_.transport.n_arrived(kCoordinator); n != n_arrived) {
      n_arrived = n;
      give_up = around_.clock.now() + kFarewellPatience;
    }
  }
  end_.may_finalize = farewell_ && farewell_->may_finalize;
}

}  // namespace

WorkerEnd run_worker(const Surroundings& surroundings) {
  try {
    return WorkerLoop(surroundings).run();
  } catch (const std::exception& e) {
    return {.reason = e.what(), .may_finalize = false, .has_failed = true};
  }
}

}  // namespace sticky::worker
