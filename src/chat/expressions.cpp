// Expressions.
#include <algorithm>

#include "evaluator.hpp"
#include "filters.hpp"
#include "functions.hpp"
#include "operators.hpp"
#include "repr.hpp"

namespace sticky::chat {

namespace {

template <class... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overload(Fs...) -> Overload<Fs...>;

}  // namespace

Value Evaluator::evaluate(const Expr& expr) {
  const Deeper deeper(context_);
  context_.line = expr.line;
  context_.spend_steps(1);
  return std::visit([this](const auto& form) { return evaluate(form); }, expr.form);
}

Value Evaluator::evaluate(const Name& form) {
  if (const Value* value = scope_->find(context_, form.name)) return *value;
  if (const auto function = global_function(context_, form.name)) return *function;
  return context_.make_undefined(fmt::format("'{}' is undefined", form.name));
}

Value Evaluator::evaluate(const SequenceLiteral& form) {
  std::vector<Value> items;
  for (const ExprPtr& item : form.items)
    items.push_back(evaluate(*item));
  return context_.make_list(form.is_tuple ? List::Form::tuple : List::Form::list, std::move(items));
}

Value Evaluator::evaluate(const DictLiteral& form) {
  Dict* dict = context_.make<Dict>();
  for (const auto& [key, value] : form.entries) {
    const Value k = evaluate(*key);
    set_key(context_, *dict, k, evaluate(*value));
  }
  return dict;
}

Value Evaluator::evaluate(const Unary& form) {
  const Value value = evaluate(*form.operand);
  switch (form.op) {
    case UnaryOp::logical_not:
      return !value.is_true();
    case UnaryOp::negative:
      return negated(context_, value);
    case UnaryOp::positive:
      break;
  }
  if (!value.is_numeric()) context_.fail("a value of type {} has no sign", value.type_name());
  return value.is_whole() ? Value(value.whole()) : value;  // of a boolean: its number
}

Value Evaluator::evaluate(const Arithmetic& form) {
  Value value = evaluate(*form.first);
  for (const auto& [op, operand] : form.rest)
    value = binary(context_, op, value, evaluate(*operand));
  return value;
}

Value Evaluator::evaluate(const Concat& form) {
  Text text;
  for (const ExprPtr& operand : form.operands)
    append_str(context_, text, evaluate(*operand));
  return context_.make_text(std::move(text));
}

Value Evaluator::evaluate(const Comparison& form) {
  Value left = evaluate(*form.first);
  for (const auto& [op, operand] : form.rest) {
    const Value right = evaluate(*operand);
    if (!compare(context_, op, left, right)) return false;
    left = right;
  }
  return true;
}

Value Evaluator::evaluate(const Logic& form) {
  Value value;
  for (const ExprPtr& operand : form.operands) {
    value = evaluate(*operand);
    if (value.is_true() != form.is_and) break;
  }
  return value;
}

Value Evaluator::evaluate(const Conditional& form) {
  if (evaluate(*form.condition).is_true()) return evaluate(*form.then);
  if (form.otherwise != nullptr) return evaluate(*form.otherwise);
  return context_.make_undefined("the inline 'if' was false and has no 'else'");
}

Value Evaluator::evaluate_chain(const Chain& chain, Object* caller) {
  Value value = evaluate(*chain.first);
  for (const ChainStep& step : chain.steps)
    value = apply(step, value, &step == &chain.steps.back() ? caller : nullptr);
  return value;
}

Value Evaluator::apply_steps(Value value, const std::vector<ChainStep>& steps) {
  for (const ChainStep& step : steps)
    value = apply(step, value, nullptr);
  return value;
}

Value Evaluator::apply(const ChainStep& step, const Value& value, Object* caller) {
  context_.line = step.line;
  context_.spend_steps(1);
  return std::visit(
      Overload{[&](const GetAttribute& form) { return get_attribute(context_, value, form.name); },
               [&](const GetItem& form) { return get_item(context_, value, evaluate(*form.key)); },
               [&](const GetSlice& form) {
                 const Value first = evaluate_or_none(form.first);
                 const Value last = evaluate_or_none(form.last);
                 return get_slice(context_, value, {first, last, evaluate_or_none(form.step)});
               },
               [&](const CallWith& form) { return call(value, form, caller); },
               [&](const ApplyFilter& form) {
                 Arguments arguments = evaluate(form.arguments);
                 return apply_filter(context_, *form.filter, value, arguments);
               },
               [&](const ApplyTest& form) {
                 Arguments arguments = evaluate(form.arguments);
                 return Value(apply_test(context_, *form.test, value, arguments) !=
                              form.is_negated);
               }},
      step.form);
}

Value Evaluator::call(const Value& callee, const CallWith& with, Object* caller) {
  Arguments arguments = evaluate(with.arguments);
  if (caller != nullptr) arguments.named.emplace_back("caller", caller);
  if (callee.is_undefined()) context_.fail("{}", callee.undefined().why);
  if (!callee.is(Kind::object))
    context_.fail("a value of type {} cannot be called", callee.type_name());
  return callee.object().call(context_, arguments);
}

void Evaluator::add_named(const Value& value, Arguments& out) const {
  if (!value.is(Kind::dict))
    context_.fail("the argument behind ** is {}, expected a dict", value.type_name());
  for (const auto& [key, v] : value.dict().entries) {
    context_.spend_steps(1 + std::ssize(out.named) / 16);
    if (!key.is_string()) context_.fail("an argument's name is {}", key.type_name());
    const std::string_view name = key.text().bytes();
    const bool is_there =
        std::ranges::any_of(out.named, [&](const auto& other) { return other.first == name; });
    if (is_there) context_.fail("two arguments have the name '{}'", name);
    out.named.emplace_back(name, v);
  }
}

Arguments Evaluator::evaluate(const std::vector<ArgumentExpr>& arguments) {
  Arguments values;
  for (const ArgumentExpr& argument : arguments) {
    const Value value = evaluate(*argument.value);
    if (argument.kind == ArgumentExpr::Kind::all_of_list) {
      const auto items = elements(context_, value);
      context_.spend_steps(std::ssize(items));
      values.positional.insert(values.positional.end(), items.begin(), items.end());
    } else if (argument.kind == ArgumentExpr::Kind::all_of_dict) {
      add_named(value, values);
    } else if (argument.name.empty()) {
      values.positional.push_back(value);
    } else {
      values.named.emplace_back(argument.name, value);
    }
  }
  return values;
}

}  // namespace sticky::chat
