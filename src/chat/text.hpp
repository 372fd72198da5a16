#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::chat {

/// Origin of bytes that came from the input, but from no message (tools).
constexpr i32 kNoMessage = -1;

/// Bytes first … first + n - 1 came from the input: from the message of that number, or from
/// kNoMessage. n = 0 marks where bytes of a message would stand, had the template not cut them
/// away.
struct Span {
  i64 first = 0;
  i64 n = 0;
  i32 origin = kNoMessage;
};

/// Well-formed UTF-8 that knows which of its bytes came from the input. Bytes under no span are the
/// template's own.
class Text {
 public:
  Text() = default;
  explicit Text(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] static Text from_input(std::string bytes, i32 origin);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] i64 size() const { return static_cast<i64>(bytes_.size()); }
  /// Bytes of memory it stands for; the measure of the bounds.
  [[nodiscard]] i64 weight() const {
    return size() + static_cast<i64>(spans_.size() * sizeof(Span));
  }

  void append(std::string_view own) { bytes_.append(own); }
  void append(const Text& other);
  /// Appends n bytes of the other text from byte `first` on.
  void append(const Text& other, i64 first, i64 n);
  /// Appends bytes that stand for n bytes of the other text (an escape, another case): input if any
  /// of those was.
  void append_instead(std::string_view bytes, const Text& other, i64 first, i64 n);

  /// n bytes from byte `first` on. An empty piece of input stays marked as input.
  [[nodiscard]] Text slice(i64 first, i64 n) const;

 private:
  void add_span(Span span);

  std::string bytes_;
  std::vector<Span> spans_;  ///< ascending, disjoint
};

}  // namespace sticky::chat
