#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "value.hpp"

// The tree of a template. It is as deep as the source is nested and no deeper: chains such as
// a + b + c, x.y.z and x | f | g are lists, so that a long one cannot exhaust the stack.
namespace sticky::chat {

struct Filter;
struct ValueTest;
struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Constant {
  Value value;
  std::unique_ptr<Text> text;  ///< what a string's value points to
};
struct Name {
  std::string name;
};
struct SequenceLiteral {
  bool is_tuple = false;
  std::vector<ExprPtr> items;
};
struct DictLiteral {
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};

struct ArgumentExpr {
  enum class Kind { one, all_of_list, all_of_dict };  ///< value, *value, **value
  Kind kind = Kind::one;
  std::string name;  ///< empty: positional
  ExprPtr value;
};
struct GetAttribute {
  std::string name;
};
struct GetItem {
  ExprPtr key;
};
struct GetSlice {
  ExprPtr first, last, step;  ///< null: left out
};
struct CallWith {
  std::vector<ArgumentExpr> arguments;
};
struct ApplyFilter {
  const Filter* filter = nullptr;
  std::vector<ArgumentExpr> arguments;
};
struct ApplyTest {
  const ValueTest* test = nullptr;
  std::vector<ArgumentExpr> arguments;
  bool is_negated = false;
};
struct ChainStep {
  i64 line = 1;
  std::variant<GetAttribute, GetItem, GetSlice, CallWith, ApplyFilter, ApplyTest> form;
};
/// first.x[y](z) | f is t: each step takes the value of those before.
struct Chain {
  ExprPtr first;
  std::vector<ChainStep> steps;
};

enum class UnaryOp { logical_not, negative, positive };
struct Unary {
  UnaryOp op{};
  ExprPtr operand;
};
enum class BinaryOp { add, subtract, multiply, divide, floor_divide, modulo, power };
/// From left to right, powers too (Jinja differs from Python there).
struct Arithmetic {
  ExprPtr first;
  std::vector<std::pair<BinaryOp, ExprPtr>> rest;
};
struct Concat {
  std::vector<ExprPtr> operands;
};
enum class CompareOp { eq, ne, lt, le, gt, ge, in, not_in };
struct Comparison {
  ExprPtr first;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
};
struct Logic {
  bool is_and = false;
  std::vector<ExprPtr> operands;
};
struct Conditional {
  ExprPtr condition, then, otherwise;  ///< otherwise null: undefined
};

struct Expr {
  i64 line = 1;
  std::variant<Constant,
               Name,
               SequenceLiteral,
               DictLiteral,
               Chain,
               Unary,
               Arithmetic,
               Concat,
               Comparison,
               Logic,
               Conditional>
      form;
};

struct Statement;
using Block = std::vector<Statement>;

/// What an assignment writes to: a name, an attribute of a namespace, or a tuple of targets.
struct Target {
  std::string name;
  std::string attribute;      ///< empty: the name itself
  std::vector<Target> parts;  ///< not empty: a tuple
};

struct Output {
  Text text;
};
struct Print {
  ExprPtr value;
};
struct If {
  std::vector<std::pair<ExprPtr, Block>> branches;
  Block otherwise;
};
struct For {
  Target target;
  ExprPtr items;
  ExprPtr condition;  ///< may be null
  Block body;
  Block otherwise;
  bool is_recursive = false;  ///< loop(…) runs it again
};
struct Set {
  Target target;
  ExprPtr value;
};
struct SetBlock {
  Target target;
  std::vector<ChainStep> filters;
  Block body;
};
struct FilterBlock {
  std::vector<ChainStep> filters;
  Block body;
};
struct Parameter {
  std::string name;
  ExprPtr preset;  ///< may be null
};
struct Macro {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};
struct CallBlock {
  Macro caller;
  ExprPtr call;  ///< a Chain whose last step is CallWith
};
/// with, and generation (without bindings).
struct With {
  std::vector<std::pair<Target, ExprPtr>> bindings;
  Block body;
};
struct Break {};
struct Continue {};

struct Statement {
  i64 line = 1;
  std::variant<Output,
               Print,
               If,
               For,
               Set,
               SetBlock,
               FilterBlock,
               Macro,
               CallBlock,
               With,
               Break,
               Continue>
      form;
};

}  // namespace sticky::chat
