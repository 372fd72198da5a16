// GEMM of bf16 products by AMX tiles: a tile of sums is 16 rows by 16 columns, and one instruction
// adds the products of 32 k. Its order of additions within those is the processor's, and the same
// in every row; blocks of k come in ascending order. So a row's bits depend on nothing but the row.
//
// Tiles 0 … 3 are sums, in which the latency of the multiplication (52 cycles, 16 between two)
// hides.

#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/round_row_avx512bf16.hpp"
#include "kernels/cpu/vec_avx512.hpp"

namespace sticky::cpu {
namespace {

constexpr i64 kTileRows = 16;
constexpr i64 kTileRowBytes = 64;
constexpr i64 kXTile = kTileRows * kDepthBlock;  // elements

struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// All eight tiles of full size.
void configure_tiles() {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = kTileRowBytes;
    config.rows[tile] = kTileRows;
  }
  // g++ 12 tells its optimiser of the first 8 bytes only.
  asm volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
}

/// The sums of two tiles of rows and one panel, or of one tile of rows and two panels.
struct Sums {
  alignas(64) float tile[4][kTileRows * 16];
};

struct Operands {
  const std::uint16_t* x;       ///< [k / 32][16][32]
  const std::uint16_t* x_next;  ///< of the next 16 rows
  const std::uint16_t* w;       ///< a panel: [k / 2][32][2]
  const std::uint16_t* w_next;  ///< the next panel
  i64 k;
  const char* ahead;  ///< weights to ask for meanwhile, n_ahead_bytes for each block of k
  i64 n_ahead_bytes;
};

// Tile loads do not wake the processor's own prefetching (without this, weights came at half
// speed).
void ask_for(const char* from, i64 n_bytes) {
  for (i64 i = 0; i < n_bytes; i += 64)
    Vec::prefetch(from + i);
}

void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

void store_sums(Sums& sums) {
  _tile_stored(0, sums.tile[0], kTileRowBytes);
  _tile_stored(1, sums.tile[1], kTileRowBytes);
  _tile_stored(2, sums.tile[2], kTileRowBytes);
  _tile_stored(3, sums.tile[3], kTileRowBytes);
}

constexpr i64 kPanelRowBytes = kPanel * 4;  // 32 columns of two k
constexpr i64 kPanelBlockBytes = kPanelRowBytes * kDepthBlock / 2;

void multiply_two_row_tiles(const Operands& in, Sums& sums) {
  clear_sums();
  for (i64 k = 0; k < in.k; k += kDepthBlock) {
    const std::uint16_t* w = in.w + k * kPanel;
    ask_for(in.ahead + k / kDepthBlock * in.n_ahead_bytes, in.n_ahead_bytes);
    _tile_loadd(4, in.x + k * kTileRows, kTileRowBytes);
    _tile_loadd(6, w, kPanelRowBytes);
    _tile_loadd(7, w + kPanel, kPanelRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, in.x_next + k * kTileRows, kTileRowBytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  store_sums(sums);
}

void multiply_two_panels(const Operands& in, Sums& sums) {
  clear_sums();
  for (i64 k = 0; k < in.k; k += kDepthBlock) {
    const std::uint16_t* w = in.w + k * kPanel;
    const std::uint16_t* w_next = in.w_next + k * kPanel;
    ask_for(reinterpret_cast<const char*>(w) + kStreamAheadBytes, kPanelBlockBytes);
    ask_for(reinterpret_cast<const char*>(w_next) + kStreamAheadBytes, kPanelBlockBytes);
    _tile_loadd(4, in.x + k * kTileRows, kTileRowBytes);
    _tile_loadd(5, w, kPanelRowBytes);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(6, w + kPanel, kPanelRowBytes);
    _tile_dpbf16ps(1, 4, 6);
    _tile_loadd(7, w_next, kPanelRowBytes);
    _tile_dpbf16ps(2, 4, 7);
    _tile_loadd(5, w_next + kPanel, kPanelRowBytes);
    _tile_dpbf16ps(3, 4, 5);
  }
  store_sums(sums);
}

/// Writes a tile of sums to y.
void finish_tile(const GemmBlock& op, i64 row, i64 column, const float* sums) {
  const i64 n_rows = op.n_rows - row < kTileRows ? op.n_rows - row : kTileRows;
  for (i64 m = 0; m < n_rows; ++m)
    finish_columns<Vec>(op, row + m, column, Vec::load(sums + m * 16));
}

/// At most one tile of rows: two panels at a time. A missing second one is replaced by the first,
/// and its sums are dropped.
void gemm_few_rows(const GemmBlock& op, Sums& sums) {
  const auto* w = static_cast<const std::uint16_t*>(op.panels);
  const auto* x = static_cast<const std::uint16_t*>(op.x);
  for (i64 column = 0; column < op.n; column += 2 * kPanel) {
    const i64 next = column + kPanel < op.n ? column + kPanel : column;
    multiply_two_panels({.x = x,
                         .x_next = x,
                         .w = w + column * op.k,
                         .w_next = w + next * op.k,
                         .k = op.k,
                         .ahead = nullptr,
                         .n_ahead_bytes = 0},
                        sums);
    for (i64 part = 0; part < 4 && column + 16 * part < op.n; ++part)
      finish_tile(op, 0, column + 16 * part, sums.tile[part]);
  }
}

/// The same for two tiles of rows at a time.
void gemm_many_rows(const GemmBlock& op, Sums& sums) {
  const auto* x = static_cast<const std::uint16_t*>(op.x);
  for (i64 column = 0; column < op.n; column += kPanel) {
    const auto* w = static_cast<const std::uint16_t*>(op.panels) + column * op.k;
    // Each pass over the panel asks for a part of the next one.
    const i64 n_passes = (op.n_rows + 2 * kTileRows - 1) / (2 * kTileRows);
    const i64 part = kPanelBlockBytes / n_passes;
    const char* ahead = reinterpret_cast<const char*>(w + kPanel * op.k);
    for (i64 row = 0; row < op.n_rows; row += 2 * kTileRows) {
      const i64 next = row + kTileRows < op.n_rows ? row + kTileRows : row;
      multiply_two_row_tiles({.x = x + row * op.k,
                              .x_next = x + next * op.k,
                              .w = w,
                              .w_next = w,
                              .k = op.k,
                              .ahead = ahead,
                              .n_ahead_bytes = part},
                             sums);
      ahead += op.k / kDepthBlock * part;
      finish_tile(op, row, column, sums.tile[0]);
      finish_tile(op, row, column + 16, sums.tile[1]);
      if (next == row) continue;
      finish_tile(op, next, column, sums.tile[2]);
      finish_tile(op, next, column + 16, sums.tile[3]);
    }
  }
}

void gemm_amx(const GemmBlock& op) {
  configure_tiles();
  Sums sums;
  if (op.n_rows <= kTileRows)
    gemm_few_rows(op, sums);
  else
    gemm_many_rows(op, sums);
  _tile_release();
}

}  // namespace

const KernelTable& amx_kernels() {
  static const KernelTable kTable = [] {
    KernelTable table = avx512_kernels();
    table.gemm_bf16_pairs = gemm_amx;
    table.round_row = round_row<Vec>;
    table.rounded_rows_together = kTileRows;
    return table;
  }();
  return kTable;
}

}  // namespace sticky::cpu
