// Statements. Scopes are Jinja's: loops, macros, with and captured blocks have one, if has none.
#include "evaluator.hpp"

#include <algorithm>

#include "functions.hpp"
#include "loop.hpp"
#include "operators.hpp"
#include "repr.hpp"

namespace sticky::chat {

namespace {

struct MacroObject final : Object {
  MacroObject(Evaluator* e, const Macro* m, Scope* s) : evaluator(e), macro(m), scope(s) {}
  std::string_view type_name() const override { return "Macro"; }
  bool is_callable() const override { return true; }
  Value call(Context&, Arguments& arguments) override {
    return evaluator->call_macro(*macro, scope, arguments);
  }
  Evaluator* evaluator;
  const Macro* macro;
  Scope* scope;
};

// Puts another value in place for its own life.
template <class T>
class Instead {
 public:
  Instead(T& place, T value) : place_(place), old_(std::exchange(place, value)) {}
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
  ~Instead() { place_ = old_; }

 private:
  T& place_;
  T old_;
};

}  // namespace

Text Evaluator::run(const Block& block) {
  Text text;
  const Instead into(out_, &text);
  execute_block(block);
  return text;
}

Evaluator::Flow Evaluator::execute_block(const Block& block) {
  const Deeper deeper(context_);
  for (const Statement& statement : block) {
    if (const Flow flow = execute(statement); flow != Flow::next) return flow;
  }
  return Flow::next;
}

Evaluator::Flow Evaluator::execute(const Statement& statement) {
  context_.line = statement.line;
  context_.spend_steps(1);
  return std::visit([this](const auto& form) { return execute(form); }, statement.form);
}

Evaluator::Flow Evaluator::execute(const Output& form) {
  context_.append(*out_, form.text);
  check_output();
  return Flow::next;
}

Evaluator::Flow Evaluator::execute(const Print& form) {
  print(evaluate(*form.value));
  return Flow::next;
}

void Evaluator::print(const Value& value) {
  append_str(context_, *out_, value);
  check_output();
}

void Evaluator::check_output() const {
  if (out_->size() > context_.bounds().max_output_bytes)
    context_.fail("more than {} bytes of output", context_.bounds().max_output_bytes);
}

Evaluator::Flow Evaluator::execute(const If& form) {
  for (const auto& [condition, body] : form.branches) {
    if (evaluate(*condition).is_true()) return execute_block(body);
  }
  return execute_block(form.otherwise);
}

std::vector<Value> Evaluator::loop_items(const For& form, const Value& over) {
  auto items = elements(context_, over);
  if (form.condition == nullptr) return items;
  std::vector<Value> kept;
  for (const Value& item : items) {
    const Instead inside(scope_, context_.make<Scope>(scope_));
    assign(form.target, item);
    if (evaluate(*form.condition).is_true()) kept.push_back(item);
  }
  return kept;
}

Evaluator::Flow Evaluator::execute(const For& form) {
  return run_loop(form, evaluate(*form.items), 0);
}

Evaluator::Flow Evaluator::run_loop(const For& form, const Value& over, i64 depth) {
  auto items = loop_items(form, over);
  if (items.empty()) return execute_in_new_scope(form.otherwise);
  Loop* loop = context_.make<Loop>(std::move(items), depth);
  if (form.is_recursive) {
    loop->again = [this, &form, around = scope_, depth](const Value& inner) {
      return loop_again(form, around, inner, depth + 1);
    };
  }
  for (; loop->at < static_cast<i64>(loop->items.size()); ++loop->at) {
    context_.spend_steps(1);
    const Instead inside(scope_, context_.make<Scope>(scope_));
    scope_->set(context_, "loop", loop);
    assign(form.target, loop->items[static_cast<std::size_t>(loop->at)]);
    if (execute_block(form.body) == Flow::leave_loop) break;
  }
  return Flow::next;
}

Value Evaluator::loop_again(const For& form, Scope* around, const Value& over, i64 depth) {
  const Deeper deeper(context_);
  const Instead at_line(context_.line, context_.line);
  const Instead inside(scope_, around);
  Text text;
  const Instead into(out_, &text);
  run_loop(form, over, depth);
  return context_.make_text(std::move(text));
}

Evaluator::Flow Evaluator::execute_in_new_scope(const Block& block) {
  const Instead inside(scope_, context_.make<Scope>(scope_));
  return execute_block(block);
}

Evaluator::Flow Evaluator::execute(const Set& form) {
  assign(form.target, evaluate(*form.value));
  return Flow::next;
}

Value Evaluator::captured(const Block& block) {
  Text text;
  const Instead into(out_, &text);
  execute_in_new_scope(block);
  return context_.make_text(std::move(text));
}

Evaluator::Flow Evaluator::execute(const SetBlock& form) {
  assign(form.target, apply_steps(captured(form.body), form.filters));
  return Flow::next;
}

Evaluator::Flow Evaluator::execute(const FilterBlock& form) {
  print(apply_steps(captured(form.body), form.filters));
  return Flow::next;
}

Evaluator::Flow Evaluator::execute(const Macro& form) {
  scope_->set(context_, form.name, context_.make<MacroObject>(this, &form, scope_));
  return Flow::next;
}

Evaluator::Flow Evaluator::execute(const CallBlock& form) {
  auto* caller = context_.make<MacroObject>(this, &form.caller, scope_);
  print(evaluate_chain(std::get<Chain>(form.call->form), caller));
  return Flow::next;
}

Evaluator::Flow Evaluator::execute(const With& form) {
  std::vector<Value> values;
  for (const auto& [target, expr] : form.bindings)
    values.push_back(evaluate(*expr));
  const Instead inside(scope_, context_.make<Scope>(scope_));
  for (std::size_t i = 0; i < values.size(); ++i)
    assign(form.bindings[i].first, values[i]);
  return execute_block(form.body);
}

void Evaluator::assign(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    const auto items = elements(context_, value);
    if (items.size() != target.parts.size())
      context_.fail("{} values for {} names", items.size(), target.parts.size());
    for (std::size_t i = 0; i < items.size(); ++i)
      assign(target.parts[i], items[i]);
    return;
  }
  if (target.attribute.empty()) return scope_->set(context_, target.name, value);
  const Value* object = scope_->find(context_, target.name);
  auto* space = object != nullptr && object->is(Kind::object)
                    ? dynamic_cast<Namespace*>(&object->object())
                    : nullptr;
  if (space == nullptr)
    context_.fail("'{}' is no namespace: its attribute '{}' cannot be set", target.name,
                  target.attribute);
  space->set(context_, target.attribute, value);
}

Value Evaluator::call_macro(const Macro& macro, Scope* defined_in, Arguments& arguments) {
  const Deeper deeper(context_);
  const Instead at_line(context_.line, context_.line);
  const Instead inside(scope_, context_.make<Scope>(defined_in));
  bind_parameters(macro, arguments);
  Text text;
  const Instead into(out_, &text);
  execute_block(macro.body);
  return context_.make_text(std::move(text));
}

void Evaluator::bind_parameters(const Macro& macro, Arguments& arguments) {
  if (macro.uses_caller)
    scope_->set(context_, "caller", context_.make_undefined("No caller defined"));
  for (const Parameter& parameter : macro.parameters) {
    auto value = arguments.take(parameter.name);
    if (!value && parameter.preset != nullptr) value = evaluate(*parameter.preset);
    if (!value)
      value =
          context_.make_undefined(fmt::format("parameter '{}' was not provided", parameter.name));
    scope_->set(context_, parameter.name, *value);
  }
  if (macro.uses_caller) {
    const auto is_caller = [](const auto& argument) { return argument.first == "caller"; };
    const auto given = std::ranges::find_if(arguments.named, is_caller);
    if (given != arguments.named.end()) {
      scope_->set(context_, "caller", given->second);
      arguments.named.erase(given);
    }
  }
  if (macro.uses_varargs)
    scope_->set(context_, "varargs",
                context_.make_list(List::Form::tuple, arguments.take_positional()));
  if (macro.uses_kwargs) {
    Dict* rest = context_.make<Dict>();
    for (const auto& [name, value] : std::exchange(arguments.named, {}))
      rest->entries.emplace_back(context_.make_text(std::string(name)), value);
    scope_->set(context_, "kwargs", rest);
  }
  arguments.check_all_taken(context_, macro.name);
}

}  // namespace sticky::chat
