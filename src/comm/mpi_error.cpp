#include "mpi_error.hpp"

#include <mpi.h>

namespace sticky::comm {

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int n = 0;
  if (MPI_Error_string(error, text, &n) != MPI_SUCCESS) return "MPI error " + std::to_string(error);
  return {text, static_cast<std::size_t>(n)};
}

}  // namespace sticky::comm
