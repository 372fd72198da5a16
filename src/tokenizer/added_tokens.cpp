#include "added_tokens.hpp"

#include <algorithm>

#include "sticky/base/utf8.hpp"

namespace sticky::tokenizer {

namespace {

i64 skip_white_space(std::string_view text, i64 at) {
  while (at < static_cast<i64>(text.size())) {
    const auto [code_point, n_bytes] = utf8::decode(text, at);
    if (!is_white_space(code_point)) break;
    at += n_bytes;
  }
  return at;
}

i64 skip_white_space_back(std::string_view text, i64 at, i64 stop) {
  while (at > stop) {
    const char32_t code_point = code_point_before(text, at);
    if (!is_white_space(code_point)) break;
    do {
      --at;
    } while ((static_cast<unsigned char>(text[static_cast<std::size_t>(at)]) & 0xC0) == 0x80);
  }
  return at;
}

bool stands_alone(std::string_view text, ByteRange token) {
  const i64 end = token.first + token.n;
  const bool left = token.first == 0 || !is_word(code_point_before(text, token.first));
  const bool right =
      end == static_cast<i64>(text.size()) || !is_word(utf8::decode(text, end).code_point);
  return left && right;
}

bool shares_a_byte(ByteRange token, std::span<const ByteRange> content) {
  const auto after = std::partition_point(content.begin(), content.end(), [&](ByteRange range) {
    return range.first + range.n <= token.first;
  });
  const auto next = std::find_if(after, content.end(), [](ByteRange range) { return range.n > 0; });
  return next != content.end() && next->first < token.first + token.n;
}

}  // namespace

void StringSet::insert(std::string_view text, i64 value) {
  if (text.empty()) return;
  begins_[static_cast<unsigned char>(text.front())] = true;
  i64 node = 0;
  for (const char c : text) {
    i64 next = child(node, c);
    if (next < 0) {
      next = static_cast<i64>(nodes_.size());
      nodes_.emplace_back();
      nodes_[static_cast<std::size_t>(node)].children.emplace_back(c, next);
    }
    node = next;
  }
  nodes_[static_cast<std::size_t>(node)].value = value;
}

i64 StringSet::child(i64 node, char c) const {
  for (const auto& [edge, next] : nodes_[static_cast<std::size_t>(node)].children) {
    if (edge == c) return next;
  }
  return -1;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer)
    : tokens_(std::move(tokens)),
      keeps_positions_(normalizer.is_identity()) {
  MatchSpace space;
  std::string storage;
  // Of two that are the same once normalised the last one counts; the original takes any.
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    tokens_[i].decoded = tokens_[i].content;
    raw_.insert(tokens_[i].content, static_cast<i64>(i));
    if (!tokens_[i].normalized) continue;
    has_normalized_ = true;
    const std::string_view text = normalizer.apply(tokens_[i].content, space, storage);
    normalized_.insert(text, static_cast<i64>(i));
    tokens_[i].decoded = text;
  }
}

void AddedTokens::cut_raw(std::string_view text,
                          const Recognition& recognition,
                          std::vector<Segment>& out) const {
  cut(
      text, raw_,
      [&](const AddedToken& token, ByteRange range) {
        if (!is_raw(token, recognition)) return false;
        return !token.special ||
               (recognition.special && !shares_a_byte(range, recognition.content));
      },
      out);
}

void AddedTokens::cut_normalized(std::string_view text,
                                 i64 base,
                                 const Recognition& recognition,
                                 std::vector<Segment>& out) const {
  if (!has_normalized_) {
    if (!text.empty()) out.push_back({{0, static_cast<i64>(text.size())}});
    return;
  }
  cut(
      text, normalized_,
      [&](const AddedToken& token, ByteRange range) {
        if (is_raw(token, recognition)) return false;
        return !token.special ||
               (recognition.special &&
                !shares_a_byte({base + range.first, range.n}, recognition.content));
      },
      out);
}

void AddedTokens::cut(std::string_view text,
                      const StringSet& set,
                      const Accepts& accepts,
                      std::vector<Segment>& out) const {
  const i64 size = static_cast<i64>(text.size());
  i64 done = 0;
  i64 from = 0;
  i64 space_end = 0;  // from the last match up to here there is nothing but white space
  while (const auto found = set.find(text, from, [&](const StringSet::Found& at) {
    return accepts(tokens_[static_cast<std::size_t>(at.value)], {at.first, at.n});
  })) {
    const AddedToken& token = tokens_[static_cast<std::size_t>(found->value)];
    i64 first = found->first;
    i64 end = from = found->first + found->n;
    if (token.single_word && !stands_alone(text, {found->first, found->n})) continue;
    if (token.lstrip)
      first = std::max(done, skip_white_space_back(text, first, std::min(done, first)));
    if (token.rstrip) end = space_end = skip_white_space(text, std::max(end, space_end));
    if (first >= end) continue;  // the one before has swallowed it
    if (done < first) out.push_back({{done, first - done}});
    out.push_back({{first, end - first}, token.id});
    done = end;
  }
  if (done < size) out.push_back({{done, size - done}});
}

}  // namespace sticky::tokenizer
