#include "record.hpp"

#include <limits>

#include "sticky/base/error.hpp"
#include "sticky/base/json.hpp"

#include "line_record.hpp"
#include "line_splitter.hpp"

namespace sticky::io {

namespace {

const Json* member(const Json& json, std::string_view name, Json::Kind kind) {
  const Json* value = json.find(name);
  return value != nullptr && value->kind() == kind ? value : nullptr;
}

Hash128 key_of(bool has_id, std::string_view id, Hash128 request_hash, std::string_view fault) {
  std::string text = request_hash.hex();
  text += fault;
  text += has_id ? '=' : '-';
  if (has_id) text += id;
  return hash128(text);
}

class RecordBytes final : public ByteSource {
 public:
  explicit RecordBytes(const std::string& path) : file_(File::open_regular(path)) {}
  i64 read(std::span<char> out) override { return file_.read(out); }
  [[nodiscard]] i64 n_packed_bytes() const override { return 0; }

 private:
  File file_;
};

}  // namespace

std::optional<Record> Record::from_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const FormatError&) {
    return std::nullopt;
  }
  const Json* id = member(json, "custom_id", Json::Kind::string);
  const Json* sticky = member(json, "sticky", Json::Kind::object);
  if (id == nullptr || sticky == nullptr) return std::nullopt;
  const Json* file = member(*sticky, "file", Json::Kind::string);
  const Json* line = member(*sticky, "line", Json::Kind::integer);
  const Json* hash = member(*sticky, "hash", Json::Kind::string);
  if (file == nullptr || line == nullptr || hash == nullptr) return std::nullopt;
  const auto request_hash = Hash128::from_hex(hash->as_string());
  if (!request_hash) return std::nullopt;
  Record record{id->as_string(), file->as_string(), line->as_integer(), *request_hash, {}, {}};
  if (const Json* error = member(json, "error", Json::Kind::object)) {
    const Json* code = member(*error, "code", Json::Kind::string);
    if (code == nullptr || code->as_string().empty()) return std::nullopt;
    record.error_code = code->as_string();
    if (const Json* param = member(*error, "param", Json::Kind::string))
      record.error_param = param->as_string();
  }
  return record;
}

Hash128 match_key(const Record& record) {
  const bool has_id = record.custom_id != made_up_id(record.file, record.line);
  const bool is_fault = is_reader_fault(record.error_code, record.error_param);
  return key_of(has_id, record.custom_id, record.request_hash,
                is_fault ? std::string_view(record.error_code) : std::string_view());
}

Hash128 match_key(const InputLine& line) {
  return key_of(line.has_id, line.custom_id, line.hash, line.error_code);
}

std::uint64_t place_key(std::string_view file, i64 line) {
  return hash128(made_up_id(file, line)).low;
}

std::string with_new_place(std::string_view record,
                           const std::string& file,
                           i64 line,
                           i64 byte_offset) {
  const auto old = Record::from_json(record);
  Json json = Json::parse(record);
  if (old && old->custom_id == made_up_id(old->file, old->line))
    json.set("custom_id", made_up_id(file, line));
  Json* sticky = json.find("sticky");
  sticky->set("file", file);
  sticky->set("line", line);
  if (Json* error = json.find("error"); error != nullptr && error->is_object()) {
    error->set("file", file);
    error->set("line", line);
    error->set("byte_offset", byte_offset);
  }
  return json.dump();
}

void for_each_record_line(const std::string& path,
                          const std::function<void(std::string_view, i64)>& use) {
  if (!exists(path)) return;
  // Whatever its length, a line must be seen whole: it may have to be moved.
  constexpr i64 kNoBound = std::numeric_limits<i64>::max() / 4;
  LineSplitter lines(std::make_unique<RecordBytes>(path), kNoBound);
  while (const auto line = lines.next())
    use(line->text, line->byte_offset);
}

}  // namespace sticky::io
