// Templates that ask for too much: a TemplateError within the bounds, never a crash or a hang.
#include <string>

#include <gtest/gtest.h>

#include "tests/chat/rendering.hpp"

namespace sticky::chat::testing {
namespace {

std::string repeated(std::string_view piece, int n) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += piece;
  return out;
}

std::string error_within(std::string_view source, const Bounds& bounds) {
  try {
    (void)ChatTemplate::compile(source, bounds).render({});
  } catch (const TemplateError& error) {
    return error.what();
  }
  return {};
}

TEST(Bounds, LoopsInLoopsStopAtTheMostSteps) {
  const std::string source =
      repeated("{% for i in range(99999) %}", 4) + "x" + repeated("{% endfor %}", 4);

  EXPECT_NE(error_within(source, {.max_output_bytes = 1 << 20, .max_steps = 100'000}).find("steps"),
            std::string::npos);
}

TEST(Bounds, OutputStopsAtTheMostBytes) {
  const Bounds bounds{.max_output_bytes = 1000};

  EXPECT_EQ(error_within("{{ 'x' * 1000 }}", bounds), "");
  EXPECT_NE(error_within("{{ 'x' * 1001 }}", bounds), "");
  EXPECT_NE(error_within("{% for i in range(99) %}0123456789ab{% endfor %}", bounds), "");
}

TEST(Bounds, HugeProductsFailBeforeTheyAreMade) {
  EXPECT_NE(error_of("{{ 'abc' * 9000000000000000000 }}"), "");
  EXPECT_NE(error_of("{{ [1] * 9000000000000000000 }}"), "");
  EXPECT_NE(error_of("{{ ('' ~ []) * 9000000000000000000 }}"), "");
  EXPECT_NE(error_of("{{ '' * 9000000000000000000 }}"), "");
  EXPECT_NE(error_of("{{ 'x' | center(9000000000000000000) }}"), "");
  EXPECT_NE(error_of("{{ 'x' | indent(9000000000000000000, true) }}"), "");
  EXPECT_NE(error_of("{{ [1] | batch(9000000000000000000, 0) | list }}"), "");
  EXPECT_NE(error_of("{{ [1] | slice(9000000000000000000) | list }}"), "");
  EXPECT_NE(error_of("{{ '%9999999999d' % 5 }}"), "");
  EXPECT_NE(error_of("{{ '{:9999999999}'.format(5) }}"), "");
  EXPECT_NE(error_of("{{ [[1]] | tojson(indent=9000000000) }}"), "");
  EXPECT_NE(error_of("{{ strftime_now('%9000d') }}", {.now = "2025-01-15"}), "");
  EXPECT_NE(error_of("{{ range(1000000000) }}"), "");
}

TEST(Bounds, AStringThatDoublesInALoopFails) {
  EXPECT_NE(error_of("{% set ns = namespace(s='ab') %}{% for i in range(99) %}"
                     "{% set ns.s = ns.s + ns.s %}{% endfor %}"),
            "");
}

TEST(Bounds, EmptyPiecesOfContentCannotPileUpUnseen) {
  // Marks of empty pieces take memory although they show no byte.
  const RenderInput input{.messages = Json::array({message("user", "a"), message("user", "b")}),
                          .tools = {}};
  EXPECT_NE(error_of("{% set ns = namespace(s=messages[0].content[:0] ~ messages[1].content[:0]) %}"
                     "{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
                     input),
            "");
}

TEST(Bounds, RecursiveLoopsEndInAnError) {
  EXPECT_NE(
      error_of("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}").find("nested deeper"),
      std::string::npos);
  EXPECT_NE(error_of("{% for i in [1, 2] recursive %}{{ loop([i, i]) }}{% endfor %}"), "");
}

TEST(Bounds, ArgumentsThatAListOrDictBringsAreCounted) {
  const Bounds bounds{.max_output_bytes = 1 << 20, .max_steps = 1'000'000};
  const std::string calls =
      "{% macro m() %}{{ varargs | length }}{% endmacro %}"
      "{% for i in range(99) %}{{ m(*range(99999)) }}{% endfor %}";

  EXPECT_NE(error_within(calls, bounds), "");
}

TEST(Bounds, WidthsOfStringMethodsFailBeforeTheyAreFilled) {
  for (const std::string method : {"ljust", "rjust", "center", "zfill"})
    EXPECT_NE(error_of("{{ 'x'." + method + "(9000000000000000000) }}"), "") << method;
}

TEST(Bounds, MacrosThatCallThemselvesEndInAnError) {
  EXPECT_NE(error_of("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}").find("nested deeper"),
            std::string::npos);
  EXPECT_NE(error_of("{% macro f(x) %}{{ f([x, x]) }}{% endmacro %}{{ f(1) }}"), "");
  EXPECT_NE(error_of("{% macro f(g) %}{{ g(g) }}{% endmacro %}{{ f(f) }}"), "");
}

TEST(Bounds, AListInItselfCannotBePrintedOrCompared) {
  const std::string self = "{% set l = [1] %}{{ l.append(l) or '' }}";

  EXPECT_EQ(error_of(self), "");
  EXPECT_NE(error_of(self + "{{ l }}"), "");
  EXPECT_NE(error_of(self + "{{ l | tojson }}"), "");
  EXPECT_NE(error_of(self + "{% set m = [1] %}{{ m.append(m) }}{{ l == m }}"), "");
  EXPECT_NE(error_of(self + "{% set m = [1] %}{{ m.append(m) }}{{ l < m }}"), "");
}

TEST(Bounds, AListInAListInAListCanBeFreed) {
  EXPECT_EQ(error_of("{% set ns = namespace(l=[]) %}{% for i in range(99999) %}"
                     "{% set ns.l = [ns.l] %}{% endfor %}"),
            "");
}

TEST(Bounds, DeepSourceIsATemplateErrorAndNotAnOverflow) {
  constexpr int kDeep = 20'000;
  for (const std::string piece : {"(", "[", "{1:", "-", "not ", "a if b else ", "a(", "a[", "a|f(",
                                  "x is eq ", "a and (", "[[", "~", "a.b(c=", "'a' if "}) {
    SCOPED_TRACE(piece);
    EXPECT_NE(error_of("{{ " + repeated(piece, kDeep) + " }}"), "");
  }
  for (const std::string piece :
       {"{% if a %}", "{% for a in b %}", "{% macro a() %}", "{% with %}", "{% set a %}",
        "{% filter upper %}", "{% call a() %}", "{% generation %}", "{% if a %}{% else %}",
        "{% set (", "{% for ("}) {
    SCOPED_TRACE(piece);
    EXPECT_NE(error_of(repeated(piece, kDeep)), "");
  }
}

TEST(Bounds, LongChainsAreNoNesting) {
  constexpr int kLong = 5'000;

  EXPECT_EQ(text_of("{{ 0" + repeated(" + 1", kLong) + " }}"), "5000");
  EXPECT_EQ(text_of("{{ 1" + repeated(" * 1", kLong) + repeated(" ** 1", kLong) + " }}"), "1");
  EXPECT_EQ(text_of("{{ true" + repeated(" and true", kLong) + " }}"), "True");
  EXPECT_EQ(text_of("{{ false" + repeated(" or false", kLong) + " }}"), "False");
  EXPECT_EQ(text_of("{{ 'a'" + repeated(" | upper", kLong) + " }}"), "A");
  EXPECT_EQ(text_of("{{ 'a'" + repeated(".upper()", kLong) + " }}"), "A");
  EXPECT_EQ(text_of("{{ ''" + repeated(" ~ ''", kLong) + " }}"), "");
  EXPECT_EQ(text_of("{{ 1" + repeated(" < 2 > 1", kLong) + " }}"), "True");
  EXPECT_EQ(text_of("{% if 0 %}" + repeated("{% elif 0 %}", kLong) + "{% else %}x{% endif %}"),
            "x");
}

TEST(Bounds, SearchInHostileTextIsLinear) {
  const Json variables = Json::object(
      {{"hay", std::string(1 << 20, 'a')}, {"needle", std::string(1 << 19, 'a') + "b"}});

  EXPECT_EQ(text_of("{{ needle in hay }}{{ hay.find(needle) }}{{ hay.count(needle) }}"
                    "{{ hay.split(needle) | length }}",
                    variables),
            "False-101");
}

TEST(Bounds, NumbersThatOverflowAreErrors) {
  for (const std::string_view source :
       {"{{ 9223372036854775807 + 1 }}", "{{ -9223372036854775807 - 2 }}",
        "{{ 9223372036854775807 * 2 }}", "{{ 10 ** 99 }}", "{{ 99999999999999999999 }}",
        "{{ (-9223372036854775807 - 1) // -1 }}", "{{ -(-9223372036854775807 - 1) }}",
        "{{ (-9223372036854775807 - 1) | abs }}", "{{ 1e300 | int }}",
        "{{ '99999999999999999999' | int }}", "{{ 1e999 }}"}) {
    EXPECT_NE(error_of(source), "") << source;
  }
  EXPECT_EQ(text_of("{{ (-9223372036854775807 - 1) % -1 }}"), "0");
}

TEST(Bounds, BytesThatAreNotUtf8AreRefusedInTemplatesAndReplacedInMessages) {
  EXPECT_NE(error_of("a\xff"), "");
  const RenderInput input{.messages = Json::array({message("user", "a\xff")}), .tools = {}};

  EXPECT_EQ(render("{{ messages[0].content[::-1] }}", input).text, "\uFFFDa");
}

}  // namespace
}  // namespace sticky::chat::testing
