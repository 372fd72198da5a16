#include "pattern.hpp"

#include "sticky/base/check.hpp"
#include "sticky/base/utf8.hpp"

namespace sticky::tokenizer {

namespace {

std::string_view part(std::string_view text, i64 first, i64 n) {
  return text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
}

}  // namespace

Pattern Pattern::literal(std::string text) {
  STICKY_CHECK(!text.empty());
  Pattern out;
  out.literal_ = std::move(text);
  return out;
}

Pattern Pattern::regex(std::string_view source) {
  Pattern out;
  out.regex_.emplace(source);
  return out;
}

std::optional<ByteRange> Pattern::next(std::string_view subject,
                                       i64 from,
                                       i64 last_end,
                                       MatchSpace& space) const {
  const i64 size = static_cast<i64>(subject.size());
  if (!regex_) {
    const auto at = subject.find(literal_, static_cast<std::size_t>(from));
    if (at == std::string_view::npos) return std::nullopt;
    return ByteRange{static_cast<i64>(at), static_cast<i64>(literal_.size())};
  }
  while (from <= size) {
    const auto found = regex_->find(subject, from, space);
    if (!found || found->n > 0 || found->first != last_end) return found;
    if (from == size) break;
    from += utf8::decode(subject, from).n_bytes;
  }
  return std::nullopt;
}

void Pattern::replace_all(std::string_view subject,
                          std::string_view replacement,
                          MatchSpace& space,
                          std::string& out) const {
  i64 done = 0;
  i64 last_end = -1;
  while (const auto match = next(subject, done, last_end, space)) {
    out += part(subject, done, match->first - done);
    out += replacement;
    done = last_end = match->first + match->n;
  }
  out += part(subject, done, static_cast<i64>(subject.size()) - done);
}

void PartCollector::add(ByteRange part, bool is_match) {
  using enum SplitBehavior;
  const bool joins = behavior_ == contiguous             ? is_match == before_is_match_
                     : behavior_ == merged_with_previous ? is_match && !before_is_match_
                     : behavior_ == merged_with_next     ? !is_match && before_is_match_
                                                         : false;
  before_is_match_ = is_match;
  if (part.n > 0 && joins && can_grow_) {
    out_->back().n += part.n;
    return;
  }
  can_grow_ = part.n > 0 && !(behavior_ == removed && is_match);
  if (can_grow_) out_->push_back(part);
}

void Split::apply(std::string_view subject,
                  i64 base,
                  MatchSpace& space,
                  std::vector<ByteRange>& out) const {
  PartCollector parts(behavior, out);
  i64 done = 0;
  i64 last_end = -1;
  while (const auto match = pattern->next(subject, done, last_end, space)) {
    if (match->first > done) parts.add({base + done, match->first - done}, invert);
    parts.add({base + match->first, match->n}, !invert);
    done = last_end = match->first + match->n;
  }
  const i64 size = static_cast<i64>(subject.size());
  if (done < size) parts.add({base + done, size - done}, invert);
}

}  // namespace sticky::tokenizer
