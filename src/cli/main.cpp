#include "app.hpp"

int main(int argc, char** argv) {
  return sticky::cli::run_app(argc, argv);
}
