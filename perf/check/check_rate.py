#!/usr/bin/env python3
"""How many requests a second `check` reads, renders and tokenizes.

  check_rate.py PROGRAM MODEL_FOLDER [REQUESTS] [ROUNDS]

Writes chats like those of the claims workload (an instruction that all share, a claim of their own), runs `PROGRAM check` on them
and on one request alone in turn, and prints requests a second of wall and of processor time: the difference of the two runs is the
input's. On a busy machine only the processor's time says something.
Weights are not needed for counting, but `check` describes the model: the folder needs config.json and the weights' headers.
"""
import json
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "claims"))
from make_workload import PEOPLE, PLACES, PREFIX, THINGS, VERBS

SYSTEM = PREFIX.split("\n", 1)[1].removesuffix("<|im_end|>\n")


def request(n):
    draw = random.Random(n)
    claim = (f"Claim {n}: {draw.choice(PEOPLE)} {draw.choice(VERBS)} {draw.choice(THINGS)} in {draw.choice(PLACES)} in {draw.randint(1600, 1990)}, "
             f"{draw.choice(['three', 'five', 'ten'])} years before {draw.choice(PEOPLE)} came to {draw.choice(PLACES)}.")
    return {"custom_id": f"r{n}", "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": claim}], "max_tokens": 24}


def seconds(program, model, path):
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "check", "--model", model, "-i", path], capture_output=True, text=True)
    took = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main():
    program, model = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    with tempfile.TemporaryDirectory() as folder:
        many, one = os.path.join(folder, "many.jsonl"), os.path.join(folder, "one.jsonl")
        for path, count in ((many, n), (one, 1)):
            with open(path, "w") as out:
                out.writelines(json.dumps(request(i)) + "\n" for i in range(count))
        rates, by_cpu = [], []
        for _ in range(rounds):
            load = os.getloadavg()[0]
            alone, alone_cpu, _ = seconds(program, model, one)
            took, took_cpu, text = seconds(program, model, many)
            rates.append((n - 1) / max(took - alone, 1e-9))
            by_cpu.append((n - 1) / max(took_cpu - alone_cpu, 1e-9))
            tokens = re.search(r"tokens +([\d,]+)", text).group(1)
            print(f"{rates[-1]:8.0f} requests/s, {by_cpu[-1]:.0f} a CPU-second ({took:.2f} s, {alone:.2f} s of them for one request alone), {tokens} tokens, load {load:.1f}")
        print(f"median {statistics.median(rates):.0f} requests/s, {statistics.median(by_cpu):.0f} a CPU-second, of {n} requests, {len(os.sched_getaffinity(0))} threads, {os.path.getsize(many) / 1e6:.0f} MB")


main()
