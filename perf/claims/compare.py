#!/usr/bin/env python3
"""Runs commands in turn, several rounds, and compares what they print ("… = X claims/s Y claims/(cpu-s)").

  compare.py ROUNDS NAME=COMMAND NAME=COMMAND …

The first command is the one that the others are compared with. Interleaved, because these machines are shared: a slow
minute then hits all of them. Prints medians, ranges, ratios of medians, and the load average before each round.
"""
import os
import re
import statistics
import subprocess
import sys

FIGURES = re.compile(r"= ([0-9.]+) claims/s ([0-9.]+) claims/\(cpu-s\)")


def measure(command):
    out = subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
    return tuple(float(figure) for figure in FIGURES.search(out).groups())


def main():
    rounds = int(sys.argv[1])
    commands = dict(argument.split("=", 1) for argument in sys.argv[2:])
    figures = {name: [] for name in commands}
    loads = []
    for _ in range(rounds):
        loads.append(os.getloadavg()[0])
        for name, command in commands.items():
            figures[name].append(measure(command))
            print(f"{name}: {figures[name][-1][0]:.2f} claims/s, {figures[name][-1][1]:.2f} a CPU-second", flush=True)
    print("load before each round:", " ".join(f"{load:.1f}" for load in loads))
    print("\n| | claims/s: median (min–max) | ratio | claims/CPU-s: median (min–max) | ratio |\n| --- | --- | --- | --- | --- |")
    base = [statistics.median(column) for column in zip(*figures[next(iter(commands))])]
    for name, rows in figures.items():
        cells = []
        for column, reference in zip(zip(*rows), base):
            middle = statistics.median(column)
            cells += [f"{middle:.2f} ({min(column):.2f}–{max(column):.2f})", f"{middle / reference:.2f}"]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
