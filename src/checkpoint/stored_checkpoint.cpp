#include "stored_checkpoint.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"

#include "blocks.hpp"

namespace sticky::checkpoint {

namespace {

constexpr i64 kReadBytes = i64{16} << 20;

class StoredCheckpoint final : public Checkpoint {
 public:
  explicit StoredCheckpoint(Contents contents) : contents_(std::move(contents)) {}

  [[nodiscard]] const std::string& path() const override { return contents_.path; }
  [[nodiscard]] bool is_gguf() const override { return contents_.is_gguf; }
  [[nodiscard]] const Json& config() const override { return contents_.config; }
  [[nodiscard]] const Json& generation_config() const override {
    return contents_.generation_config;
  }
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const override {
    return contents_.tensors;
  }
  void read_rows(const TensorInfo& tensor, i64 first, i64 n, std::span<float> out) const override {
    STICKY_CHECK(0 <= first && 0 <= n && n <= tensor.rows() - first);
    STICKY_CHECK(static_cast<i64>(out.size()) == n * tensor.cols());
    const BlockShape block = block_shape(tensor.storage);
    const i64 first_block = first * tensor.cols() / block.n_elements;
    const i64 n_blocks = n * tensor.cols() / block.n_elements;
    const i64 at_once = std::min(n_blocks, kReadBytes / block.n_bytes);
    const auto piece = std::make_unique_for_overwrite<std::byte[]>(
        static_cast<std::size_t>(at_once * block.n_bytes));
    const File& file = contents_.files.at(static_cast<std::size_t>(tensor.file));
    for (i64 done = 0; done < n_blocks; done += at_once) {
      const i64 now = std::min(at_once, n_blocks - done);
      file.read_at(tensor.offset_bytes + (first_block + done) * block.n_bytes,
                   {piece.get(), static_cast<std::size_t>(now * block.n_bytes)});
      widen(tensor.storage, piece.get(), now, out.data() + done * block.n_elements);
    }
  }

 private:
  Contents contents_;
};

}  // namespace

i64 TensorInfo::cols() const {
  return shape.empty() ? 1
                       : std::accumulate(shape.begin() + 1, shape.end(), i64{1}, std::multiplies{});
}

const TensorInfo* Checkpoint::find(std::string_view tensor) const {
  const auto& all = tensors();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const TensorInfo& t) { return t.name == tensor; });
  return it == all.end() ? nullptr : &*it;
}

std::unique_ptr<Checkpoint> make_checkpoint(Contents contents) {
  return std::make_unique<StoredCheckpoint>(std::move(contents));
}

i64 size_bytes_of(const TensorInfo& tensor, const std::string& where) {
  // A dimension of 0 must not hide that the others overflow: cols() multiplies them too.
  i64 elements = 1;
  i64 bound = 1;
  for (const i64 dimension : tensor.shape) {
    if (dimension < 0) fail<FormatError>("{}: dimension {} in its shape", where, dimension);
    if (__builtin_mul_overflow(bound, std::max<i64>(dimension, 1), &bound))
      fail<FormatError>("{}: the product of its dimensions exceeds 2^63", where);
    elements *= dimension;
  }
  const BlockShape block = block_shape(tensor.storage);
  const i64 cols = tensor.cols();
  if (cols % block.n_elements != 0) {
    fail<FormatError>("{}: rows of {} elements, but {} is stored in blocks of {}", where, cols,
                      name(tensor.storage), block.n_elements);
  }
  i64 bytes = 0;
  if (__builtin_mul_overflow(elements / block.n_elements, block.n_bytes, &bytes))
    fail<FormatError>("{}: its {} elements need more than 2^63 bytes", where, elements);
  return bytes;
}

void sort_and_check_ranges(std::vector<TensorInfo>& tensors, const std::string& path, i64 end) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.offset_bytes, a.size_bytes) < std::pair(b.offset_bytes, b.size_bytes);
  });
  std::unordered_set<std::string_view> names;
  const TensorInfo* before = nullptr;
  for (const TensorInfo& t : tensors) {
    if (!names.insert(t.name).second)
      fail<FormatError>("{}: two tensors are named {}", path, t.name);
    if (t.offset_bytes > end || t.size_bytes > end - t.offset_bytes) {
      fail<FormatError>(
          "{}: tensor {}: {} bytes from byte {} on, but the file ends at byte {}; is the download "
          "complete?",
          path, t.name, t.size_bytes, t.offset_bytes, end);
    }
    if (before != nullptr && t.offset_bytes < before->offset_bytes + before->size_bytes) {
      fail<FormatError>("{}: tensor {} starts at byte {}, inside tensor {}, which ends at byte {}",
                        path, t.name, t.offset_bytes, before->name,
                        before->offset_bytes + before->size_bytes);
    }
    before = &t;
  }
}

}  // namespace sticky::checkpoint
