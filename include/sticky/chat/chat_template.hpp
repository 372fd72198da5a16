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

/// Values that a template sees under these names.
struct RenderInput {
  Json messages;
  Json tools;  ///< null: not given
  bool add_generation_prompt = true;
  Json variables;   ///< object: further names (chat_template_kwargs, bos_token, …)
  std::string now;  ///< ISO 8601; what strftime_now() formats. Empty: the present time
};

/// Bytes first … first + n - 1 of the text were copied from the messages (content, names, tool
/// arguments).
struct ContentRange {
  i64 first = 0;
  i64 n = 0;
};
struct Rendered {
  std::string text;
  std::vector<ContentRange> content;  ///< ascending, disjoint, adjacent ones joined
};

/// Bounds that no sane template meets; beyond them: TemplateError.
struct Bounds {
  i64 max_output_bytes = 16 << 20;
  i64 max_steps = 10'000'000;  ///< evaluated expressions and loop rounds
};

/// A chat template: Jinja as Hugging Face transformers runs it (trim_blocks, lstrip_blocks, loop
/// controls, tojson without HTML escapes, raise_exception, strftime_now). Immutable; usable from
/// several threads.
class ChatTemplate {
 public:
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
