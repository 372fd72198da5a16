#!/usr/bin/env python3
"""Packs a tiny checkpoint with its recorded outputs for tests/conformance/families_test.cpp.

  python pack_golden.py CHECKPOINT_FOLDER OUT_FOLDER

CHECKPOINT_FOLDER is a hub folder with golden/{prompts.json, cases.json, fp32.safetensors}: logits of
prompts, greedy continuations and the like, as transformers computes them in fp32. Everything but the
configs is compressed with xz. Of the logits, all are kept of the prompts p1 and p17; of longer ones row r
keeps ids r % 4, r % 4 + 4, … as "logits.NAME" [rows, vocab // 4]. "best.NAME" is each row's best id.
Thinned of what no test reads: hidden states, the five best ids of each step, runs in bf16.
"""
import json
import lzma
import pathlib
import struct
import sys
from array import array

XZ = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 1, "pb": 1}]


def write_xz(path, data):
    path.write_bytes(lzma.compress(data, format=lzma.FORMAT_XZ, filters=XZ))


def read_tensors(path):
    data = path.read_bytes()
    n = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + n])
    header.pop("__metadata__", None)
    tensors = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        values = array("f" if t["dtype"] == "F32" else "i")
        values.frombytes(data[8 + n + begin:8 + n + end])
        tensors[name] = (t["shape"], values)
    return tensors


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        piece = values.tobytes()
        header[name] = {"dtype": "F32" if values.typecode == "f" else "I32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    head = json.dumps(header).encode()
    write_xz(path, struct.pack("<Q", len(head)) + head + data)


def thin_logits(tensors):
    out = {}
    for name, (shape, values) in tensors.items():
        kind, _, prompt = name.partition(".")
        if kind == "positions":
            out[name] = (shape, values)
        if kind != "logits":
            continue
        rows, vocab = shape
        all_rows = [values[r * vocab:(r + 1) * vocab] for r in range(rows)]
        out["best." + prompt] = ([rows], array("i", [max(range(vocab), key=row.__getitem__) for row in all_rows]))
        if rows > 1 and prompt != "p17":
            all_rows = [row[r % 4::4][:vocab // 4] for r, row in enumerate(all_rows)]
        flat = array("f", [x for row in all_rows for x in row])
        out[name] = ([rows, len(all_rows[0])], flat)
    return out


def thin_cases(golden):
    cases = json.loads((golden / "cases.json").read_text())
    prompts = json.loads((golden / "prompts.json").read_text())["prompts"]
    keep = ("ids", "meandiff_bf16_fp32")
    return {
        "prompts": {name: {k: p[k] for k in keep} for name, p in prompts.items()},
        "greedy": {name: {"new_ids": g["new_ids"], "text": g["text"],
                          "logprobs": [s["logprob"] for s in g["steps"]],
                          "margins": [s["margin"] for s in g["steps"]]} for name, g in cases["greedy"].items()},
        "repetition_penalty": cases["repetition_penalty"],
        "eos": cases["eos"],
        "stop_strings": cases["stop_strings"],
        "batch": cases["batch"],
    }


def main(folder, out):
    out.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        (out / name).write_bytes((folder / name).read_bytes())
    for file in [*folder.glob("*.safetensors"), *folder.glob("*.index.json"), folder / "tokenizer.json"]:
        write_xz(out / (file.name + ".xz"), file.read_bytes())
    golden = folder / "golden"
    write_xz(out / "golden.json.xz", json.dumps(thin_cases(golden), ensure_ascii=False, separators=(",", ":")).encode())
    write_tensors(out / "golden.safetensors.xz", thin_logits(read_tensors(golden / "fp32.safetensors")))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
