// Answers lines of JSON with what our tokenizer makes of them, for compare_with_original.py:
//   {"tokenizer": {…}, "texts": ["…"], "id_lists": [[…]]}
//   → {"encoded": [[ids, ids with special tokens]], "decoded": [[text, text without special
//   tokens]],
//      "uneven": "what a stream gave that decode() did not"} or {"error": "…"}

#include <iostream>
#include <string>
#include <vector>

#include "sticky/base/error.hpp"
#include "sticky/base/utf8.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/support/temp_dir.hpp"

namespace {

using sticky::i32;
using sticky::i64;
using sticky::Json;
using sticky::tokenizer::StreamDecoder;
using sticky::tokenizer::Tokenizer;

std::vector<i32> ids_of(const Json& list) {
  std::vector<i32> out;
  for (const Json& id : list.as_array())
    out.push_back(static_cast<i32>(id.as_integer()));
  return out;
}

Json json_of(const std::vector<i32>& ids) {
  Json out = Json::array();
  for (const i32 id : ids)
    out.push_back(i64{id});
  return out;
}

// Empty: at every cut, what has been pushed is UTF-8 and, finished, the decoded text of that many.
std::string uneven_cut(const Tokenizer& tokenizer, const std::vector<i32>& ids, bool skips) {
  StreamDecoder stream(tokenizer, skips);
  std::string so_far;
  for (std::size_t n = 0; n <= ids.size(); ++n) {
    if (n > 0) so_far += stream.push(ids[n - 1]);
    StreamDecoder until_here = stream;
    const std::vector<i32> prefix(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n));
    const std::string whole = so_far + until_here.finish();
    if (sticky::utf8::first_invalid(so_far) >= 0 || whole != tokenizer.decode(prefix, skips))
      return whole + " is not " + tokenizer.decode(prefix, skips);
  }
  return "";
}

Json answer(const Json& request, sticky::test::TempDir& folder) {
  folder.write("tokenizer.json", request.find("tokenizer")->dump());
  const auto tokenizer = sticky::tokenizer::load_from_folder(folder.path()).tokenizer;
  Json encoded = Json::array();
  for (const Json& text : request.find("texts")->as_array()) {
    encoded.push_back(
        Json::array({json_of(tokenizer->encode(text.as_string(), {})),
                     json_of(tokenizer->encode(text.as_string(), {.add_special_tokens = true}))}));
  }
  Json decoded = Json::array();
  std::string uneven;
  for (const Json& list : request.find("id_lists")->as_array()) {
    const std::vector<i32> ids = ids_of(list);
    decoded.push_back(Json::array({tokenizer->decode(ids, false), tokenizer->decode(ids, true)}));
    for (const bool skips : {false, true})
      uneven += uneven_cut(*tokenizer, ids, skips);
  }
  return Json::object(
      {{"encoded", std::move(encoded)}, {"decoded", std::move(decoded)}, {"uneven", uneven}});
}

}  // namespace

int main() {
  sticky::test::TempDir folder;
  std::string line;
  while (std::getline(std::cin, line)) {
    Json out;
    try {
      out = answer(Json::parse(line), folder);
    } catch (const sticky::Error& error) {
      out = Json::object({{"error", error.what()}});
    }
    std::cout << out.dump() << std::endl;
  }
}
