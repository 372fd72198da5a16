"""Runs that grow and shrink while they serve: the same answers as an undisturbed run, whatever came and went."""
import os
import random
import signal
import socket
import time
import unittest

from harness import Run, RunTest, claims, write_lines

GREEDY = ("--set", "sampling.temperature=0", "--set", "state.default.dtype=f32")
SAMPLED = ("--set", "sampling.temperature=0.8", "--set", "sampling.top_p=0.9", "--set", "state.default.dtype=f32")


class Elastic(RunTest):
    def requests(self, n, n_tokens=160):  # long enough that a fast machine is not done before anything happens
        requests = claims(n)
        for request in requests:
            request["body"]["max_tokens"] = n_tokens
        return write_lines(self.scratch / "claims.jsonl", requests)

    def begin(self, name, file, *arguments, workers=1):
        process = self.start("run", "-i", file, "-o", self.scratch / name, "--model", self.tiny_model(), "--workers",
                             workers, *arguments)
        run = Run(self.scratch / name)
        self.wait_until(lambda: run.n_recorded() > 20 and (run.folder / "status.json").exists(), what="the first results")
        return process, run

    def resize(self, run, *order, expect=0):
        done = self.call("resize", run.folder, *order)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def n_ready(self, run):
        return sum(worker["state"] == "ready" for worker in run.status["workers"])

    def test_growing_and_shrinking_by_order_gives_the_same_answers(self):
        file = self.requests(2000)
        expected = self.run_job("undisturbed", file, *SAMPLED, workers=2).answers()
        process, run = self.begin("resized", file, *SAMPLED, workers=1)
        self.assertIn("accepted", self.resize(run, "--workers", 3))
        self.wait_until(lambda: self.n_ready(run) == 3, what="three workers")
        self.assertIn("accepted", self.resize(run, "--workers", 1))
        self.wait_until(lambda: self.n_ready(run) == 1, what="one worker")
        self.assertIn("refused", self.resize(run, "--drain", socket.gethostname(), expect=1))
        self.assertEqual(process.wait(timeout=240), 0)
        self.assertEqual(run.answers(), expected)
        self.assertEqual(run.summary["losses"], [])
        self.assertEqual(len(run.summary["workers"]), 3)
        spans = [event["tid"] for event in run.timeline if event["name"] == "serving"]
        self.assertEqual(sorted(spans), [1, 2, 3])
        self.assertEqual(sum(event["name"] == "left" for event in run.timeline), 3)
        self.assertEqual(self.wait_for_end(), [])

    def test_a_host_that_was_added_by_its_address_gets_as_many_as_were_ordered(self):
        process, run = self.begin("address", self.requests(2000, n_tokens=600), *GREEDY)
        self.assertIn("accepted", self.resize(run, "--add", "127.0.0.1"))
        self.wait_until(lambda: self.n_ready(run) == 2, what="two workers")
        before = run.n_recorded()
        self.wait_until(lambda: run.status["seconds"] > 8 or run.n_recorded() > before + 400, what="some decisions")
        self.assertEqual(len(run.status["workers"]), 2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=120), 4)

    def test_a_host_that_cannot_be_reached_does_not_end_the_run(self):
        process, run = self.begin("unknown", self.requests(2000, n_tokens=300), *GREEDY)
        self.assertIn("accepted", self.resize(run, "--add", "no-such-host.invalid"))
        self.wait_until(lambda: "could not be started" in (run.folder / "run.log").read_text(), what="the failure")
        before = run.n_recorded()
        self.wait_until(lambda: run.n_recorded() > before + 100, what="results after it")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=120), 4)
        self.assertIn("no-such-host.invalid is out of reach", run.summary["losses"][0]["reason"])

    def test_a_lost_worker_is_replaced(self):
        file = self.requests(2000)
        process, run = self.begin("replaced", file, *GREEDY, workers=2)
        pids = self.worker_pids(run, 2)
        os.kill(pids[1], signal.SIGKILL)
        self.wait_until(lambda: self.n_ready(run) == 2 and len(run.status["workers"]) == 3, what="the replacement")
        self.assertEqual(process.wait(timeout=240), 0)
        self.assertEqual([loss["cause"] for loss in run.summary["losses"]], ["died"])
        self.assertEqual([event["tid"] for event in run.timeline if event["name"] == "lost (died)"], [1])
        self.assertEqual(len(run.answers()), 2000)

    def test_a_host_file_is_followed(self):
        file, hosts = self.requests(2000, n_tokens=600), self.scratch / "hosts"
        hosts.write_text("localhost slots=1\n")
        process, run = self.begin("watching", file, *GREEDY, "--set", f"resize.watch=hostfile:{hosts}", workers=1)
        hosts.write_text("localhost slots=3\n")
        self.wait_until(lambda: self.n_ready(run) == 3, what="three workers")
        hosts.write_text("# half written, of no host at all: \x01\n")
        hosts.write_text("localhost slots=1\n")
        self.wait_until(lambda: self.n_ready(run) == 1, what="one worker")
        self.assertLess(run.n_recorded(), 2000)
        process.send_signal(signal.SIGTERM)  # what had to be seen was seen
        self.assertEqual(process.wait(timeout=120), 4)
        self.assertEqual(run.summary["losses"], [])

    def test_random_kills_stops_orders_and_spawns_give_the_same_answers(self):
        file = self.requests(600, n_tokens=120)
        expected = self.run_job("undisturbed", file, *SAMPLED, workers=2).answers()
        first = int(os.environ.get("STICKY_FIRST_SEED", 0))
        for seed in range(first, first + int(os.environ.get("STICKY_SCHEDULES", 30))):
            with self.subTest(seed=seed):
                run = self.disturbed(f"seed-{seed}", file, random.Random(seed))
                self.assertEqual(run.errors, [])
                self.assertEqual(run.answers(), expected)
                self.assertEqual(self.wait_for_end(), [])

    def disturbed(self, name, file, draw):
        process, run = self.begin(name, file, *SAMPLED, "--set", "run.heartbeat_timeout=2s", "--set", "run.attempts=20",
                                  "--set", "resize.spawn_timeout=2s", workers=draw.randint(1, 3))
        for _ in range(draw.randint(1, 4)):
            time.sleep(draw.random() / 2)
            kind = draw.choice(["kill", "stop", "order", "order"])
            living = [w["pid"] for w in run.status["workers"] if w["state"] in ("loading", "ready", "leaving")]
            if kind == "order":
                self.call("resize", run.folder, "--workers", draw.randint(1, 4))
            elif living:
                self.signal(draw.choice(living), signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
        self.assertEqual(process.wait(timeout=120), 0, (self.scratch / name / "run.log").read_text())
        return run

    def signal(self, pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass  # it has left meanwhile


if __name__ == "__main__":
    unittest.main()
