#pragma once

#include "kernels/cpu/kernel_table.hpp"

namespace sticky::cpu {

/// A weight [n, k] packed for the GEMM; see Packing. Non-owning; panels are aligned to 64 bytes.
struct PackedMatrix {
  Packing packing = Packing::f32;
  i64 n = 0;
  i64 k = 0;
  const void* panels = nullptr;
};

/// k as it is packed: padded to whole tiles where the packing asks for it.
[[nodiscard]] i64 packed_k(Packing packing, i64 k);
[[nodiscard]] i64 panel_bytes(Packing packing, i64 k);
[[nodiscard]] i64 n_panels(i64 n);

/// Packs n_rows <= kPanel rows of w, f32 [n_rows, k], into one panel. False when a value is not a
/// bf16 number and the packing is bf16, which must be exact; bf16_pairs rounds.
[[nodiscard]] bool pack_panel(Packing packing, const float* w, i64 n_rows, i64 k, void* panel);

}  // namespace sticky::cpu
