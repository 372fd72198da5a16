#include "sticky/malleability/host.hpp"

#include <algorithm>
#include <charconv>

#include "sticky/base/error.hpp"

namespace sticky::malleability {
namespace {

constexpr std::size_t kLongestName = 253;  // RFC 1035

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter_or_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
         });
}

std::string host_key(std::string_view name) {
  const bool is_address =
      std::all_of(name.begin(), name.end(), [](char c) { return is_digit(c) || c == '.'; });
  std::string key(is_address ? name : name.substr(0, name.find('.')));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return key;
}

Host parse_host(std::string_view text) {
  const auto colon = text.find(':');
  Host host{.name = std::string(text.substr(0, colon))};
  if (!is_host_name(host.name))
    fail<FormatError>(
        "\"{}\" is no host name: letters, digits, '.', '-' and '_', the first one a letter or "
        "digit",
        host.name);
  if (colon == std::string_view::npos) return host;
  const std::string_view number = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), host.n_slots);
  if (error != std::errc{} || end != number.data() + number.size() || host.n_slots < 1 ||
      host.n_slots > kMostSlots)
    fail<FormatError>("\"{}\": the slots after ':' must be a number from 1 to {}", text,
                      kMostSlots);
  return host;
}

}  // namespace sticky::malleability
