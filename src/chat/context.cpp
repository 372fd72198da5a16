#include "context.hpp"

namespace sticky::chat {

void fail_at(i64 line, std::string_view text) {
  throw TemplateError(fmt::format("chat template, line {}: {}", line, text));
}

void Context::spend_steps(i64 n) {
  if (n > bounds_.max_steps - n_steps_) fail("more than {} steps", bounds_.max_steps);
  n_steps_ += n;
}

void Context::spend_bytes(i64 n) {
  read_bytes(n);
  if (n > most_bytes() - n_bytes_) fail("more than {} bytes of values", most_bytes());
  n_bytes_ += n;
}

void Context::spend_elements(i64 n, i64 bytes_each) {
  i64 n_bytes = 0;
  if (__builtin_mul_overflow(n, bytes_each, &n_bytes))
    fail("{} elements of {} bytes are too many", n, bytes_each);
  spend_bytes(n_bytes);
}

Value Context::make_text(Text text) {
  spend_bytes(text.weight());
  return &make<TextCell>(std::move(text))->text;
}

Value Context::make_list(List::Form form, std::vector<Value> items) {
  spend_elements(static_cast<i64>(items.size()), sizeof(Value));
  return make<List>(form, std::move(items));
}

}  // namespace sticky::chat
