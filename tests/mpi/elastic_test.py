"""Workers that come and go while a run goes on: real processes under mpirun, an engine that only sleeps.

    elastic_test.py ECHO_RANKS [unittest arguments]
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None  # echo_ranks
MPIRUN = [
    "mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe", "--bind-to", "none",
    "--enable-recovery", "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp",
]


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def resident_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class EchoRun:
    """echo_ranks under mpirun, and what it has said so far as lists of words by first word."""

    def __init__(self, scratch, n_ranks, mpirun=None, orders=True, **arguments):
        self.folder = scratch
        self.output, self.errors = scratch / "out", scratch / "err"
        if orders:
            arguments["orders"] = scratch
        words = [f"{key}={value}" for key, value in arguments.items()]
        with open(self.output, "wb") as output, open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [*(mpirun or MPIRUN), "-n", str(n_ranks), PROGRAM, *words], stdout=output, stderr=errors,
                start_new_session=True,
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


class Elastic(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="sticky-elastic-"))
        self.run_ = None

    def tearDown(self):
        if self.run_ is None:
            return
        pids = [*self.run_.pids().values()]
        if self.run_.process.poll() is None:
            os.killpg(self.run_.process.pid, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while any(map(is_alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.1)
        left = [pid for pid in pids if is_alive(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.assertEqual(left, [], "processes outlived the run by 5 s")

    def start(self, n_ranks, **arguments):
        self.run_ = EchoRun(self.scratch, n_ranks, **arguments)
        return self.run_

    def finish(self, run, requests, losses=(), errors=0, seconds=90):
        try:
            run.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError("the run does not end\n" + run.text()) from None
        self.judge(run, requests, losses, errors)

    def finish_without_spawns(self, run, requests):
        """After a failed spawn mpirun of Open MPI 4.1 never ends by itself."""
        run.wait_for(lambda: run.said("rate"), seconds=90)
        self.judge(run, requests, ["spawn_failed"] * len(run.said("cause")))
        self.assertGreater(len(run.said("cause")), 0)
        os.killpg(run.process.pid, signal.SIGKILL)
        run.process.wait()

    def judge(self, run, requests, losses=(), errors=0):
        text = run.text()
        self.assertEqual(run.number("right"), requests - errors, text)
        self.assertEqual(run.number("twice"), 0, text)
        self.assertEqual(run.number("errors"), errors, text)
        self.assertEqual(sorted(cause for cause, _ in run.said("cause")), sorted(losses), text)

    def tasks_of_a_tenth(self, signal_number, cause, limit):
        run = self.start(3, requests=200, bytes=100, step_ms=100, slots=2, per_step=1)
        run.wait_for(lambda: run.number("ready") == 2)
        time.sleep(2)
        os.kill(run.pids()[1], signal_number)
        self.finish(run, 200, losses=[cause])
        self.assertEqual(run.number("workers"), 3)  # the replacement
        self.assertLess(run.number("seconds"), limit)

    def test_200_tasks_of_a_tenth_of_a_second_survive_a_killed_worker(self):
        self.tasks_of_a_tenth(signal.SIGKILL, "died", 13)

    def test_200_tasks_of_a_tenth_of_a_second_survive_a_frozen_worker(self):
        self.tasks_of_a_tenth(signal.SIGSTOP, "frozen", 15)

    def test_a_hung_engine_with_a_living_heartbeat_is_found_and_replaced(self):
        run = self.start(3, requests=800, bytes=100, step_ms=20, slots=2, per_step=1, hang_s=2, hangs_at=50)
        self.finish(run, 800, losses=["hung"])
        self.assertEqual(run.number("workers"), 3)

    def test_a_child_process_of_a_worker_does_not_hide_its_death(self):
        run = self.start(3, requests=1500, bytes=100, step_ms=20, slots=4, forks=1)
        run.wait_for(lambda: run.number("progress") > 20)
        os.kill(run.pids()[1], signal.SIGKILL)
        killed_at = time.monotonic()
        run.wait_for(lambda: "is lost (died)" in run.text())
        self.assertLess(time.monotonic() - killed_at, 3)  # far below the heartbeat's limit
        self.finish(run, 1500, losses=["died"])

    def test_a_slow_peer_with_large_messages_stops_nobody(self):
        run = self.start(4, requests=300, bytes=2_000_000, step_ms=20, slots=4, per_step=1)
        run.wait_for(lambda: run.number("progress") > 20)
        os.kill(run.pids()[1], signal.SIGSTOP)
        self.finish(run, 300, losses=["frozen"])
        self.assertLess(run.number("gap_ms"), 1500)

    def test_memory_and_rate_stay_while_workers_come_and_go(self):
        n = int(os.environ.get("STICKY_SOAK", 12_000))
        run = self.start(3, requests=n, bytes=1000, step_ms=2, slots=64, per_step=4)
        run.wait_for(lambda: run.number("progress") > n / 20)
        sizes, last, target = [], 0, 2
        while run.process.poll() is None and run.number("progress") < 0.9 * n:
            if time.monotonic() - last > 3:
                last, target = time.monotonic(), 5 - target
                run.set_workers(target)
                sizes.append((run.number("progress"), resident_kib(run.pids()[0])))
            time.sleep(0.1)
        self.finish(run, n)
        print(f"progress and KiB of the coordinator: {sizes}; {run.number('rate'):.0f}/s", file=sys.stderr)
        half = len(sizes) // 2
        if half >= 4:
            self.assertLess(max(size for _, size in sizes[half:]), 1.01 * max(size for _, size in sizes[:half]))

    def test_a_poisonous_request_is_quarantined_after_three_deaths(self):
        run = self.start(3, requests=300, bytes=100, step_ms=5, slots=4, dies_at=120, spawn_s=2)
        self.finish(run, 300, losses=["died"] * 3, errors=1)

    def test_a_run_that_loses_all_its_workers_at_once_gets_new_ones(self):
        run = self.start(4, requests=1000, bytes=100, step_ms=10, slots=4, per_step=2)
        run.wait_for(lambda: run.number("progress") > 50)
        for worker in (1, 2, 3):
            os.kill(run.pids()[worker], signal.SIGKILL)
        self.finish(run, 1000, losses=["died"] * 3)

    def test_growth_from_1_to_16_workers_never_stops_dispatch(self):
        run = self.start(2, requests=6000, bytes=100, step_ms=10, slots=8, per_step=1)
        run.wait_for(lambda: run.number("progress") > 10)
        run.set_workers(16)
        run.wait_for(lambda: run.number("ready") == 16)
        self.finish(run, 6000)
        self.assertEqual(run.number("workers"), 16)
        self.assertLess(run.number("gap_ms"), 100)

    def test_a_coordinator_that_is_launched_alone_starts_its_first_worker(self):
        run = self.start(1, requests=200, bytes=100, step_ms=5, slots=4)
        self.finish(run, 200)
        self.assertEqual(run.number("workers"), 1)

    def test_workers_that_are_drained_lose_nothing(self):
        run = self.start(5, requests=1500, bytes=100, step_ms=10, slots=8, per_step=2)
        run.wait_for(lambda: run.number("progress") > 50)
        run.set_workers(1)
        run.wait_for(lambda: run.number("ready") == 1)
        self.finish(run, 1500)
        self.assertEqual(run.number("workers"), 4)

    def test_workers_that_come_and_go_again_and_again(self):
        run = self.start(2, requests=10**7, bytes=100, step_ms=20, slots=4)
        run.wait_for(lambda: run.number("ready") == 1)
        n_cycles = int(os.environ.get("STICKY_CYCLES", 5))
        for cycle in range(n_cycles):
            run.set_workers(4)
            run.wait_for(lambda: run.number("ready") == 4)
            run.set_workers(1)
            run.wait_for(lambda: run.number("ready") == 1)
        self.assertEqual(run.said("cause"), [])
        self.assertEqual(len(run.pids()), 2 + 3 * n_cycles)
        os.kill(run.pids()[0], signal.SIGKILL)
        os.kill(run.process.pid, signal.SIGTERM)
        run.process.wait(timeout=30)

    def test_a_spawn_that_hangs_leaves_the_rest_running(self):
        run = self.start(2, requests=300, bytes=100, step_ms=20, slots=2, per_step=1, spawn_s=3,
                         spawns="/bin/sleep")
        run.wait_for(lambda: run.number("progress") > 10)
        run.set_workers(2)
        self.finish_without_spawns(run, 300)

    def test_a_program_that_cannot_be_spawned_leaves_the_rest_running(self):
        run = self.start(2, requests=300, bytes=100, step_ms=20, slots=2, per_step=1, spawn_s=2,
                         spawns="/nowhere/at/all")
        run.wait_for(lambda: run.number("progress") > 10)
        run.set_workers(2)
        self.finish_without_spawns(run, 300)

    def test_too_few_slots_are_noticed_before_mpi_is_asked(self):
        mpirun = [word for word in MPIRUN if word != "--oversubscribe"]
        run = self.start(2, mpirun=[*mpirun, "--host", "localhost:2"], requests=300, bytes=100, step_ms=20, slots=2,
                         per_step=1)
        run.wait_for(lambda: run.number("progress") > 10)
        run.set_workers(3)
        self.finish(run, 300)
        self.assertEqual(run.number("workers"), 1)

    def test_without_recovery_nothing_is_spawned(self):
        mpirun = [word for word in MPIRUN if word != "--enable-recovery"]
        run = self.start(2, mpirun=mpirun, requests=300, bytes=100, step_ms=20, slots=2, per_step=1)
        run.wait_for(lambda: run.number("progress") > 10)
        run.set_workers(3)
        self.finish(run, 300)
        self.assertIn("--enable-recovery", run.text())

    def test_spawned_workers_whose_coordinator_is_gone_end_by_themselves(self):
        run = self.start(2, requests=100000, bytes=100, step_ms=20, slots=4, orphan_s=3)
        run.wait_for(lambda: run.number("ready") == 1)
        run.set_workers(4)
        run.wait_for(lambda: run.number("ready") == 4)
        os.kill(run.pids()[0], signal.SIGKILL)
        run.wait_for(lambda: not any(map(is_alive, run.pids().values())), seconds=15)
        run.process.wait(timeout=15)

    def test_random_kills_stops_and_orders_lose_nothing(self):
        for seed in range(int(os.environ.get("STICKY_SCHEDULES", 3))):
            with self.subTest(seed=seed):
                self.random_schedule(random.Random(seed))
                self.tearDown()
                self.setUp()

    def random_schedule(self, draw):
        run = self.start(draw.randint(2, 4), requests=1500, bytes=100, step_ms=10, slots=draw.randint(1, 8),
                         hang_s=20, spawn_s=2)
        run.wait_for(lambda: run.number("progress") > 20)
        for _ in range(draw.randint(2, 6)):
            time.sleep(draw.random())
            kind = draw.choice(["kill", "kill", "stop", "order", "order"])
            victims = [pid for worker, pid in run.pids().items() if worker > 0 and is_alive(pid)]
            if kind == "order":
                run.set_workers(draw.randint(1, 6))
            elif victims:
                os.kill(draw.choice(victims), signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
        run.process.wait(timeout=90)
        self.assertEqual(run.number("right") + run.number("errors"), 1500, run.text())
        self.assertEqual(run.number("twice"), 0, run.text())


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
