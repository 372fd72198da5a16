#include "sticky/worker/model_service.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sticky/backend/make_backend.hpp"
#include "sticky/base/error.hpp"
#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/engine/engine.hpp"
#include "sticky/model/load_model.hpp"
#include "sticky/request/response.hpp"
#include "sticky/worker/intake.hpp"
#include "sticky/worker/state_plan.hpp"

#include "answering.hpp"

namespace sticky::worker {

namespace {

i64 unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::vector<i32> all_eos_ids(const model::ModelSpec& spec, const tokenizer::TextFiles& text) {
  std::set<i32> ids(spec.eos_ids.begin(), spec.eos_ids.end());
  ids.insert(text.eos_ids.begin(), text.eos_ids.end());
  return {ids.begin(), ids.end()};
}

protocol::Result failure(InvocationId id,
                         const request::RequestError& error,
                         const request::Origin& origin,
                         const Json& row) {
  return {.id = id,
          .is_error = true,
          .record = request::error_record(error, origin, row, request::status_code_of(error.code))};
}

// Jobs of one invocation have neighbouring keys in the engine.
i64 first_key_of(InvocationId id) {
  return id.value * Answering::kMostJobs;
}

class ModelService final : public Service {
 public:
  ModelService(const Options& options, WorkerId worker, const Clock& clock)
      : options_(options),
        worker_(worker),
        clock_(&clock) {}

  void load() override;
  [[nodiscard]] i64 slots() const override { return plan_.slots; }
  [[nodiscard]] std::string arithmetic() const override { return backend_->arithmetic(); }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} ({})", options_.state.model, backend_->description());
  }

  void submit(protocol::Invocation invocation) override;
  [[nodiscard]] std::vector<protocol::Result> step() override;
  [[nodiscard]] std::vector<protocol::Unfinished> hand_back() override;
  [[nodiscard]] std::vector<protocol::Unfinished> take_back(
      std::span<const InvocationId> ids) override;
  [[nodiscard]] i64 n_steps() const override { return n_steps_ + n_taken_; }
  [[nodiscard]] i64 n_held() const override { return n_held_; }

 private:
  struct Held {
    protocol::Invocation invocation;  // without payload and progress
    Answering answering;
  };

  void refuse(const protocol::Invocation& invocation, const Rejected& rejected);
  void take(engine::Outcome outcome, std::vector<protocol::Result>& results);
  [[nodiscard]] protocol::Result finish(const Held& held) const;
  [[nodiscard]] protocol::Unfinished cancel(InvocationId id, const Answering& answering);
  [[nodiscard]] bool is_untouched(InvocationId id, const Answering& answering) const;
  [[nodiscard]] request::Origin origin_of(const protocol::Invocation& invocation) const;

  Options options_;
  WorkerId worker_;
  const Clock* clock_;
  StatePlan plan_;
  std::shared_ptr<backend::Backend> backend_;
  tokenizer::TextFiles text_;
  std::optional<PromptMaker> prompts_;
  std::optional<Intake> intake_;
  std::unique_ptr<model::LanguageModel> model_;
  std::unique_ptr<engine::Engine> engine_;
  std::map<i64, Held> held_;               // in the engine, by invocation id
  std::vector<protocol::Result> refused_;  // given by the next step()
  std::atomic<i64> n_steps_ = 0;
  std::atomic<i64> n_taken_ = 0;  // requests tokenised, which takes its time too
  std::atomic<i64> n_held_ = 0;
};

void ModelService::load() {
  const auto checkpoint = checkpoint::open_checkpoint(options_.state.model);
  const model::ModelSpec spec = model::read_spec(*checkpoint);
  text_ = checkpoint->is_gguf()
              ? tokenizer::load_from_gguf(checkpoint->config(), checkpoint->path())
              : tokenizer::load_from_folder(checkpoint->path());
  prompts_.emplace(text_, options_.chat);
  plan_ = plan_state(spec, options_);
  intake_.emplace(*prompts_, options_, IntakeLimits{.vocab = spec.vocab, .context = plan_.context});
  backend::Options backend_options = options_.backend;
  backend_options.dtype = options_.state.dtype;
  backend_ = backend::make_backend(backend_options);
  model_ = model::load_model(*checkpoint, backend_,
                             {.context = plan_.context,
                              .kv_tokens = plan_.kv_tokens,
                              .memory_share = options_.state.memory,
                              .max_batch_tokens = plan_.engine.max_batch_tokens});
  engine_ = std::make_unique<engine::Engine>(*model_, *text_.tokenizer, all_eos_ids(spec, text_),
                                             plan_.engine, *clock_);
}

void ModelService::submit(protocol::Invocation invocation) {
  ++n_held_;
  auto verdict = intake_->accept(invocation.payload);
  ++n_taken_;
  if (const auto* rejected = std::get_if<Rejected>(&verdict)) {
    refuse(invocation, *rejected);
    return;
  }
  const InvocationId id = invocation.id;
  Answering answering(std::move(std::get<Accepted>(verdict)), hash128(invocation.custom_id),
                      *text_.tokenizer);
  std::vector<std::vector<i32>> made;
  if (invocation.progress && invocation.progress->arithmetic == arithmetic())
    made = std::move(invocation.progress->answers);
  for (engine::Job& job : answering.jobs(first_key_of(id), made))
    engine_->submit(std::move(job));
  invocation.payload = {};
  invocation.progress.reset();
  held_.emplace(id.value, Held{std::move(invocation), std::move(answering)});
}

// A request that cannot be answered is a record of its own and never harms its neighbours.
void ModelService::refuse(const protocol::Invocation& invocation, const Rejected& rejected) {
  refused_.push_back(failure(invocation.id, rejected.error, origin_of(invocation), rejected.row));
}

std::vector<protocol::Result> ModelService::step() {
  std::vector<protocol::Result> results = std::exchange(refused_, {});
  if (!engine_->idle()) {
    for (engine::Outcome& outcome : engine_->step())
      take(std::move(outcome), results);
    n_steps_ = engine_->stats().n_steps;
  }
  n_held_ -= static_cast<i64>(results.size());
  return results;
}

void ModelService::take(engine::Outcome outcome, std::vector<protocol::Result>& results) {
  const auto at = held_.find(outcome.key / Answering::kMostJobs);
  const i64 k = outcome.key % Answering::kMostJobs;
  if (!at->second.answering.take(k, std::move(outcome))) return;
  results.push_back(finish(at->second));
  held_.erase(at);
}

protocol::Result ModelService::finish(const Held& held) const {
  const Answering& answering = held.answering;
  request::Origin origin = origin_of(held.invocation);
  answering.set_times(origin);
  if (!answering.fault().empty()) {
    request::RequestError error;
    error.code = "non_finite_logits";
    error.message = answering.fault();
    return failure(held.invocation.id, error, origin, answering.request().row);
  }
  const request::Response response = answering.response();
  protocol::Result result{.id = held.invocation.id,
                          .is_error = false,
                          .record = request::success_record(answering.request(), response, origin),
                          .prompt_tokens = static_cast<i64>(response.prompt.token_ids.size()),
                          .completion_tokens = 0};
  for (const request::Answer& answer : response.answers)
    result.completion_tokens += static_cast<i64>(answer.token_ids.size());
  return result;
}

protocol::Unfinished ModelService::cancel(InvocationId id, const Answering& answering) {
  protocol::Unfinished out{id, {}};
  bool has_any = false;
  for (i64 k = 0; k < answering.n_jobs(); ++k) {
    auto& made = out.answers.emplace_back();
    made = answering.is_done(k) ? answering.made_by(k) : *engine_->cancel(first_key_of(id) + k);
    has_any = has_any || !made.empty();
  }
  if (!has_any) out.answers.clear();
  return out;
}

// A request without any token to make may be finished in the engine already: its only job.
std::vector<protocol::Unfinished> ModelService::hand_back() {
  std::vector<protocol::Unfinished> out;
  std::erase_if(held_, [&](const auto& one) {
    const InvocationId id{one.first};
    if (engine_->is_finished(first_key_of(id))) return false;
    out.push_back(cancel(id, one.second.answering));
    return true;
  });
  n_held_ -= std::ssize(out);
  return out;
}

std::vector<protocol::Unfinished> ModelService::take_back(std::span<const InvocationId> ids) {
  std::vector<protocol::Unfinished> out;
  for (const InvocationId id : ids) {
    const auto at = held_.find(id.value);
    if (at == held_.end() || !is_untouched(id, at->second.answering)) continue;
    out.push_back(cancel(id, at->second.answering));
    held_.erase(at);
  }
  n_held_ -= std::ssize(out);
  return out;
}

bool ModelService::is_untouched(InvocationId id, const Answering& answering) const {
  for (i64 k = 0; k < answering.n_jobs(); ++k) {
    if (!engine_->is_untouched(first_key_of(id) + k)) return false;
  }
  return true;
}

request::Origin ModelService::origin_of(const protocol::Invocation& invocation) const {
  return {.custom_id = invocation.custom_id,
          .file = invocation.file,
          .line = invocation.line,
          .byte_offset = invocation.byte_offset,
          .hash = invocation.hash,
          .state = options_.state.name,
          .arithmetic = backend_->arithmetic(),
          .worker = worker_.value,
          .attempts = invocation.attempt,
          .created = unix_seconds()};
}

}  // namespace

std::unique_ptr<Service> make_model_service(const Options& options,
                                            WorkerId worker,
                                            const Clock& clock) {
  return std::make_unique<ModelService>(options, worker, clock);
}

}  // namespace sticky::worker
