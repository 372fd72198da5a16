#pragma once

#include <cstdint>
#include <immintrin.h>

#include "sticky/base/types.hpp"

// Sixteen floats in two AVX registers; names and meaning as in vec_scalar.hpp.

namespace sticky::cpu {
namespace {

struct Vec {
  struct F {
    __m256 low;
    __m256 high;
  };
  static constexpr int kAccumulators = 6;
  static constexpr int kTileRows = 6;

  static F set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static F load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static F load_n(const float* p, i64 n) {
    return {_mm256_maskload_ps(p, first_lanes(n)), _mm256_maskload_ps(p + 8, first_lanes(n - 8))};
  }
  static void store(float* p, F a) {
    _mm256_storeu_ps(p, a.low);
    _mm256_storeu_ps(p + 8, a.high);
  }
  static void store_n(float* p, F a, i64 n) {
    _mm256_maskstore_ps(p, first_lanes(n), a.low);
    _mm256_maskstore_ps(p + 8, first_lanes(n - 8), a.high);
  }
  static F load_half(const std::uint16_t* p, int half) {
    return {widen(p, half), widen(p + 16, half)};
  }
  static F add(F a, F b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
  static F sub(F a, F b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
  static F mul(F a, F b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
  static F div(F a, F b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
  static F fma(F a, F b, F c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
  }
  static F min(F a, F b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
  static F max(F a, F b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
  static F select_less(F a, F b, F x, F y) {
    return {_mm256_blendv_ps(y.low, x.low, _mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ)),
            _mm256_blendv_ps(y.high, x.high, _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ))};
  }
  static F power_of_two(F a) { return {power_of_two(a.low), power_of_two(a.high)}; }
  static float sum(F a) {
    const __m256 eight = _mm256_add_ps(a.low, a.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static float max_lane(F a) {
    const __m256 eight = _mm256_max_ps(a.low, a.high);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }
  static float first(F a) { return _mm256_cvtss_f32(a.low); }
  static void pin(F& a) { asm("" : "+x"(a.low), "+x"(a.high)); }

  static void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

 private:
  static __m256i first_lanes(i64 n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static __m256 widen(const std::uint16_t* p, int half) {
    const __m256i both =
        _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(p)));
    return _mm256_castsi256_ps(
        half == 0 ? _mm256_slli_epi32(both, 16)
                  : _mm256_and_si256(both, _mm256_set1_epi32(static_cast<int>(0xffff0000U))));
  }
  static __m256 power_of_two(__m256 a) {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(a), 23),
                                                _mm256_set1_epi32(0x3f800000)));
  }
};

}  // namespace
}  // namespace sticky::cpu
