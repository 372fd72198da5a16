#include "gguf_pre_tokenizers.hpp"

#include <algorithm>

#include "pre_tokenizer.hpp"

namespace sticky::tokenizer {

namespace {

constexpr std::string_view kWordsLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kWordsQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kWordsSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
// A word ends where capitals begin anew.
constexpr std::string_view kWordsTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kWordsGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

const PreTokenizerOfName* find_pre_tokenizer(std::string_view name) {
  static const std::vector<PreTokenizerOfName> kKnown{
      {.names = {"gpt-2", "phi-2", "mellum", "trillion"}, .patterns = {kGpt2Words}},
      {.names = {"olmo", "mpt"}, .patterns = {kGpt2Words}, .is_nfc = true},
      {.names = {"smollm", "starcoder", "refact", "minerva-7b"},
       .patterns = {R"(\p{N})", kGpt2Words}},
      {.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral", "midm-2.0"},
       .patterns = {kWordsLlama3},
       .ignores_merges = true,
       .adds_bos = true},
      {.names = {"dbrx", "smaug-bpe"}, .patterns = {kWordsLlama3}},
      {.names = {"qwen2", "deepseek-r1-qwen", "megrez"}, .patterns = {kWordsQwen2}, .is_nfc = true},
      {.names = {"stablelm2"}, .patterns = {kWordsQwen2}},
      {.names = {"seed-coder"}, .patterns = {kWordsSeedCoder}},
      {.names = {"tekken"}, .patterns = {kWordsTekken}, .ignores_merges = true, .adds_bos = true},
      {.names = {"gpt-4o", "llama4"}, .patterns = {kWordsGpt4o}},
      {.names = {"deepseek-coder"},
       .patterns = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+",
                    R"(\p{N})"}},
      {.names = {"default"},
       .patterns = {R"([\p{P}\$\+<=>\^~\|]+)",
                    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))",
                    R"(\p{N}+)", "[0-9][0-9][0-9]"}},
  };
  const auto found = std::ranges::find_if(
      kKnown, [&](const auto& known) { return std::ranges::count(known.names, name) > 0; });
  return found == kKnown.end() ? nullptr : &*found;
}

}  // namespace sticky::tokenizer
