#include <array>

#include <mpi.h>

#include "sticky/comm/capability.hpp"

namespace sticky::comm {

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int n = 0;
  MPI_Get_library_version(text.data(), &n);
  const std::string_view whole(text.data(), static_cast<std::size_t>(n));
  // Open MPI says more behind the first comma, MPICH on further lines.
  return std::string(whole.substr(0, whole.find_first_of(",\n")));
}

}  // namespace sticky::comm
