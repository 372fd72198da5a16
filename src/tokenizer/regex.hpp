#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sticky/tokenizer/tokenizer.hpp"

namespace sticky::tokenizer {

/// A pattern as tokenizer files write it (Oniguruma's Ruby syntax), in the words of PCRE2. What
/// means something else there is put in other words (\s, \w, \d, \uHHHH, \v); what cannot be is a
/// FormatError that names the construct.
[[nodiscard]] std::string to_pcre2_syntax(std::string_view pattern);

/// Working memory of matching; one for each thread at a time.
class MatchSpace {
 public:
  MatchSpace();
  MatchSpace(const MatchSpace&) = delete;
  MatchSpace& operator=(const MatchSpace&) = delete;
  ~MatchSpace();

 private:
  friend class Regex;
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// A compiled pattern (PCRE2 with its compiler to machine code). Immutable.
class Regex {
 public:
  /// FormatError when the pattern is not understood.
  explicit Regex(std::string_view pattern);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex();

  /// The leftmost match at or after `from`; look-behind sees the whole subject, look-ahead no
  /// further than its end. The subject must be well-formed UTF-8. Error when the pattern needs
  /// more steps or memory than is sane (catastrophic backtracking).
  [[nodiscard]] std::optional<ByteRange> find(std::string_view subject,
                                              i64 from,
                                              MatchSpace& space) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace sticky::tokenizer
