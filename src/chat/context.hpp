#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sticky/chat/chat_template.hpp"

#include "value.hpp"

namespace sticky::chat {

/// Throws TemplateError with the line in front.
[[noreturn]] void fail_at(i64 line, std::string_view text);

/// What one rendering holds: the values made on the way, what it may still spend, and where it is.
class Context {
 public:
  Context(const Bounds& bounds, std::string now) : bounds_(bounds), now_(std::move(now)) {}

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    fail_at(line, fmt::format(text, std::forward<Args>(args)...));
  }

  /// Work of n steps. TemplateError beyond max_steps.
  void spend_steps(i64 n);
  /// Work on n bytes that makes none.
  void read_bytes(i64 n) { spend_steps(1 + n / kBytesPerStep); }
  /// n bytes of new values. TemplateError beyond what the bounds allow.
  void spend_bytes(i64 n);
  /// The same for n elements of b bytes each, before they are made; n may be absurd.
  void spend_elements(i64 n, i64 bytes_each);

  /// A value of this rendering, built from the arguments.
  template <class T, class... Args>
  T* make(Args&&... args) {
    spend_bytes(sizeof(T) + 2 * sizeof(void*));
    auto cell = std::make_unique<T>(std::forward<Args>(args)...);
    T* raw = cell.get();
    cells_.push_back(std::move(cell));
    return raw;
  }
  Value make_text(Text text);  ///< counts the text's own bytes too
  Value make_text(std::string own) { return make_text(Text(std::move(own))); }
  Value make_list(List::Form form, std::vector<Value> items);
  Value make_undefined(std::string why) { return make<Undefined>(std::move(why)); }

  /// Appends and counts: for texts that grow piece by piece.
  void append(Text& out, const Text& piece) {
    spend_bytes(piece.weight());
    out.append(piece);
  }
  void append(Text& out, std::string_view own) {
    spend_bytes(static_cast<i64>(own.size()));
    out.append(own);
  }

  [[nodiscard]] const std::string& now() const { return now_; }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }

  i64 line = 1;   ///< of the expression or statement at work
  i64 depth = 0;  ///< of nested expressions, blocks and macro calls

 private:
  static constexpr i64 kBytesPerStep = 64;
  // Values are not freed before the end, so their sum is bounded too: a message is copied a few
  // times on its way into the output (split, strip, concatenation), and small ones count as well.
  [[nodiscard]] i64 most_bytes() const { return bounds_.max_output_bytes * 16 + (1 << 20); }

  Bounds bounds_;
  std::string now_;
  i64 n_steps_ = 0;
  i64 n_bytes_ = 0;
  std::vector<std::unique_ptr<Cell>> cells_;
};

/// One level deeper for the life of the object; TemplateError beyond what the stack bears.
class Deeper {
 public:
  explicit Deeper(Context& context) : context_(context) {
    if (++context_.depth > kMaxDepth) {
      --context_.depth;
      context_.fail("nested deeper than {} levels", kMaxDepth);
    }
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --context_.depth; }

 private:
  static constexpr i64 kMaxDepth = 600;
  Context& context_;
};

}  // namespace sticky::chat
