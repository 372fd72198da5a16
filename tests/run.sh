#!/usr/bin/env bash
# Installs what is missing, builds and runs everything that CTest knows: first under AddressSanitizer and UBSan,
# then as it ships. Ends with CTest's summary.
set -euo pipefail
cd "$(dirname "$0")/.."
n_cores=$(nproc)
export OMP_NUM_THREADS=1  # ranks share few cores: more threads would only wait. nproc heeds it, too: asked before
export STICKY_SMOLLM2=$PWD/models

step() { printf '\n== %s (%(%H:%M:%S)T)\n' "$1" -1; }

step "packages"
bash job_scripts/install_packages.sh --tests
step "model"
bash tests/prepare_model.sh models

step "build with sanitizers"
cmake --preset asan > /dev/null
cmake --build --preset asan
step "test with sanitizers"
ctest --preset asan -j "$n_cores"

step "build as it ships"
cmake --preset release > /dev/null
cmake --build --preset release
step "each header alone"
cmake --build build/release --target all_verify_interface_header_sets
step "test"
ctest --preset release -j "$n_cores"
