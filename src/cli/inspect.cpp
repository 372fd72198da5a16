#include <cstdio>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"

#include "commands.hpp"
#include "model_report.hpp"
#include "progress_line.hpp"
#include "text_model.hpp"

namespace sticky::cli {
namespace {

constexpr int kCannotRun = 1;

std::string text_files_text(const TextModel& text) {
  const auto& special = text.files().special;
  return fmt::format(
      "  tokenizer   {} tokens; bos {}, eos {}; chat template: {}\n",
      with_commas(text.files().tokenizer->vocab_size()), special.bos.empty() ? "none" : special.bos,
      special.eos.empty() ? "none" : special.eos, text.files().chat_template ? "yes" : "none");
}

}  // namespace

int inspect(const std::string& path) {
  worker::Options options;
  options.state.model = path;
  model::Description description;
  try {
    description = describe_model(options);
  } catch (const Error& error) {
    tell("{}\n", error.what());
    return kCannotRun;
  }
  fmt::print("{}\n{}", path, model_text(description));
  std::string obstacle = description.obstacle;
  try {
    fmt::print("{}", text_files_text(TextModel(options)));
  } catch (const Error& error) {
    if (obstacle.empty()) obstacle = error.what();
  }
  fmt::print("  can run     {}\n", obstacle.empty() ? "yes" : "no: " + obstacle);
  return obstacle.empty() ? 0 : kCannotRun;
}

}  // namespace sticky::cli
