#include "text.hpp"

#include <algorithm>

namespace sticky::chat {

namespace {

// The first span that ends behind `at`, or stands empty at it.
auto first_span_from(const std::vector<Span>& spans, i64 at) {
  return std::ranges::partition_point(spans, [at](const Span& s) {
    return s.first + s.n < at || (s.n > 0 && s.first + s.n == at);
  });
}

}  // namespace

Text Text::from_input(std::string bytes, i32 origin) {
  Text text(std::move(bytes));
  text.spans_.push_back({0, text.size(), origin});
  return text;
}

void Text::add_span(Span span) {
  if (!spans_.empty()) {
    Span& last = spans_.back();
    if (last.origin == span.origin && last.first + last.n == span.first) {
      last.n += span.n;
      return;
    }
  }
  spans_.push_back(span);
}

void Text::append(const Text& other) {
  append(other, 0, other.size());
}

void Text::append(const Text& other, i64 first, i64 n) {
  const i64 shift = size() - first;
  for (auto s = first_span_from(other.spans_, first);
       s != other.spans_.end() && s->first <= first + n; ++s) {
    const i64 begin = std::max(s->first, first);
    const i64 end = std::min(s->first + s->n, first + n);
    if (begin < end || s->n == 0) add_span({begin + shift, end - begin, s->origin});
  }
  bytes_.append(other.bytes_, static_cast<std::size_t>(first), static_cast<std::size_t>(n));
}

void Text::append_instead(std::string_view bytes, const Text& other, i64 first, i64 n) {
  auto s = first_span_from(other.spans_, first);
  while (s != other.spans_.end() && s->n == 0)
    ++s;
  if (s != other.spans_.end() && s->first < first + n)
    add_span({size(), static_cast<i64>(bytes.size()), s->origin});
  bytes_.append(bytes);
}

Text Text::slice(i64 first, i64 n) const {
  Text piece;
  piece.append(*this, first, n);
  if (n == 0 && piece.spans_.empty() && !spans_.empty())
    piece.spans_.push_back({0, 0, spans_.front().origin});
  return piece;
}

}  // namespace sticky::chat
