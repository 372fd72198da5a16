#pragma once

#include <memory>

#include "sticky/backend/backend.hpp"
#include "sticky/backend/options.hpp"

namespace sticky::backend {

/// The backend that the options name. ConfigError when this machine or this build cannot provide
/// it; the text says what is missing.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Options& options);

}  // namespace sticky::backend
