#!/usr/bin/env python3
"""Dispatch beside plain MPI: runs raw_mpi and dispatch_bench in turn under the same mpirun and prints tables.

  compare.py BUILD_DIR [--rounds 5] [--workers 1 2] [--requests 1000000] [--long 2000000] [--queued 2000000]
             [--files 200000] [--folder DIR]

Interleaved, because machines are shared: a slow minute then hits both. The figure to trust is rank 0's CPU time an
invocation; with more ranks than cores the rates say more about the machine. Wide enough: --long 10000000.
"""
import argparse
import os
import platform
import shutil
import statistics
import subprocess
import tempfile

# Both sides: 1 KiB there, 64 bytes back; one invocation a message and 64 of them in flight for each worker, or
# 64 a message and 1024 invocations in flight.
SHAPES = {
    "unbatched": (["batch=1", "window=64"], ["batch=1", "slots=64", "a_step=1"], 5),
    "batched": (["batch=64", "window=16"], ["batch=64", "slots=1024", "a_step=64"], 1),
}


def launch(program, n_workers, words):
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    command = ["mpirun", *as_root, "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl",
               "self,vader,tcp", "-n", str(1 + n_workers), program, *words]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800).stdout.split()
    return {key: float(value) for key, value in zip(out[::2], out[1::2])}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


class Samples:
    """Figures by (row, column); a cell is their median and range."""

    def __init__(self):
        self.values = {}

    def add(self, row, column, value):
        self.values.setdefault((row, column), []).append(value)

    def median(self, row, column):
        return statistics.median(self.values[row, column])

    def cell(self, row, column, form):
        values = self.values[row, column]
        return f"{form % self.median(row, column)} ({form % min(values)}–{form % max(values)})"


def print_row(*cells):
    print("|", " | ".join(cells), "|", flush=True)


def print_head(*cells):
    print()
    print_row(*cells)
    print_row(*("---" for _ in cells))


def compare_dispatch(options, programs):
    samples, loads = Samples(), []
    for _ in range(options.rounds):
        for n_workers in options.workers:
            for shape, (raw, ours, divisor) in SHAPES.items():
                requests = f"requests={options.requests // divisor}"
                loads.append(os.getloadavg()[0])
                for name, words in (("raw_mpi", raw), ("dispatch_bench", ours)):
                    figures = launch(programs[name], n_workers, [requests, *words])
                    for key, value in figures.items():
                        samples.add((n_workers, shape, name), key, value)
    print_head("workers", "", "raw MPI /s", "ours /s", "ratio", "raw MPI: CPU µs each", "ours: CPU µs each")
    for n_workers in options.workers:
        for shape in SHAPES:
            raw, ours = ((n_workers, shape, name) for name in ("raw_mpi", "dispatch_bench"))
            print_row(str(n_workers), shape, samples.cell(raw, "rate", "%.0f"), samples.cell(ours, "rate", "%.0f"),
                      f"{samples.median(ours, 'rate') / samples.median(raw, 'rate'):.2f}",
                      samples.cell(raw, "cpu_us", "%.2f"), samples.cell(ours, "cpu_us", "%.2f"))
    print(f"\nload average before each pair: {min(loads):.1f}–{max(loads):.1f}")


def compare_ends(options, programs):
    samples = Samples()
    for _ in range(options.rounds if options.long <= 2_000_000 else 1):
        figures = launch(programs["dispatch_bench"], options.workers[-1],
                         [f"requests={options.long}", *SHAPES["batched"][1]])
        for key, value in figures.items():
            samples.add("ours", key, value)
    print_head(f"batched, {options.long} invocations", "CPU µs each", "/s")
    for name, part in (("from invocation 10,000 on", "early"), ("at the end", "late")):
        print_row(name, samples.cell("ours", part + "_cpu_us", "%.3f"), samples.cell("ours", part + "_rate", "%.0f"))


def measure_files(options, programs, folder):
    print_head("with files", "invocations", "")
    words = ["part=files", f"requests={options.files}", f"folder={folder}", *SHAPES["batched"][1]]
    samples = Samples()
    for _ in range(options.rounds):
        for key, value in launch(programs["dispatch_bench"], options.workers[-1], words).items():
            samples.add("files", key, value)
    print_row("reading, hashing, dispatch, writing: CPU µs each", str(options.files),
              samples.cell("files", "cpu_us", "%.2f"))
    figures = launch(programs["dispatch_bench"], 1, ["part=queue", f"requests={options.queued}", f"folder={folder}"])
    print_row("memory: bytes a queued invocation", str(options.queued),
              f"{figures['bytes_each']:.1f} ({figures['bytes'] / 2**20:.0f} MiB in all, {figures['read']:.0f} lines read)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--long", type=int, default=2_000_000, help="0: leave out")
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--queued", type=int, default=2_000_000, help="0: leave out what needs files")
    parser.add_argument("--folder", help="for input files; default: a temporary one")
    options = parser.parse_args()
    programs = {name: os.path.join(options.build_dir, "perf/dispatch", name) for name in ("raw_mpi", "dispatch_bench")}
    print(f"{machine()}; {options.rounds} rounds; ranks: 1 + workers; load average {os.getloadavg()[0]:.1f}")
    compare_dispatch(options, programs)
    if options.long:
        compare_ends(options, programs)
    if options.queued:
        folder = options.folder or tempfile.mkdtemp(prefix="dispatch-")
        try:
            measure_files(options, programs, folder)
        finally:
            if not options.folder:
                shutil.rmtree(folder)


if __name__ == "__main__":
    main()
