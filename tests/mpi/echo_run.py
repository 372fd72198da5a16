"""Runs echo_ranks under mpirun and reads what it says: real processes, an engine that only sleeps. Standard library only."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIRUN = [
    "mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe", "--bind-to", "none",
    "--enable-recovery", "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp",
]


def state_of(pid):
    """As ps shows it; X: there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return "X"


def is_alive(pid):
    """Whether that rank lives. Numbers of processes come round again: a stranger may have the one of a rank that is gone."""
    try:
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    return pathlib.Path(program).name.startswith("echo_ranks") and state_of(pid) not in "ZX"


def resident_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class EchoRun:
    """echo_ranks under mpirun, and what it has said so far as lists of words by first word."""

    def __init__(self, program, folder, n_ranks, mpirun=None, orders=True, **arguments):
        self.folder = folder
        self.output, self.errors = folder / "out", folder / "err"
        if orders:
            arguments["orders"] = folder
        words = [f"{key}={value}" for key, value in arguments.items()]
        with open(self.output, "wb") as output, open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [*(mpirun or MPIRUN), "-n", str(n_ranks), program, f"places={folder}", *words], stdout=output, stderr=errors,
                start_new_session=True, env={**os.environ, "EVENT_NOEPOLL": "1"},
            )

    def said(self, key):
        lines = self.output.read_text(errors="replace").splitlines()
        return [line.split()[1:] for line in lines if line.split()[:1] == [key]]

    def number(self, key):
        values = self.said(key)
        return float(values[-1][0]) if values else 0

    def text(self):
        lines = [line for line in self.output.read_text().splitlines() if not line.startswith("progress")]
        return "\n".join(lines) + "\n" + self.errors.read_text(errors="replace")

    def pids(self):
        return {int(worker): int(pid) for worker, pid in self.said("pid")}

    def wait_for(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError("waited too long\n" + self.text())
            time.sleep(0.02)

    def order(self, **fields):
        folder = self.folder / "orders"
        name = f"{time.time_ns():020}-{os.getpid()}.json"
        descriptor = os.open(folder / f".{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.write(descriptor, json.dumps({"version": 1, **fields}).encode())
        os.close(descriptor)
        os.rename(folder / f".{name}", folder / name)

    def set_workers(self, n):
        self.order(order="set_workers", workers=n)


class EchoTest(unittest.TestCase):
    """Any number of runs one after another; none may leave a process, or start a newcomer in a place that is held."""

    program = ""

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="sticky-echo-"))
        self.runs = []

    def tearDown(self):
        pids = [pid for run in self.runs for pid in run.pids().values()]
        for run in self.runs:
            if run.process.poll() is None:
                os.killpg(run.process.pid, signal.SIGKILL)
                run.process.wait()
        deadline = time.monotonic() + 5
        while any(map(is_alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.1)
        left = [pid for pid in pids if is_alive(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.assertEqual(left, [], "processes outlived the run by 5 s")

    def start(self, n_ranks, **arguments):
        folder = self.scratch / str(len(self.runs))
        folder.mkdir()
        self.runs.append(EchoRun(self.program, folder, n_ranks, **arguments))
        return self.runs[-1]

    def wait_for_end(self, run, seconds=90):
        try:
            run.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError("the run does not end\n" + run.text()) from None

    def finish(self, run, requests, losses=(), errors=0, seconds=90):
        self.wait_for_end(run, seconds)
        self.judge(run, requests, losses, errors)

    def judge(self, run, requests, losses=(), errors=0):
        text = run.text()
        self.assertEqual(run.number("right"), requests - errors, text)
        self.assertEqual(run.number("twice"), 0, text)
        self.assertEqual(run.said("two_holders"), [], text)
        self.assertEqual(run.number("errors"), errors, text)
        self.assertEqual(sorted(cause for cause, _ in run.said("cause")), sorted(losses), text)


def main():
    """PROGRAM [unittest arguments]"""
    EchoTest.program = sys.argv.pop(1)
    unittest.main(verbosity=2)
