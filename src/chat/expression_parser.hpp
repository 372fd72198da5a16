#pragma once

#include <vector>

#include "ast.hpp"
#include "token_stream.hpp"

namespace sticky::chat {

/// Reads expressions from the tokens inside a tag. Source: Jinja2 3.1, parser.py. An unknown filter
/// or test is a TemplateError here, where Jinja may wait until it is reached.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExprPtr expression();
  /// Without "x if y else z" on top: the items of a loop, where "if" begins the loop's condition.
  ExprPtr expression_without_condition() { return logical_or(); }
  /// An expression, or several with commas between: a tuple.
  ExprPtr tuple(bool with_condition = true);
  /// f | g(…) | h, at a filter's name.
  std::vector<ChainStep> filter_names();

 private:
  ExprPtr logical_or();
  ExprPtr logical_and();
  ExprPtr logical_not();
  ExprPtr comparison();
  ExprPtr sum();
  ExprPtr concatenation();
  ExprPtr product();
  ExprPtr power();
  ExprPtr unary(bool with_filters);
  ExprPtr primary();
  ExprPtr name_or_constant();
  ExprPtr string_literal();
  ExprPtr number_literal();
  ExprPtr in_parentheses();
  ExprPtr list_literal();
  ExprPtr dict_literal();

  ExprPtr with_steps(ExprPtr first, bool with_filters);
  bool take_postfix(std::vector<ChainStep>& steps);
  bool take_filter_or_test(std::vector<ChainStep>& steps);
  ChainStep dot_step();
  ChainStep bracket_step();
  ChainStep filter_step();
  ChainStep test_step();
  std::string dotted_name(std::string_view what);
  std::vector<ArgumentExpr> call_arguments();
  std::vector<ArgumentExpr> test_arguments();
  bool ends_tuple() const;

  TokenStream& tokens_;
};

}  // namespace sticky::chat
