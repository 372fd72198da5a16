#include "filters.hpp"

#include "arguments.hpp"

namespace sticky::chat {

const Filter* find_filter(std::string_view name) {
  for (const auto part :
       {text_filters(), number_filters(), sequence_filters(), selection_filters()}) {
    for (const Filter& filter : part) {
      if (filter.name == name) return &filter;
    }
  }
  return nullptr;
}

Value apply_filter(Context& context,
                   const Filter& filter,
                   const Value& input,
                   Arguments& arguments) {
  context.spend_steps(1);
  const Value result = filter.apply(context, input, arguments);
  arguments.check_all_taken(context, filter.name);
  return result;
}

}  // namespace sticky::chat
