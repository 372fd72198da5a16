#pragma once

#include <string>

#include "sticky/base/types.hpp"
#include "sticky/model/describe.hpp"
#include "sticky/worker/options.hpp"

namespace sticky::cli {

/// A model as a worker with these options would load it on this machine. Throws what opening the
/// checkpoint and the backend throws.
[[nodiscard]] model::Description describe_model(const worker::Options& options);

/// The same for people, indented by two blanks: what it is, its parts in memory, whether it can
/// run.
[[nodiscard]] std::string model_text(const model::Description& description);

/// "98.4 MiB".
[[nodiscard]] std::string bytes_text(i64 n_bytes);

}  // namespace sticky::cli
