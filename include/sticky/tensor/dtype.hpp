#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky {

/// Element types that are computed with.
enum class DType : std::uint8_t { f32, f16, bf16 };

[[nodiscard]] constexpr i64 size_bytes(DType dtype) {
  return dtype == DType::f32 ? 4 : 2;
}
[[nodiscard]] constexpr std::string_view name(DType dtype) {
  return dtype == DType::f32 ? "f32" : dtype == DType::f16 ? "f16" : "bf16";
}

/// Upper half of an IEEE float32.
struct BFloat16 {
  std::uint16_t bits = 0;
};

[[nodiscard]] constexpr float to_float(BFloat16 x) {
  return std::bit_cast<float>(std::uint32_t{x.bits} << 16);
}
/// Rounds to nearest, ties to even; NaN stays NaN.
[[nodiscard]] constexpr BFloat16 to_bf16(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  if ((u & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>(u >> 16 | 0x40U)};
  return {static_cast<std::uint16_t>((u + 0x7fffU + (u >> 16 & 1U)) >> 16)};
}

/// IEEE half precision, as stored in files.
struct Float16 {
  std::uint16_t bits = 0;
};
[[nodiscard]] constexpr float to_float(Float16 x) {
  const std::uint32_t sign = std::uint32_t{x.bits} << 16 & 0x80000000U;
  const std::uint32_t magnitude = x.bits & 0x7fffU;
  if (magnitude >= 0x7c00U)  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
  if (magnitude < 0x400U) {  // zero, subnormal: exact in float32
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
}

}  // namespace sticky
