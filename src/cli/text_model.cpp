#include "text_model.hpp"

#include <filesystem>

#include "sticky/checkpoint/checkpoint.hpp"

namespace sticky::cli {
namespace {

tokenizer::TextFiles load_text(const std::string& model) {
  std::error_code ignored;  // open_checkpoint() tells what is wrong
  if (std::filesystem::is_directory(model, ignored)) return tokenizer::load_from_folder(model);
  const auto checkpoint = checkpoint::open_checkpoint(model);
  return tokenizer::load_from_gguf(checkpoint->config(), checkpoint->path());
}

}  // namespace

TextModel::TextModel(const worker::Options& options)
    : files_(load_text(options.state.model)),
      prompts_(files_, options.chat) {}

}  // namespace sticky::cli
