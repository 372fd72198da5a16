// What the coordinator writes and whom it lets go: records, losses, the judgement at the end.
#include <algorithm>
#include <chrono>
#include <utility>

#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"
#include "sticky/base/log.hpp"
#include "sticky/coordinator/coordinator.hpp"
#include "sticky/protocol/codec.hpp"
#include "sticky/request/request.hpp"
#include "sticky/request/response.hpp"

namespace sticky::coordinator {

namespace {

i64 unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// The columns of a line beside its request; null where it is no JSON object.
Json row_in(std::string_view payload) {
  try {
    return request::row_of(Json::parse(payload));
  } catch (const FormatError&) {
    return {};
  }
}

const char* name_of(Reactor::Phase phase) {
  switch (phase) {
    case Reactor::Phase::running:
      return "running";
    case Reactor::Phase::draining:
      return "draining";
    case Reactor::Phase::closing:
      return "closing";
    case Reactor::Phase::ended:
      return "ended";
  }
  return "unknown";
}

const char* name_of(Reactor::WorkerState state, bool has_left) {
  switch (state) {
    case Reactor::WorkerState::expected:
    case Reactor::WorkerState::joined:
      return "joining";
    case Reactor::WorkerState::loading:
      return "loading";
    case Reactor::WorkerState::ready:
      return "ready";
    case Reactor::WorkerState::leaving:
      return "leaving";
    case Reactor::WorkerState::gone:
      return has_left ? "left" : "lost";
  }
  return "unknown";
}

}  // namespace

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::complete:
      return "complete";
    case Ending::drained:
      return "drained";
    case Ending::workers_lost:
      return "workers_lost";
    case Ending::load_failed:
      return "load_failed";
    case Ending::input_failed:
      return "input_failed";
    case Ending::journal_failed:
      return "journal_failed";
    case Ending::lock_lost:
      return "lock_lost";
  }
  return "unknown";
}

double Coordinator::seconds_until(TimePoint when) const {
  return std::chrono::duration<double>(when - start_).count();
}

void Coordinator::append(bool is_error, std::string record) {
  if (!is_lock_lost_) around_.results.append(is_error, std::move(record));
}

void Coordinator::record_bad_line(const io::InputLine& line) {
  const request::RequestError error{
      .code = line.error_code,
      .message = line.error_message,
      .param = line.error_param,
      .custom_id = line.has_id ? std::optional(line.custom_id) : std::nullopt};
  const request::Origin origin{.custom_id = line.custom_id,
                               .file = line.file,
                               .line = line.line,
                               .byte_offset = line.byte_offset,
                               .hash = line.hash,
                               .state = texts_.state_name,
                               .arithmetic = "",
                               .attempts = 0,
                               .created = unix_seconds()};
  append(true, request::error_record(error, origin, row_in(line.payload),
                                     request::status_code_of(error.code)));
  ++counts_.n_errors;
}

void Coordinator::act_on(Record& action) {
  WorkerStatus& status = known(action.worker).status;
  for (protocol::Result& result : action.results) {
    append(result.is_error, std::move(result.record));
    kept_.erase(result.id);
    progress_.erase(result.id);
    ++(result.is_error ? counts_.n_errors : counts_.n_results);
    ++(result.is_error ? status.n_errors : status.n_results);
    status.prompt_tokens += result.prompt_tokens;
    status.completion_tokens += result.completion_tokens;
    prompt_tokens_ += result.prompt_tokens;
    completion_tokens_ += result.completion_tokens;
  }
}

void Coordinator::act_on(RecordFailure& action) {
  const protocol::Invocation invocation = protocol::decode_invocation(kept_.at(action.id));
  const i64 n_deaths = static_cast<i64>(action.deaths.size());
  std::string causes;
  for (const Cause cause : action.deaths)
    causes += fmt::format("{}{}", causes.empty() ? "" : ", ", coordinator::name_of(cause));
  const request::RequestError error{
      .code = "worker_lost",
      .message = fmt::format("{} lost while working on this request ({})",
                             counted(n_deaths, "worker"), causes),
      .param = "",
      .custom_id = invocation.custom_id};
  const request::Origin origin{.custom_id = invocation.custom_id,
                               .file = invocation.file,
                               .line = invocation.line,
                               .byte_offset = invocation.byte_offset,
                               .hash = invocation.hash,
                               .state = texts_.state_name,
                               .arithmetic = "",
                               .attempts = n_deaths,
                               .created = unix_seconds()};
  append(true, request::error_record(error, origin, row_in(invocation.payload),
                                     request::status_code_of(error.code)));
  log::warning("{}:{}: in flight in {} of workers ({}), recorded as failed", invocation.file,
               invocation.line, counted(n_deaths, "death"), causes);
  kept_.erase(action.id);
  progress_.erase(action.id);
  ++counts_.n_errors;
  ++counts_.n_quarantined;
}

void Coordinator::act_on(DropWorker& action) {
  Known& who = known(action.worker);
  who.status.gone_seconds = seconds_so_far();
  const bool is_left = action.has_said_bye;
  workforce_.note_gone(action.worker,
                       is_left                              ? Workforce::Fate::left
                       : action.cause == Cause::load_failed ? Workforce::Fate::failed_to_load
                                                            : Workforce::Fate::lost,
                       action.reason, now_);
  next_decision_ = now_;
  if (!who.is_watched) workforce_.note_ended(action.worker, now_);  // as far as can be known
  if (is_left) {
    who.has_left = true;
    log::info("worker {} has left{}: {}", action.worker.value,
              action.cause == Cause::left ? "" : " (preempted)", action.reason);
    // It leaves alone: from now on the world is not complete, so nobody may finalize.
    if (reactor_.phase() == Reactor::Phase::running) {
      has_anyone_left_early_ = true;
      leavers_.push_back({action.worker});
    }
    return;
  }
  losses_.push_back({action.worker, coordinator::name_of(action.cause), action.reason,
                     seconds_so_far(), action.n_returned});
  log::warning("worker {} is lost ({}): {}; back to the queue: {}", action.worker.value,
               coordinator::name_of(action.cause), action.reason,
               counted(action.n_returned, "invocation"));
  around_.transport.forget({action.worker.value});
  if (who.process.pid > 0) fence(who.process);
}

// By this process where it can, else by a living worker of that host.
void Coordinator::fence(const protocol::ProcessName& process) {
  if (around_.processes.is_here(process)) {
    (void)around_.processes.kill(process);
    return;
  }
  for (const Known& other : workers_) {
    const bool is_there =
        other.process.host == process.host && other.process.pid_namespace == process.pid_namespace;
    if (!is_there || reactor_.state_of(other.status.worker) == Reactor::WorkerState::gone) continue;
    around_.transport.send({other.status.worker.value},
                           protocol::Fence{process.pid, process.start_ticks});
    return;
  }
  log::warning("no process of this run is left on {} to make sure that pid {} is dead",
               process.host, process.pid);
}

Progress Coordinator::progress() const {
  Progress progress{.phase = name_of(reactor_.phase()),
                    .seconds = seconds_until(std::max(now_, around_.clock.now())),
                    .counts = counts_,
                    .has_input_ended = has_input_ended_,
                    .input_bytes_read = input_bytes_read_,
                    .input_bytes_total = texts_.input_bytes_total,
                    .prompt_tokens = prompt_tokens_,
                    .completion_tokens = completion_tokens_,
                    .workers = {},
                    .losses = losses_,
                    .resize = workforce_.status()};
  progress.counts.n_waiting = reactor_.n_waiting();
  progress.counts.n_held = reactor_.n_held();
  for (const Known& who : workers_) {
    if (who.status.worker.value < 0) continue;
    WorkerStatus& status = progress.workers.emplace_back(who.status);
    status.state = name_of(reactor_.state_of(status.worker), who.has_left);
    status.n_held = reactor_.n_held_by(status.worker);
  }
  return progress;
}

Ending Coordinator::ending() const {
  if (is_lock_lost_) return Ending::lock_lost;
  if (!journal_failure_.empty()) return Ending::journal_failed;
  if (reactor_.is_complete())
    return input_failure_.empty() ? Ending::complete : Ending::input_failed;
  if (!reactor_.are_all_lost()) return Ending::drained;
  const bool is_load = std::ranges::all_of(
      losses_, [](const Loss& loss) { return loss.cause == std::string_view("load_failed"); });
  return is_load && !losses_.empty() ? Ending::load_failed : Ending::workers_lost;
}

// Tells what the run came to: exit code and sentence.
void Coordinator::judge(RunOutcome& outcome) const {
  switch (outcome.ending) {
    case Ending::complete:
      outcome.exit_code = counts_.n_errors + counts_.n_errors_before > 0 ? 3 : 0;
      return;
    case Ending::drained:
      outcome.exit_code = 4;
      outcome.reason = reactor_.stop_reason();
      return;
    case Ending::workers_lost:
    case Ending::load_failed:
      outcome.exit_code = outcome.ending == Ending::load_failed ? 5 : 4;
      outcome.reason = reactor_.stop_reason();
      if (losses_.empty()) return;
      outcome.reason +=
          fmt::format("; {} was lost last ({}): {}", coordinator::name_of(losses_.back()),
                      losses_.back().cause, losses_.back().reason);
      return;
    case Ending::input_failed:
      outcome.exit_code = 2;
      outcome.reason = input_failure_;
      return;
    case Ending::journal_failed:
      outcome.exit_code = 4;
      outcome.reason = journal_failure_;
      return;
    case Ending::lock_lost:
      outcome.exit_code = 5;
      outcome.reason = reactor_.stop_reason();
      return;
  }
}

bool Coordinator::has_everyone_ended() {
  for (const protocol::PeerId peer : around_.processes.ended())
    known({peer.value}).has_ended = true;
  return std::ranges::none_of(
      workers_, [&](const Known& who) { return who.has_left && !who.has_ended && who.is_watched; });
}

void Coordinator::kill_stragglers() {
  for (const Known& who : workers_) {
    if (who.has_left && !who.has_ended && around_.processes.kill(who.process))
      log::warning("worker {} said goodbye but did not end: killed", who.status.worker.value);
  }
}

namespace {

// How many lines had been read when the last worker failed is chance: only records count then.
void forget_unanswered(Counts& counts) {
  counts.n_read = counts.n_done_before + counts.n_results + counts.n_errors;
  counts.n_waiting = 0;
}

}  // namespace

RunOutcome Coordinator::finish() {
  RunOutcome outcome;
  // With spawned processes MPI_Finalize opens connections among them, which may fail.
  outcome.may_finalize =
      losses_.empty() && !has_anyone_left_early_ && !workforce_.has_anyone_been_spawned();
  for (const Known& who : workers_) {
    if (who.has_left)
      around_.transport.send({who.status.worker.value}, protocol::Farewell{outcome.may_finalize});
  }
  if (!is_lock_lost_ && journal_failure_.empty()) {
    try {
      around_.results.flush();
    } catch (const Error& e) {
      journal_failure_ = e.what();
    }
  }
  // Not what was handed to a journal that failed: the counts are those of the files.
  const io::ResultsLog::Written written = around_.results.written();
  counts_.n_results = written.n_results;
  counts_.n_errors = written.n_errors;
  counts_.n_quarantined = std::min(counts_.n_quarantined, written.n_errors);
  outcome.last = progress();
  outcome.ending = ending();
  if (outcome.ending == Ending::load_failed) forget_unanswered(outcome.last.counts);
  judge(outcome);
  return outcome;
}

}  // namespace sticky::coordinator
