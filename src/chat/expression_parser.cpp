#include "expression_parser.hpp"

#include <charconv>
#include <optional>

#include "filters.hpp"

namespace sticky::chat {

namespace {

using TokenKind = Token::Kind;

template <class Form>
ExprPtr make_expr(i64 line, Form form) {
  return std::make_unique<Expr>(Expr{line, std::move(form)});
}

ExprPtr string_constant(i64 line, std::string bytes) {
  auto text = std::make_unique<Text>(std::move(bytes));
  const Value value = text.get();
  return make_expr(line, Constant{value, std::move(text)});
}

std::optional<BinaryOp> sum_op(const TokenStream& tokens) {
  if (tokens.is_symbol("+")) return BinaryOp::add;
  if (tokens.is_symbol("-")) return BinaryOp::subtract;
  return std::nullopt;
}

std::optional<BinaryOp> product_op(const TokenStream& tokens) {
  if (tokens.is_symbol("*")) return BinaryOp::multiply;
  if (tokens.is_symbol("/")) return BinaryOp::divide;
  if (tokens.is_symbol("//")) return BinaryOp::floor_divide;
  if (tokens.is_symbol("%")) return BinaryOp::modulo;
  return std::nullopt;
}

std::optional<CompareOp> compare_op(TokenStream& tokens) {
  static constexpr std::pair<std::string_view, CompareOp> kSymbols[] = {
      {"==", CompareOp::eq}, {"!=", CompareOp::ne}, {"<", CompareOp::lt},
      {"<=", CompareOp::le}, {">", CompareOp::gt},  {">=", CompareOp::ge}};
  for (const auto& [symbol, op] : kSymbols) {
    if (tokens.skip_symbol(symbol)) return op;
  }
  if (tokens.skip_name("in")) return CompareOp::in;
  if (tokens.is_name("not") && tokens.behind().kind == TokenKind::name &&
      tokens.behind().text == "in") {
    tokens.take();
    tokens.take();
    return CompareOp::not_in;
  }
  return std::nullopt;
}

}  // namespace

ExprPtr ExpressionParser::expression() {
  const Level level(tokens_);
  const i64 line = tokens_.line();
  ExprPtr value = logical_or();
  constexpr int kMostChained = 64;
  for (int n = 0; tokens_.skip_name("if"); ++n) {
    if (n == kMostChained) tokens_.fail("too many conditions in a row");
    Conditional conditional{.condition = logical_or(), .then = std::move(value), .otherwise = {}};
    if (tokens_.skip_name("else")) conditional.otherwise = expression();
    value = make_expr(line, std::move(conditional));
  }
  return value;
}

ExprPtr ExpressionParser::tuple(bool with_condition) {
  const i64 line = tokens_.line();
  SequenceLiteral items{.is_tuple = true, .items = {}};
  bool has_comma = false;
  while (!ends_tuple()) {
    items.items.push_back(with_condition ? expression() : expression_without_condition());
    if (!tokens_.skip_symbol(",")) break;
    has_comma = true;
  }
  if (items.items.empty()) tokens_.fail_unexpected("an expression");
  if (!has_comma) return std::move(items.items.front());
  return make_expr(line, std::move(items));
}

bool ExpressionParser::ends_tuple() const {
  return tokens_.is(TokenKind::expression_end) || tokens_.is(TokenKind::block_end) ||
         tokens_.is_symbol(")") || tokens_.is_name("recursive");
}

ExprPtr ExpressionParser::logical_or() {
  const i64 line = tokens_.line();
  ExprPtr first = logical_and();
  if (!tokens_.is_name("or")) return first;
  Logic logic{.is_and = false, .operands = {}};
  logic.operands.push_back(std::move(first));
  while (tokens_.skip_name("or"))
    logic.operands.push_back(logical_and());
  return make_expr(line, std::move(logic));
}

ExprPtr ExpressionParser::logical_and() {
  const i64 line = tokens_.line();
  ExprPtr first = logical_not();
  if (!tokens_.is_name("and")) return first;
  Logic logic{.is_and = true, .operands = {}};
  logic.operands.push_back(std::move(first));
  while (tokens_.skip_name("and"))
    logic.operands.push_back(logical_not());
  return make_expr(line, std::move(logic));
}

ExprPtr ExpressionParser::logical_not() {
  const Level level(tokens_);
  const i64 line = tokens_.line();
  if (tokens_.skip_name("not")) return make_expr(line, Unary{UnaryOp::logical_not, logical_not()});
  return comparison();
}

ExprPtr ExpressionParser::comparison() {
  const i64 line = tokens_.line();
  Comparison chain{.first = sum(), .rest = {}};
  while (const auto op = compare_op(tokens_))
    chain.rest.emplace_back(*op, sum());
  if (chain.rest.empty()) return std::move(chain.first);
  return make_expr(line, std::move(chain));
}

ExprPtr ExpressionParser::sum() {
  const i64 line = tokens_.line();
  Arithmetic chain{.first = concatenation(), .rest = {}};
  while (const auto op = sum_op(tokens_)) {
    tokens_.take();
    chain.rest.emplace_back(*op, concatenation());
  }
  if (chain.rest.empty()) return std::move(chain.first);
  return make_expr(line, std::move(chain));
}

ExprPtr ExpressionParser::concatenation() {
  const i64 line = tokens_.line();
  ExprPtr first = product();
  if (!tokens_.is_symbol("~")) return first;
  Concat concat;
  concat.operands.push_back(std::move(first));
  while (tokens_.skip_symbol("~"))
    concat.operands.push_back(product());
  return make_expr(line, std::move(concat));
}

ExprPtr ExpressionParser::product() {
  const i64 line = tokens_.line();
  Arithmetic chain{.first = power(), .rest = {}};
  while (const auto op = product_op(tokens_)) {
    tokens_.take();
    chain.rest.emplace_back(*op, power());
  }
  if (chain.rest.empty()) return std::move(chain.first);
  return make_expr(line, std::move(chain));
}

ExprPtr ExpressionParser::power() {
  const i64 line = tokens_.line();
  Arithmetic chain{.first = unary(true), .rest = {}};
  while (tokens_.skip_symbol("**"))
    chain.rest.emplace_back(BinaryOp::power, unary(true));
  if (chain.rest.empty()) return std::move(chain.first);
  return make_expr(line, std::move(chain));
}

ExprPtr ExpressionParser::unary(bool with_filters) {
  const Level level(tokens_);
  const i64 line = tokens_.line();
  ExprPtr value;
  if (tokens_.skip_symbol("-")) {
    value = make_expr(line, Unary{UnaryOp::negative, unary(false)});
  } else if (tokens_.skip_symbol("+")) {
    value = make_expr(line, Unary{UnaryOp::positive, unary(false)});
  } else {
    value = primary();
  }
  return with_steps(std::move(value), with_filters);
}

ExprPtr ExpressionParser::primary() {
  switch (tokens_.now().kind) {
    case TokenKind::name:
      return name_or_constant();
    case TokenKind::string:
      return string_literal();
    case TokenKind::integer:
    case TokenKind::number:
      return number_literal();
    default:
      break;
  }
  if (tokens_.is_symbol("(")) return in_parentheses();
  if (tokens_.is_symbol("[")) return list_literal();
  if (tokens_.is_symbol("{")) return dict_literal();
  tokens_.fail_unexpected("an expression");
}

ExprPtr ExpressionParser::name_or_constant() {
  const Token token = tokens_.take();
  const auto constant = [&](Value value) {
    return make_expr(token.line, Constant{value, nullptr});
  };
  if (token.text == "true" || token.text == "True") return constant(true);
  if (token.text == "false" || token.text == "False") return constant(false);
  if (token.text == "none" || token.text == "None") return constant(Value{});
  return make_expr(token.line, Name{token.text});
}

ExprPtr ExpressionParser::string_literal() {
  const i64 line = tokens_.line();
  std::string bytes;
  while (tokens_.is(TokenKind::string))
    bytes += tokens_.take().text;
  return string_constant(line, std::move(bytes));
}

ExprPtr ExpressionParser::number_literal() {
  const Token token = tokens_.take();
  const char* end = token.text.data() + token.text.size();
  if (token.kind == TokenKind::integer) {
    i64 value = 0;
    if (std::from_chars(token.text.data(), end, value).ec != std::errc{})
      fail_at(token.line, fmt::format("the integer {} has more than 64 bits", token.text));
    return make_expr(token.line, Constant{value, nullptr});
  }
  double value = 0.0;
  if (std::from_chars(token.text.data(), end, value).ec != std::errc{})
    fail_at(token.line, fmt::format("the number {} is out of range", token.text));
  return make_expr(token.line, Constant{value, nullptr});
}

ExprPtr ExpressionParser::in_parentheses() {
  const i64 line = tokens_.line();
  tokens_.expect_symbol("(");
  if (tokens_.skip_symbol(")")) return make_expr(line, SequenceLiteral{true, {}});
  ExprPtr value = tuple();
  tokens_.expect_symbol(")");
  return value;
}

ExprPtr ExpressionParser::list_literal() {
  const i64 line = tokens_.line();
  tokens_.expect_symbol("[");
  SequenceLiteral list{.is_tuple = false, .items = {}};
  while (!tokens_.is_symbol("]")) {
    list.items.push_back(expression());
    if (!tokens_.skip_symbol(",")) break;
  }
  tokens_.expect_symbol("]");
  return make_expr(line, std::move(list));
}

ExprPtr ExpressionParser::dict_literal() {
  const i64 line = tokens_.line();
  tokens_.expect_symbol("{");
  DictLiteral dict;
  while (!tokens_.is_symbol("}")) {
    ExprPtr key = expression();
    tokens_.expect_symbol(":");
    dict.entries.emplace_back(std::move(key), expression());
    if (!tokens_.skip_symbol(",")) break;
  }
  tokens_.expect_symbol("}");
  return make_expr(line, std::move(dict));
}

}  // namespace sticky::chat
