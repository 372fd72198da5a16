#include "sticky/chat/chat_template.hpp"

#include "evaluator.hpp"
#include "input.hpp"
#include "parser.hpp"

namespace sticky::chat {

namespace {

std::vector<ContentRange> content_ranges(const Text& text) {
  std::vector<ContentRange> ranges;
  for (const Span& span : text.spans()) {
    if (span.n == 0) continue;
    if (!ranges.empty() && ranges.back().first + ranges.back().n == span.first) {
      ranges.back().n += span.n;
    } else {
      ranges.push_back({span.first, span.n});
    }
  }
  return ranges;
}

}  // namespace

struct ChatTemplate::Program {
  Block block;
  Bounds bounds;
};

ChatTemplate ChatTemplate::compile(std::string_view source, const Bounds& bounds) {
  return ChatTemplate(std::make_unique<Program>(Program{parse_template(source), bounds}));
}

Rendered ChatTemplate::render(const RenderInput& input) const {
  Context context(program_->bounds, input.now);
  Evaluator evaluator(context, input_scope(context, input));
  const Text text = evaluator.run(program_->block);
  return {text.bytes(), content_ranges(text), first_dropped(input.messages, text)};
}

ChatTemplate::ChatTemplate(std::unique_ptr<Program> program) : program_(std::move(program)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

}  // namespace sticky::chat
