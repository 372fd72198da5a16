#!/usr/bin/env python3
"""Ours beside Hugging Face tokenizers on one core, in turn, by processor time.

  pip install tokenizers==0.23.3
  tokenizer_compare.py BENCH FOLDER TEXT_FILE [ROUNDS]

BENCH is the program tokenizer_bench, FOLDER holds tokenizer.json. Prints MB of text a second of processor time: medians of the rounds,
the whole text at once and line by line.
"""
import os
import re
import statistics
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer


def rate(mb, work):
    start = time.process_time()
    work()
    return mb / (time.process_time() - start)


def main():
    bench, folder, path = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines, mb = text.splitlines(keepends=True), len(text.encode()) / 1e6
    original = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    ours, theirs = [], []
    for _ in range(rounds):
        out = subprocess.run([bench, folder, path, "3"], capture_output=True, text=True, check=True).stdout
        ours.append([float(x) for x in re.search(r"encode ([\d.]+) MB/s, line by line ([\d.]+)", out).groups()])
        theirs.append([rate(mb, lambda: original.encode(text, add_special_tokens=False)),
                       rate(mb, lambda: [original.encode(line, add_special_tokens=False) for line in lines])])
        print(f"  ours {ours[-1][0]:.1f} and {ours[-1][1]:.1f}, theirs {theirs[-1][0]:.1f} and {theirs[-1][1]:.1f} MB/s, load {os.getloadavg()[0]:.1f}")
    for i, name in enumerate(("whole text", "line by line")):
        a, b = (statistics.median(r[i] for r in side) for side in (ours, theirs))
        print(f"{name}: ours {a:.1f} MB/s, Hugging Face tokenizers {b:.1f} MB/s, ratio {a / b:.1f} ({mb:.1f} MB)")


main()
