#include "decoder.hpp"

#include <charconv>
#include <type_traits>
#include <utility>

#include "sticky/base/utf8.hpp"

#include "byte_alphabet.hpp"

namespace sticky::tokenizer {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct ApplyToToken {
  std::string token;
  bool is_first;

  std::string operator()(const ReplaceText& step) const {
    std::string out;
    std::size_t done = 0;
    for (auto at = token.find(step.from); at != std::string::npos;
         at = token.find(step.from, done)) {
      out.append(token, done, at - done).append(step.to);
      done = at + step.from.size();
    }
    return out.append(token, done);
  }
  std::string operator()(const Strip& step) const {
    std::string_view out = token;
    for (i64 i = 0; i < step.start && out.starts_with(step.content); ++i)
      out.remove_prefix(step.content.size());
    for (i64 i = 0; i < step.stop && out.ends_with(step.content); ++i)
      out.remove_suffix(step.content.size());
    return std::string(out);
  }
  std::string operator()(const MetaspaceDecoder& step) const {
    const bool drops = is_first && step.drops_in_first;
    return ApplyToToken{token, is_first}(ReplaceText{step.replacement, drops ? "" : " "});
  }
  std::string operator()(const ByteLevelDecoder& /*step*/) const {
    return bytes_of_piece(token).value_or(token);
  }
};

// <0xHH>, as Rust's from_str_radix reads HH.
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned char byte = 0;
  const char* first = token.data() + (token[3] == '+' ? 4 : 3);
  const auto [end, error] = std::from_chars(first, token.data() + 5, byte, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace

void Decoder::add(Step step) {
  has_steps_ = true;
  if (!takes_in_stride(step)) holds_ = true;
  steps_.push_back(std::move(step));
}

bool Decoder::takes_in_stride(const Step& step) {
  if (holds_ || std::holds_alternative<ReplaceMatches>(step)) return false;
  if (std::holds_alternative<Fuse>(step)) {
    is_fused_ = true;
    return true;
  }
  if (gives_bytes_) return false;
  if (is_fused_) {
    const auto* strip = std::get_if<Strip>(&step);
    if (strip == nullptr || at_start_ || strip->stop > 0) return false;
    at_start_ = *strip;
    return true;
  }
  if (std::holds_alternative<ByteFallbackDecoder>(step)) {
    if (has_byte_fallback_) return false;
    has_byte_fallback_ = true;
    return true;
  }
  const bool only_before = std::holds_alternative<MetaspaceDecoder>(step) ||
                           std::holds_alternative<ByteLevelDecoder>(step);
  if (has_byte_fallback_ && only_before) return false;
  gives_bytes_ = std::holds_alternative<ByteLevelDecoder>(step);
  auto& steps = has_byte_fallback_ ? behind_ : before_;
  std::visit(
      [&]<class T>(const T& known) {
        if constexpr (std::is_constructible_v<TokenStep, T>) steps.emplace_back(known);
      },
      step);
  return true;
}

bool Decoder::differs_at_start() const {
  if (holds_) return false;
  for (const TokenStep& step : before_) {
    const auto* metaspace = std::get_if<MetaspaceDecoder>(&step);
    if (metaspace != nullptr && metaspace->drops_in_first) return true;
  }
  return false;
}

Decoder::Decoded Decoder::decode_piece(std::string_view piece, bool is_first) const {
  std::string token(piece);
  for (const TokenStep& step : before_)
    token = std::visit(ApplyToToken{std::move(token), is_first}, step);
  if (has_byte_fallback_) {
    if (const auto byte = byte_of(token)) return {std::string(1, *byte), true};
  }
  return {std::move(token), false};
}

void Decoder::next(DecodeState& state,
                   std::string_view piece,
                   const Decoded& token,
                   std::string& out) const {
  if (holds_) {
    state.held.emplace_back(piece);
    return;
  }
  if (!has_steps_ && !state.at_start) out += ' ';
  state.at_start = false;
  if (token.is_byte) {
    state.pending += token.bytes;
    return;
  }
  if (has_byte_fallback_) end_bytes(state, out);
  emit(state, token.bytes, out);
}

void Decoder::end(DecodeState& state, std::string& out) const {
  if (holds_) return decode_whole(std::exchange(state.held, {}), out);
  if (has_byte_fallback_) end_bytes(state, out);
  out += utf8::sanitize(state.pending);
  state.pending.clear();
}

namespace {

using Tokens = std::vector<std::string>;

std::string joined(const Tokens& tokens) {
  std::string out;
  for (const std::string& token : tokens)
    out += token;
  return out;
}

// Neighbouring bytes are characters together, or none of them is.
Tokens without_byte_tokens(const Tokens& tokens) {
  Tokens out;
  std::string bytes;
  const auto end_bytes = [&] {
    if (utf8::first_invalid(bytes) < 0) {
      if (!bytes.empty()) out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), std::string(kReplacement));
    }
    bytes.clear();
  };
  for (const std::string& token : tokens) {
    if (const auto byte = byte_of(token)) {
      bytes += *byte;
    } else {
      end_bytes();
      out.push_back(token);
    }
  }
  end_bytes();
  return out;
}

struct ApplyToAll {
  Tokens tokens;
  MatchSpace& space;

  Tokens operator()(Fuse /*step*/) const { return {joined(tokens)}; }
  Tokens operator()(ByteFallbackDecoder /*step*/) const { return without_byte_tokens(tokens); }
  Tokens operator()(ByteLevelDecoder step) const {
    std::string bytes;
    for (const std::string& token : tokens)
      bytes += ApplyToToken{token, false}(step);
    return {utf8::sanitize(bytes)};
  }
  Tokens operator()(const ReplaceMatches& step) const {
    Tokens out(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
      step.from.replace_all(tokens[i], step.to, space, out[i]);
    return out;
  }
  template <class TokenStep>
  Tokens operator()(const TokenStep& step) const {
    Tokens out;
    for (const std::string& token : tokens)
      out.push_back(ApplyToToken{token, out.empty()}(step));
    return out;
  }
};

}  // namespace

void Decoder::decode_whole(Tokens tokens, std::string& out) const {
  MatchSpace space;
  for (const Step& step : steps_)
    tokens = std::visit(ApplyToAll{std::move(tokens), space}, step);
  out += joined(tokens);
}

// Neighbouring bytes are characters together, or none of them is: that is how the original has it.
void Decoder::end_bytes(DecodeState& state, std::string& out) const {
  if (state.pending.empty()) return;
  const std::string bytes = std::exchange(state.pending, {});
  if (utf8::first_invalid(bytes) < 0) return emit(state, bytes, out);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    emit(state, kReplacement, out);
}

void Decoder::emit(DecodeState& state, std::string_view token, std::string& out) const {
  if (behind_.empty()) return write(state, token, out);
  std::string changed(token);
  for (const TokenStep& step : behind_)
    changed = std::visit(ApplyToToken{std::move(changed), false}, step);
  write(state, changed, out);
}

void Decoder::write(DecodeState& state, std::string_view text, std::string& out) const {
  if (gives_bytes_) {
    state.pending += text;
    const auto n = static_cast<std::size_t>(utf8::complete_prefix(state.pending));
    out += utf8::sanitize(std::string_view(state.pending).substr(0, n));
    state.pending.erase(0, n);
    return;
  }
  while (at_start_ && state.n_stripped >= 0 && !text.empty()) {
    if (state.n_stripped < at_start_->start && text.starts_with(at_start_->content)) {
      text.remove_prefix(at_start_->content.size());
      ++state.n_stripped;
    } else {
      state.n_stripped = -1;
    }
  }
  out += text;
}

}  // namespace sticky::tokenizer
