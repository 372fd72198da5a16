#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/error.hpp"
#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::chat {

/// A template cannot be compiled, raises, or fails on its messages. what() names the template's
/// line.
class TemplateError : public Error {
  using Error::Error;
};

/// Values that a template sees under these names. tools and documents are None where there are
/// none, as transformers passes them.
struct RenderInput {
  Json messages = {};  ///< null: the template sees no such name
  Json tools = {};     ///< null: None
  bool add_generation_prompt = true;
  /// Object: further names (chat_template_kwargs, bos_token, the columns of a row …). They win over
  /// those above.
  Json variables = {};
  /// What strftime_now() formats: ISO 8601, an offset is ignored. Empty: the present local time.
  std::string now = {};
};

/// Bytes first … first + n - 1 of the text were copied from the messages or tools (content, names,
/// arguments).
struct ContentRange {
  i64 first = 0;
  i64 n = 0;
};

/// content: what came from strings of messages and tools, through every operation on strings
/// (slices, split, replace, upper, tojson …); an escape or another case of such a byte counts as
/// it. All else, the template's own text and the variables, is scaffold; so is a role that is one
/// of system, user, assistant, tool, developer, ipython, function, which templates print inside
/// control tokens. Control tokens are to be recognised in scaffold only.
///
/// dropped_message: the first message that has text (its content, or the text of a part of it, is
/// more than white space) but gave nothing to the output. That of its content the template cut
/// everything away (thinking) drops no message; that only its role was printed does.
struct Rendered {
  std::string text;
  std::vector<ContentRange> content;  ///< ascending, disjoint, adjacent ones joined
  i64 dropped_message = -1;           ///< -1: none
};

/// Bounds that no sane template meets; beyond them: TemplateError. The sum of all values that one
/// rendering makes is bounded too, by 16 × max_output_bytes + 1 MiB.
struct Bounds {
  i64 max_output_bytes = 16 << 20;
  i64 max_steps = 10'000'000;  ///< evaluated expressions, loop rounds, 64 bytes read or written
};

/// A chat template: Jinja2 3.1 as Hugging Face transformers runs it (trim_blocks, lstrip_blocks,
/// loop controls, tojson without HTML escapes, raise_exception, strftime_now, generation).
/// Immutable; usable from several threads. The same input gives the same text, but for strftime_now
/// without a fixed time.
///
/// Statements: if, for (with if and else), set (blocks too), macro, call, filter, with, raw, print,
/// break, continue, generation. All expressions.
/// Filters: abs attr batch capitalize center count d default dictsort e escape first float
/// forceescape format groupby indent int items join last length list lower map max min reject
/// rejectattr replace reverse round safe select selectattr slice sort string sum title tojson trim
/// truncate unique upper. Tests: all of Jinja2.
/// Functions: cycler dict joiner namespace raise_exception range (up to 100,000, as Jinja's
/// sandbox) strftime_now. Methods: most of Python's str, list and dict; those that change a list or
/// dict work, though transformers' sandbox refuses them. Not supported, a TemplateError when
/// compiled: extends, block, include, import, from, autoescape, other filters.
/// escape and safe give plain strings. Integers have 64 bits. select, map, unique, batch, slice and
/// their like are computed at once, but can be read only once, as in Jinja. An operation that
/// Python refuses fails even where Jinja folds constants and gives an undefined value (1[2:]).
class ChatTemplate {
 public:
  /// An unknown tag, filter or test is an error even where it would never be reached.
  [[nodiscard]] static ChatTemplate compile(std::string_view source, const Bounds& bounds = {});
  [[nodiscard]] Rendered render(const RenderInput& input) const;

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ChatTemplate(const ChatTemplate&) = delete;
  ChatTemplate& operator=(const ChatTemplate&) = delete;
  ~ChatTemplate();

 private:
  struct Program;
  explicit ChatTemplate(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace sticky::chat
