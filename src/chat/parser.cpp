// Statements. Source: Jinja2 3.1, parser.py and ext.py (loop controls); transformers (generation).
#include "parser.hpp"

#include <algorithm>
#include <initializer_list>

#include "expression_parser.hpp"

namespace sticky::chat {

namespace {

using TokenKind = Token::Kind;
using Names = std::initializer_list<std::string_view>;

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(cut_into_tokens(source)) {}

  Block whole() { return block({}); }

 private:
  // Statements up to a tag that begins with one of `ends`, whose name is then the present token;
  // without ends: up to the end of the template.
  Block block(Names ends) {
    const Level level(tokens_);
    const i64 opened_at = tokens_.line();
    Block statements;
    while (!tokens_.is(TokenKind::end)) {
      const i64 line = tokens_.line();
      if (tokens_.is(TokenKind::text)) {
        statements.push_back({line, Output{Text(tokens_.take().text)}});
      } else if (tokens_.is(TokenKind::expression_begin)) {
        tokens_.take();
        statements.push_back({line, Print{expressions_.tuple()}});
        tokens_.expect(TokenKind::expression_end, "'}}'");
      } else {
        tokens_.take();  // block_begin
        if (tokens_.is(TokenKind::name) &&
            std::ranges::find(ends, tokens_.now().text) != ends.end())
          return statements;
        statements.push_back(statement());
      }
    }
    if (ends.size() > 0)
      fail_at(opened_at, fmt::format("the block has no '{}'", *(ends.end() - 1)));
    return statements;
  }

  // The same, with "%}" before it and the whole closing tag behind it.
  Block body(std::string_view end) {
    close_tag();
    Block statements = block({end});
    tokens_.take();
    close_tag();
    return statements;
  }

  void close_tag() { tokens_.expect(TokenKind::block_end, "'%}'"); }

  Statement statement() {
    const Token tag = tokens_.expect(TokenKind::name, "a tag's name");
    static constexpr std::pair<std::string_view, Statement (Parser::*)(i64)> kTags[] = {
        {"if", &Parser::if_statement},       {"for", &Parser::for_statement},
        {"set", &Parser::set_statement},     {"macro", &Parser::macro_statement},
        {"call", &Parser::call_statement},   {"filter", &Parser::filter_statement},
        {"with", &Parser::with_statement},   {"generation", &Parser::generation_statement},
        {"break", &Parser::break_statement}, {"continue", &Parser::continue_statement},
        {"print", &Parser::print_statement}};
    for (const auto& [name, parse] : kTags) {
      if (tag.text == name) return (this->*parse)(tag.line);
    }
    fail_at(tag.line, fmt::format("unknown tag '{}'", tag.text));
  }

  // What stands inside runs for itself: a break there does not reach the loop around it.
  template <class Parse>
  auto apart(Parse parse) {
    const i64 outside = std::exchange(n_loops_, 0);
    auto result = parse();
    n_loops_ = outside;
    return result;
  }

  Statement if_statement(i64 line) {
    If form;
    for (;;) {
      ExprPtr condition = expressions_.tuple(false);
      close_tag();
      form.branches.emplace_back(std::move(condition), block({"elif", "else", "endif"}));
      if (tokens_.take().text != "elif") break;
    }
    if (tokens_.is(TokenKind::block_end) && ended_by_else()) {
      close_tag();
      form.otherwise = block({"endif"});
      tokens_.take();
    }
    close_tag();
    return {line, std::move(form)};
  }

  // Whether the tag's name just taken was "else".
  bool ended_by_else() const { return tokens_.before().text == "else"; }

  Statement for_statement(i64 line) {
    For form;
    form.target = target(false);
    if (!tokens_.skip_name("in")) tokens_.fail_unexpected("'in'");
    form.items = expressions_.tuple(false);
    if (tokens_.skip_name("if")) form.condition = expressions_.expression();
    form.is_recursive = tokens_.skip_name("recursive");
    close_tag();
    ++n_loops_;
    form.body = block({"else", "endfor"});
    --n_loops_;
    tokens_.take();
    if (ended_by_else()) {
      close_tag();
      form.otherwise = block({"endfor"});
      tokens_.take();
    }
    close_tag();
    return {line, std::move(form)};
  }

  Statement break_statement(i64 line) { return loop_control(line, Break{}, "break"); }
  Statement continue_statement(i64 line) { return loop_control(line, Continue{}, "continue"); }
  template <class Form>
  Statement loop_control(i64 line, Form form, std::string_view name) {
    if (n_loops_ == 0) fail_at(line, fmt::format("'{}' outside a loop", name));
    close_tag();
    return {line, form};
  }

  Statement print_statement(i64 line) {
    Print form{expressions_.tuple()};
    close_tag();
    return {line, std::move(form)};
  }

  Statement set_statement(i64 line) {
    Target to = target(true);
    if (tokens_.skip_symbol("=")) {
      Set form{std::move(to), expressions_.tuple()};
      close_tag();
      return {line, std::move(form)};
    }
    SetBlock form{std::move(to), {}, {}};
    if (tokens_.skip_symbol("|")) form.filters = expressions_.filter_names();
    form.body = apart([&] { return body("endset"); });
    return {line, std::move(form)};
  }

  Statement filter_statement(i64 line) {
    FilterBlock form{expressions_.filter_names(), {}};
    form.body = apart([&] { return body("endfilter"); });
    return {line, std::move(form)};
  }

  Statement with_statement(i64 line) {
    With form;
    while (!tokens_.is(TokenKind::block_end)) {
      if (!form.bindings.empty()) tokens_.expect_symbol(",");
      Target to = target(false);
      tokens_.expect_symbol("=");
      form.bindings.emplace_back(std::move(to), expressions_.expression());
    }
    form.body = body("endwith");
    return {line, std::move(form)};
  }

  // transformers marks there what the assistant said; nothing of it shows in the text.
  Statement generation_statement(i64 line) {
    return {line, With{{}, apart([&] { return body("endgeneration"); })}};
  }

  Statement macro_statement(i64 line) {
    Macro macro;
    macro.name = tokens_.expect(TokenKind::name, "the macro's name").text;
    macro.parameters = parameters();
    take_macro_body(macro, "endmacro");
    return {line, std::move(macro)};
  }

  Statement call_statement(i64 line) {
    CallBlock form;
    form.caller.name = "caller";
    if (tokens_.is_symbol("(")) form.caller.parameters = parameters();
    form.call = expressions_.expression();
    const auto* chain = std::get_if<Chain>(&form.call->form);
    if (chain == nullptr || !std::holds_alternative<CallWith>(chain->steps.back().form))
      fail_at(line, "'call' needs the call of a macro");
    take_macro_body(form.caller, "endcall");
    return {line, std::move(form)};
  }

  void take_macro_body(Macro& macro, std::string_view end) {
    const auto from = tokens_.position();
    macro.body = apart([&] { return body(end); });
    macro.uses_caller = tokens_.mentioned_since(from, "caller");
    macro.uses_varargs = tokens_.mentioned_since(from, "varargs");
    macro.uses_kwargs = tokens_.mentioned_since(from, "kwargs");
  }

  std::vector<Parameter> parameters() {
    tokens_.expect_symbol("(");
    std::vector<Parameter> list;
    while (!tokens_.skip_symbol(")")) {
      if (!list.empty()) tokens_.expect_symbol(",");
      Parameter parameter{assignable_name(), {}};
      if (tokens_.skip_symbol("=")) {
        parameter.preset = expressions_.expression();
      } else if (!list.empty() && list.back().preset != nullptr) {
        tokens_.fail("a parameter without default follows one with a default");
      }
      list.push_back(std::move(parameter));
    }
    return list;
  }

  std::string assignable_name() {
    const Token name = tokens_.expect(TokenKind::name, "a name to assign to");
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
      if (name.text == constant) fail_at(name.line, fmt::format("cannot assign to '{}'", constant));
    }
    return name.text;
  }

  Target target(bool may_be_attribute) {
    const Level level(tokens_);
    Target first = single_target(may_be_attribute);
    if (!tokens_.is_symbol(",")) return first;
    Target all;
    all.parts.push_back(std::move(first));
    while (tokens_.skip_symbol(",")) {
      if (tokens_.is_name("in") || tokens_.is_symbol("=") || tokens_.is_symbol(")")) break;
      all.parts.push_back(single_target(may_be_attribute));
    }
    return all;
  }

  Target single_target(bool may_be_attribute) {
    Target one;
    if (tokens_.skip_symbol("(")) {
      one = target(may_be_attribute);
      tokens_.expect_symbol(")");
      return one;
    }
    one.name = assignable_name();
    if (may_be_attribute && tokens_.skip_symbol("."))
      one.attribute = tokens_.expect(TokenKind::name, "an attribute's name").text;
    return one;
  }

  TokenStream tokens_;
  ExpressionParser expressions_{tokens_};
  i64 n_loops_ = 0;  // around the present statement
};

}  // namespace

Block parse_template(std::string_view source) {
  return Parser(source).whole();
}

}  // namespace sticky::chat
