#include "sticky/coordinator/coordinator.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sticky/base/counted.hpp"
#include "sticky/base/log.hpp"
#include "sticky/protocol/codec.hpp"

namespace sticky::coordinator {

namespace {

using namespace std::chrono_literals;
using protocol::PeerId;

constexpr Duration kTick = 100ms;
constexpr const char* kLockLost =
    "another coordinator has taken the run folder, or it was moved or removed";
// Results that wait to be written: above the first nothing is dispatched, below the second again.
constexpr i64 kJournalHigh = 65536;
constexpr i64 kJournalLow = kJournalHigh / 2;
constexpr i64 kJournalHighBytes = 256 << 20;
constexpr i64 kJournalLowBytes = kJournalHighBytes / 2;

PeerId peer_of(WorkerId worker) {
  return {worker.value};
}
WorkerId worker_of(PeerId peer) {
  return {peer.value};
}

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

}  // namespace

Coordinator::Coordinator(const Options& options,
                         Texts texts,
                         LineFeed& feed,
                         const Surroundings& surroundings)
    : options_(options),
      texts_(std::move(texts)),
      feed_(feed),
      around_(surroundings),
      start_(surroundings.clock.now()),
      now_(start_),
      next_tick_(start_ + kTick),
      next_decision_(start_),
      reactor_(options, start_),
      workforce_(around_.doors, static_cast<i64>(around_.transport.peers().size())) {
  counts_.n_results_before = texts_.n_results_before;
  counts_.n_errors_before = texts_.n_errors_before;
  for (const PeerId peer : around_.transport.peers()) {
    (void)known(worker_of(peer));
    workforce_.add_initial(worker_of(peer), now_);
    tell(WorkerExpected{worker_of(peer)});
  }
  mind_workforce();
}

bool Coordinator::turn(Duration patience) {
  now_ = std::max(now_, around_.clock.now());
  const bool has_read = read_input();
  listen(has_read ? Duration{} : patience);
  now_ = std::max(now_, around_.clock.now());
  if (now_ >= next_tick_) look_around();
  act(reactor_.dispatch(now_));
  return reactor_.phase() != Reactor::Phase::ended;
}

void Coordinator::tell(What what) {
  act(reactor_.on(std::move(what), now_));
}

// Whether anything came, so that there may be more at once.
bool Coordinator::read_input() {
  if (!reactor_.wants_input()) return false;
  Portion portion = feed_.take();
  InputRead event;
  for (protocol::EncodedInvocations& block : portion.blocks) {
    for (const auto& place : block.places())
      event.lines.push_back({place.id, place.n_bytes});
    kept_.add(std::move(block));
  }
  for (const io::InputLine& line : portion.bad_lines)
    record_bad_line(line);
  if (portion.other_model) warn_of(*portion.other_model);
  const i64 n_lines = std::ssize(event.lines) + std::ssize(portion.bad_lines);
  counts_.n_read += n_lines + portion.n_done_before;
  counts_.n_done_before += portion.n_done_before;
  input_bytes_read_ = portion.bytes_read;
  if (!event.lines.empty()) tell(std::move(event));
  if (portion.has_ended) {
    has_input_ended_ = true;
    input_failure_ = portion.failure;
    if (!input_failure_.empty()) log::error("input: {}", input_failure_);
    tell(InputEnded{});
  }
  return n_lines > 0 || portion.n_done_before > 0;
}

// A run with one state answers whatever model is asked for.
void Coordinator::warn_of(const OtherModel& other) const {
  log::warning(
      "{}:{} asks for the model \"{}\"; this run's only state, {}, answers it and all others "
      "(input.check_model = true refuses them)",
      other.file, other.line, other.model, texts_.state_name);
}

void Coordinator::listen(Duration patience) {
  std::vector<protocol::Incoming> arrived = around_.transport.poll(patience);
  // A newcomer's Hello may be here already, but its place must be known first.
  if (!arrived.empty()) welcome_newcomers();
  for (protocol::Incoming& incoming : arrived) {
    now_ = std::max(now_, around_.clock.now());
    if (auto* message = std::get_if<protocol::Arrived>(&incoming)) {
      hear(message->from, message->message);
    } else {
      auto& lost = std::get<protocol::PeerLost>(incoming);
      tell(WorkerGone{worker_of(lost.peer), std::move(lost.reason)});
    }
  }
}

void Coordinator::hear(PeerId from, protocol::Message& message) {
  const WorkerId worker = worker_of(from);
  std::visit(Overload{[&](protocol::Hello& m) { hear_hello(from, worker, m); },
                      [&](protocol::StateReady& m) { hear_ready(worker, m); },
                      [&](protocol::StateFailed& m) {
                        tell(WorkerFailed{worker, std::move(m.reason)});
                      },
                      [&](protocol::Results& m) {
                        tell(ResultsArrived{worker, std::move(m.results)});
                      },
                      [&](protocol::Heartbeat& m) {
                        tell(HeartbeatArrived{worker, m.n_steps});
                      },
                      [&](protocol::HandBack& m) {
                        keep_progress(m);
                        HandedBack event{worker, {}, m.reason};
                        for (const protocol::Unfinished& one : m.invocations)
                          event.ids.push_back(one.id);
                        tell(std::move(event));
                      },
                      [&](protocol::Bye& m) {
                        tell(WorkerBye{worker, std::move(m.reason)});
                      },
                      [&](auto&) {
                        tell(WorkerGone{worker, "it sent what only a coordinator may send"});
                      }},
             message);
}

void Coordinator::hear_hello(PeerId from, WorkerId worker, protocol::Hello& hello) {
  Known& who = known(worker);
  who.process = {hello.host, hello.pid_namespace, hello.pid, hello.start_ticks};
  who.status.host = std::move(hello.host);
  who.status.pid = hello.pid;
  who.status.description = std::move(hello.device);
  who.is_watched = around_.processes.watch(from, who.process);
  workforce_.note_host(worker, who.status.host);
  tell(WorkerJoined{worker, who.status.host});
}

void Coordinator::hear_ready(WorkerId worker, protocol::StateReady& state) {
  known(worker).ready_since = now_;
  WorkerStatus& status = known(worker).status;
  status.ready_seconds = seconds_so_far();
  status.slots = state.slots;
  status.load_seconds = state.load_seconds;
  status.description = std::move(state.description);
  status.arithmetic = std::move(state.arithmetic);
  log::info("worker {} is ready after {:.1f} s: {}, {}, {}", worker.value, state.load_seconds,
            status.description, counted(state.slots, "slot"), status.arithmetic);
  workforce_.note_ready(worker, now_);
  next_decision_ = now_;
  tell(WorkerReady{worker, state.slots, status.arithmetic});
}

// What is looked at ten times a second.
void Coordinator::look_around() {
  next_tick_ = now_ + kTick;
  look_for_the_ended();
  switch (around_.stop_wish()) {
    case StopWish::none:
      break;
    case StopWish::drain:
      tell(StopAsked{"asked to stop", false});
      break;
    case StopWish::now:
      tell(StopAsked{"asked to stop at once", true});
      break;
  }
  mind_journal();
  tell(Tick{});
  mind_workforce();
  let_go();
}

void Coordinator::look_for_the_ended() {
  for (const PeerId peer : around_.processes.ended()) {
    known(worker_of(peer)).has_ended = true;
    tell(WorkerGone{worker_of(peer), "its process has ended"});
    workforce_.note_ended(worker_of(peer), now_);
  }
}

void Coordinator::mind_journal() {
  const i64 n_queued = around_.results.n_queued();
  const i64 n_bytes = around_.results.n_queued_bytes();
  const bool is_high = n_queued > kJournalHigh || n_bytes > kJournalHighBytes;
  if (is_high || (n_queued < kJournalLow && n_bytes < kJournalLowBytes)) {
    if (std::exchange(is_journal_pressed_, is_high) != is_journal_pressed_)
      tell(JournalPressed{is_journal_pressed_});
  }
  if (journal_failure_.empty() && !is_lock_lost_) {
    journal_failure_ = around_.results.failure();
    // The journal writes more often than the lock is looked at: it may be the first to notice.
    if (!journal_failure_.empty() && !around_.folder.holds_lock()) {
      lose_lock();
    } else if (!journal_failure_.empty()) {
      log::error("{}; stopping", journal_failure_);
      tell(StopAsked{journal_failure_, true});
    }
  }
}

void Coordinator::lose_lock() {
  if (std::exchange(is_lock_lost_, true)) return;
  log::error("{}: {}; writing nothing more", around_.folder.path(), kLockLost);
  now_ = std::max(now_, around_.clock.now());
  tell(StopAsked{kLockLost, true});
}

void Coordinator::act(Actions actions) {
  for (Action& action : actions)
    std::visit([&](auto& one) { act_on(one); }, action);
}

void Coordinator::act_on(SendWelcome& action) {
  around_.transport.send(peer_of(action.worker),
                         protocol::Welcome{action.worker, texts_.worker_options_json});
}

void Coordinator::act_on(SendWork& action) {
  const auto& all = action.invocations;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    i64 n_bytes = 0;
    while (end < all.size() && (end == first || n_bytes < protocol::kBatchBytes))
      n_bytes += n_bytes_to_send(all[end++].id);
    protocol::RunInvocationsWriter message(static_cast<i64>(end - first), n_bytes);
    for (; first < end; ++first)
      message.add(kept_.at(all[first].id), all[first].attempt, progress_.find(all[first].id));
    around_.transport.send_bytes(peer_of(action.worker), message.take());
  }
}

i64 Coordinator::n_bytes_to_send(InvocationId id) const {
  return static_cast<i64>(kept_.at(id).size() + progress_.find(id).size());
}

// Whoever made them, and however late they come: the first tokens of an answer are what they are.
void Coordinator::keep_progress(const protocol::HandBack& back) {
  for (const protocol::Unfinished& one : back.invocations) {
    if (kept_.contains(one.id) && !one.answers.empty())
      progress_.keep(one.id, protocol::encode_progress({back.arithmetic, one.answers}));
  }
}

void Coordinator::act_on(SendTakeBack& action) {
  around_.transport.send(peer_of(action.worker), protocol::TakeBack{std::move(action.ids)});
}

void Coordinator::act_on(SendLeave& action) {
  around_.transport.send(peer_of(action.worker), protocol::Leave{action.now});
}

Coordinator::Known& Coordinator::known(WorkerId worker) {
  const auto place = static_cast<std::size_t>(worker.value);
  if (place >= workers_.size()) workers_.resize(place + 1);
  workers_[place].status.worker = worker;
  return workers_[place];
}

}  // namespace sticky::coordinator
