#include "safetensors.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "sticky/base/bytes.hpp"
#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"

#include "stored_checkpoint.hpp"

namespace sticky::checkpoint {

namespace {

constexpr i64 kPrefixBytes = 8;
constexpr i64 kMaxHeaderBytes = 100'000'000;  // the limit of the format's own library

std::string header_text(const File& file) {
  if (file.size_bytes() < kPrefixBytes) {
    fail<FormatError>("{}: {} cannot be a safetensors file, which has at least {}", file.path(),
                      counted(file.size_bytes(), "byte"), kPrefixBytes);
  }
  const std::string prefix = file.text_at(0, kPrefixBytes);
  const auto n = ByteReader(prefix, file.path()).number<std::uint64_t>();
  const i64 follow = file.size_bytes() - kPrefixBytes;
  if (n > static_cast<std::uint64_t>(follow)) {
    fail<FormatError>("{}: header says {}, but only {} follow it; is the download complete?",
                      file.path(), counted(static_cast<i64>(n), "byte"), follow);
  }
  if (n > static_cast<std::uint64_t>(kMaxHeaderBytes)) {
    fail<FormatError>("{}: header says {} bytes, but at most {} are allowed", file.path(), n,
                      kMaxHeaderBytes);
  }
  return file.text_at(kPrefixBytes, static_cast<i64>(n));
}

Json parse_header(const std::string& text, const std::string& path) {
  Json header;
  try {
    header = Json::parse(text);
  } catch (const FormatError& e) {
    fail<FormatError>("{}: header: {}", path, e.what());
  }
  if (!header.is_object())
    fail<FormatError>("{}: header: is {}, but must be an object", path, header.kind_name());
  return header;
}

const Json& member(const Json& entry, std::string_view field, const std::string& where) {
  const Json* value = entry.find(field);
  if (value == nullptr) fail<FormatError>("{}: has no \"{}\"", where, field);
  return *value;
}

Storage read_dtype(const Json& entry, const std::string& where) {
  const Json& dtype = member(entry, "dtype", where);
  if (dtype.is_string()) {
    if (dtype.as_string() == "F32") return Storage::f32;
    if (dtype.as_string() == "F16") return Storage::f16;
    if (dtype.as_string() == "BF16") return Storage::bf16;
  }
  fail<FormatError>("{}: dtype {}, but only \"F32\", \"F16\" and \"BF16\" can be read", where,
                    dtype.dump());
}

std::vector<i64> read_counts(const Json& entry, std::string_view field, const std::string& where) {
  const Json& list = member(entry, field, where);
  std::vector<i64> counts;
  if (!list.is_array())
    fail<FormatError>("{}: {} is {}, but must be an array", where, field, list.kind_name());
  for (const Json& element : list.as_array()) {
    if (!element.is_integer() || element.as_integer() < 0) {
      fail<FormatError>("{}: {} holds {}, but must hold integers that are not negative", where,
                        field, element.dump());
    }
    counts.push_back(element.as_integer());
  }
  return counts;
}

TensorInfo read_entry(const std::string& name, const Json& entry, const std::string& where) {
  if (!entry.is_object())
    fail<FormatError>("{}: is {}, but must be an object", where, entry.kind_name());
  TensorInfo tensor{.name = name,
                    .storage = read_dtype(entry, where),
                    .shape = read_counts(entry, "shape", where)};
  const auto range = read_counts(entry, "data_offsets", where);
  if (range.size() != 2 || range[0] > range[1]) {
    fail<FormatError>("{}: data_offsets {}, but must be [begin, end]", where,
                      member(entry, "data_offsets", where).dump());
  }
  tensor.offset_bytes = range[0];
  tensor.size_bytes = range[1] - range[0];
  const i64 needed = size_bytes_of(tensor, where);
  if (needed != tensor.size_bytes) {
    fail<FormatError>("{}: data_offsets hold {}, but its shape {} in {} needs {}", where,
                      counted(tensor.size_bytes, "byte"), member(entry, "shape", where).dump(),
                      sticky::checkpoint::name(tensor.storage), needed);
  }
  return tensor;
}

// A hole or a tail hints at a header that is not the one these data were written with.
void check_no_holes(const std::vector<TensorInfo>& tensors, const File& file, i64 begin) {
  i64 at = begin;
  for (const TensorInfo& t : tensors) {
    if (t.offset_bytes != at) {
      fail<FormatError>("{}: the bytes {} to {} before tensor {} belong to no tensor", file.path(),
                        at, t.offset_bytes, t.name);
    }
    at += t.size_bytes;
  }
  if (at != file.size_bytes()) {
    fail<FormatError>("{}: the tensors end at byte {}, but the file at byte {}", file.path(), at,
                      file.size_bytes());
  }
}

}  // namespace

std::vector<TensorInfo> read_safetensors_header(const File& file, i64 file_index) {
  const std::string text = header_text(file);
  const Json header = parse_header(text, file.path());
  const i64 begin = kPrefixBytes + static_cast<i64>(text.size());
  std::vector<TensorInfo> tensors;
  for (const auto& [name, entry] : header.as_object()) {
    if (name == "__metadata__") continue;
    TensorInfo tensor = read_entry(name, entry, file.path() + ": tensor " + name);
    if (tensor.offset_bytes > file.size_bytes() - begin ||
        tensor.size_bytes > file.size_bytes() - begin - tensor.offset_bytes) {
      fail<FormatError>(
          "{}: tensor {}: data_offsets end at {}, but only {} bytes follow the header; is the "
          "download complete?",
          file.path(), name, tensor.offset_bytes + tensor.size_bytes, file.size_bytes() - begin);
    }
    tensor.offset_bytes += begin;
    tensor.file = file_index;
    tensors.push_back(std::move(tensor));
  }
  sort_and_check_ranges(tensors, file.path(), file.size_bytes());
  check_no_holes(tensors, file, begin);
  return tensors;
}

}  // namespace sticky::checkpoint
