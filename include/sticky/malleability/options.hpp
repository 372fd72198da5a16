#pragma once

#include <string>

#include "sticky/base/types.hpp"

namespace sticky::malleability {

struct Options {
  std::string watch = "off";  ///< off | hostfile:FILE: where idle hosts are listed
  i64 min_workers = 1;
  i64 max_workers = 0;                  ///< 0: none but one for each host
  double spawn_timeout_seconds = 10.0;  ///< a spawn that takes longer has failed
  std::string join = "auto";            ///< auto | spawn: how a newcomer gets in
};

}  // namespace sticky::malleability
