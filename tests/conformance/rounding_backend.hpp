#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sticky/backend/make_backend.hpp"

namespace sticky::test {

/// The CPU's f32 with weights and the inputs of products rounded to bf16, as processors with such
/// products compute: what that costs can be measured on every machine.
class RoundingBackend final : public backend::Backend {
 public:
  [[nodiscard]] std::string arithmetic() const override { return "rounded to bf16"; }
  [[nodiscard]] DType weight_dtype() const override { return DType::bf16; }
  [[nodiscard]] std::string description() const override { return exact_->description(); }
  [[nodiscard]] i64 free_bytes() const override { return exact_->free_bytes(); }
  [[nodiscard]] std::unique_ptr<backend::Buffer> allocate(i64 n_bytes,
                                                          const std::string& what) override {
    return exact_->allocate(n_bytes, what);
  }
  void upload(backend::Buffer& to, i64 offset, std::span<const std::byte> from) override {
    exact_->upload(to, offset, from);
  }
  void download(const backend::Buffer& from, i64 offset, std::span<std::byte> to) override {
    exact_->download(from, offset, to);
  }
  [[nodiscard]] std::unique_ptr<Weight> load_weight(const backend::WeightRows& rows) override {
    return exact_->load_weight(
        {.n = rows.n, .k = rows.k, .fill = [&](i64 first, i64 n, float* out) {
           rows.fill(first, n, out);
           for (i64 i = 0; i < n * rows.k; ++i)
             out[i] = rounded(out[i]);
         }});
  }
  void gemm(const Gemm& op) override {
    const auto x = op.x.as<const float>();
    std::vector<float> copy;
    for (i64 r = 0; r < x.rows; ++r) {
      for (i64 c = 0; c < x.cols; ++c)
        copy.push_back(rounded(x.row(r)[c]));
    }
    Gemm of_copy = op;
    of_copy.x = Rows<const float>{copy.data(), x.rows, x.cols, x.cols};
    exact_->gemm(of_copy);
  }
  void embed(const Embed& op) override { exact_->embed(op); }
  void rmsnorm(const RmsNorm& op) override { exact_->rmsnorm(op); }
  void layernorm(const LayerNorm& op) override { exact_->layernorm(op); }
  void rope_and_store(const RopeAndStore& op) override { exact_->rope_and_store(op); }
  void attention(const Attention& op) override { exact_->attention(op); }
  void glu(const Glu& op) override { exact_->glu(op); }
  void activate(const Activate& op) override { exact_->activate(op); }
  void softcap(const Softcap& op) override { exact_->softcap(op); }

 private:
  static float rounded(float v) { return to_float(to_bf16(v)); }
  std::unique_ptr<backend::Backend> exact_ = backend::make_backend({.kind = "cpu", .dtype = "f32"});
};

}  // namespace sticky::test
