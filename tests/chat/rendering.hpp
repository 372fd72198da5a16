#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "sticky/chat/chat_template.hpp"

namespace sticky::chat::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::filesystem::path golden_folder() {
  return std::filesystem::path(STICKY_TEST_DATA) / "chat";
}

inline Json message(std::string_view role, std::string_view content) {
  return Json::object({{"role", role}, {"content", content}});
}

inline Rendered render(std::string_view source, const RenderInput& input = {}) {
  return ChatTemplate::compile(source).render(input);
}

inline std::string text_of(std::string_view source, Json variables = Json::object()) {
  return render(source, {.messages = Json::array(),
                         .tools = {},
                         .variables = std::move(variables),
                         .now = "2025-01-15T12:30:45"})
      .text;
}

/// What the TemplateError of compiling or rendering says; empty when there is none.
inline std::string error_of(std::string_view source, const RenderInput& input = {}) {
  try {
    (void)ChatTemplate::compile(source).render(input);
  } catch (const TemplateError& error) {
    return error.what();
  }
  return {};
}

/// The output with each range of content in ⟦ ⟧.
inline std::string marked(const Rendered& rendered) {
  std::string out;
  i64 at = 0;
  const auto piece = [&](i64 first, i64 n) {
    return rendered.text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
  };
  for (const auto& range : rendered.content) {
    out += piece(at, range.first - at) + "⟦" + piece(range.first, range.n) + "⟧";
    at = range.first + range.n;
  }
  return out + piece(at, static_cast<i64>(rendered.text.size()) - at);
}

}  // namespace sticky::chat::testing
