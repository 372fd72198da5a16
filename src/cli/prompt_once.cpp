#include "prompt_once.hpp"

#include <utility>

#include <fmt/format.h>

#include "sticky/base/clock.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/worker/model_service.hpp"

#include "json_fields.hpp"
#include "text_model.hpp"

namespace sticky::cli {
namespace {

constexpr int kFailed = 3;

Json chat_line(const std::string& prompt) {
  return Json::object(
      {{"messages", Json::array({Json::object({{"role", "user"}, {"content", prompt}})})}});
}

// The text of a record of results.jsonl.
std::string text_of(const Json& record) {
  const Json* response = record.find("response");
  const Json* body = response == nullptr ? nullptr : response->find("body");
  if (body == nullptr || array_at(*body, "choices").empty()) return "";
  const Json& choice = array_at(*body, "choices").front();
  const Json* message = choice.find("message");
  return message == nullptr ? text_at(choice, "text") : text_at(*message, "content");
}

std::string reason_of(const Json& record) {
  const Json* error = record.find("error");
  return error == nullptr ? "" : text_at(*error, "message");
}

}  // namespace

int answer_prompt(const config::Config& config, const std::string& prompt) {
  const SteadyClock clock;
  const bool has_template = TextModel(config.worker).prompts().has_chat_template();
  const Json line = has_template ? chat_line(prompt) : Json::object({{"prompt", prompt}});
  const auto service = worker::make_model_service(config.worker, WorkerId{0}, clock);
  service->load();
  protocol::Invocation invocation;
  invocation.id = InvocationId{0};
  invocation.custom_id = "prompt";
  invocation.payload = line.dump();
  service->submit(std::move(invocation));
  std::vector<protocol::Result> results;
  while (results.empty())
    results = service->step();
  const Json record = Json::parse(results.front().record);
  if (results.front().is_error) {
    tell("{}\n", reason_of(record));
    return kFailed;
  }
  fmt::print("{}\n", text_of(record));
  return 0;
}

}  // namespace sticky::cli
