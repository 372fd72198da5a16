#pragma once

#include <string>

#include "sticky/base/json.hpp"

#include "fields.hpp"
#include "pipeline.hpp"

namespace sticky::tokenizer {

/// The parts of a tokenizer.json (Hugging Face tokenizers, version 1.0). `file` is its name in
/// errors. FormatError names the component that is missing, wrong or not understood.
[[nodiscard]] TokenizerParts read_tokenizer_json(const Json& json, const std::string& file);

/// One entry of added_tokens, or of added_tokens_decoder in tokenizer_config.json, whose id is the
/// name of the member.
[[nodiscard]] AddedToken read_added_token(const Fields& fields, i64 id);

// The components, each from its own member; null: there is none.
[[nodiscard]] Normalizer read_normalizer(const Json& json, const std::string& where);
[[nodiscard]] PreTokenizer read_pre_tokenizer(const Json& json, const std::string& where);
[[nodiscard]] Decoder read_decoder(const Json& json, const std::string& where);

}  // namespace sticky::tokenizer
