// One GGUF file, version 2 or 3: magic, version, counts, metadata (key, type, value), tensor table,
// padding, data. Source: docs/gguf.md of the ggml project.
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>

#include "sticky/base/error.hpp"

#include "gguf_cursor.hpp"
#include "stored_checkpoint.hpp"

namespace sticky::checkpoint {

namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr int kMaxNesting = 4;
constexpr i64 kMaxElements = i64{1} << 24;  // of all arrays: bounds what the metadata may cost us

// Values as gguf.md numbers them.
enum class ValueType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12
};

class MetadataReader {
 public:
  explicit MetadataReader(GgufCursor& cursor) : cursor_(cursor) {}

  [[nodiscard]] Json read(std::uint64_t n_pairs) {
    Json::Object pairs;
    std::unordered_set<std::string> keys;
    for (std::uint64_t i = 0; i < n_pairs; ++i) {
      cursor_.set_field(fmt::format("metadata pair {} of {}", i, n_pairs));
      std::string key = cursor_.string();
      cursor_.set_field("metadata " + key);
      if (!keys.insert(key).second) cursor_.reject("this key stands twice");
      Json value = read_value(cursor_.number<std::uint32_t>(), 0);
      pairs.push_back({std::move(key), std::move(value)});
    }
    return Json(std::move(pairs));
  }

 private:
  Json read_value(std::uint32_t type, int depth) {
    switch (static_cast<ValueType>(type)) {
      case ValueType::u8:
        return Json(i64{cursor_.number<std::uint8_t>()});
      case ValueType::i8:
        return Json(i64{cursor_.number<std::int8_t>()});
      case ValueType::u16:
        return Json(i64{cursor_.number<std::uint16_t>()});
      case ValueType::i16:
        return Json(i64{cursor_.number<std::int16_t>()});
      case ValueType::u32:
        return Json(i64{cursor_.number<std::uint32_t>()});
      case ValueType::i32:
        return Json(i64{cursor_.number<std::int32_t>()});
      case ValueType::f32:
        return Json(double{cursor_.number<float>()});
      case ValueType::boolean:
        return read_bool();
      case ValueType::string:
        return Json(cursor_.string());
      case ValueType::array:
        return read_array(depth);
      case ValueType::u64:
        return read_u64();
      case ValueType::i64:
        return Json(cursor_.number<std::int64_t>());
      case ValueType::f64:
        return Json(cursor_.number<double>());
    }
    cursor_.reject(fmt::format("value type {}, but only 0 to 12 exist", type));
  }

  Json read_bool() {
    const auto byte = cursor_.number<std::uint8_t>();
    if (byte > 1) cursor_.reject(fmt::format("boolean of value {}, but must be 0 or 1", byte));
    return Json(byte == 1);
  }

  Json read_u64() {
    const auto value = cursor_.number<std::uint64_t>();
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<i64>::max()))
      return Json(static_cast<i64>(value));
    return Json(Json::Number{static_cast<double>(value), std::to_string(value)});
  }

  Json read_array(int depth) {
    if (depth == kMaxNesting) cursor_.reject(fmt::format("arrays nested over {} deep", depth));
    const auto type = cursor_.number<std::uint32_t>();
    const auto n = cursor_.number<std::uint64_t>();
    if (n > static_cast<std::uint64_t>(kMaxElements - n_elements_)) {
      cursor_.reject(fmt::format("array of {} elements, but the file's arrays may have {} in all",
                                 n, kMaxElements));
    }
    n_elements_ += static_cast<i64>(n);
    Json::Array elements;
    // Not reserved ahead: a length that lies must run into the file's end before it costs memory.
    for (std::uint64_t i = 0; i < n; ++i)
      elements.push_back(read_value(type, depth + 1));
    return Json(std::move(elements));
  }

  GgufCursor& cursor_;
  i64 n_elements_ = 0;
};

// What GGML calls the types that are not read; empty: there is none of that number.
std::string_view name_of_other_type(std::uint32_t type) {
  constexpr std::array<std::string_view, 40> kNames{
      "",        "",       "",        "",      "",       "",      "",      "",
      "",        "Q8_1",   "Q2_K",    "Q3_K",  "",       "",      "",      "Q8_K",
      "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
      "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "",      "",
      "",        "",       "TQ1_0",   "TQ2_0", "",       "",      "",      "MXFP4"};
  return type < kNames.size() ? kNames[type] : "";
}

Storage read_storage(GgufCursor& cursor) {
  const auto type = cursor.number<std::uint32_t>();
  switch (type) {
    case 0:
      return Storage::f32;
    case 1:
      return Storage::f16;
    case 2:
      return Storage::q4_0;
    case 3:
      return Storage::q4_1;
    case 6:
      return Storage::q5_0;
    case 7:
      return Storage::q5_1;
    case 8:
      return Storage::q8_0;
    case 12:
      return Storage::q4_k;
    case 13:
      return Storage::q5_k;
    case 14:
      return Storage::q6_k;
    case 30:
      return Storage::bf16;
    default:
      break;
  }
  const std::string_view name = name_of_other_type(type);
  cursor.reject(fmt::format(
      "stored as {} (GGML type {}), but only F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, "
      "Q5_K and Q6_K can be read",
      name.empty() ? "an unknown type" : name, type));
}

// One line of the tensor table; offset_bytes is still relative to the data.
TensorInfo read_tensor(GgufCursor& cursor, const std::string& position) {
  cursor.set_field(position);
  TensorInfo tensor;
  tensor.name = cursor.string();
  cursor.set_field("tensor " + tensor.name);
  const auto n_dimensions = cursor.number<std::uint32_t>();
  if (n_dimensions < 1 || n_dimensions > 4)
    cursor.reject(fmt::format("{} dimensions, but must have 1 to 4", n_dimensions));
  for (std::uint32_t i = 0; i < n_dimensions; ++i) {
    const auto dimension = cursor.number<std::uint64_t>();
    if (dimension > static_cast<std::uint64_t>(std::numeric_limits<i64>::max()))
      cursor.reject(fmt::format("dimension {} in its shape", dimension));
    tensor.shape.insert(tensor.shape.begin(), static_cast<i64>(dimension));
  }
  tensor.storage = read_storage(cursor);
  const auto offset = cursor.number<std::uint64_t>();
  if (offset > static_cast<std::uint64_t>(cursor.file().size_bytes())) {
    cursor.reject(fmt::format("data offset {}, but the file has only {} bytes", offset,
                              cursor.file().size_bytes()));
  }
  tensor.offset_bytes = static_cast<i64>(offset);
  tensor.size_bytes = size_bytes_of(tensor, cursor.file().path() + ": tensor " + tensor.name);
  return tensor;
}

i64 read_alignment(const Json& metadata, const std::string& path) {
  const Json* value = metadata.find("general.alignment");
  if (value == nullptr) return 32;
  if (value->is_integer()) {
    const i64 n = value->as_integer();
    if (n >= 1 && n <= (i64{1} << 20) && std::has_single_bit(static_cast<std::uint64_t>(n)))
      return n;
  }
  fail<FormatError>("{}: general.alignment is {}, but must be a power of two up to 2^20", path,
                    value->dump());
}

void check_version(GgufCursor& cursor) {
  cursor.set_field("magic");
  const auto magic = cursor.number<std::uint32_t>();
  if (magic != kMagic)
    cursor.reject(fmt::format("0x{:08x}, but a GGUF file starts with 0x{:08x}", magic, kMagic));
  cursor.set_field("version");
  const auto version = cursor.number<std::uint32_t>();
  if (version == 2 || version == 3) return;
  cursor.reject(fmt::format("{}, but only 2 and 3 can be read{}", version,
                            version % 65536 == 0 ? " (this file is big-endian)" : ""));
}

void place_tensors(Contents& contents, i64 header_bytes) {
  const File& file = contents.files[0];
  const i64 alignment = read_alignment(contents.config, file.path());
  const i64 begin = (header_bytes + alignment - 1) / alignment * alignment;
  for (TensorInfo& tensor : contents.tensors) {
    if (tensor.offset_bytes % alignment != 0) {
      fail<FormatError>("{}: tensor {}: data offset {} is no multiple of general.alignment, {}",
                        file.path(), tensor.name, tensor.offset_bytes, alignment);
    }
    tensor.offset_bytes += begin;
  }
  sort_and_check_ranges(contents.tensors, file.path(), file.size_bytes());
}

}  // namespace

Contents open_gguf(const std::string& path) {
  Contents contents{.path = path, .is_gguf = true};
  contents.files.emplace_back(path);
  GgufCursor cursor(contents.files[0]);
  check_version(cursor);
  cursor.set_field("number of tensors");
  const auto n_tensors = cursor.number<std::uint64_t>();
  cursor.set_field("number of metadata pairs");
  const auto n_pairs = cursor.number<std::uint64_t>();
  contents.config = MetadataReader(cursor).read(n_pairs);
  const Json* parts = contents.config.find("split.count");
  if (parts != nullptr && !(parts->is_integer() && parts->as_integer() <= 1)) {
    fail<FormatError>("{}: split.count is {}: the model is spread over several files; join them",
                      path, parts->dump());
  }
  for (std::uint64_t i = 0; i < n_tensors; ++i)
    contents.tensors.push_back(read_tensor(cursor, fmt::format("tensor {} of {}", i, n_tensors)));
  place_tensors(contents, cursor.position());
  return contents;
}

}  // namespace sticky::checkpoint
