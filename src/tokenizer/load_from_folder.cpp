// A model's folder as transformers writes it. Which file has the last word, as transformers has it:
// - added tokens: tokenizer.json; added_tokens_decoder of tokenizer_config.json adds what it lacks;
// - special tokens: tokenizer_config.json, then special_tokens_map.json for those it does not name;
// - chat template: chat_template.jinja, then tokenizer_config.json.

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

#include "read_tokenizer_json.hpp"
#include "token_list.hpp"

namespace sticky::tokenizer {

namespace {

Json read_json(const std::string& path) {
  const std::string text = read_regular_file(path);
  try {
    return Json::parse(text);
  } catch (const FormatError& error) {
    fail<FormatError>("{}: {}", path, error.what());
  }
}

/// A file that may be missing: then an empty object.
Json read_optional_json(const std::string& path) {
  if (!is_there(path)) return Json::object();
  Json json = read_json(path);
  if (!json.is_object())
    fail<FormatError>("{} is {}, but should be an object", path, json.kind_name());
  return json;
}

// "text" or {"content": "text", …}.
std::optional<std::string> special_token(const Fields& fields, std::string_view name) {
  const Json* value = fields.find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->as_string();
  return Fields(*value, fields.at(name)).text("content");
}

class Folder {
 public:
  explicit Folder(const std::string& folder)
      : folder_(folder),
        config_json_(read_optional_json(path("tokenizer_config.json"))),
        map_json_(read_optional_json(path("special_tokens_map.json"))),
        generation_json_(read_optional_json(path("generation_config.json"))),
        config_(config_json_, path("tokenizer_config.json")),
        map_(map_json_, path("special_tokens_map.json")),
        generation_(generation_json_, path("generation_config.json")) {}

  TextFiles load() {
    const std::string file = path("tokenizer.json");
    TokenizerParts parts = read_tokenizer_json(read_json(file), file);
    TextFiles out;
    out.special = {special("bos_token"), special("eos_token"), special("unk_token"),
                   special("pad_token")};
    TokenList tokens(parts.vocabulary);
    for (AddedToken& token : parts.added)
      tokens.add(std::move(token), file + ": added_tokens");
    add_from_config(tokens);
    for (const std::string& content :
         {out.special.bos, out.special.eos, out.special.unk, out.special.pad})
      add_special(content, tokens);
    out.eos_ids = eos_ids(out.special.eos, tokens);
    out.chat_template = chat_template();
    parts.added = tokens.take();
    out.tokenizer = std::make_unique<PipelineTokenizer>(std::move(parts));
    return out;
  }

 private:
  [[nodiscard]] std::string path(const char* name) const {
    return (std::filesystem::path(folder_) / name).string();
  }

  [[nodiscard]] std::string special(std::string_view name) const {
    if (auto token = special_token(config_, name)) return *token;
    return special_token(map_, name).value_or("");
  }

  void add_from_config(TokenList& tokens) const {
    const Json* decoder = config_.find("added_tokens_decoder");
    if (decoder == nullptr) return;
    const Fields all(*decoder, config_.at("added_tokens_decoder"));
    for (const auto& [name, value] : decoder->as_object()) {
      i32 id = -1;
      const char* end = name.data() + name.size();
      if (std::from_chars(name.data(), end, id).ptr != end || id < 0 || id >= kMaxVocab)
        fail<FormatError>("{}: the name should be an id", all.at(name));
      tokens.add(read_added_token(Fields(value, all.at(name)), id), all.where());
    }
  }

  // A special token that is a piece of the vocabulary only becomes an added token. One that is not
  // even that has no row in the model; transformers would make up an id for it.
  static void add_special(const std::string& content, TokenList& tokens) {
    const auto id = tokens.id_of(content);
    if (content.empty() || tokens.contains(content) || !id) return;
    tokens.add({.content = content, .id = *id, .special = true}, content);
  }

  [[nodiscard]] std::vector<i32> eos_ids(const std::string& eos, const TokenList& tokens) const {
    std::vector<i32> out;
    const auto add = [&](i32 id) {
      if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
    };
    if (const auto id = tokens.id_of(eos); id && !eos.empty()) add(*id);
    const Json* listed = generation_.find("eos_token_id");
    if (listed == nullptr) return out;
    const std::string where = generation_.at("eos_token_id");
    const Json::Array one{*listed};
    for (const Json& id : listed->is_array() ? listed->as_array() : one)
      add(static_cast<i32>(integer_of(id, 0, kMaxVocab - 1, where)));
    return out;
  }

  // One template, or several with names, of which "default" is the one for chats.
  [[nodiscard]] std::optional<std::string> chat_template() const {
    if (is_there(path("chat_template.jinja")))
      return read_regular_file(path("chat_template.jinja"));
    const Json* found = config_.find("chat_template");
    if (found == nullptr) return std::nullopt;
    const std::string where = config_.at("chat_template");
    if (found->is_string()) return found->as_string();
    for (const Json& named : array_of(*found, where)) {
      const Fields fields(named, where);
      if (fields.text("name") == "default") return fields.text("template");
    }
    fail<FormatError>("{} has no template of the name \"default\"", where);
  }

  std::string folder_;
  Json config_json_;
  Json map_json_;
  Json generation_json_;
  Fields config_;
  Fields map_;
  Fields generation_;
};

}  // namespace

TextFiles load_from_folder(const std::string& folder) {
  return Folder(folder).load();
}

}  // namespace sticky::tokenizer
