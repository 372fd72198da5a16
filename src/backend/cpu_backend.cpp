#include "cpu_backend.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/counted.hpp"

namespace sticky::backend {
namespace {

class HostBuffer final : public Buffer {
 public:
  HostBuffer(i64 n_bytes, const std::string& what) : bytes_(n_bytes, what) {}
  [[nodiscard]] void* data() override { return bytes_.get(); }
  [[nodiscard]] i64 size_bytes() const override { return bytes_.size(); }
  [[nodiscard]] std::byte* at(i64 offset, std::size_t n_bytes) const {
    const auto n = static_cast<i64>(n_bytes);
    if (offset < 0 || n > bytes_.size() || offset > bytes_.size() - n)
      throw std::invalid_argument(
          fmt::format("bytes {} + {} of a buffer of {}", offset, n_bytes, bytes_.size()));
    return bytes_.get() + offset;
  }

 private:
  AlignedBytes bytes_;
};

class PackedWeight final : public Weight {
 public:
  PackedWeight(i64 n, i64 k, cpu::Packing packing)
      : Weight(n, k),
        packing_(packing),
        panels_(cpu::n_panels(n) * cpu::panel_bytes(packing, k),
                fmt::format("a weight of {} x {}", n, k)) {}
  [[nodiscard]] i64 size_bytes() const override { return panels_.size(); }
  [[nodiscard]] std::byte* panel(i64 i) {
    return panels_.get() + i * cpu::panel_bytes(packing_, k());
  }
  [[nodiscard]] cpu::PackedMatrix matrix() const { return {packing_, n(), k(), panels_.get()}; }

 private:
  cpu::Packing packing_;
  AlignedBytes panels_;
};

/// Null when the packing cannot hold the rows exactly.
std::unique_ptr<PackedWeight> pack(const WeightRows& rows, cpu::Packing packing) {
  std::vector<float> panel(static_cast<std::size_t>(cpu::kPanel * rows.k));
  auto weight = std::make_unique<PackedWeight>(rows.n, rows.k, packing);
  for (i64 first = 0; first < rows.n; first += cpu::kPanel) {
    const i64 n = std::min(cpu::kPanel, rows.n - first);
    rows.fill(first, n, panel.data());
    if (!cpu::pack_panel(packing, panel.data(), n, rows.k, weight->panel(first / cpu::kPanel)))
      return nullptr;
  }
  return weight;
}

}  // namespace

CpuBackend::CpuBackend(cpu::InstructionSet set, CpuArithmetic arithmetic, i64 n_threads)
    : set_(set),
      arithmetic_(arithmetic),
      pool_(n_threads) {}

std::string CpuBackend::arithmetic() const {
  if (arithmetic_ == CpuArithmetic::f32) return "cpu-f32";
  return set_ == cpu::InstructionSet::amx ? "cpu-bf16-amx" : "cpu-bf16";
}

std::string CpuBackend::description() const {
  return fmt::format("CPU, {}, {}", cpu::name(set_), counted(pool_.n_threads(), "thread"));
}

std::unique_ptr<Buffer> CpuBackend::allocate(i64 n_bytes, const std::string& what) {
  return std::make_unique<HostBuffer>(n_bytes, what);
}

void CpuBackend::upload(Buffer& to, i64 offset_bytes, std::span<const std::byte> from) {
  std::byte* bytes = dynamic_cast<HostBuffer&>(to).at(offset_bytes, from.size());
  if (!from.empty()) std::memcpy(bytes, from.data(), from.size());
}

void CpuBackend::download(const Buffer& from, i64 offset_bytes, std::span<std::byte> to) {
  const std::byte* bytes = dynamic_cast<const HostBuffer&>(from).at(offset_bytes, to.size());
  if (!to.empty()) std::memcpy(to.data(), bytes, to.size());
}

std::unique_ptr<Weight> CpuBackend::load_weight(const WeightRows& rows) {
  if (rows.n < 0 || rows.k < 0) throw std::invalid_argument("a weight of negative size");
  if (arithmetic_ == CpuArithmetic::bf16) return pack(rows, cpu::Packing::bf16_pairs);
  // Half the bytes, and the same bits in every sum, wherever the weights allow it; the first rows
  // of others show that they do not.
  if (auto weight = pack(rows, cpu::Packing::bf16)) return weight;
  return pack(rows, cpu::Packing::f32);
}

void CpuBackend::gemm(const Gemm& op) {
  const auto* weight = dynamic_cast<const PackedWeight*>(op.w);
  if (weight == nullptr) throw std::invalid_argument("gemm: the weight is not of this backend");
  const auto needed =
      static_cast<std::size_t>(cpu::gemm_scratch_size(context(), weight->matrix(), op.x.rows));
  if (scratch_.size() < needed) scratch_.resize(needed);
  cpu::gemm(context(), op, weight->matrix(), scratch_);
}

}  // namespace sticky::backend
