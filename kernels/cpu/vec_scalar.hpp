#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sticky/base/types.hpp"

// Sixteen floats in plain C++. All bodies are written against these names, so an instruction set is
// one such header. The unnamed namespace keeps each unit's code its own (see kernel_table.hpp).

namespace sticky::cpu {
namespace {

struct Vec {
  struct F {
    float lane[16];
  };
  static constexpr int kAccumulators = 4;  ///< sums that a tile may hold
  static constexpr int kTileRows = 4;

  static F set1(float x) {
    return map([&](int) { return x; });
  }
  static F load(const float* p) {
    return map([&](int i) { return p[i]; });
  }
  /// The first n of 16, zeros behind.
  static F load_n(const float* p, i64 n) {
    return map([&](int i) { return i < n ? p[i] : 0.0F; });
  }
  static void store(float* p, F a) { store_n(p, a, 16); }
  static void store_n(float* p, F a, i64 n) {
    for (int i = 0; i < n; ++i)
      p[i] = a.lane[i];
  }
  /// Half 0 or 1 of 32 columns, packed as Packing::bf16.
  static F load_half(const std::uint16_t* p, int half) {
    return map([&](int i) { return std::bit_cast<float>(std::uint32_t{p[2 * i + half]} << 16); });
  }
  static F add(F a, F b) {
    return map([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static F sub(F a, F b) {
    return map([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  static F mul(F a, F b) {
    return map([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  static F div(F a, F b) {
    return map([&](int i) { return a.lane[i] / b.lane[i]; });
  }
  /// a * b + c, rounded once.
  static F fma(F a, F b, F c) {
    return map([&](int i) { return std::fma(a.lane[i], b.lane[i], c.lane[i]); });
  }
  /// b where a lane is not a number, as minps does.
  static F min(F a, F b) { return select_less(a, b, a, b); }
  static F max(F a, F b) { return select_less(b, a, a, b); }
  /// a < b ? x : y
  static F select_less(F a, F b, F x, F y) {
    return map([&](int i) { return a.lane[i] < b.lane[i] ? x.lane[i] : y.lane[i]; });
  }
  /// 2^n of a float whose lowest mantissa bits hold the integer n.
  static F power_of_two(F a) {
    return map([&](int i) {
      return std::bit_cast<float>((std::bit_cast<std::uint32_t>(a.lane[i]) << 23) + 0x3f800000U);
    });
  }
  /// (((0+8)+(4+12)) + ((2+10)+(6+14))) + … : halves are added until one is left.
  static float sum(F a) {
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i)
        a.lane[i] += a.lane[i + half];
    }
    return a.lane[0];
  }
  static float max_lane(F a) {
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i)
        a.lane[i] = a.lane[i] > a.lane[i + half] ? a.lane[i] : a.lane[i + half];
    }
    return a.lane[0];
  }
  static float first(F a) { return a.lane[0]; }
  /// Keeps the compiler from loading a again for each use.
  static void pin(F&) {}

  /// Asks for the line at p to be brought into the cache; p need not be valid.
  static void prefetch(const void*) {}

 private:
  template <class Lane>
  static F map(Lane lane) {
    F y;
    for (int i = 0; i < 16; ++i)
      y.lane[i] = lane(i);
    return y;
  }
};

}  // namespace
}  // namespace sticky::cpu
