#include "sticky/base/utf8.hpp"
#include "sticky/tokenizer/tokenizer.hpp"

namespace sticky::tokenizer {

void Tokenizer::decode_next(DecodeState& state, i32 id, bool skip_special, std::string& out) const {
  if (skip_special && is_special(id)) return;
  state.pending += piece(id);
  const auto n = static_cast<std::size_t>(utf8::complete_prefix(state.pending));
  out += utf8::sanitize(std::string_view(state.pending).substr(0, n));
  state.pending.erase(0, n);
}

void Tokenizer::decode_end(DecodeState& state, std::string& out) const {
  out += utf8::sanitize(state.pending);
  state.pending.clear();
}

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(&tokenizer),
      skip_special_(skip_special) {}

std::string StreamDecoder::push(i32 id) {
  std::string out;
  tokenizer_->decode_next(state_, id, skip_special_, out);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  tokenizer_->decode_end(state_, out);
  return out;
}

}  // namespace sticky::tokenizer
