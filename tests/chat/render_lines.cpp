// Answers lines of JSON with what our chat templates make of them, for compare_with_original.py:
//   {"template": "…", "messages": …, "tools": …, "variables": {…}, "now": "…"}
//   → {"text": "…"} or {"error": "…"}

#include <iostream>
#include <string>

#include "sticky/chat/chat_template.hpp"

namespace {

using sticky::Json;
using namespace sticky::chat;

Json answer(const Json& request) {
  RenderInput input;
  input.messages = *request.find("messages");
  input.tools = *request.find("tools");
  input.variables = *request.find("variables");
  input.now = request.find("now")->as_string();
  const auto chat_template = ChatTemplate::compile(request.find("template")->as_string());
  return Json::object({{"text", chat_template.render(input).text}});
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Json out;
    try {
      out = answer(Json::parse(line));
    } catch (const sticky::Error& error) {
      out = Json::object({{"error", error.what()}});
    }
    std::cout << out.dump() << std::endl;
  }
}
