#pragma once

#include "arguments.hpp"
#include "ast.hpp"
#include "scope.hpp"

namespace sticky::chat {

/// Runs the tree of a template.
class Evaluator {
 public:
  /// `root` holds the names that the template sees at its top.
  Evaluator(Context& context, Scope* root) : context_(context), scope_(root) {}

  /// The text that the block prints.
  [[nodiscard]] Text run(const Block& block);
  [[nodiscard]] Value call_macro(const Macro& macro, Scope* defined_in, Arguments& arguments);
  /// What a recursive loop prints over other items; `around` is the scope that it stands in.
  [[nodiscard]] Value loop_again(const For& form, Scope* around, const Value& over, i64 depth);

 private:
  enum class Flow { next, leave_loop, next_round };

  Flow execute_block(const Block& block);
  Flow execute(const Statement& statement);
  Flow execute(const Output& form);
  Flow execute(const Print& form);
  Flow execute(const If& form);
  Flow execute(const For& form);
  Flow execute(const Set& form);
  Flow execute(const SetBlock& form);
  Flow execute(const FilterBlock& form);
  Flow execute(const Macro& form);
  Flow execute(const CallBlock& form);
  Flow execute(const With& form);
  Flow execute(const Break&) { return Flow::leave_loop; }
  Flow execute(const Continue&) { return Flow::next_round; }

  std::vector<Value> loop_items(const For& form, const Value& over);
  Flow run_loop(const For& form, const Value& over, i64 depth);
  Flow execute_in_new_scope(const Block& block);
  Value captured(const Block& block);
  void print(const Value& value);
  void check_output() const;
  void assign(const Target& target, const Value& value);
  void bind_parameters(const Macro& macro, Arguments& arguments);

  Value evaluate(const Expr& expr);
  Value evaluate_or_none(const ExprPtr& expr) { return expr ? evaluate(*expr) : Value(); }
  Value evaluate(const Constant& form) { return form.value; }
  Value evaluate(const Name& form);
  Value evaluate(const SequenceLiteral& form);
  Value evaluate(const DictLiteral& form);
  Value evaluate(const Chain& form) { return evaluate_chain(form, nullptr); }
  Value evaluate(const Unary& form);
  Value evaluate(const Arithmetic& form);
  Value evaluate(const Concat& form);
  Value evaluate(const Comparison& form);
  Value evaluate(const Logic& form);
  Value evaluate(const Conditional& form);

  /// With a caller, the last step is a call and gets it as argument.
  Value evaluate_chain(const Chain& chain, Object* caller);
  Value apply_steps(Value value, const std::vector<ChainStep>& steps);
  Value apply(const ChainStep& step, const Value& value, Object* caller);
  Value call(const Value& callee, const CallWith& with, Object* caller);
  Arguments evaluate(const std::vector<ArgumentExpr>& arguments);
  void add_named(const Value& value, Arguments& out) const;

  Context& context_;
  Scope* scope_;
  Text* out_ = nullptr;
};

}  // namespace sticky::chat
