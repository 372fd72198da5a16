#include "read_tokenizer_json.hpp"

#include <limits>
#include <optional>
#include <unordered_map>

#include "components.hpp"

namespace sticky::tokenizer {

namespace {

using IdsByPiece = std::unordered_map<std::string_view, i32>;

std::vector<VocabEntry> read_vocabulary(const Fields& model) {
  const Json& json = model.required("vocab");
  const Fields checked(json, model.at("vocab"));
  std::vector<VocabEntry> out;
  std::vector<bool> is_taken;
  out.reserve(json.as_object().size());
  for (const auto& [piece, value] : json.as_object()) {
    const i64 id = integer_of(value, 0, kMaxVocab - 1, checked.at(piece));
    const auto at = static_cast<std::size_t>(id);
    if (at >= is_taken.size()) is_taken.resize(at + 1);
    if (is_taken[at]) fail<FormatError>("{} is {}, which another piece has", checked.at(piece), id);
    is_taken[at] = true;
    out.push_back({piece, static_cast<i32>(id)});
  }
  return out;
}

IdsByPiece index(const std::vector<VocabEntry>& vocabulary) {
  IdsByPiece out;
  out.reserve(vocabulary.size());
  for (const auto& [piece, id] : vocabulary)
    out.emplace(piece, id);
  return out;
}

// "left right" or ["left", "right"]; nothing when it is neither.
std::optional<std::pair<std::string_view, std::string_view>> read_pair(const Json& merge) {
  if (merge.is_array()) {
    const Json::Array& two = merge.as_array();
    if (two.size() != 2 || !two[0].is_string() || !two[1].is_string()) return std::nullopt;
    return std::pair<std::string_view, std::string_view>(two[0].as_string(), two[1].as_string());
  }
  if (!merge.is_string()) return std::nullopt;
  const std::string_view text = merge.as_string();
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos)
    return std::nullopt;
  return std::pair(text.substr(0, blank), text.substr(blank + 1));
}

std::vector<BpeMerge> read_merges(const Fields& model, const IdsByPiece& ids) {
  const Json::Array& merges = model.array("merges");
  if (merges.size() > std::numeric_limits<i32>::max())
    fail<FormatError>("{} has {} elements, too many", model.at("merges"), merges.size());
  std::vector<BpeMerge> out;
  out.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto pair = read_pair(merges[i]);
    if (!pair) fail<FormatError>("{}[{}] should be two pieces", model.at("merges"), i);
    const auto id_of = [&](std::string_view piece) {
      const auto found = ids.find(piece);
      if (found == ids.end()) {
        fail<FormatError>("{}[{}] needs the piece \"{}\", which the vocabulary lacks",
                          model.at("merges"), i, piece);
      }
      return found->second;
    };
    const i32 joined = id_of(std::string(pair->first).append(pair->second));
    out.push_back({id_of(pair->first), id_of(pair->second), static_cast<i32>(i), joined});
  }
  return out;
}

void read_model(const Fields& model, TokenizerParts& parts) {
  if (const auto type = model.optional_text("type"); type && *type != "BPE")
    fail<FormatError>("{} is of type {}, but only BPE is understood", model.where(), *type);
  model.expect_only({"type", "dropout", "unk_token", "continuing_subword_prefix",
                     "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                     "merges"});
  if (const Json* dropout = model.find("dropout");
      dropout != nullptr && !(dropout->is_number() && dropout->as_double() == 0.0))
    fail<FormatError>("{} is not null: answers would be random", model.at("dropout"));
  for (const auto* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const auto text = model.optional_text(name); text && !text->empty())
      fail<FormatError>("{} is \"{}\", but is not understood", model.at(name), *text);
  }
  parts.vocabulary = read_vocabulary(model);
  const IdsByPiece ids = index(parts.vocabulary);
  parts.merges = read_merges(model, ids);
  parts.bpe.byte_fallback = model.flag("byte_fallback", false);
  parts.bpe.fuse_unk = model.flag("fuse_unk", false);
  parts.bpe.ignore_merges = model.flag("ignore_merges", false);
  if (const auto unk = model.optional_text("unk_token")) {
    const auto found = ids.find(*unk);
    if (found == ids.end())
      fail<FormatError>("{} is \"{}\", which the vocabulary lacks", model.at("unk_token"), *unk);
    parts.bpe.unk = found->second;
  }
}

// Ids of a template: those before the text and those behind it.
void read_template(const Fields& component, TokenizerParts& parts) {
  component.expect_only({"type", "single", "pair", "special_tokens"});
  const Fields tokens(component.required("special_tokens"), component.at("special_tokens"));
  bool is_behind = false;
  const Json::Array& single = component.array("single");
  for (std::size_t i = 0; i < single.size(); ++i) {
    const Fields item(single[i], fmt::format("{}[{}]", component.at("single"), i));
    item.expect_only({"SpecialToken", "Sequence"});
    if (item.find("Sequence") != nullptr) {
      const Fields sequence(item.required("Sequence"), item.at("Sequence"));
      if (sequence.text("id") != "A" || is_behind)
        fail<FormatError>("{} is not the one sequence A", sequence.where());
      is_behind = true;
      continue;
    }
    const Fields special(item.required("SpecialToken"), item.at("SpecialToken"));
    const Fields token(tokens.required(special.text("id")), tokens.at(special.text("id")));
    auto& ids = is_behind ? parts.ids_behind : parts.ids_before;
    for (const Json& id : token.array("ids"))
      ids.push_back(static_cast<i32>(integer_of(id, 0, kMaxVocab - 1, token.at("ids"))));
  }
  if (!is_behind) fail<FormatError>("{} lacks the sequence A", component.at("single"));
}

// [CLS] text [SEP]
void read_cls_sep(const Fields& component, TokenizerParts& parts) {
  component.expect_only({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
  const auto id = [&](std::string_view name) {
    const Json::Array& pair = component.array(name);
    if (pair.size() != 2) fail<FormatError>("{} should be a token and its id", component.at(name));
    return static_cast<i32>(integer_of(pair[1], 0, kMaxVocab - 1, component.at(name)));
  };
  parts.ids_before.push_back(id("cls"));
  parts.ids_behind.push_back(id("sep"));
}

void read_post_processor(const Json& json, const std::string& where, TokenizerParts& parts) {
  bool has_tokens = false;
  for_each_component(json, where, "processors", [&](const Fields& component) {
    const std::string& type = component.text("type");
    if (type == "ByteLevel") return;  // it moves offsets only
    if (has_tokens) {
      fail<FormatError>("{} is of type {}, which is not understood behind another that adds tokens",
                        component.where(), type);
    }
    has_tokens = true;
    if (type == "TemplateProcessing") return read_template(component, parts);
    if (type != "BertProcessing" && type != "RobertaProcessing") refuse(component);
    read_cls_sep(component, parts);
  });
}

void read_added_tokens(const Fields& top, TokenizerParts& parts) {
  if (top.find("added_tokens") == nullptr) return;
  const Json::Array& tokens = top.array("added_tokens");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Fields fields(tokens[i], fmt::format("{}[{}]", top.at("added_tokens"), i));
    parts.added.push_back(read_added_token(fields, fields.integer("id", 0, kMaxVocab - 1)));
  }
}

}  // namespace

AddedToken read_added_token(const Fields& fields, i64 id) {
  AddedToken token{.content = fields.text("content"), .id = static_cast<i32>(id)};
  if (token.content.empty()) fail<FormatError>("{} is empty", fields.at("content"));
  token.single_word = fields.flag("single_word", false);
  token.lstrip = fields.flag("lstrip", false);
  token.rstrip = fields.flag("rstrip", false);
  token.special = fields.flag("special", false);
  token.normalized = fields.flag("normalized", !token.special);
  return token;
}

TokenizerParts read_tokenizer_json(const Json& json, const std::string& file) {
  const Fields top(json, file);
  TokenizerParts parts;
  read_model(Fields(top.required("model"), file + ": model"), parts);
  const auto component = [&](const char* name) {
    const Json* found = top.find(name);
    return found == nullptr ? Json() : *found;
  };
  const auto where = [&](const char* name) { return fmt::format("{}: {}", file, name); };
  parts.normalizer = read_normalizer(component("normalizer"), where("normalizer"));
  parts.pre_tokenizer = read_pre_tokenizer(component("pre_tokenizer"), where("pre_tokenizer"));
  parts.bpe.byte_level = parts.pre_tokenizer.ends_in_bytes();
  parts.decoder = read_decoder(component("decoder"), where("decoder"));
  read_post_processor(component("post_processor"), where("post_processor"), parts);
  read_added_tokens(top, parts);
  return parts;
}

}  // namespace sticky::tokenizer
