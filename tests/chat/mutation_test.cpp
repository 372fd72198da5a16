// Seeded mutations of the real templates: whatever stands in a template, only TemplateError comes
// out. Worth most under AddressSanitizer and UBSan.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/chat/rendering.hpp"

namespace sticky::chat::testing {
namespace {

constexpr Bounds kSmall{.max_output_bytes = 1 << 16, .max_steps = 20'000};

RenderInput conversation() {
  const Json call = Json::parse(
      R"({"role": "assistant", "content": "", "tool_calls": [{"id": "abcdef123", "type": "function",
          "function": {"name": "f", "arguments": {"a": "é", "b": [1, 2.5, null]}}}]})");
  return {
      .messages = Json::array({message("system", "be <b>"), message("user", "hi 漢字\n"), call,
                               message("tool", "{}"), message("assistant", "<think>x</think>y")}),
      .tools = Json::array({Json::object({{"name", "t"}, {"function", Json::object()}})}),
      .variables = Json::object({{"bos_token", "<s>"}, {"eos_token", "</s>"}}),
      .now = "2025-01-15"};
}

void try_out(const std::string& source, const RenderInput& input) {
  try {
    const auto rendered = ChatTemplate::compile(source, kSmall).render(input);
    i64 at = 0;
    for (const auto& range : rendered.content) {
      ASSERT_GE(range.first, at);
      ASSERT_GT(range.n, 0);
      at = range.first + range.n;
    }
    ASSERT_LE(at, static_cast<i64>(rendered.text.size()));
  } catch (const TemplateError&) {
    // the one way out
  }
}

std::vector<std::string> real_templates() {
  std::vector<std::string> sources;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder() / "templates"))
    sources.push_back(read_file(entry.path()));
  const Json features = Json::parse(read_file(golden_folder() / "features.json"));
  for (const Json& one : features.find("cases")->as_array())
    sources.push_back(one.find("template")->as_string());
  std::ranges::sort(sources);  // the file system gives any order
  return sources;
}

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string mutate(std::string source) {
    const auto n = 1 + below(4);
    for (std::size_t i = 0; i < n; ++i)
      change(source);
    return source;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void change(std::string& source) {
    static const std::array<std::string, 30> kPieces = {
        "{{",       "}}",     "{%",       "%}",       "{#",   "#}",      "(",     ")",
        "[",        "]",      "{",        "}",        "|",    ".",       "'",     "- ",
        "* 99999 ", "** 9",   " if ",     " else ",   "not ", " is ",    "loop.", "range(",
        "::",       "| list", "| tojson", ".append(", "\\",   "messages"};
    const auto at = below(source.size() + 1);
    switch (below(4)) {
      case 0:
        source.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 1:
        source.erase(at, 1 + below(6));
        break;
      case 2:
        if (at < source.size()) source[at] = static_cast<char>(below(256));
        break;
      default:
        source.insert(at, source.substr(below(source.size() + 1), below(40)));
        break;
    }
  }

  std::mt19937 random_;
};

TEST(HostileTemplates, MutatedTemplatesRenderOrThrowTemplateError) {
  const RenderInput input = conversation();
  const auto sources = real_templates();
  Mutator mutator(20250115);
  for (int round = 0; round < 20; ++round) {
    for (const std::string& source : sources)
      try_out(mutator.mutate(source), input);
  }
}

TEST(HostileTemplates, TemplatesCutAtAnyByteRenderOrThrowTemplateError) {
  const RenderInput input = conversation();
  for (const std::string& source : real_templates()) {
    const auto stride = 1 + source.size() / 200;
    for (std::size_t n = 0; n < source.size(); n += stride)
      try_out(source.substr(0, n), input);
  }
}

TEST(HostileMessages, AnyShapeOfInputRendersOrThrowsTemplateError) {
  const std::vector<Json> shapes = {
      Json(),
      Json(true),
      Json(5),
      Json("text"),
      Json::array(),
      Json::array({Json()}),
      Json::array({Json("x"), Json(1)}),
      Json::object({{"role", "user"}}),
      Json::array({Json::object()}),
      Json::array({Json::object({{"role", 5}, {"content", Json()}})}),
      Json::array({Json::object({{"role", Json::array()}, {"content", Json::object()}})}),
      Json::array({Json::object({{"role", "assistant"}, {"tool_calls", Json::array({Json(1)})}})}),
      Json::array({Json::object({{"role", "tool"}, {"content", Json::array({Json()})}})}),
  };
  for (const std::string& source : real_templates()) {
    for (const Json& messages : shapes)
      try_out(source, {.messages = messages, .tools = messages});
  }
}

}  // namespace
}  // namespace sticky::chat::testing
