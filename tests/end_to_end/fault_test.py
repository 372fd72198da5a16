"""Workers and whole runs that die, freeze or are told to stop: nothing is lost, nothing stands twice."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from harness import REAL_MODEL, Run, RunTest, claims, processes_below, write_lines

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

    def test_the_same_prompt_is_answered_alike_first_late_and_after_a_loss(self):
        del self.requests[1000:]
        seeds, prompt = (7, 8), self.requests[0]
        for at in range(0, len(self.requests), 10):
            seed = seeds[at // 10 % 2]
            self.requests[at] = {**prompt, "custom_id": f"seed-{seed}-{at}", "body": {
                **prompt["body"], "temperature": 0.8, "seed": seed, "logprobs": True, "top_logprobs": 3}}
        write_lines(self.file, self.requests)
        process, run = self.begin("repeated")
        pids = self.worker_pids(run, 3)
        os.kill(pids[2], signal.SIGKILL)
        n_before = run.n_recorded()
        self.assertEqual(process.wait(timeout=240), 0)
        self.assertEqual([loss["cause"] for loss in run.summary["losses"]], ["died"])

        answers = {}
        for seed in seeds:
            mine = [(n, r) for n, r in enumerate(run.results) if r["custom_id"].startswith(f"seed-{seed}-")]
            self.assertEqual(len(mine), 50)
            self.assertLess(mine[0][0], n_before)
            self.assertGreater(mine[-1][0], len(self.requests) / 2)
            self.assertGreater(len({r["sticky"]["worker"] for _, r in mine}), 2)
            # Numbers are written with all their digits: the same text is the same bits.
            choices = {json.dumps(r["response"]["body"]["choices"]) for _, r in mine}
            self.assertEqual(len(choices), 1)
            answers[seed] = choices.pop()
        self.assertNotEqual(answers[7], answers[8])  # so they were drawn

    def test_two_coordinators_never_write_one_run_folder(self):
        del self.requests[800:]
        write_lines(self.file, self.requests)
        process, run = self.begin("contested")
        late = self.call("resume", run.folder)
        self.assertEqual(late.returncode, 1, late.stdout + late.stderr)
        self.assertIn("a run is at work here", late.stderr)
        self.kill_everything(process)
        self.assertLess(run.n_recorded(), len(self.requests) - 200)  # enough is left for two

        both = [self.start("resume", run.folder, "--workers", 1) for _ in range(2)]
        self.assertEqual(sorted(process.wait(timeout=240) for process in both), [0, 1])
        self.assertEqual(len(run.answers()), len(self.requests))

    def test_a_run_killed_at_any_moment_is_resumed_to_the_same_answers(self):
        draw = random.Random(11)
        expected = self.expected()
        process, run = self.begin("broken", workers=2)
        for workers in (3, 1):
            time.sleep(draw.random())
            self.kill_everything(process)
            results = run.folder / "results.jsonl"
            os.truncate(results, results.stat().st_size - 10)  # a last line that was only half on the disk
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

    def test_a_drain_is_over_when_its_grace_is_whatever_still_runs(self):
        endless = [{"id": f"r{n}", "prompt": "x", "max_tokens": 4000, "ignore_eos": True} for n in range(50)]
        file = write_lines(self.scratch / "endless.jsonl", endless)
        run = Run(self.scratch / "endless")
        process = self.start("run", "-i", file, "-o", run.folder, "--model", REAL_MODEL / "smollm2.gguf", "--workers", 1,
                             "--set", "run.grace=2s")
        self.worker_pids(run, 1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=100), 4)
        self.assertEqual((run.summary["ending"], run.summary["losses"]), ("drained", []))
        self.assertEqual(run.n_recorded(), 0)  # seconds are not enough for any of them

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

    def test_a_run_whose_folder_is_moved_ends_and_goes_on_where_it_is_now(self):
        requests = [{"id": f"c{i}", "prompt": f"Number {i} is", "max_tokens": 60} for i in range(2000)]
        process = self.start("run", "-i", write_lines(self.scratch / "in.jsonl", requests), "-o", self.scratch / "run",
                             "--model", self.tiny_model(), "--workers", 2)
        run = Run(self.scratch / "run")
        self.wait_until(lambda: run.n_recorded() > 0, what="a result")
        (self.scratch / "run").rename(self.scratch / "moved")
        self.assertEqual(process.wait(timeout=60), 5)
        said = (self.scratch / "output-0.log").read_text()
        self.assertIn("another coordinator has taken the run folder, or it was moved or removed", said)
        self.assertIn("run was moved or removed while the run went on", said)
        self.assertNotIn("did not start", said)
        done = self.call("resume", self.scratch / "moved", "--workers", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(Run(self.scratch / "moved").answers()), 2000)


if __name__ == "__main__":
    unittest.main()
