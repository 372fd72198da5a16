#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::test {

/// A file of tests/data/tokenizer that xz has packed.
inline std::string sample(const std::string& name) {
  return read_xz(STICKY_TEST_DATA "/tokenizer/" + name + ".xz");
}

inline std::vector<i32> ids_of(const Json& json) {
  std::vector<i32> out;
  for (const Json& id : json.as_array())
    out.push_back(static_cast<i32>(id.as_integer()));
  return out;
}

/// The tokenizer of a tokenizer.json.
inline std::unique_ptr<tokenizer::Tokenizer> tokenizer_of(std::string_view json) {
  const TempDir folder;
  folder.write("tokenizer.json", json);
  return tokenizer::load_from_folder(folder.path()).tokenizer;
}

}  // namespace sticky::test
