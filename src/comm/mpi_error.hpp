#pragma once

#include <string>

namespace sticky::comm {

/// What an MPI error code means, in MPI's own words.
[[nodiscard]] std::string text_of(int error);

}  // namespace sticky::comm
