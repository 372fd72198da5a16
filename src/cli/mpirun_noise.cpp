#include "mpirun_noise.hpp"

namespace sticky::cli {

bool is_mpirun_noise(std::string_view line) {
  constexpr std::string_view kError = "] PMIX ERROR: BAD-PARAM in file ";
  constexpr std::string_view kPlace = "/src/event/pmix_event_notification.c at line ";
  const auto error = line.find(kError);
  return line.starts_with('[') && error != std::string_view::npos &&
         line.find(kPlace, error) != std::string_view::npos;
}

}  // namespace sticky::cli
