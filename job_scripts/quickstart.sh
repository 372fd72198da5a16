#!/usr/bin/env bash
# From a fresh clone to answers: installs packages, builds, brings a small real model, and verifies a few hundred
# real claims with one coordinator and two workers. No GPU needed; under 10 minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."

bash job_scripts/install_packages.sh
echo "building (a few minutes; tail -f build.log shows how far it is) …"
if ! { cmake -S . -B build/quickstart -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF &&
       cmake --build build/quickstart --target stickyinvoc; } > build.log 2>&1; then
  tail -n 30 build.log
  echo "the build failed: see build.log"
  exit 1
fi
bash job_scripts/fetch_smollm2.sh models
gzip -dc configs/claims/claims_openai.jsonl.gz > models/claims.jsonl
head -n 300 models/claims.jsonl > models/claims_300.jsonl

build/quickstart/stickyinvoc run configs/quickstart.toml --workers 2
echo "the program: $PWD/build/quickstart/stickyinvoc"
