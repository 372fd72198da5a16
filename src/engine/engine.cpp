#include "sticky/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"

#include "logprobs.hpp"
#include "page_pool.hpp"
#include "sampler.hpp"
#include "sequence.hpp"
#include "step_planner.hpp"

namespace sticky::engine {
namespace {

constexpr i64 kDefaultSequences = 32;
constexpr i64 kDefaultBatchTokens = 512;

constexpr const char* kNotFinite =
    "the model's logits are not finite numbers: its weights hold NaN or infinity (a damaged or "
    "badly converted file), or their products overflow the arithmetic";

using Sequences = std::vector<std::unique_ptr<Sequence>>;  // ordered by number

void insert_by_number(Sequences& sequences, std::unique_ptr<Sequence> sequence) {
  const auto at = std::ranges::upper_bound(sequences, sequence->number(), {},
                                           [](const auto& s) { return s->number(); });
  sequences.insert(at, std::move(sequence));
}

}  // namespace

class Engine::Impl {
 public:
  Impl(model::LanguageModel& model,
       const tokenizer::Tokenizer& tokenizer,
       std::vector<i32> eos_ids,
       const Options& options,
       const Clock& clock);

  void submit(Job job);
  std::optional<std::vector<i32>> cancel(i64 key);
  [[nodiscard]] bool is_finished(i64 key) const;
  [[nodiscard]] bool is_untouched(i64 key) const;
  std::vector<Outcome> step();
  [[nodiscard]] i64 n_jobs() const {
    return std::ssize(waiting_) + std::ssize(running_) + std::ssize(finished_);
  }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  struct Work {
    Sequence* sequence = nullptr;
    i64 n_rows = 0;
  };

  [[nodiscard]] std::unique_ptr<Sequence> begin(Job job);
  [[nodiscard]] bool are_tokens(std::span<const i32> ids) const;
  [[nodiscard]] StepPlan plan();
  void carry_out(const StepPlan& plan);
  void send_back(i64 n_youngest);
  void add_work(Sequence& sequence, i64 n_rows);
  void compute();
  void take_logits(Sequence& sequence, i64 position, std::span<const float> logits);
  void score(Sequence& sequence, std::span<const float> logits);
  void extend(Sequence& sequence, std::span<const float> logits);
  void finish_ended();

  model::LanguageModel& model_;
  const tokenizer::Tokenizer& tokenizer_;
  const Clock& clock_;
  const Options options_;
  const model::Limits model_limits_;
  const PlanLimits plan_limits_;
  const TextEnds ends_;

  PagePool pool_;
  Sequences waiting_;
  Sequences running_;
  std::vector<Outcome> finished_;
  i64 n_submitted_ = 0;
  Stats stats_;

  // Room for one step, kept between steps.
  std::vector<SequenceView> running_views_;
  std::vector<SequenceView> waiting_views_;
  std::vector<Work> work_;
  i64 n_known_rows_left_ = 0;
  model::StepBatch batch_;
  std::vector<float> logits_;
  std::vector<const Sequence*> ended_;
  LogprobReader logprobs_;
  Sampler sampler_;
};

Engine::Impl::Impl(model::LanguageModel& model,
                   const tokenizer::Tokenizer& tokenizer,
                   std::vector<i32> eos_ids,
                   const Options& options,
                   const Clock& clock)
    : model_(model),
      tokenizer_(tokenizer),
      clock_(clock),
      options_(options),
      model_limits_(model.limits()),
      plan_limits_{
          .max_sequences = options.max_sequences > 0 ? options.max_sequences : kDefaultSequences,
          .max_batch_tokens =
              options.max_batch_tokens > 0 ? options.max_batch_tokens : kDefaultBatchTokens},
      ends_{.eos_ids = std::move(eos_ids), .context = model_limits_.context},
      pool_(model_limits_.n_pages),
      logprobs_(tokenizer) {
  if (model_limits_.n_pages * kPageTokens < model_limits_.context) {
    fail<ConfigError>(
        "the KV cache holds {} pages of {} tokens, fewer than one sequence of {} tokens (the "
        "context) needs; give it more memory or lower the context",
        model_limits_.n_pages, kPageTokens, model_limits_.context);
  }
}

void Engine::Impl::submit(Job job) {
  const i64 n_made = job.sampling.max_tokens == 0 ? 0 : 1;
  STICKY_CHECK(!job.prompt.empty() && std::ssize(job.prompt) + n_made <= model_limits_.context);
  STICKY_CHECK(are_tokens(job.prompt));
  STICKY_CHECK(!job.scoring || job.scoring->first >= 0);
  auto sequence = begin(std::move(job));
  const TimePoint now = clock_.now();
  sequence->note_submitted(now);
  if (!sequence->makes_text() && !sequence->is_scoring()) {
    sequence->end_without_text();
    finished_.push_back(sequence->take_outcome(now));
  } else {
    waiting_.push_back(std::move(sequence));
  }
}

bool Engine::Impl::are_tokens(std::span<const i32> ids) const {
  return std::ranges::all_of(ids, [&](i32 id) { return 0 <= id && id < model_limits_.vocab; });
}

// With the tokens that the job brings, or without them where they are of no use.
std::unique_ptr<Sequence> Engine::Impl::begin(Job job) {
  const i64 number = n_submitted_++;
  const DrawKey draws = draw_key(job.sampling.seed, options_.run_seed, job.identity, job.choice);
  const std::vector<i32> made = std::exchange(job.made, {});
  const auto fresh = [&] {
    auto sequence =
        std::make_unique<Sequence>(job, number, draws, tokenizer_, options_.prefix_cache);
    if (job.scoring && job.scoring->first == 0)
      sequence->append_prompt_logprob(logprobs_.unknown(job.prompt.front()));
    return sequence;
  };
  if (!made.empty() && are_tokens(made) && job.sampling.max_tokens != 0) {
    auto sequence = fresh();
    if (sequence->replay(made, ends_)) return sequence;
  }
  return fresh();
}

std::optional<std::vector<i32>> Engine::Impl::cancel(i64 key) {
  for (Sequences* list : {&waiting_, &running_}) {
    const auto found =
        std::ranges::find(*list, key, [](const auto& sequence) { return sequence->key(); });
    if (found == list->end()) continue;
    (*found)->give_back_pages(pool_);
    std::vector<i32> made = (*found)->output();
    list->erase(found);
    return made;
  }
  return std::nullopt;
}

bool Engine::Impl::is_finished(i64 key) const {
  return std::ranges::any_of(finished_, [&](const Outcome& one) { return one.key == key; });
}

bool Engine::Impl::is_untouched(i64 key) const {
  return std::ranges::any_of(
      waiting_, [&](const auto& one) { return one->key() == key && !one->has_started(); });
}

std::vector<Outcome> Engine::Impl::step() {
  if (!waiting_.empty() || !running_.empty()) {
    carry_out(plan());
    STICKY_CHECK(!work_.empty());
    compute();
    finish_ended();
    ++stats_.n_steps;
    STICKY_ASSERT(!running_.empty() || pool_.n_used() == 0);
  }
  return std::exchange(finished_, {});
}

StepPlan Engine::Impl::plan() {
  running_views_.clear();
  waiting_views_.clear();
  for (const auto& sequence : running_)
    running_views_.push_back(sequence->view());
  const auto n_slots = plan_limits_.max_sequences - std::ssize(running_);
  for (i64 i = 0; i < std::min(n_slots, std::ssize(waiting_)); ++i) {
    waiting_views_.push_back(waiting_[static_cast<std::size_t>(i)]->view());
  }
  return plan_step(running_views_, waiting_views_, pool_, plan_limits_);
}

void Engine::Impl::carry_out(const StepPlan& plan) {
  work_.clear();
  n_known_rows_left_ = kKnownLogitRows;
  send_back(std::ssize(plan.returned));
  // Before any page is allocated: that may take pages out of the cache.
  for (const auto& admission : plan.admitted) {
    Sequence& sequence = *waiting_[static_cast<std::size_t>(admission.index)];
    sequence.take_cached(pool_, admission.n_cached_pages);
    stats_.cached_tokens += std::min(sequence.n_computed(), sequence.n_prompt());
  }
  for (const auto& [index, n_rows] : plan.granted) {
    add_work(*running_[static_cast<std::size_t>(index)], n_rows);
  }
  const TimePoint now = clock_.now();
  for (const auto& admission : plan.admitted) {
    auto& sequence = waiting_[static_cast<std::size_t>(admission.index)];
    sequence->note_started(now);
    add_work(*sequence, admission.n_rows);
    insert_by_number(running_, std::move(sequence));
  }
  std::erase(waiting_, nullptr);
}

void Engine::Impl::send_back(i64 n_youngest) {
  for (i64 i = 0; i < n_youngest; ++i) {
    running_.back()->give_back_pages(pool_);
    insert_by_number(waiting_, std::move(running_.back()));
    running_.pop_back();
    ++stats_.preemptions;
  }
}

void Engine::Impl::add_work(Sequence& sequence, i64 n_rows) {
  const i64 n_before = std::max(sequence.first_logits() - sequence.n_computed(), i64{0});
  if (const i64 n_more = n_rows - n_before - 1; n_more > 0) {
    const i64 n_taken = std::min(n_more, n_known_rows_left_);
    n_known_rows_left_ -= n_taken;
    n_rows -= n_more - n_taken;  // the others come in later steps
  }
  sequence.take_pages(pool_, sequence.n_computed() + n_rows);
  const i64 n_prompt_left = std::max(sequence.n_prompt() - sequence.n_computed(), i64{0});
  stats_.prompt_tokens += std::min(n_rows, n_prompt_left);
  work_.push_back({&sequence, n_rows});
}

void Engine::Impl::compute() {
  batch_.tokens.clear();
  batch_.sequences.clear();
  batch_.logit_rows.clear();
  for (const auto& [sequence, n_rows] : work_) {
    const i64 first_row = std::ssize(batch_.tokens);
    const i64 first = sequence->n_computed();
    const auto tokens = sequence->tokens().begin() + first;
    batch_.tokens.insert(batch_.tokens.end(), tokens, tokens + n_rows);
    batch_.sequences.push_back({.first_row = first_row,
                                .n_rows = n_rows,
                                .first_position = first,
                                .pages = sequence->pages()});
    for (i64 p = std::max(first, sequence->first_logits()); p < first + n_rows; ++p)
      batch_.logit_rows.push_back(static_cast<i32>(first_row + p - first));
  }
  const i64 n_logit_rows = std::ssize(batch_.logit_rows);
  const auto n_logits = static_cast<std::size_t>(n_logit_rows * model_limits_.vocab);
  if (logits_.size() < n_logits) logits_.resize(n_logits);
  const Rows<float> logits{logits_.data(), n_logit_rows, model_limits_.vocab, model_limits_.vocab};
  model_.forward(batch_, logits);

  i64 row = 0;
  for (const auto& [sequence, n_rows] : work_) {
    const i64 first = std::max(sequence->n_computed(), sequence->first_logits());
    sequence->note_computed(n_rows);
    for (i64 p = first; p < sequence->n_computed(); ++p)
      take_logits(*sequence, p, {logits.row(row++), static_cast<std::size_t>(model_limits_.vocab)});
  }
}

// Of the last token: they choose the next one. Of one before it: the next is known, but maybe not
// yet how probable it was.
void Engine::Impl::take_logits(Sequence& sequence, i64 position, std::span<const float> logits) {
  if (sequence.has_failed()) return;
  if (!are_finite(logits)) {
    sequence.fail(kNotFinite);
    ended_.push_back(&sequence);
    return;
  }
  const i64 next = position + 1;
  if (sequence.is_scoring()) {
    STICKY_ASSERT(position == sequence.first_logits());
    // All rows of this step are finite: others may wait for what it has computed.
    if (next == sequence.n_computed()) sequence.publish_pages(pool_);
    score(sequence, logits);
  } else if (next == std::ssize(sequence.tokens())) {
    extend(sequence, logits);
  } else if (sequence.lacks_logprob(next)) {
    const i32 token = sequence.tokens()[static_cast<std::size_t>(next)];
    sequence.append_logprob(logprobs_.of(logits, token, sequence.sampling().top_logprobs));
  }
}

void Engine::Impl::score(Sequence& sequence, std::span<const float> logits) {
  const i32 token = sequence.token_to_score();
  sequence.append_prompt_logprob(logprobs_.ranked(logits, token, sequence.n_top_to_score()));
  if (sequence.is_scoring() || sequence.makes_text()) return;
  sequence.note_first_token(clock_.now());
  sequence.end_without_text();
  ended_.push_back(&sequence);
}

void Engine::Impl::extend(Sequence& sequence, std::span<const float> logits) {
  // Not before finite logits: pages that others can find must hold what follows from their tokens
  // alone, and a token that makes NaN spoils, by 0 x NaN, rows of the same step before it.
  sequence.publish_pages(pool_);
  const request::Sampling& sampling = sequence.sampling();
  const std::vector<i32> banned = sequence.banned(ends_);
  const auto processed = sampler_.processed(logits, {sampling, sequence.counts(), banned});
  const double uniform = uniform_at(sequence.draws(), std::ssize(sequence.tokens()));
  const i32 token = sampler_.choose(processed, sampling, uniform);
  if (sampling.top_logprobs >= 0) {
    sequence.append_logprob(logprobs_.of(logits, token, sampling.top_logprobs));
  }
  sequence.note_first_token(clock_.now());
  sequence.append(token);
  ++stats_.generated_tokens;
  if (sequence.has_ended(ends_)) ended_.push_back(&sequence);
}

void Engine::Impl::finish_ended() {
  if (ended_.empty()) return;
  const TimePoint now = clock_.now();
  for (auto& sequence : running_) {
    if (std::ranges::count(ended_, sequence.get()) == 0) continue;
    sequence->give_back_pages(pool_);
    finished_.push_back(sequence->take_outcome(now));
    sequence.reset();
  }
  std::erase(running_, nullptr);
  ended_.clear();
}

Engine::Engine(model::LanguageModel& model,
               const tokenizer::Tokenizer& tokenizer,
               std::vector<i32> eos_ids,
               const Options& options,
               const Clock& clock)
    : impl_(std::make_unique<Impl>(model, tokenizer, std::move(eos_ids), options, clock)) {}

Engine::~Engine() = default;

void Engine::submit(Job job) {
  impl_->submit(std::move(job));
}
std::optional<std::vector<i32>> Engine::cancel(i64 key) {
  return impl_->cancel(key);
}
bool Engine::is_finished(i64 key) const {
  return impl_->is_finished(key);
}
bool Engine::is_untouched(i64 key) const {
  return impl_->is_untouched(key);
}
std::vector<Outcome> Engine::step() {
  return impl_->step();
}
bool Engine::idle() const {
  return impl_->n_jobs() == 0;
}
i64 Engine::n_jobs() const {
  return impl_->n_jobs();
}
const Stats& Engine::stats() const {
  return impl_->stats();
}

}  // namespace sticky::engine
