#include "answering.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sticky/engine/softmax.hpp"

namespace sticky::worker {
namespace {

// Whether answers to it differ by what is drawn.
bool is_drawn(const request::Sampling& sampling) {
  return sampling.temperature > 0.0 && sampling.top_k != 1 && sampling.max_tokens != 0;
}

// A prompt of token ids is repeated as what they stand for, special ones included.
std::string echo_of(const request::Request& request,
                    const Prompt& prompt,
                    const tokenizer::Tokenizer& tokenizer) {
  if (!request.echo) return {};
  const bool is_text = std::holds_alternative<std::string>(request.prompt);
  return is_text ? prompt.text : tokenizer.decode(prompt.token_ids, false);
}

}  // namespace

Answering::Answering(Accepted accepted,
                     const Hash128& identity,
                     const tokenizer::Tokenizer& tokenizer)
    : request_(std::move(accepted.request)),
      identity_(identity) {
  prompt_.text = echo_of(request_, accepted.prompt, tokenizer);
  prompt_.token_ids = std::move(accepted.prompt.token_ids);
  choices_ = std::move(accepted.prompt.choices);
  n_shared_ = accepted.prompt.n_shared;
  n_open_ = is_drawn(request_.sampling) ? request_.n : 1;
  if (!choices_.empty()) n_open_ = std::ssize(choices_);
  outcomes_.resize(static_cast<std::size_t>(n_open_));
}

std::vector<engine::Job> Answering::jobs(i64 first_key,
                                         const std::vector<std::vector<i32>>& made) const {
  if (!choices_.empty()) return scoring_jobs(first_key);
  std::vector<engine::Job> jobs;
  for (i64 k = 0; k < n_jobs(); ++k) {
    engine::Job& job = jobs.emplace_back();
    job.key = first_key + k;
    job.prompt = prompt_.token_ids;
    job.sampling = request_.sampling;
    job.identity = identity_;
    job.choice = k;
    if (k < std::ssize(made)) job.made = made[static_cast<std::size_t>(k)];
  }
  // The prompt is the same for all.
  if (const i64 n_top = request::n_top_of_prompt(request_); n_top >= 0)
    jobs.front().scoring = engine::Scoring{.first = 0, .n_top = n_top};
  return jobs;
}

std::vector<engine::Job> Answering::scoring_jobs(i64 first_key) const {
  std::vector<engine::Job> jobs;
  for (const auto& ids : choices_) {
    engine::Job& job = jobs.emplace_back();
    job.key = first_key++;
    job.prompt = ids;
    job.sampling.max_tokens = 0;
    job.scoring = engine::Scoring{.first = n_shared_,
                                  .n_top = std::max<i64>(0, request_.sampling.top_logprobs)};
  }
  return jobs;
}

bool Answering::take(i64 k, engine::Outcome outcome) {
  outcomes_[static_cast<std::size_t>(k)] = std::move(outcome);
  return --n_open_ == 0;
}

// Without its last token: an engine takes only what has not ended, and makes that one again.
std::vector<i32> Answering::made_by(i64 k) const {
  std::vector<i32> made = at(k)->answer.token_ids;
  if (!made.empty()) made.pop_back();
  return made;
}

const std::string& Answering::fault() const {
  static const std::string kNone;
  for (const auto& outcome : outcomes_) {
    if (!outcome->fault.empty()) return outcome->fault;
  }
  return kNone;
}

request::Response Answering::response() const {
  request::Response response{.prompt = prompt_, .answers = {}};
  response.prompt.cached_tokens = at(0)->prompt.cached_tokens;
  if (!choices_.empty()) {
    choose(response);
    return response;
  }
  response.prompt.logprobs = at(0)->prompt.logprobs;
  for (i64 i = 0; i < request_.n; ++i)
    response.answers.push_back(at(std::min(i, n_jobs() - 1))->answer);
  return response;
}

// Of equals the first is taken.
void Answering::choose(request::Response& response) const {
  std::vector<double> logprobs;
  for (const auto& outcome : outcomes_) {
    double sum = 0.0;
    for (const request::TokenLogprob& token : *outcome->prompt.logprobs)
      sum += token.logprob;
    logprobs.push_back(sum);
  }
  const std::vector<double> shares = engine::softmax(logprobs);
  for (std::size_t k = 0; k < logprobs.size(); ++k)
    response.scores.push_back(
        {.text = request_.choice[k], .logprob = logprobs[k], .score = shares[k]});
  const auto best = static_cast<std::size_t>(std::ranges::max_element(logprobs) - logprobs.begin());
  request::Answer& answer = response.answers.emplace_back();
  answer.text = request_.choice[best];
  answer.token_ids.assign(choices_[best].begin() + n_shared_, choices_[best].end());
  answer.finish_reason = "stop";
  if (request_.sampling.top_logprobs >= 0) answer.logprobs = outcomes_[best]->prompt.logprobs;
}

void Answering::set_times(request::Origin& origin) const {
  const engine::Outcome& first = *at(0);
  origin.queued_seconds = first.queued_seconds;
  origin.prefill_seconds = first.prefill_seconds;
  double end = 0.0;
  for (const auto& one : outcomes_)
    end = std::max(end, one->queued_seconds + one->prefill_seconds + one->decode_seconds);
  origin.decode_seconds = end - first.queued_seconds - first.prefill_seconds;
}

}  // namespace sticky::worker
