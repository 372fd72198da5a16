#include "families.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "sticky/base/error.hpp"

namespace sticky::model {

namespace {

std::string named_architecture(const checkpoint::Checkpoint& checkpoint) {
  const char* key = checkpoint.is_gguf() ? "general.architecture" : "architectures";
  const Json* value = checkpoint.config().find(key);
  if (value != nullptr && value->is_array() && value->as_array().size() == 1)
    value = &value->as_array()[0];
  if (value == nullptr || !value->is_string()) {
    fail<FormatError>("{}: config: {} is {}, but must name one architecture", checkpoint.path(),
                      key, value == nullptr ? "missing" : value->kind_name());
  }
  return value->as_string();
}

}  // namespace

std::span<const Family* const> all_families() {
  static const std::array<const Family*, 11> kAll{&gemma2(), &gemma3(),  &gpt2(),    &gpt_neox(),
                                                  &llama(),  &mistral(), &olmo2(),   &phi3(),
                                                  &qwen2(),  &qwen3(),   &stablelm()};
  return kAll;
}

const Family& family_of(const checkpoint::Checkpoint& checkpoint) {
  const std::string wanted = named_architecture(checkpoint);
  std::string known;
  for (const Family* family : all_families()) {
    const auto name = checkpoint.is_gguf() ? family->gguf_architecture : family->hf_architecture;
    if (name.empty()) continue;
    if (name == wanted) return *family;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  fail<FormatError>("{}: architecture {} is not known; known are: {}", checkpoint.path(), wanted,
                    known);
}

}  // namespace sticky::model
