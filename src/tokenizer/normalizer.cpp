#include "normalizer.hpp"

namespace sticky::tokenizer {

namespace {

struct Apply {
  std::string_view text;
  MatchSpace& space;
  std::string& out;

  void operator()(NormalForm form) const { append_normal_form(text, form, out); }
  void operator()(const Prepend& step) const { out.append(step.text).append(text); }
  void operator()(const Replace& step) const {
    step.pattern.replace_all(text, step.content, space, out);
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
