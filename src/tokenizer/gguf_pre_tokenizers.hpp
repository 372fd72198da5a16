#pragma once

#include <string_view>
#include <vector>

namespace sticky::tokenizer {

/// What "tokenizer.ggml.pre" names: byte-level BPE differs by how text is cut before it.
struct PreTokenizerOfName {
  std::vector<std::string_view> names;
  std::vector<std::string_view> patterns;  ///< one after the other, matches isolated
  bool is_nfc = false;
  bool ignores_merges = false;
  bool adds_bos = false;  ///< unless the file says
};

/// Null where the name is not known. Source: the patterns as llama.cpp has them under these names;
/// where it writes one another way because its regular expressions know less, and for the normal
/// form, the tokenizer.json of the models that have the name.
[[nodiscard]] const PreTokenizerOfName* find_pre_tokenizer(std::string_view name);

}  // namespace sticky::tokenizer
