#include "kernels/cpu/packing.hpp"

#include <bit>
#include <cstring>

#include "sticky/tensor/dtype.hpp"

namespace sticky::cpu {
namespace {

void pack_f32(const float* w, i64 n_rows, i64 k, float* panel) {
  for (i64 column = 0; column < n_rows; ++column) {
    for (i64 i = 0; i < k; ++i)
      panel[i * kPanel + column] = w[column * k + i];
  }
}

bool pack_bf16(const float* w, i64 n_rows, i64 k, std::uint16_t* panel) {
  std::uint32_t lost = 0;
  for (i64 column = 0; column < n_rows; ++column) {
    const i64 slot = column % 16 * 2 + column / 16;
    for (i64 i = 0; i < k; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(w[column * k + i]);
      lost |= bits & 0xffffU;
      panel[i * kPanel + slot] = static_cast<std::uint16_t>(bits >> 16);
    }
  }
  return lost == 0;
}

void pack_bf16_pairs(const float* w, i64 n_rows, i64 k, std::uint16_t* panel) {
  for (i64 column = 0; column < n_rows; ++column) {
    for (i64 i = 0; i < k; ++i)
      panel[i / 2 * 2 * kPanel + column * 2 + i % 2] = to_bf16(w[column * k + i]).bits;
  }
}

}  // namespace

i64 packed_k(Packing packing, i64 k) {
  return packing == Packing::bf16_pairs ? (k + kDepthBlock - 1) / kDepthBlock * kDepthBlock : k;
}

i64 panel_bytes(Packing packing, i64 k) {
  return packed_k(packing, k) * kPanel * (packing == Packing::f32 ? 4 : 2);
}

i64 n_panels(i64 n) {
  return (n + kPanel - 1) / kPanel;
}

bool pack_panel(Packing packing, const float* w, i64 n_rows, i64 k, void* panel) {
  std::memset(panel, 0, static_cast<std::size_t>(panel_bytes(packing, k)));
  if (packing == Packing::bf16) return pack_bf16(w, n_rows, k, static_cast<std::uint16_t*>(panel));
  if (packing == Packing::f32)
    pack_f32(w, n_rows, k, static_cast<float*>(panel));
  else
    pack_bf16_pairs(w, n_rows, k, static_cast<std::uint16_t*>(panel));
  return true;
}

}  // namespace sticky::cpu
