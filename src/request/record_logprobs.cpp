#include "record_logprobs.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "sticky/base/utf8.hpp"

namespace sticky::request {

namespace {

Json chat_token(const TokenLogprob& token) {
  Json::Array bytes;
  for (const char c : token.piece)
    bytes.emplace_back(i64{static_cast<unsigned char>(c)});
  return Json::object({{"token", utf8::sanitize(token.piece)},
                       {"logprob", token.logprob},
                       {"bytes", std::move(bytes)}});
}

i64 n_characters(std::string_view text) {
  constexpr unsigned kContinuationMask = 0xC0;
  constexpr unsigned kContinuation = 0x80;
  return std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & kContinuationMask) != kContinuation;
  });
}

std::span<const TokenLogprob> first_of(const std::vector<TokenLogprob>& tokens, i64 n) {
  const auto n_there = std::min(static_cast<std::size_t>(n), tokens.size());
  return std::span(tokens).first(n_there);
}

Json legacy_top(const TokenLogprob& token, std::span<const TokenLogprob> best) {
  Json top = Json::object();
  for (const TokenLogprob& other : best) {
    const std::string name = utf8::sanitize(other.piece);
    if (top.find(name) == nullptr) top.set(name, other.logprob);
  }
  const std::string chosen = utf8::sanitize(token.piece);
  if (top.find(chosen) == nullptr) top.set(chosen, token.logprob);
  return top;
}

/// Finds the tokens of a prompt in its text, one after another. Those that stand for nothing in it
/// (BOS, what a normalizer has changed) begin where the one before them ended.
class TokenFinder {
 public:
  explicit TokenFinder(std::string_view text) : text_(text) {}

  /// Where the next token begins, in characters.
  i64 offset_of(std::string_view piece) {
    // What a normalizer has made longer or shorter is passed over within this many bytes.
    constexpr std::size_t kNear = 16;
    // A tokenizer may put a blank before the text.
    if (at_ == 0 && piece.starts_with(' ') && !text_.starts_with(' ')) piece.remove_prefix(1);
    const auto found = text_.substr(at_, piece.size() + kNear).find(piece);
    const std::size_t begin = found == std::string_view::npos ? at_ : at_ + found;
    move_to(begin);
    const i64 offset = n_begun_;
    if (found != std::string_view::npos) move_to(begin + piece.size());
    return offset;
  }

 private:
  void move_to(std::size_t place) {
    n_begun_ += n_characters(text_.substr(at_, place - at_));
    at_ = place;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  i64 n_begun_ = 0;  // characters that begin before at_
};

Json ranked_token(const TokenLogprob& token) {
  return Json::object({{"logprob", token.logprob},
                       {"rank", token.rank},
                       {"decoded_token", utf8::sanitize(token.piece)}});
}

}  // namespace

Json chat_logprobs(const std::vector<TokenLogprob>& tokens) {
  Json::Array content;
  for (const TokenLogprob& token : tokens) {
    Json entry = chat_token(token);
    Json::Array top;
    for (const TokenLogprob& other : token.top)
      top.push_back(chat_token(other));
    entry.set("top_logprobs", std::move(top));
    content.push_back(std::move(entry));
  }
  return Json::object({{"content", std::move(content)}, {"refusal", Json()}});
}

void LegacyLogprobs::add_prompt(const std::vector<TokenLogprob>& tokens,
                                i64 n_top,
                                std::string_view text) {
  TokenFinder finder(text);
  for (const TokenLogprob& token : tokens) {
    const bool is_first = &token == &tokens.front();
    tokens_.emplace_back(utf8::sanitize(token.piece));
    logprobs_.push_back(is_first ? Json() : Json(token.logprob));
    tops_.push_back(is_first ? Json() : legacy_top(token, first_of(token.top, n_top)));
    offsets_.emplace_back(finder.offset_of(token.piece));
  }
  n_characters_ = n_characters(text);
}

void LegacyLogprobs::add_answer(const std::vector<TokenLogprob>& tokens, std::string_view text) {
  const i64 end = n_characters_ + n_characters(text);
  for (const TokenLogprob& token : tokens) {
    tokens_.emplace_back(utf8::sanitize(token.piece));
    logprobs_.emplace_back(token.logprob);
    tops_.push_back(legacy_top(token, token.top));
    offsets_.emplace_back(std::min(n_characters_, end));
    n_characters_ += n_characters(token.piece);
  }
}

Json LegacyLogprobs::take() {
  return Json::object({{"tokens", std::move(tokens_)},
                       {"token_logprobs", std::move(logprobs_)},
                       {"top_logprobs", std::move(tops_)},
                       {"text_offset", std::move(offsets_)}});
}

Json prompt_logprobs(const std::vector<TokenLogprob>& tokens, i64 n_top) {
  Json::Array out;
  for (const TokenLogprob& token : tokens) {
    if (&token == &tokens.front()) {
      out.emplace_back();
      continue;
    }
    Json entry = Json::object({{std::to_string(token.id), ranked_token(token)}});
    for (const TokenLogprob& other : first_of(token.top, n_top)) {
      if (other.id != token.id) entry.set(std::to_string(other.id), ranked_token(other));
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace sticky::request
