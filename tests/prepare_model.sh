#!/usr/bin/env bash
# Makes FOLDER/smollm2.gguf and FOLDER/hf, the same model as a Hugging Face folder in bf16: the weights that the
# recorded answers in tests/data/smollm2 belong to. Checked by their hash, so that a wrong conversion cannot pass.
#   prepare_model.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: prepare_model.sh FOLDER}

weights=7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b
tokenizer=f7ac837d36b2d24bf4487b9f1af1a9b03d98e00c59fcd001344612ad1abbe0d8
is_right() {
  (cd "$1" && printf '%s  %s\n' $weights model.safetensors $tokenizer tokenizer.json | sha256sum --status -c)
}

bash "$here/../job_scripts/fetch_smollm2.sh" "$folder"
[ -d "$folder/hf" ] && is_right "$folder/hf" && exit 0

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check gguf==0.19.0 numpy
rm -rf "$folder/hf" "$folder/hf.part"
"$folder/venv/bin/python" "$here/tools/gguf_to_hf.py" "$folder/smollm2.gguf" "$folder/hf.part"
is_right "$folder/hf.part" || { echo "$folder/hf.part: not the weights of the recorded answers"; exit 1; }
mv "$folder/hf.part" "$folder/hf"
