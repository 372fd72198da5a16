#include <algorithm>

#include "arguments.hpp"
#include "element_key.hpp"
#include "filters.hpp"
#include "operators.hpp"
#include "repr.hpp"
#include "text_functions.hpp"

namespace sticky::chat {

namespace {

struct Keyed {
  Value key;
  Value value;
};

std::vector<Keyed> keyed(Context& context, const std::vector<Value>& items, const ElementKey& key) {
  context.spend_elements(static_cast<i64>(items.size()), sizeof(Keyed));
  std::vector<Keyed> out;
  for (const Value& item : items)
    out.push_back({key.of(item), item});
  return out;
}

void sort_keyed(Context& context, std::vector<Keyed>& items, bool descends) {
  std::ranges::stable_sort(items, [&](const Keyed& a, const Keyed& b) {
    return descends ? order(context, b.key, a.key) < 0 : order(context, a.key, b.key) < 0;
  });
}

std::vector<Value> values_of(const std::vector<Keyed>& items) {
  std::vector<Value> out;
  for (const auto& item : items)
    out.push_back(item.value);
  return out;
}

Value preset(Context& context, const Value& input, Arguments& arguments) {
  const Value instead = arguments.take_or("default_value", context.make_text(Text()));
  const bool replaces_false = arguments.take_flag("boolean", false);
  return input.is_undefined() || (replaces_false && !input.is_true()) ? instead : input;
}

Value count(Context& context, const Value& input, Arguments&) {
  return length(context, input);
}

Value to_list(Context& context, const Value& input, Arguments&) {
  return context.make_list(List::Form::list, elements(context, input));
}

Value first(Context& context, const Value& input, Arguments&) {
  const auto items = elements(context, input);
  if (items.empty()) return context.make_undefined("No first item, sequence was empty.");
  return items.front();
}

Value last(Context& context, const Value& input, Arguments&) {
  if (input.is(Kind::list) && input.list().form == List::Form::generator)
    context.fail("last: a generator has no end to begin from; use | list | last");
  const auto items = elements(context, input);
  if (items.empty()) return context.make_undefined("No last item, sequence was empty.");
  return items.back();
}

Value reverse(Context& context, const Value& input, Arguments&) {
  auto items = elements(context, input);
  std::ranges::reverse(items);
  if (input.is_string()) return join(context, Text(), items);
  if (input.is(Kind::list) && input.list().form == List::Form::generator)
    return context.make_list(List::Form::list, std::move(items));
  return context.make_list(List::Form::generator, std::move(items));
}

Value join_items(Context& context, const Value& input, Arguments& arguments) {
  const Value separator = arguments.take_or("d", context.make_text(Text()));
  const ElementKey key(context, arguments.take_or("attribute", {}));
  std::vector<Value> items;
  for (const Value& item : elements(context, input))
    items.push_back(key.of(item));
  return join(context, text_of(context, separator), items);
}

Value items_of(Context& context, const Value& input, Arguments&) {
  std::vector<Value> pairs;
  if (!input.is_undefined()) {
    if (!input.is(Kind::dict)) context.fail("items: found {}, expected a dict", input.type_name());
    for (const auto& [key, value] : input.dict().entries)
      pairs.push_back(context.make_list(List::Form::tuple, {key, value}));
  }
  return context.make_list(List::Form::generator, std::move(pairs));
}

Value dictsort(Context& context, const Value& input, Arguments& arguments) {
  const bool minds_case = arguments.take_flag("case_sensitive", false);
  const Value by = arguments.take_or("by", context.make_text(std::string("key")));
  const bool descends = arguments.take_flag("reverse", false);
  const std::string& side = text_of(context, by).bytes();
  if (side != "key" && side != "value")
    context.fail("dictsort: by is '{}', expected key or value", side);
  if (!input.is(Kind::dict)) context.fail("dictsort: found {}, expected a dict", input.type_name());
  const Value pairs = items_of(context, input, arguments);
  auto sorted = keyed(context, pairs.list().items,
                      ElementKey(context, i64{side == "key" ? 0 : 1}, !minds_case));
  sort_keyed(context, sorted, descends);
  return context.make_list(List::Form::list, values_of(sorted));
}

// "a,b": by a, and where that is equal by b.
Value sort(Context& context, const Value& input, Arguments& arguments) {
  const bool descends = arguments.take_flag("reverse", false);
  const bool minds_case = arguments.take_flag("case_sensitive", false);
  const Value attribute = arguments.take_or("attribute", {});
  std::vector<Value> attributes = {attribute};
  if (attribute.is_string()) attributes = split_at(context, attribute.text(), ",", -1);
  auto items = elements(context, input);
  for (auto by = attributes.rbegin(); by != attributes.rend(); ++by) {
    auto sorted = keyed(context, items, ElementKey(context, *by, !minds_case));
    // Jinja puts the keys into lists: equal ones need no order.
    std::ranges::stable_sort(sorted, [&](const Keyed& a, const Keyed& b) {
      if (equal(context, a.key, b.key)) return false;
      return (descends ? order(context, b.key, a.key) : order(context, a.key, b.key)) < 0;
    });
    items = values_of(sorted);
  }
  return context.make_list(List::Form::list, std::move(items));
}

Value unique(Context& context, const Value& input, Arguments& arguments) {
  const bool minds_case = arguments.take_flag("case_sensitive", false);
  const ElementKey key(context, arguments.take_or("attribute", {}), !minds_case);
  std::vector<Keyed> kept;
  for (const Value& item : elements(context, input)) {
    const Value k = key.of(item);
    const bool is_known =
        std::ranges::any_of(kept, [&](const Keyed& other) { return equal(context, other.key, k); });
    if (!is_known) kept.push_back({k, item});
  }
  return context.make_list(List::Form::generator, values_of(kept));
}

Value groupby(Context& context, const Value& input, Arguments& arguments) {
  const Value attribute = arguments.need(context, "attribute");
  const auto absent = arguments.take("default");
  const bool minds_case = arguments.take_flag("case_sensitive", false);
  const auto instead = absent && !absent->is_none() ? absent : std::nullopt;
  const ElementKey shown(context, attribute, false, instead);
  auto sorted = keyed(context, elements(context, input),
                      ElementKey(context, attribute, !minds_case, instead));
  sort_keyed(context, sorted, false);
  std::vector<Value> groups;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    std::vector<Value> members;
    for (; end < sorted.size() && equal(context, sorted[i].key, sorted[end].key); ++end)
      members.push_back(sorted[end].value);
    end = std::max(end, i + 1);  // a key unlike itself: NaN
    if (members.empty()) members.push_back(sorted[i].value);
    const Value name = shown.of(members.front());
    groups.push_back(context.make_list(
        List::Form::group, {name, context.make_list(List::Form::list, std::move(members))}));
    i = end;
  }
  return context.make_list(List::Form::list, std::move(groups));
}

Value batch(Context& context, const Value& input, Arguments& arguments) {
  const i64 n_each = arguments.take_integer(context, "linecount", 0);
  const Value filler = arguments.take_or("fill_with", {});
  if (n_each < 1) context.fail("batch: the count is {}, expected at least 1", n_each);
  std::vector<Value> rows;
  std::vector<Value> row;
  const auto close = [&] {
    rows.push_back(context.make_list(List::Form::list, std::exchange(row, {})));
  };
  for (const Value& item : elements(context, input)) {
    if (static_cast<i64>(row.size()) == n_each) close();
    row.push_back(item);
  }
  if (!row.empty() && !filler.is_none()) {
    const i64 n_missing = n_each - static_cast<i64>(row.size());
    context.spend_elements(n_missing, sizeof(Value));
    row.insert(row.end(), static_cast<std::size_t>(n_missing), filler);
  }
  if (!row.empty()) close();
  return context.make_list(List::Form::generator, std::move(rows));
}

Value slice(Context& context, const Value& input, Arguments& arguments) {
  const i64 n_slices = arguments.take_integer(context, "slices", 0);
  const Value filler = arguments.take_or("fill_with", {});
  if (n_slices < 1) context.fail("slice: the count is {}, expected at least 1", n_slices);
  context.spend_elements(n_slices, sizeof(List));
  const auto items = elements(context, input);
  const i64 n_items = static_cast<i64>(items.size());
  std::vector<Value> slices;
  auto next = items.begin();
  for (i64 i = 0; i < n_slices; ++i) {
    const bool is_longer = i < n_items % n_slices;
    const auto end = next + static_cast<std::ptrdiff_t>(n_items / n_slices + (is_longer ? 1 : 0));
    std::vector<Value> part(next, end);
    if (!is_longer && !filler.is_none()) part.push_back(filler);
    slices.push_back(context.make_list(List::Form::list, std::move(part)));
    next = end;
  }
  return context.make_list(List::Form::generator, std::move(slices));
}

template <bool wants_most>
Value extreme(Context& context, const Value& input, Arguments& arguments) {
  const bool minds_case = arguments.take_flag("case_sensitive", false);
  const ElementKey key(context, arguments.take_or("attribute", {}), !minds_case);
  const auto items = keyed(context, elements(context, input), key);
  if (items.empty()) return context.make_undefined("No aggregated item, sequence was empty.");
  const Keyed* best = &items.front();
  for (const Keyed& item : std::span(items).subspan(1)) {
    const int way = order(context, item.key, best->key);
    if (wants_most ? way > 0 : way < 0) best = &item;
  }
  return best->value;
}

Value sum(Context& context, const Value& input, Arguments& arguments) {
  const ElementKey key(context, arguments.take_or("attribute", {}));
  Value total = arguments.take_or("start", i64{0});
  if (total.is_string()) context.fail("sum: strings are joined by | join");
  for (const Value& item : elements(context, input))
    total = binary(context, BinaryOp::add, total, key.of(item));
  return total;
}

}  // namespace

std::span<const Filter> sequence_filters() {
  static constexpr Filter kFilters[] = {
      {"batch", batch},       {"count", count},        {"d", preset},
      {"default", preset},    {"dictsort", dictsort},  {"first", first},
      {"groupby", groupby},   {"items", items_of},     {"join", join_items},
      {"last", last},         {"length", count},       {"list", to_list},
      {"max", extreme<true>}, {"min", extreme<false>}, {"reverse", reverse},
      {"slice", slice},       {"sort", sort},          {"sum", sum},
      {"unique", unique},
  };
  return kFilters;
}

}  // namespace sticky::chat
