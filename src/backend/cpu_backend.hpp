#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/ops.hpp"
#include "sticky/backend/backend.hpp"

#include "aligned_bytes.hpp"
#include "thread_pool.hpp"

namespace sticky::backend {

/// How the CPU's GEMM computes.
enum class CpuArithmetic : std::uint8_t {
  f32,   ///< products and sums in f32; weights that are all bf16 numbers are kept in 16 bits
  bf16,  ///< weights and activations rounded to bf16, sums in f32
};

/// The host's memory and processors. Operations are done when their call returns.
class CpuBackend final : public Backend {
 public:
  CpuBackend(cpu::InstructionSet set, CpuArithmetic arithmetic, i64 n_threads);

  [[nodiscard]] std::string arithmetic() const override;
  [[nodiscard]] DType weight_dtype() const override {
    return arithmetic_ == CpuArithmetic::f32 ? DType::f32 : DType::bf16;
  }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] i64 free_bytes() const override { return available_bytes(); }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(i64 n_bytes, const std::string& what) override;
  void upload(Buffer& to, i64 offset_bytes, std::span<const std::byte> from) override;
  void download(const Buffer& from, i64 offset_bytes, std::span<std::byte> to) override;
  [[nodiscard]] std::unique_ptr<Weight> load_weight(const WeightRows& rows) override;

  void embed(const Embed& op) override { cpu::embed(context(), op); }
  void rmsnorm(const RmsNorm& op) override { cpu::rmsnorm(context(), op); }
  void layernorm(const LayerNorm& op) override { cpu::layernorm(context(), op); }
  void gemm(const Gemm& op) override;
  void rope_and_store(const RopeAndStore& op) override { cpu::rope_and_store(context(), op); }
  void attention(const Attention& op) override { cpu::attention(context(), op); }
  void glu(const Glu& op) override { cpu::glu(context(), op); }
  void activate(const Activate& op) override { cpu::activate(context(), op); }
  void softcap(const Softcap& op) override { cpu::softcap(context(), op); }

 private:
  [[nodiscard]] cpu::Context context() { return {cpu::kernel_table(set_), pool_}; }

  cpu::InstructionSet set_;
  CpuArithmetic arithmetic_;
  ThreadPool pool_;
  std::vector<std::uint16_t> scratch_;
};

}  // namespace sticky::backend
