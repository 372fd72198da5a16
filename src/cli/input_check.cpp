#include "input_check.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/io/input_reader.hpp"
#include "sticky/model/spec.hpp"
#include "sticky/request/request.hpp"
#include "sticky/topology/cpu_list.hpp"
#include "sticky/worker/intake.hpp"
#include "sticky/worker/state_plan.hpp"

#include "text_model.hpp"

namespace sticky::cli {
namespace {

// What one line would be to a worker.
struct Verdict {
  std::string wrong;  ///< why it cannot be answered; empty: it can
  i64 prompt_tokens = 0;
  i64 most_new_tokens = 0;
};

std::string sentence(const request::RequestError& error) {
  return fmt::format("{}: {}", error.code, error.message);
}

Verdict judge(const io::InputLine& line, const worker::Intake& intake, i64 context) {
  if (!line.error_code.empty())
    return {.wrong = fmt::format("{}: {}", line.error_code, line.error_message)};
  const auto verdict = intake.accept(line.payload);
  if (const auto* rejected = std::get_if<worker::Rejected>(&verdict))
    return {.wrong = sentence(rejected->error)};
  const auto& accepted = std::get<worker::Accepted>(verdict);
  const auto n_tokens = static_cast<i64>(accepted.prompt.token_ids.size());
  const i64 most_new =
      accepted.request.n *
      std::min(accepted.request.sampling.max_tokens.value_or(context), context - n_tokens);
  const bool makes_none = !accepted.request.choice.empty();
  return {.wrong = "", .prompt_tokens = n_tokens, .most_new_tokens = makes_none ? 0 : most_new};
}

// As far as no model is needed.
Verdict judge_alone(const io::InputLine& line, const request::Sampling& defaults) {
  if (!line.error_code.empty())
    return {.wrong = fmt::format("{}: {}", line.error_code, line.error_message)};
  const auto parsed = request::parse_request(Json::parse(line.payload), defaults);
  const auto* error = std::get_if<request::RequestError>(&parsed);
  return {.wrong = error != nullptr ? sentence(*error) : ""};
}

using Lines = std::vector<io::InputLine>;

// Some hundred lines at once, few where they are long.
Lines read_some(io::InputReader& input) {
  constexpr std::size_t kMostLines = 1024;
  constexpr std::size_t kMostBytes = 16 << 20;
  Lines out;
  std::size_t n_bytes = 0;
  while (out.size() < kMostLines && n_bytes < kMostBytes) {
    auto line = input.next();
    if (!line) break;
    n_bytes += line->payload.size();
    out.push_back(std::move(*line));
  }
  return out;
}

// All verdicts on `lines`, by as many threads as there are CPUs; `meanwhile` runs in this one
// first.
template <class Judge, class Meanwhile>
std::vector<Verdict> judge_all(const Lines& lines, const Judge& judge_line, Meanwhile meanwhile) {
  constexpr std::size_t kStride = 16;
  std::vector<Verdict> out(lines.size());
  std::atomic<std::size_t> next = 0;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t first = next.fetch_add(kStride); first < lines.size();
           first = next.fetch_add(kStride)) {
        for (std::size_t i = first; i < std::min(first + kStride, lines.size()); ++i)
          out[i] = judge_line(lines[i]);
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t n = 1; n < topology::own_cpus().size() && n * kStride < lines.size(); ++n)
      threads.emplace_back(work);
    meanwhile();
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return out;
}

// Reads every line and adds up what `judge_line`, called by several threads, says of them.
template <class Judge, class OnLine>
void walk(const config::Config& config,
          InputCheck& check,
          const Judge& judge_line,
          const std::function<void(const std::string&)>& on_problem,
          const OnLine& on_line) {
  const auto input = io::open_input(config.input);
  Lines lines = read_some(*input);
  while (!lines.empty()) {
    Lines behind;
    const auto verdicts = judge_all(lines, judge_line, [&] { behind = read_some(*input); });
    for (std::size_t i = 0; i < lines.size(); ++i) {
      on_line();
      ++check.n_lines;
      const Verdict& verdict = verdicts[i];
      check.prompt_tokens += verdict.prompt_tokens;
      check.longest_prompt = std::max(check.longest_prompt, verdict.prompt_tokens);
      check.most_new_tokens += verdict.most_new_tokens;
      if (verdict.wrong.empty()) continue;
      const std::string problem =
          fmt::format("{}:{}: {}", lines[i].file, lines[i].line, verdict.wrong);
      if (check.n_bad++ == 0) check.first_problem = problem;
      on_problem(problem);
    }
    lines = std::move(behind);
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
      config, check, [&](const io::InputLine& line) { return judge(line, intake, context); },
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
