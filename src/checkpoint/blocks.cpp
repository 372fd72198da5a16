#include "blocks.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "sticky/base/bytes.hpp"
#include "sticky/tensor/dtype.hpp"

namespace sticky::checkpoint {

namespace {

constexpr int kBlock = 32;
constexpr int kSuper = 256;

template <class T>
T load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float half(const std::uint8_t* at) {
  return to_float(Float16{load<std::uint16_t>(at)});
}

int nibble(std::uint8_t byte, bool high) {
  return high ? byte >> 4 : byte & 0xf;
}

// Each body below widens one block at `in` to `out`.

void widen_q8_0(const std::uint8_t* in, float* out) {
  const float d = half(in);
  for (int i = 0; i < kBlock; ++i)
    out[i] = static_cast<float>(static_cast<std::int8_t>(in[2 + i])) * d;
}

// The four formats of 32 elements whose low nibbles are the first half of the block.
template <bool kHasMinimum, bool kHasFifthBit>
void widen_32(const std::uint8_t* in, float* out) {
  const float d = half(in);
  in += 2;
  float m = 0.0F;
  if constexpr (kHasMinimum) {
    m = half(in);
    in += 2;
  }
  std::uint32_t fifth = 0;
  if constexpr (kHasFifthBit) {
    fifth = load<std::uint32_t>(in);
    in += 4;
  }
  constexpr int kOffset = kHasMinimum ? 0 : kHasFifthBit ? 16 : 8;
  for (int i = 0; i < kBlock; ++i) {
    int q = nibble(in[i % 16], i >= 16);
    if constexpr (kHasFifthBit) q |= static_cast<int>(fifth >> i & 1U) << 4;
    out[i] = d * static_cast<float>(q - kOffset);
    if constexpr (kHasMinimum) out[i] += m;
  }
}

struct ScaleAndMinimum {
  std::uint8_t scale = 0;
  std::uint8_t minimum = 0;
};

// Group 0 … 7 of the 12 bytes that hold eight 6-bit scales and eight 6-bit minima. Groups 4 … 7
// have their low four bits in bytes 8 … 11 and their high two bits on top of bytes 0 … 7.
ScaleAndMinimum six_bit_pair(const std::uint8_t* packed, int group) {
  if (group < 4) {
    return {static_cast<std::uint8_t>(packed[group] & 63),
            static_cast<std::uint8_t>(packed[group + 4] & 63)};
  }
  const std::uint8_t low = packed[group + 4];
  return {static_cast<std::uint8_t>((low & 0xf) | packed[group - 4] >> 6 << 4),
          static_cast<std::uint8_t>(low >> 4 | packed[group] >> 6 << 4)};
}

// q4_k and q5_k: d, dmin, 12 bytes of scales, [32 bytes of fifth bits,] 128 bytes of nibbles. Each
// 32 bytes of nibbles hold two groups: low nibbles first.
template <bool kHasFifthBit>
void widen_k(const std::uint8_t* in, float* out) {
  const float d = half(in);
  const float dmin = half(in + 2);
  const std::uint8_t* packed = in + 4;
  const std::uint8_t* fifth = packed + 12;
  const std::uint8_t* nibbles = kHasFifthBit ? fifth + 32 : fifth;
  for (int group = 0; group < 8; ++group) {
    const auto [scale, minimum] = six_bit_pair(packed, group);
    const float factor = d * static_cast<float>(scale);
    const float offset = dmin * static_cast<float>(minimum);
    for (int i = 0; i < 32; ++i) {
      int q = nibble(nibbles[group / 2 * 32 + i], group % 2 == 1);
      if constexpr (kHasFifthBit) q |= (fifth[i] >> group & 1) << 4;
      out[group * 32 + i] = factor * static_cast<float>(q) - offset;
    }
  }
}

// 128 bytes of low nibbles, 64 bytes of high bit pairs, 16 signed scales, d. Each half of the block
// (128 elements) takes 64 bytes of nibbles (low nibbles first) and 32 bytes of pairs.
void widen_q6_k(const std::uint8_t* in, float* out) {
  const std::uint8_t* low = in;
  const std::uint8_t* high = in + 128;
  const std::uint8_t* scales = in + 192;
  const float d = half(in + 208);
  for (int i = 0; i < kSuper; ++i) {
    const int in_half = i % 128;
    const int q = nibble(low[i / 128 * 64 + in_half % 64], in_half >= 64) |
                  (high[i / 128 * 32 + in_half % 32] >> in_half / 32 * 2 & 3) << 4;
    const float scale = d * static_cast<float>(static_cast<std::int8_t>(scales[i / 16]));
    out[i] = scale * static_cast<float>(q - 32);
  }
}

template <auto kWidenOne, i64 kElements, i64 kBytes>
void each_block(const std::uint8_t* in, i64 n_blocks, float* out) {
  for (i64 b = 0; b < n_blocks; ++b)
    kWidenOne(in + b * kBytes, out + b * kElements);
}

template <class T>
void widen_plain(const std::uint8_t* in, i64 n, float* out) {
  for (i64 i = 0; i < n; ++i)
    out[i] = to_float(T{load<std::uint16_t>(in + 2 * i)});
}

struct Format {
  std::string_view name;
  BlockShape block;
};

// In the order of Storage.
constexpr std::array<Format, 11> kFormats{{{"f32", {1, 4}},
                                           {"f16", {1, 2}},
                                           {"bf16", {1, 2}},
                                           {"q8_0", {kBlock, 34}},
                                           {"q4_0", {kBlock, 18}},
                                           {"q4_1", {kBlock, 20}},
                                           {"q5_0", {kBlock, 22}},
                                           {"q5_1", {kBlock, 24}},
                                           {"q4_k", {kSuper, 144}},
                                           {"q5_k", {kSuper, 176}},
                                           {"q6_k", {kSuper, 210}}}};

}  // namespace

std::string_view name(Storage storage) {
  return kFormats.at(static_cast<std::size_t>(storage)).name;
}

BlockShape block_shape(Storage storage) {
  return kFormats.at(static_cast<std::size_t>(storage)).block;
}

void widen(Storage storage, const std::byte* bytes, i64 n, float* out) {
  const auto* in = reinterpret_cast<const std::uint8_t*>(bytes);
  switch (storage) {
    case Storage::f32:
      std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(float));
      return;
    case Storage::f16:
      return widen_plain<Float16>(in, n, out);
    case Storage::bf16:
      return widen_plain<BFloat16>(in, n, out);
    case Storage::q8_0:
      return each_block<widen_q8_0, kBlock, 34>(in, n, out);
    case Storage::q4_0:
      return each_block<widen_32<false, false>, kBlock, 18>(in, n, out);
    case Storage::q4_1:
      return each_block<widen_32<true, false>, kBlock, 20>(in, n, out);
    case Storage::q5_0:
      return each_block<widen_32<false, true>, kBlock, 22>(in, n, out);
    case Storage::q5_1:
      return each_block<widen_32<true, true>, kBlock, 24>(in, n, out);
    case Storage::q4_k:
      return each_block<widen_k<false>, kSuper, 144>(in, n, out);
    case Storage::q5_k:
      return each_block<widen_k<true>, kSuper, 176>(in, n, out);
    case Storage::q6_k:
      return each_block<widen_q6_k, kSuper, 210>(in, n, out);
  }
}

}  // namespace sticky::checkpoint
