#include "regex.hpp"

#include <array>
#include <cstdint>
#include <new>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "sticky/base/error.hpp"

namespace sticky::tokenizer {

namespace {

// Backtracking steps of one match. A match over 100 MB of blanks takes about one a byte; a
// catastrophic pattern reaches the limit within seconds instead of never.
constexpr std::uint32_t kMatchLimit = 200'000'000;
constexpr std::uint32_t kHeapLimitKib = 2'000'000;
constexpr std::size_t kJitStackStart = 64 << 10;
constexpr std::size_t kJitStackMax = 16 << 20;

std::string message_of(int code) {
  std::array<unsigned char, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  std::string out;
  for (std::size_t i = 0; i < text.size() && text[i] != 0; ++i)
    out += static_cast<char>(text[i]);
  return out;
}

// PCRE2 counts in unsigned bytes.
PCRE2_SPTR8 pcre2_text(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR8>(text.data());
}

template <auto free_it>
struct Freed {
  template <class T>
  void operator()(T* p) const {
    free_it(p);
  }
};

}  // namespace

struct MatchSpace::Buffers {
  std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>> match{
      pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>> context{
      pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack_free>> stack{
      pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr)};
};

MatchSpace::MatchSpace() : buffers_(std::make_unique<Buffers>()) {
  if (!buffers_->match || !buffers_->context) throw std::bad_alloc();
  pcre2_set_match_limit(buffers_->context.get(), kMatchLimit);
  pcre2_set_heap_limit(buffers_->context.get(), kHeapLimitKib);
  // Without a stack of its own (no executable memory to be had) the machine stack's 32 KiB serve.
  if (buffers_->stack)
    pcre2_jit_stack_assign(buffers_->context.get(), nullptr, buffers_->stack.get());
}

MatchSpace::~MatchSpace() = default;

struct Regex::Code {
  std::unique_ptr<pcre2_code, Freed<pcre2_code_free>> pattern;
  bool is_machine_code = false;
  std::string source;
};

Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Regex::Regex(std::string_view pattern) : code_(std::make_unique<Code>()) {
  const std::string translated = to_pcre2_syntax(pattern);
  int error = 0;
  std::size_t error_at = 0;
  // Ruby's ^ and $ are those of lines.
  code_->pattern.reset(pcre2_compile(pcre2_text(translated), translated.size(),
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &error_at,
                                     nullptr));
  if (!code_->pattern)
    fail<FormatError>("the pattern \"{}\" is not understood: {}", pattern, message_of(error));
  code_->is_machine_code = pcre2_jit_compile(code_->pattern.get(), PCRE2_JIT_COMPLETE) == 0;
  code_->source = pattern;
}

std::optional<ByteRange> Regex::find(std::string_view subject, i64 from, MatchSpace& space) const {
  MatchSpace::Buffers& buffers = *space.buffers_;
  const auto* text = pcre2_text(subject);
  const auto start = static_cast<std::size_t>(from);
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code_->is_machine_code) {
    found = pcre2_jit_match(code_->pattern.get(), text, subject.size(), start, PCRE2_NO_UTF_CHECK,
                            buffers.match.get(), buffers.context.get());
  }
  // The interpreter keeps its backtracking points on the heap.
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found =
        pcre2_match(code_->pattern.get(), text, subject.size(), start,
                    PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, buffers.match.get(), buffers.context.get());
  }
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (found < 0) {
    fail<Error>("the pattern \"{}\" fails on a text of {} bytes: {}", code_->source, subject.size(),
                message_of(found));
  }
  const std::size_t* ends = pcre2_get_ovector_pointer(buffers.match.get());
  return ByteRange{static_cast<i64>(ends[0]),
                   static_cast<i64>(ends[1]) - static_cast<i64>(ends[0])};
}

}  // namespace sticky::tokenizer
