#pragma once

#include <memory>
#include <string>

#include "sticky/tokenizer/tokenizer.hpp"
#include "sticky/worker/options.hpp"
#include "sticky/worker/prompt.hpp"

namespace sticky::cli {

/// What stands beside a model's weights, and the prompts made with it. Needs no weights and no
/// config.json.
class TextModel {
 public:
  /// Throws ConfigError, FormatError, SystemError or chat::TemplateError, as its parts do.
  explicit TextModel(const worker::Options& options);

  [[nodiscard]] const tokenizer::TextFiles& files() const { return files_; }
  [[nodiscard]] const worker::PromptMaker& prompts() const { return prompts_; }

 private:
  tokenizer::TextFiles files_;
  worker::PromptMaker prompts_;
};

}  // namespace sticky::cli
