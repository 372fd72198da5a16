// What the goldens cannot say: our own errors, and what we allow beyond Jinja's sandbox.
#include <string>

#include <gtest/gtest.h>

#include "tests/chat/rendering.hpp"

namespace sticky::chat::testing {
namespace {

TEST(TemplateErrors, NameTheLineOfTheFault) {
  EXPECT_NE(error_of("a\nb\n{{ 1 + }}").find("line 3"), std::string::npos);
  EXPECT_NE(error_of("{{ 'a\nb' }}\n{{ x | nosuch }}").find("line 3"), std::string::npos);
  EXPECT_NE(error_of("{# a\nb #}\n{% nosuch %}").find("line 3"), std::string::npos);
  EXPECT_NE(error_of("{% raw %}\n\n{% endraw %}{{ x is nosuch }}").find("line 3"),
            std::string::npos);
  EXPECT_NE(error_of("\n{% if true %}\n{{ missing.x }}{% endif %}").find("line 3"),
            std::string::npos);
  EXPECT_NE(error_of("{{ ['a',\n\n1 / 0] }}").find("line 3"), std::string::npos);
}

TEST(TemplateErrors, RaiseExceptionGivesItsMessage) {
  EXPECT_EQ(error_of("{{ raise_exception('Only user and assistant') }}"),
            "chat template, line 1: Only user and assistant");
}

TEST(TemplateErrors, AnUnknownFilterFailsEvenWhereItIsNeverReached) {
  EXPECT_THROW((void)ChatTemplate::compile("{% if false %}{{ x | nosuch }}{% endif %}"),
               TemplateError);
}

TEST(TemplateErrors, WhatIsNotSupportedIsNamed) {
  for (const std::string_view tag : {"extends", "include", "import", "from", "block", "autoescape"})
    EXPECT_NE(error_of("{% " + std::string(tag) + " 'x' %}").find(tag), std::string::npos);
}

TEST(Templates, MayChangeListsAndDicts) {
  EXPECT_EQ(text_of("{% set l = [1] %}{% set _ = l.append(2) %}{% set _ = l.extend([3, 4]) %}"
                    "{% set _ = l.insert(0, 0) %}{{ l }}{{ l.pop() }}{{ l.pop(0) }}{{ l }}"),
            "[0, 1, 2, 3, 4]40[1, 2, 3]");
  EXPECT_EQ(text_of("{% set l = [3, 1, 3] %}{% set _ = l.remove(3) %}{% set _ = l.reverse() %}"
                    "{{ l }}{% set _ = l.clear() %}{{ l }}"),
            "[3, 1][]");
  EXPECT_EQ(text_of("{% set d = {'a': 1} %}{% set _ = d.update({'b': 2}, c=3) %}{{ d.pop('a') }}"
                    "{{ d }}{{ d.pop('z', 9) }}{{ d.setdefault('q', 7) }}{{ d.q }}"),
            "1{'b': 2, 'c': 3}977");
  EXPECT_NE(error_of("{{ (1, 2).append(3) }}"), "");
  EXPECT_NE(error_of("{{ [].pop() }}"), "");
  EXPECT_NE(error_of("{{ {}.pop('x') }}"), "");
}

TEST(Templates, AreNotChangedByARendering) {
  const auto chat_template =
      ChatTemplate::compile("{% set _ = messages.append('x') %}{{ messages | length }}");
  const RenderInput input{.messages = Json::array({message("user", "a")}), .tools = {}};

  EXPECT_EQ(chat_template.render(input).text, "2");
  EXPECT_EQ(chat_template.render(input).text, "2");
}

TEST(Templates, SeeToolsAndDocumentsAsNoneWhenThereAreNone) {
  EXPECT_EQ(text_of("{{ tools is none }}{{ documents is none }}{{ add_generation_prompt }}"),
            "TrueTrueTrue");
  EXPECT_EQ(text_of("{{ add_generation_prompt }}{{ tools }}",
                    Json::object({{"add_generation_prompt", false}, {"tools", "t"}})),
            "Falset");
}

TEST(Templates, PrintNumbersOfJsonAsPythonWould) {
  const Json variables = Json::parse(
      R"({"n": [123456789012345678901234567890, 1.50, 1e2, 1E-7, 100000000000000000000.0, -0.0]})");

  EXPECT_EQ(text_of("{{ n | tojson }}", variables),
            "[123456789012345678901234567890, 1.5, 100.0, 1e-07, 1e+20, -0.0]");
  EXPECT_EQ(text_of("{{ n[0] is integer }}{{ n[2] is float }}", variables), "TrueTrue");
}

TEST(StrftimeNow, ReadsEachFormOfTheTime) {
  const auto at = [](std::string_view now) {
    return render("{{ strftime_now('%d %b %Y %H:%M:%S.%f') }}", {.now = std::string(now)}).text;
  };

  EXPECT_EQ(at("2024-02-29"), "29 Feb 2024 00:00:00.000000");
  EXPECT_EQ(at("2025-01-15T12:30"), "15 Jan 2025 12:30:00.000000");
  EXPECT_EQ(at("2025-01-15 12:30:45.5+01:00"), "15 Jan 2025 12:30:45.500000");
}

TEST(StrftimeNow, RefusesWhatIsNoTime) {
  for (const std::string now : {"x", "2025-13-01", "2025-02-30", "2025-01-15T25:00", "2025-01"})
    EXPECT_NE(error_of("{{ strftime_now('%Y') }}", {.now = now}), "") << now;
}

TEST(StrftimeNow, WithoutAFixedTimeGivesFourDigitsOfTheYear) {
  EXPECT_EQ(render("{{ strftime_now('%Y') }}").text.size(), 4U);
}

}  // namespace
}  // namespace sticky::chat::testing
