#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky::config {

/// Seconds of "90s", "5m", "1h30m", "250ms", "2d" or a bare number of seconds. Nothing when the
/// text is of another form.
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);
/// The shortest form that parse_duration() reads back to the same value: "90s", "1h30m", "250ms".
[[nodiscard]] std::string format_duration(double seconds);

/// Bytes of "64MiB", "10 MB", "1GiB", "512" (binary and decimal units; B may be left out: "64Mi",
/// "10M"). Nothing when the text is of another form or beyond 2^62.
[[nodiscard]] std::optional<i64> parse_size(std::string_view text);
/// "64MiB" where the number is a multiple of a binary unit, else the plain number.
[[nodiscard]] std::string format_size(i64 n_bytes);

}  // namespace sticky::config
