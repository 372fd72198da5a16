#include "input_check.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/io/input_reader.hpp"
#include "sticky/model/spec.hpp"
#include "sticky/request/request.hpp"
#include "sticky/worker/intake.hpp"
#include "sticky/worker/state_plan.hpp"

#include "text_model.hpp"

namespace sticky::cli {
namespace {

// Why a line cannot be answered; empty: it can, and is counted.
std::string judge(const io::InputLine& line,
                  const worker::Intake& intake,
                  i64 context,
                  InputCheck& check) {
  if (!line.error_code.empty()) return fmt::format("{}: {}", line.error_code, line.error_message);
  const auto verdict = intake.accept(line.payload);
  if (const auto* rejected = std::get_if<worker::Rejected>(&verdict))
    return fmt::format("{}: {}", rejected->error.code, rejected->error.message);
  const auto& accepted = std::get<worker::Accepted>(verdict);
  const auto n_tokens = static_cast<i64>(accepted.prompt.token_ids.size());
  check.prompt_tokens += n_tokens;
  check.longest_prompt = std::max(check.longest_prompt, n_tokens);
  if (!accepted.request.choice.empty()) return "";  // nothing new is made
  check.most_new_tokens +=
      accepted.request.n *
      std::min(accepted.request.sampling.max_tokens.value_or(context), context - n_tokens);
  return "";
}

// Why a line cannot be answered by any model; empty: it may.
std::string judge_alone(const io::InputLine& line, const request::Sampling& defaults) {
  if (!line.error_code.empty()) return fmt::format("{}: {}", line.error_code, line.error_message);
  const auto parsed = request::parse_request(Json::parse(line.payload), defaults);
  const auto* error = std::get_if<request::RequestError>(&parsed);
  return error != nullptr ? fmt::format("{}: {}", error->code, error->message) : "";
}

// Reads every line; `judge_line` says what is wrong with it and counts the good ones in `check`.
template <class Judge, class OnLine>
void walk(const config::Config& config,
          InputCheck& check,
          const Judge& judge_line,
          const std::function<void(const std::string&)>& on_problem,
          const OnLine& on_line) {
  const auto input = io::open_input(config.input);
  while (const auto line = input->next()) {
    on_line();
    ++check.n_lines;
    const std::string wrong = judge_line(*line);
    if (wrong.empty()) continue;
    const std::string problem = fmt::format("{}:{}: {}", line->file, line->line, wrong);
    if (check.n_bad++ == 0) check.first_problem = problem;
    on_problem(problem);
  }
}

}  // namespace

InputCheck check_input(const config::Config& config,
                       const std::function<void(const std::string&)>& on_problem,
                       const std::function<void()>& on_line) {
  const TextModel text(config.worker);
  const auto checkpoint = checkpoint::open_checkpoint(config.worker.state.model);
  const model::ModelSpec spec = model::read_spec(*checkpoint);
  const i64 context = worker::plan_state(spec, config.worker).context;
  const worker::Intake intake(text.prompts(), config.worker,
                              {.vocab = spec.vocab, .context = context});
  InputCheck check;
  walk(
      config, check, [&](const io::InputLine& line) { return judge(line, intake, context, check); },
      on_problem, on_line);
  return check;
}

InputCheck check_lines_alone(const config::Config& config,
                             const std::function<void(const std::string&)>& on_problem) {
  InputCheck check;
  walk(
      config, check,
      [&](const io::InputLine& line) { return judge_alone(line, config.worker.sampling); },
      on_problem, [] {});
  return check;
}

}  // namespace sticky::cli
