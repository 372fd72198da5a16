"""Workers and whole runs that die, freeze or are told to stop: nothing is lost, nothing stands twice."""
import os
import random
import signal
import subprocess
import time
import unittest

from harness import Run, RunTest, claims, processes_below, write_lines

GREEDY = ("--set", "sampling.temperature=0", "--set", "state.default.dtype=f32")


class Faults(RunTest):
    def setUp(self):
        super().setUp()
        self.requests = claims()
        for request in self.requests:  # long enough that a fast machine is not done before anything goes wrong
            request["body"]["max_tokens"] = 48
        self.file = write_lines(self.scratch / "claims.jsonl", self.requests)

    def expected(self):
        return self.run_job("undisturbed", self.file, *GREEDY, workers=2).answers()

    def begin(self, name, workers=3):
        process = self.start("run", "-i", self.file, "-o", self.scratch / name, "--model", self.tiny_model(),
                             "--workers", workers, *GREEDY)
        run = Run(self.scratch / name)
        self.wait_until(lambda: run.n_recorded() > 100, what="the first results")
        return process, run

    def check_loss(self, name, signal_number, causes):
        process, run = self.begin(name)
        pids = self.worker_pids(run, 3)
        victim = sorted(pids)[1]
        os.kill(pids[victim], signal_number)
        self.assertEqual(process.wait(timeout=240), 0)
        self.assertEqual(run.answers(), self.expected())
        losses = run.summary["losses"]
        self.assertEqual(len(losses), 1, losses)
        self.assertIn(losses[0]["cause"], causes)
        self.assertEqual(losses[0]["worker"], victim)
        self.assertEqual(self.wait_for_end(), [])

    def test_a_killed_worker_costs_nothing(self):
        self.check_loss("killed", signal.SIGKILL, ["died"])

    def test_a_frozen_worker_costs_nothing_and_is_fenced(self):
        self.check_loss("frozen", signal.SIGSTOP, ["frozen"])

    def test_a_run_killed_at_any_moment_is_resumed_to_the_same_answers(self):
        draw = random.Random(11)
        expected = self.expected()
        process, run = self.begin("broken", workers=2)
        for workers in (3, 1):
            time.sleep(draw.random())
            self.kill_everything(process)
            recorded = run.n_recorded()
            if recorded == len(self.requests):
                break
            process = self.start("resume", run.folder, "--workers", workers)
            self.wait_until(lambda: run.n_recorded() > recorded + 50 or process.poll() is not None,
                            what="results after the resume")
        self.assertEqual(process.wait(timeout=240), 0)
        self.assertEqual(run.answers(), expected)
        self.assertEqual(run.summary["exit_code"], 0)

    def kill_everything(self, launcher):
        for pid, _ in processes_below(str(self.scratch)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        launcher.wait()
        self.assertEqual(self.wait_for_end(), [])

    def test_a_terminated_launcher_drains_and_the_rest_is_resumed(self):
        process, run = self.begin("drained", workers=2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=100), 4)
        self.assertEqual(run.summary["exit_code"], 4)
        n_before = run.n_recorded()
        self.assertLess(n_before, len(self.requests))
        done = self.call("resume", run.folder, "--workers", 1)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(run.answers(), self.expected())

    def test_a_signal_that_mpirun_forwards_to_all_ranks_drains_and_loses_nobody(self):
        mpirun = "mpirun --oversubscribe --bind-to none --enable-recovery --allow-run-as-root -n 3".split()
        run = Run(self.scratch / "forwarded")
        process = subprocess.Popen(
            [*mpirun, *self.command("run", "-i", self.file, "-o", run.folder, "--model", self.tiny_model(), *GREEDY)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.scratch, start_new_session=True)
        self.wait_until(lambda: run.n_recorded() > 100, what="the first results")
        process.send_signal(signal.SIGUSR1)
        process.wait(timeout=100)
        self.assertEqual((run.summary["exit_code"], run.summary["ending"]), (4, "drained"))
        self.assertEqual(run.summary["losses"], [])
        self.assertLess(run.n_recorded(), len(self.requests))
        done = self.call("resume", run.folder, "--workers", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(run.answers(), self.expected())

    def test_a_state_that_no_worker_can_load_leaves_no_count_to_chance(self):
        model = self.tiny_model()
        (model / "tokenizer.json").unlink()
        run = self.run_job("unloadable", [{"prompt": "x"}] * 50, model=model, expect=5)
        self.assertEqual(run.summary["ending"], "load_failed")
        self.assertEqual([run.summary["counts"][key] for key in ("requests", "results", "errors", "unanswered")], [0] * 4)
        self.assertEqual(run.summary["counts"]["this_run"]["waiting"], 0)

    def test_a_full_disk_stops_the_run_and_keeps_what_was_written(self):
        disk = self.scratch / "disk"
        disk.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], capture_output=True)
        if mount.returncode != 0:
            self.skipTest("only root may mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        process = self.start("run", "-i", self.file, "-o", disk / "run", "--model", self.tiny_model(),
                             "--workers", 2, *GREEDY)
        self.assertIn(process.wait(timeout=240), (4, 5))
        run = Run(disk / "run")
        written = run.answers()  # every line is whole
        self.assertGreater(len(written), 0)
        self.assertLess(len(written), len(self.requests))
        said = (self.scratch / "output-0.log").read_text()
        self.assertIn(f": {len(written):,} answered", said)  # not what was only handed to the journal

        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        done = self.call("resume", run.folder, "--workers", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        answers = run.answers()
        self.assertEqual(len(answers), len(self.requests))
        self.assertEqual({key: answers[key] for key in written}, written)


if __name__ == "__main__":
    unittest.main()
