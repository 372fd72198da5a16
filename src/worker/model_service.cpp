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
  [[nodiscard]] i64 n_steps() const override { return n_steps_; }
  [[nodiscard]] i64 n_held() const override { return n_held_; }

 private:
  struct Held {
    protocol::Invocation invocation;  // without payload and progress
    request::Request request;
    std::vector<i32> prompt_ids;
  };

  void refuse(const protocol::Invocation& invocation, const Rejected& rejected);
  [[nodiscard]] protocol::Result finish(engine::Outcome outcome);
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
  if (const auto* rejected = std::get_if<Rejected>(&verdict)) {
    refuse(invocation, *rejected);
    return;
  }
  auto& [request, prompt] = std::get<Accepted>(verdict);
  const i64 key = invocation.id.value;
  engine::Job job{.key = key,
                  .prompt = prompt.token_ids,
                  .sampling = request.sampling,
                  .identity = hash128(invocation.custom_id)};
  if (invocation.progress && invocation.progress->arithmetic == arithmetic())
    job.made = std::move(invocation.progress->token_ids);
  engine_->submit(std::move(job));
  invocation.payload = {};
  invocation.progress.reset();
  held_.emplace(key, Held{std::move(invocation), std::move(request), std::move(prompt.token_ids)});
}

// A request that cannot be answered is a record of its own and never harms its neighbours.
void ModelService::refuse(const protocol::Invocation& invocation, const Rejected& rejected) {
  refused_.push_back(failure(invocation.id, rejected.error, origin_of(invocation), rejected.row));
}

std::vector<protocol::Result> ModelService::step() {
  std::vector<protocol::Result> results = std::exchange(refused_, {});
  if (!engine_->idle()) {
    for (engine::Outcome& outcome : engine_->step())
      results.push_back(finish(std::move(outcome)));
    n_steps_ = engine_->stats().n_steps;
  }
  n_held_ -= static_cast<i64>(results.size());
  return results;
}

protocol::Result ModelService::finish(engine::Outcome outcome) {
  const Held held = std::move(held_.extract(outcome.key).mapped());
  outcome.answer.prompt_token_ids = held.prompt_ids;
  request::Origin origin = origin_of(held.invocation);
  origin.queued_seconds = outcome.queued_seconds;
  origin.prefill_seconds = outcome.prefill_seconds;
  origin.decode_seconds = outcome.decode_seconds;
  if (!outcome.fault.empty()) {
    request::RequestError error;
    error.code = "non_finite_logits";
    error.message = outcome.fault;
    return failure(held.invocation.id, error, origin, held.request.row);
  }
  return {.id = held.invocation.id,
          .is_error = false,
          .record = request::success_record(held.request, outcome.answer, origin),
          .prompt_tokens = static_cast<i64>(held.prompt_ids.size()),
          .completion_tokens = static_cast<i64>(outcome.answer.token_ids.size())};
}

std::vector<protocol::Unfinished> ModelService::hand_back() {
  std::vector<protocol::Unfinished> out;
  std::erase_if(held_, [&](const auto& one) {
    auto made = engine_->cancel(one.first);
    if (made) out.push_back({{one.first}, std::move(*made)});
    return made.has_value();
  });
  n_held_ -= std::ssize(out);
  return out;
}

std::vector<protocol::Unfinished> ModelService::take_back(std::span<const InvocationId> ids) {
  std::vector<protocol::Unfinished> out;
  for (const InvocationId id : ids) {
    if (!engine_->is_untouched(id.value)) continue;
    out.push_back({id, *engine_->cancel(id.value)});
    held_.erase(id.value);
  }
  n_held_ -= std::ssize(out);
  return out;
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
