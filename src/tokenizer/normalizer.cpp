#include "normalizer.hpp"

#include "sticky/base/utf8.hpp"

#include "byte_alphabet.hpp"

namespace sticky::tokenizer {

namespace {

template <class Use>
void for_each_character(std::string_view text, Use use) {
  for (i64 at = 0; at < static_cast<i64>(text.size());) {
    const auto [code_point, n_bytes] = utf8::decode(text, at);
    use(code_point);
    at += n_bytes;
  }
}

// White space becomes a blank; what is never seen goes.
std::string cleaned(std::string_view text) {
  std::string out;
  for_each_character(text, [&](char32_t c) {
    const bool is_blank = c == '\t' || c == '\n' || c == '\r';
    if (c == 0 || c == 0xFFFD || (!is_blank && is_other(c))) return;
    utf8::append(out, is_white_space(c) ? U' ' : c);
  });
  return out;
}

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string with_blanks_around_chinese(std::string_view text) {
  std::string out;
  for_each_character(text, [&](char32_t c) {
    if (is_chinese(c)) out += ' ';
    utf8::append(out, c);
    if (is_chinese(c)) out += ' ';
  });
  return out;
}

struct Apply {
  std::string_view text;
  MatchSpace& space;
  std::string& out;

  void operator()(NormalForm form) const { append_normal_form(text, form, out); }
  void operator()(const Prepend& step) const { out.append(step.text).append(text); }
  void operator()(const Replace& step) const {
    step.pattern.replace_all(text, step.content, space, out);
  }
  void operator()(Lowercase /*step*/) const {
    for_each_character(text, [&](char32_t c) { append_lower(out, c); });
  }
  void operator()(StripEnds step) const {
    std::string_view left = text;
    while (step.left && !left.empty()) {
      const auto [code_point, n_bytes] = utf8::decode(left, 0);
      if (!is_white_space(code_point)) break;
      left.remove_prefix(static_cast<std::size_t>(n_bytes));
    }
    while (step.right && !left.empty()) {
      const char32_t last = code_point_before(left, static_cast<i64>(left.size()));
      if (!is_white_space(last)) break;
      std::string bytes;
      utf8::append(bytes, last);
      left.remove_suffix(bytes.size());
    }
    out += left;
  }
  void operator()(StripAccents /*step*/) const {
    for_each_character(text, [&](char32_t c) {
      if (!is_mark(c)) utf8::append(out, c);
    });
  }
  void operator()(const BertNormalizer& step) const {
    std::string changed(text);
    if (step.clean_text) changed = cleaned(changed);
    if (step.handle_chinese_chars) changed = with_blanks_around_chinese(changed);
    if (step.strip_accents) {
      std::string decomposed;
      append_normal_form(changed, NormalForm::nfd, decomposed);
      changed.clear();
      for_each_character(decomposed, [&](char32_t c) {
        if (!is_nonspacing_mark(c)) utf8::append(changed, c);
      });
    }
    for_each_character(changed, [&](char32_t c) {
      if (step.lowercase) {
        append_lower(out, c);
      } else {
        utf8::append(out, c);
      }
    });
  }
  void operator()(BytesAsCharacters /*step*/) const {
    for (const char c : text)
      utf8::append(out, byte_character(static_cast<unsigned char>(c)));
  }
};

bool changes_nothing(const Normalizer::Step& step, std::string_view text) {
  const auto* form = std::get_if<NormalForm>(&step);
  return text.empty() || (form != nullptr && is_plainly_normal(text, *form));
}

}  // namespace

void Normalizer::add(Step step) {
  steps_.push_back(std::move(step));
}

std::string_view Normalizer::apply(std::string_view text,
                                   MatchSpace& space,
                                   std::string& storage) const {
  for (const Step& step : steps_) {
    if (changes_nothing(step, text)) continue;
    std::string changed;
    changed.reserve(text.size());
    std::visit(Apply{text, space, changed}, step);
    storage = std::move(changed);
    text = storage;
  }
  return text;
}

}  // namespace sticky::tokenizer
