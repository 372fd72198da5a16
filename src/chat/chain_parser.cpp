// The steps behind a value: attributes, subscripts, calls, filters and tests.
#include <algorithm>
#include <charconv>

#include "expression_parser.hpp"
#include "filters.hpp"

namespace sticky::chat {

namespace {

using TokenKind = Token::Kind;

ExprPtr integer_constant(const Token& token) {
  i64 value = 0;
  const char* end = token.text.data() + token.text.size();
  if (std::from_chars(token.text.data(), end, value).ec != std::errc{})
    fail_at(token.line, fmt::format("the index {} has more than 64 bits", token.text));
  return std::make_unique<Expr>(Expr{token.line, Constant{value, nullptr}});
}

}  // namespace

ExprPtr ExpressionParser::with_steps(ExprPtr first, bool with_filters) {
  const i64 line = first->line;
  Chain chain{.first = std::move(first), .steps = {}};
  while (take_postfix(chain.steps)) {
  }
  while (with_filters && take_filter_or_test(chain.steps)) {
  }
  if (chain.steps.empty()) return std::move(chain.first);
  return std::make_unique<Expr>(Expr{line, std::move(chain)});
}

bool ExpressionParser::take_postfix(std::vector<ChainStep>& steps) {
  if (tokens_.is_symbol(".")) {
    steps.push_back(dot_step());
  } else if (tokens_.is_symbol("[")) {
    steps.push_back(bracket_step());
  } else if (tokens_.is_symbol("(")) {
    const i64 line = tokens_.line();
    steps.push_back({line, CallWith{call_arguments()}});
  } else {
    return false;
  }
  return true;
}

bool ExpressionParser::take_filter_or_test(std::vector<ChainStep>& steps) {
  if (tokens_.skip_symbol("|")) {
    steps.push_back(filter_step());
  } else if (tokens_.skip_name("is")) {
    steps.push_back(test_step());
  } else if (tokens_.is_symbol("(")) {
    const i64 line = tokens_.line();
    steps.push_back({line, CallWith{call_arguments()}});
  } else {
    return false;
  }
  return true;
}

ChainStep ExpressionParser::dot_step() {
  const i64 line = tokens_.line();
  tokens_.expect_symbol(".");
  if (tokens_.is(TokenKind::integer)) return {line, GetItem{integer_constant(tokens_.take())}};
  return {line, GetAttribute{tokens_.expect(TokenKind::name, "an attribute's name").text}};
}

ChainStep ExpressionParser::bracket_step() {
  const i64 line = tokens_.line();
  tokens_.expect_symbol("[");
  ExprPtr parts[3];
  int n = 0;
  for (;; ++n) {
    if (!tokens_.is_symbol(":") && !tokens_.is_symbol("]")) parts[n] = expression();
    if (n == 2 || !tokens_.skip_symbol(":")) break;
  }
  if (n == 0 && parts[0] == nullptr) tokens_.fail_unexpected("a subscript");
  tokens_.expect_symbol("]");
  if (n == 0) return {line, GetItem{std::move(parts[0])}};
  return {line, GetSlice{std::move(parts[0]), std::move(parts[1]), std::move(parts[2])}};
}

std::string ExpressionParser::dotted_name(std::string_view what) {
  std::string name = tokens_.expect(TokenKind::name, what).text;
  while (tokens_.skip_symbol("."))
    name += "." + tokens_.expect(TokenKind::name, what).text;
  return name;
}

ChainStep ExpressionParser::filter_step() {
  const i64 line = tokens_.line();
  const std::string name = dotted_name("a filter's name");
  const Filter* filter = find_filter(name);
  if (filter == nullptr) fail_at(line, fmt::format("no filter named '{}'", name));
  ApplyFilter step{.filter = filter, .arguments = {}};
  if (tokens_.is_symbol("(")) step.arguments = call_arguments();
  return {line, std::move(step)};
}

std::vector<ChainStep> ExpressionParser::filter_names() {
  std::vector<ChainStep> steps;
  do {
    steps.push_back(filter_step());
  } while (tokens_.skip_symbol("|"));
  return steps;
}

ChainStep ExpressionParser::test_step() {
  const i64 line = tokens_.line();
  const bool is_negated = tokens_.skip_name("not");
  const std::string name = dotted_name("a test's name");
  const ValueTest* test = find_test(name);
  if (test == nullptr) fail_at(line, fmt::format("no test named '{}'", name));
  return {line, ApplyTest{test, test_arguments(), is_negated}};
}

// "x is divisibleby 3" needs no parentheses.
std::vector<ArgumentExpr> ExpressionParser::test_arguments() {
  if (tokens_.is_symbol("(")) return call_arguments();
  const bool begins_value = tokens_.is(TokenKind::name) || tokens_.is(TokenKind::string) ||
                            tokens_.is(TokenKind::integer) || tokens_.is(TokenKind::number) ||
                            tokens_.is_symbol("[") || tokens_.is_symbol("{");
  if (!begins_value || tokens_.is_name("else") || tokens_.is_name("or") || tokens_.is_name("and"))
    return {};
  if (tokens_.is_name("is")) tokens_.fail("a test cannot follow a test: 'is … is'");
  std::vector<ArgumentExpr> arguments;
  arguments.push_back({.name = "", .value = with_steps(primary(), false)});
  return arguments;
}

std::vector<ArgumentExpr> ExpressionParser::call_arguments() {
  tokens_.expect_symbol("(");
  std::vector<ArgumentExpr> arguments;
  while (!tokens_.is_symbol(")")) {
    using enum ArgumentExpr::Kind;
    const auto has = [&](ArgumentExpr::Kind kind) {
      return std::ranges::any_of(arguments, [&](const auto& a) { return a.kind == kind; });
    };
    if (has(all_of_dict)) tokens_.fail("an argument follows '**'");
    const auto kind = tokens_.skip_symbol("**")  ? all_of_dict
                      : tokens_.skip_symbol("*") ? all_of_list
                                                 : one;
    std::string name;
    if (kind != one) {
      if (kind == all_of_list && has(kind)) tokens_.fail("a second '*' in a call");
    } else if (tokens_.is(TokenKind::name) && tokens_.behind().kind == TokenKind::symbol &&
               tokens_.behind().text == "=") {
      name = tokens_.take().text;
      tokens_.take();
    } else if (has(all_of_list) ||
               std::ranges::any_of(arguments, [](const auto& a) { return !a.name.empty(); })) {
      tokens_.fail("a positional argument follows one by name, or '*'");
    }
    arguments.push_back({.kind = kind, .name = std::move(name), .value = expression()});
    if (!tokens_.skip_symbol(",")) break;
  }
  tokens_.expect_symbol(")");
  return arguments;
}

}  // namespace sticky::chat
