// normalizer, pre_tokenizer and decoder of a tokenizer.json. Each is null, one component or a
// Sequence of them. What is not known is refused: a tokenizer that is nearly right gives answers
// that are nearly right.

#include "sticky/base/utf8.hpp"

#include "components.hpp"
#include "read_tokenizer_json.hpp"
#include "unicode.hpp"

namespace sticky::tokenizer {

namespace {

// {"String": text} or {"Regex": source}.
Pattern read_pattern(const Fields& component) {
  const Fields pattern(component.required("pattern"), component.at("pattern"));
  pattern.expect_only({"String", "Regex"});
  if (pattern.find("String") != nullptr) {
    if (pattern.text("String").empty()) fail<FormatError>("{} is empty", pattern.at("String"));
    return Pattern::literal(pattern.text("String"));
  }
  try {
    return Pattern::regex(pattern.text("Regex"));
  } catch (const FormatError& error) {
    fail<FormatError>("{}: {}", pattern.at("Regex"), error.what());
  }
}

std::string read_character(const Fields& component, std::string_view name) {
  const std::string& text = component.text(name);
  if (text.empty() || utf8::decode(text, 0).n_bytes != static_cast<i64>(text.size()))
    fail<FormatError>("{} is \"{}\", but should be one character", component.at(name), text);
  return text;
}

SplitBehavior read_behavior(const Fields& component) {
  const std::string& name = component.text("behavior");
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  fail<FormatError>("{} is {}, which is not understood", component.at("behavior"), name);
}

// Old files have add_prefix_space instead of prepend_scheme.
PrependScheme read_prepend_scheme(const Fields& component) {
  const auto name = component.optional_text("prepend_scheme");
  if (!component.flag("add_prefix_space", true)) {
    if (name && *name != "never")
      fail<FormatError>("{} is false, but prepend_scheme is {}", component.at("add_prefix_space"),
                        *name);
    return PrependScheme::never;
  }
  if (!name || *name == "always") return PrependScheme::always;
  if (*name == "first") return PrependScheme::first;
  if (*name == "never") return PrependScheme::never;
  fail<FormatError>("{} is {}, which is not understood", component.at("prepend_scheme"), *name);
}

MetaspaceStep read_metaspace(const Fields& component) {
  component.expect_only(
      {"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"});
  MetaspaceStep step{read_character(component, "replacement"), read_prepend_scheme(component), {}};
  if (component.flag("split", true)) step.split = Pattern::literal(step.replacement);
  return step;
}

Normalizer::Step read_normalizer_step(const Fields& component) {
  const std::string& type = component.text("type");
  if (type == "Prepend") {
    component.expect_only({"type", "prepend"});
    return Prepend{component.text("prepend")};
  }
  if (type == "Replace") {
    component.expect_only({"type", "pattern", "content"});
    return Replace{read_pattern(component), component.text("content")};
  }
  if (type == "Strip") {
    component.expect_only({"type", "strip_left", "strip_right"});
    return StripEnds{component.flag("strip_left", true), component.flag("strip_right", true)};
  }
  if (type == "BertNormalizer") {
    component.expect_only(
        {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    const bool lowercase = component.flag("lowercase", true);
    return BertNormalizer{component.flag("clean_text", true),
                          component.flag("handle_chinese_chars", true),
                          component.flag("strip_accents", lowercase), lowercase};
  }
  if (type == "ByteLevel") {
    component.expect_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return BytesAsCharacters{};
  }
  component.expect_only({"type"});
  if (type == "NFC") return NormalForm::nfc;
  if (type == "NFD") return NormalForm::nfd;
  if (type == "NFKC") return NormalForm::nfkc;
  if (type == "NFKD") return NormalForm::nfkd;
  if (type == "Lowercase") return Lowercase{};
  if (type == "StripAccents") return StripAccents{};
  refuse(component);
}

ByteLevelStep read_byte_level(const Fields& component) {
  component.expect_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  ByteLevelStep step{component.flag("add_prefix_space", true), {}};
  if (component.flag("use_regex", true)) step.words = Pattern::regex(kGpt2Words);
  return step;
}

void add_pre_tokenizer(const Fields& component, PreTokenizer& out) {
  const std::string& type = component.text("type");
  if (type == "ByteLevel") return out.add(read_byte_level(component));
  if (type == "Metaspace") return out.add(read_metaspace(component));
  if (type == "Split") {
    component.expect_only({"type", "pattern", "behavior", "invert"});
    return out.add(SplitStep{read_pattern(component), read_behavior(component),
                             component.flag("invert", false)});
  }
  if (type == "Digits") {
    component.expect_only({"type", "individual_digits"});
    const bool individual = component.flag("individual_digits", false);
    return out.add(CharacterStep{is_numeric,
                                 individual ? SplitBehavior::isolated : SplitBehavior::contiguous});
  }
  if (type == "Punctuation") {
    component.expect_only({"type", "behavior"});
    return out.add(CharacterStep{is_punctuation, component.find("behavior") == nullptr
                                                     ? SplitBehavior::isolated
                                                     : read_behavior(component)});
  }
  if (type == "CharDelimiterSplit") {
    component.expect_only({"type", "delimiter"});
    return out.add(SplitStep{Pattern::literal(read_character(component, "delimiter")),
                             SplitBehavior::removed});
  }
  component.expect_only({"type"});
  if (type == "Whitespace") return out.add(WordsStep{});
  if (type != "WhitespaceSplit" && type != "BertPreTokenizer") refuse(component);
  out.add(CharacterStep{is_white_space, SplitBehavior::removed});
  if (type == "BertPreTokenizer") out.add(CharacterStep{is_punctuation, SplitBehavior::isolated});
}

Decoder::Step read_decoder_step(const Fields& component) {
  const std::string& type = component.text("type");
  if (type == "ByteLevel") {
    component.expect_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return ByteLevelDecoder{};
  }
  if (type == "Metaspace") {
    const MetaspaceStep step = read_metaspace(component);
    return MetaspaceDecoder{step.replacement, step.prepend != PrependScheme::never};
  }
  if (type == "Replace") {
    component.expect_only({"type", "pattern", "content"});
    const Fields pattern(component.required("pattern"), component.at("pattern"));
    Pattern from = read_pattern(component);
    if (pattern.find("String") == nullptr)
      return ReplaceMatches{std::move(from), component.text("content")};
    return ReplaceText{pattern.text("String"), component.text("content")};
  }
  if (type == "Strip") {
    component.expect_only({"type", "content", "start", "stop"});
    return Strip{read_character(component, "content"), component.integer("start", 0, 1 << 20),
                 component.integer("stop", 0, 1 << 20)};
  }
  component.expect_only({"type"});
  if (type == "ByteFallback") return ByteFallbackDecoder{};
  if (type == "Fuse") return Fuse{};
  refuse(component);
}

}  // namespace

Normalizer read_normalizer(const Json& json, const std::string& where) {
  Normalizer out;
  for_each_component(json, where, "normalizers",
                     [&](const Fields& component) { out.add(read_normalizer_step(component)); });
  return out;
}

PreTokenizer read_pre_tokenizer(const Json& json, const std::string& where) {
  PreTokenizer out;
  for_each_component(json, where, "pretokenizers",
                     [&](const Fields& component) { add_pre_tokenizer(component, out); });
  return out;
}

Decoder read_decoder(const Json& json, const std::string& where) {
  Decoder out;
  for_each_component(json, where, "decoders",
                     [&](const Fields& component) { out.add(read_decoder_step(component)); });
  return out;
}

}  // namespace sticky::tokenizer
