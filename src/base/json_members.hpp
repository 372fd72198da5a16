#pragma once

#include "sticky/base/json.hpp"

namespace sticky {

/// Containers in each other, at most.
inline constexpr int kMaxJsonDepth = 512;

/// Keeps the last of the members that bear one name, in the place of the first, as Python's dict
/// does.
void keep_last_of_doubles(Json::Object& object);

}  // namespace sticky
