#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"
#include "sticky/io/input_reader.hpp"
#include "sticky/request/request.hpp"

#include "commands.hpp"
#include "flag_sources.hpp"
#include "start.hpp"
#include "text_model.hpp"

namespace sticky::cli {
namespace {

constexpr int kConfigWrong = 1;
constexpr int kSomeFailed = 3;

using Verdict = std::variant<worker::Prompt, request::RequestError>;

Verdict render_line(const io::InputLine& line,
                    const TextModel& text,
                    const request::Sampling& defaults) {
  if (!line.error_code.empty())
    return request::RequestError{line.error_code, line.error_message, line.error_param, {}};
  auto parsed = request::parse_request(Json::parse(line.payload), defaults);
  if (auto* error = std::get_if<request::RequestError>(&parsed)) return std::move(*error);
  return text.prompts().make(std::get<request::Request>(parsed));
}

Json json_of(const io::InputLine& line, const Verdict& verdict) {
  if (const auto* error = std::get_if<request::RequestError>(&verdict)) {
    return Json::object(
        {{"id", line.custom_id},
         {"line", line.line},
         {"error", Json::object({{"code", error->code}, {"message", error->message}})}});
  }
  const auto& prompt = std::get<worker::Prompt>(verdict);
  Json ids = Json::array();
  for (const i32 id : prompt.token_ids)
    ids.push_back(i64{id});
  return Json::object(
      {{"id", line.custom_id}, {"text", prompt.text}, {"token_ids", std::move(ids)}});
}

std::string text_of(const io::InputLine& line, const Verdict& verdict) {
  const std::string place = fmt::format("{} ({}:{})", line.custom_id, line.file, line.line);
  if (const auto* error = std::get_if<request::RequestError>(&verdict))
    return fmt::format("--- {}: {}: {}\n", place, error->code, error->message);
  const auto& prompt = std::get<worker::Prompt>(verdict);
  return fmt::format("--- {}: {}\n{}\n[{}]\n", place,
                     counted(std::ssize(prompt.token_ids), "token"), prompt.text,
                     fmt::join(prompt.token_ids, ", "));
}

}  // namespace

int render(const RenderFlags& flags) {
  const config::Loaded loaded = config::load(sources_of(flags.job));
  if (!loaded.problems.empty()) {
    print_problems(loaded.problems);
    return kConfigWrong;
  }
  const TextModel text(loaded.config.worker);
  const auto input = io::open_input(loaded.config.input);
  i64 n_rendered = 0;
  i64 n_failed = 0;
  while (const auto line = input->next()) {
    if (!flags.is_all && line->line != flags.line) continue;
    const Verdict verdict = render_line(*line, text, loaded.config.worker.sampling);
    ++n_rendered;
    n_failed += std::holds_alternative<request::RequestError>(verdict) ? 1 : 0;
    fmt::print("{}",
               flags.is_json ? json_of(*line, verdict).dump() + "\n" : text_of(*line, verdict));
  }
  if (n_rendered == 0 && !flags.is_all)
    fail<ConfigError>("--line {}: no input file has a request there", flags.line);
  return n_failed == 0 ? 0 : kSomeFailed;
}

}  // namespace sticky::cli
