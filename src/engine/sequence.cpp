#include "sequence.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>
#include <utility>

#include "sticky/base/check.hpp"

namespace sticky::engine {
namespace {

// The hash of a page stands for all tokens up to its end: that of the page before goes into it.
Hash128 page_hash(const Hash128& before, std::span<const i32> tokens) {
  std::array<char, sizeof(std::uint64_t) * 2 + sizeof(i32) * kPageTokens> bytes;
  std::memcpy(bytes.data(), &before.high, sizeof before.high);
  std::memcpy(bytes.data() + 8, &before.low, sizeof before.low);
  std::memcpy(bytes.data() + 16, tokens.data(), tokens.size_bytes());
  return hash128({bytes.data(), bytes.size()});
}

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

Sequence::Sequence(
    Job job, i64 number, DrawKey draws, const tokenizer::Tokenizer& tokenizer, bool shared)
    : job_(std::move(job)),
      number_(number),
      draws_(draws),
      shares_pages_(shared),
      n_prompt_(std::ssize(job_.prompt)),
      tokens_(std::move(job_.prompt)),
      last_of_prompt_(tokens_.back()),
      decoder_(tokenizer, /*skip_special=*/true),
      stops_(job_.sampling.stop, job_.sampling.include_stop_str_in_output) {
  if (!makes_text()) tokens_.pop_back();
  if (job_.scoring) prompt_.logprobs.emplace();
  if (has_penalties(job_.sampling)) counts_.add_prompt(tokens_);
  if (job_.sampling.top_logprobs >= 0) answer_.logprobs.emplace();
  hash_full_pages();
}

SequenceView Sequence::view() const {
  // What the cache serves has no logits.
  const bool lacks_logprobs = first_logits() < std::ssize(tokens_) - 1;
  const auto n_shared = static_cast<std::size_t>(first_logits() / kPageTokens);
  const std::span<const Hash128> hashes(page_hashes_);
  return {.n_tokens = std::ssize(tokens_),
          .n_computed = n_computed_,
          .n_reachable = first_logits() + 1 + kKnownLogitRows,
          .n_published = n_published_,
          .pages = pages_,
          .page_hashes = lacks_logprobs ? hashes.first(std::min(n_shared, hashes.size())) : hashes};
}

void Sequence::hash_full_pages() {
  if (!shares_pages_) return;
  const i64 n_full = std::ssize(tokens_) / kPageTokens;
  while (std::ssize(page_hashes_) < n_full) {
    const Hash128 before = page_hashes_.empty() ? Hash128{} : page_hashes_.back();
    const auto first = page_hashes_.size() * kPageTokens;
    page_hashes_.push_back(page_hash(before, std::span(tokens_).subspan(first, kPageTokens)));
  }
}

void Sequence::take_cached(PagePool& pool, i64 n_pages) {
  STICKY_CHECK(pages_.empty());
  for (i64 i = 0; i < n_pages; ++i) {
    const auto page = pool.find(page_hashes_[static_cast<std::size_t>(i)]);
    STICKY_CHECK(page.has_value());
    pool.retain(*page);
    pages_.push_back(*page);
  }
  n_published_ = n_pages;
  n_computed_ = n_pages * kPageTokens;
  if (!has_started_) prompt_.cached_tokens = std::min(n_computed_, n_prompt_);
}

void Sequence::take_pages(PagePool& pool, i64 n_tokens) {
  while (std::ssize(pages_) < n_pages_for(n_tokens))
    pages_.push_back(pool.allocate());
}

void Sequence::publish_pages(PagePool& pool) {
  if (!shares_pages_) return;
  for (; n_published_ < n_computed_ / kPageTokens; ++n_published_) {
    const auto i = static_cast<std::size_t>(n_published_);
    pool.publish(pages_[i], page_hashes_[i]);
  }
}

void Sequence::give_back_pages(PagePool& pool) {
  for (const i32 page : std::views::reverse(pages_))
    pool.release(page);
  pages_.clear();
  n_published_ = 0;
  n_computed_ = 0;
}

std::vector<i32> Sequence::banned(const TextEnds& ends) const {
  if (n_output() >= sampling().min_tokens) return {};
  std::vector<i32> ids = sampling().stop_token_ids;
  if (!sampling().ignore_eos) ids.insert(ids.end(), ends.eos_ids.begin(), ends.eos_ids.end());
  return ids;
}

void Sequence::append(i32 token) {
  tokens_.push_back(token);
  answer_.token_ids.push_back(token);
  if (has_penalties(sampling())) counts_.add_output(token);
  hash_full_pages();
}

bool Sequence::replay(std::span<const i32> made, const TextEnds& ends) {
  return std::ranges::all_of(made, [&](i32 token) {
    append(token);
    return !has_ended(ends);
  });
}

bool Sequence::is_scoring() const {
  return prompt_.logprobs && job_.scoring->first + std::ssize(*prompt_.logprobs) < n_prompt_;
}

i32 Sequence::token_to_score() const {
  const i64 next = job_.scoring->first + std::ssize(*prompt_.logprobs);
  return next < std::ssize(tokens_) ? tokens_[static_cast<std::size_t>(next)] : last_of_prompt_;
}

void Sequence::append_prompt_logprob(request::TokenLogprob logprob) {
  prompt_.logprobs->push_back(std::move(logprob));
}

bool Sequence::lacks_logprob(i64 position) const {
  return answer_.logprobs && position - n_prompt_ == std::ssize(*answer_.logprobs);
}

i64 Sequence::first_logits() const {
  if (is_scoring()) return job_.scoring->first + std::ssize(*prompt_.logprobs) - 1;
  const i64 n_known = answer_.logprobs ? std::ssize(*answer_.logprobs) : n_output();
  return n_prompt_ + n_known - 1;
}

void Sequence::append_logprob(request::TokenLogprob logprob) {
  answer_.logprobs->push_back(std::move(logprob));
}

bool Sequence::ends_by_token(i32 token, const TextEnds& ends) const {
  const request::Sampling& s = sampling();
  return (!s.ignore_eos && std::ranges::count(ends.eos_ids, token) > 0) ||
         std::ranges::count(s.stop_token_ids, token) > 0;
}

bool Sequence::has_ended(const TextEnds& ends) {
  const i32 token = tokens_.back();
  const bool is_full = std::ssize(tokens_) >= ends.context ||
                       (sampling().max_tokens && n_output() >= *sampling().max_tokens);
  if (ends_by_token(token, ends)) {
    (void)add_text(decoder_.finish());
    answer_.finish_reason = "stop";
  } else if (add_text(decoder_.push(token)) || (is_full && add_text(decoder_.finish()))) {
    answer_.finish_reason = "stop";
  } else if (is_full) {
    answer_.finish_reason = "length";
  }
  return !answer_.finish_reason.empty();
}

// True when a stop string ended the text, which is cut then.
bool Sequence::add_text(const std::string& text) {
  const i64 n_old = std::ssize(answer_.text);
  answer_.text += text;
  if (n_output() < sampling().min_tokens) return false;
  const auto end = stops_.find(answer_.text, n_old);
  if (end) answer_.text.resize(static_cast<std::size_t>(*end));
  return end.has_value();
}

void Sequence::note_started(TimePoint at) {
  if (!has_started_) started_ = at;
  has_started_ = true;
}

void Sequence::note_first_token(TimePoint at) {
  if (!has_made_token_) first_token_ = at;
  has_made_token_ = true;
}

Outcome Sequence::take_outcome(TimePoint now) {
  return {.key = job_.key,
          .answer = std::move(answer_),
          .prompt = std::move(prompt_),
          .fault = std::move(fault_),
          .queued_seconds = seconds(started_ - submitted_),
          .prefill_seconds = seconds(first_token_ - started_),
          .decode_seconds = seconds(now - first_token_)};
}

}  // namespace sticky::engine
