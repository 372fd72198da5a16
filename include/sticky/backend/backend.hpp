#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kernels/activate.hpp"
#include "kernels/attention.hpp"
#include "kernels/embed.hpp"
#include "kernels/gemm.hpp"
#include "kernels/glu.hpp"
#include "kernels/kv_pages.hpp"
#include "kernels/layernorm.hpp"
#include "kernels/rmsnorm.hpp"
#include "kernels/rope.hpp"
#include "kernels/softcap.hpp"
#include "sticky/base/types.hpp"
#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// A weight matrix [n, k] in the layout that its backend's GEMM wants. Made by Backend::load_weight
/// only.
class Weight {
 public:
  Weight(i64 n, i64 k) : n_(n), k_(k) {}
  Weight(const Weight&) = delete;
  Weight& operator=(const Weight&) = delete;
  virtual ~Weight() = default;
  [[nodiscard]] i64 n() const { return n_; }
  [[nodiscard]] i64 k() const { return k_; }
  [[nodiscard]] virtual i64 size_bytes() const = 0;

 private:
  i64 n_;
  i64 k_;
};

}  // namespace sticky

namespace sticky::backend {

/// Device memory, owned. The bytes start as zeros.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() = default;
  [[nodiscard]] virtual void* data() = 0;
  [[nodiscard]] virtual i64 size_bytes() const = 0;
};

/// Rows of a weight as they come from a checkpoint: fill(first, n, out) writes rows first … first +
/// n - 1 as f32 [n, k], row-major. Each row is asked for once or more, in any order.
struct WeightRows {
  i64 n = 0;
  i64 k = 0;
  std::function<void(i64 first, i64 n, float* out)> fill;
};

/// Memory and operations of one compute device. Calls on one object come from one thread. An
/// operation may run later than its call (a GPU's stream); download() waits for all before it.
/// Results are equal between backends within each operation's tolerance, and equal to the bit
/// within one arithmetic().
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// The short name of how numbers are rounded here, e.g. "cpu-f32". Part of a state's identity:
  /// two backends with the same name give the same bits for the same request.
  [[nodiscard]] virtual std::string arithmetic() const = 0;
  /// What the elements of every weight are rounded to before they are computed with; f32: they are
  /// used exactly as stored.
  [[nodiscard]] virtual DType weight_dtype() const { return DType::f32; }
  /// For people: "CPU, avx512, 2 threads".
  [[nodiscard]] virtual std::string description() const = 0;
  /// Bytes that may still be allocated, as far as the device can tell.
  [[nodiscard]] virtual i64 free_bytes() const = 0;

  /// Throws DeviceError naming `what` and the sizes when there is no room.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(i64 n_bytes, const std::string& what) = 0;
  virtual void upload(Buffer& to, i64 offset_bytes, std::span<const std::byte> from) = 0;
  virtual void download(const Buffer& from, i64 offset_bytes, std::span<std::byte> to) = 0;
  [[nodiscard]] virtual std::unique_ptr<Weight> load_weight(const WeightRows& rows) = 0;

  virtual void embed(const Embed& op) = 0;
  virtual void rmsnorm(const RmsNorm& op) = 0;
  virtual void layernorm(const LayerNorm& op) = 0;
  virtual void gemm(const Gemm& op) = 0;
  virtual void rope_and_store(const RopeAndStore& op) = 0;
  virtual void attention(const Attention& op) = 0;
  virtual void glu(const Glu& op) = 0;
  virtual void activate(const Activate& op) = 0;
  virtual void softcap(const Softcap& op) = 0;
};

}  // namespace sticky::backend
