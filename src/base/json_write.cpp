#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "sticky/base/json.hpp"
#include "sticky/base/utf8.hpp"

namespace sticky {

namespace {

void append_escape(std::string& out, unsigned char c) {
  constexpr const char* kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

constexpr bool must_be_escaped(unsigned char c) {
  return c < 0x20 || c == '"' || c == '\\';
}

// Whether one of eight bytes must be: for each byte, (x - n) & ~x has its high bit set where the
// byte is below n, and a byte equal to c is one that is below 1 after x ^ c. Borrows only follow a
// hit.
bool has_one_to_escape(const char* eight) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::uint64_t x = 0;
  std::memcpy(&x, eight, sizeof x);
  const auto below = [](std::uint64_t bytes, std::uint64_t n) {
    return (bytes - n * kEach) & ~bytes;
  };
  const std::uint64_t hits =
      below(x, 0x20) | below(x ^ ('"' * kEach), 1) | below(x ^ ('\\' * kEach), 1);
  return (hits & (0x80 * kEach)) != 0;
}

// From `i` on; the text's size where there is none.
std::size_t next_to_escape(std::string_view text, std::size_t i) {
  constexpr std::size_t kStride = 8;
  while (text.size() - i >= kStride && !has_one_to_escape(text.data() + i))
    i += kStride;
  while (i < text.size() && !must_be_escaped(static_cast<unsigned char>(text[i])))
    ++i;
  return i;
}

void append_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";  // JSON has no word for it
    return;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  out += digits;
  // A whole number stays a number with a point, so that its kind survives writing and reading.
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

// indent < 0: all on one line.
class Writer {
 public:
  Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

  void write(const Json& value) {
    switch (value.kind()) {
      case Json::Kind::null:
        out_ += "null";
        break;
      case Json::Kind::boolean:
        out_ += value.as_bool() ? "true" : "false";
        break;
      case Json::Kind::integer:
        out_ += std::to_string(value.as_integer());
        break;
      case Json::Kind::number:
        write_number(value);
        break;
      case Json::Kind::string:
        append_json_string(out_, value.as_string());
        break;
      case Json::Kind::array:
        write_array(value.as_array());
        break;
      case Json::Kind::object:
        write_object(value.as_object());
        break;
    }
  }

 private:
  void write_number(const Json& value) {
    if (value.number_text().empty())
      append_double(out_, value.as_double());
    else
      out_ += value.number_text();
  }
  void write_array(const Json::Array& array) {
    out_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (i != 0) out_ += ',';
      new_line();
      write(array[i]);
    }
    --depth_;
    if (!array.empty()) new_line();
    out_ += ']';
  }
  void write_object(const Json::Object& object) {
    out_ += '{';
    ++depth_;
    for (std::size_t i = 0; i < object.size(); ++i) {
      if (i != 0) out_ += ',';
      new_line();
      append_json_string(out_, object[i].name);
      out_ += indent_ < 0 ? ":" : ": ";
      write(object[i].value);
    }
    --depth_;
    if (!object.empty()) new_line();
    out_ += '}';
  }
  void new_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_ * depth_), ' ');
  }

  std::string& out_;
  int indent_;
  int depth_ = 0;
};

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  std::string repaired;
  if (utf8::first_invalid(text) >= 0) {
    repaired = utf8::sanitize(text);
    text = repaired;
  }
  out += '"';
  std::size_t plain = 0;  // first byte not yet copied
  for (std::size_t i = next_to_escape(text, 0); i < text.size(); i = next_to_escape(text, plain)) {
    out += text.substr(plain, i - plain);
    append_escape(out, static_cast<unsigned char>(text[i]));
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

void Json::dump_to(std::string& out) const {
  Writer(out, -1).write(*this);
}

std::string Json::dump() const {
  std::string out;
  dump_to(out);
  return out;
}

std::string Json::dump_pretty() const {
  std::string out;
  Writer(out, 2).write(*this);
  return out;
}

}  // namespace sticky
