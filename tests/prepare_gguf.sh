#!/usr/bin/env bash
# Makes FOLDER/NAME.gguf of each small model of tests/data/models that GGUF can express. Needs the Python package
# gguf: takes the environment that tests/prepare_model.sh made, or this machine's, or makes one.
#   prepare_gguf.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: prepare_gguf.sh FOLDER}

is_ready() { "$1" -c 'import gguf, numpy' 2> /dev/null; }

mkdir -p "$folder"
python=
for candidate in "${STICKY_SMOLLM2:-}/venv/bin/python" "$folder/venv/bin/python" python3; do
  is_ready "$candidate" && python=$candidate && break
done
if [ -z "$python" ]; then
  python3 -m venv "$folder/venv"
  python=$folder/venv/bin/python
  "$python" -m pip install -q --disable-pip-version-check gguf==0.19.0 numpy
fi
"$python" "$here/tools/hf_to_gguf.py" "$folder" "$here"/data/models/tiny-* "$here"/data/models/options/*
