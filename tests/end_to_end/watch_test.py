"""A run as others see it while it goes on: status --watch, and resize where no order can be obeyed."""
import os
import signal
import subprocess
import unittest

from harness import Run, RunTest, claims, write_lines


class Watch(RunTest):
    def begin(self):
        requests = claims(1500)
        for request in requests:
            request["body"]["max_tokens"] = 160  # some seconds even on a fast machine
        process = self.start("run", "-i", write_lines(self.scratch / "in.jsonl", requests), "-o", self.scratch / "run",
                             "--model", self.tiny_model(), "--workers", 2, "--set", "state.default.dtype=f32")
        run = Run(self.scratch / "run")
        return process, run, self.worker_pids(run, 2)

    def test_a_pipe_gets_a_line_for_each_event_and_the_summary_at_the_end(self):
        process, run, pids = self.begin()
        watching = subprocess.Popen(self.command("status", run.folder, "--watch", "--exit-code"),
                                    stdout=subprocess.PIPE, text=True, cwd=self.scratch)
        first = watching.stdout.readline()
        self.assertRegex(first, r"^\[00:\d\d:\d\d\] [\d,]+/1,500 .* workers 2")
        victim = min(pids)
        os.kill(pids[victim], signal.SIGKILL)
        rest = watching.stdout.read()
        watching.stdout.close()
        self.assertEqual(process.wait(timeout=240), 0)
        self.assertEqual(watching.wait(timeout=60), 0)
        self.assertRegex(rest, rf"(?m)^\[00:\d\d:\d\d\] worker {victim} is lost: died: ")
        self.assertIn("finished in 00:", rest)
        self.assertNotIn("\033", first + rest)

    def test_a_terminal_gets_a_picture_that_is_drawn_again_and_taken_away_at_the_end(self):
        process, run, pids = self.begin()
        code, shown = self.call_on_terminal(["stdout"], "status", run.folder, "--watch")
        self.assertEqual(code, 0)
        self.assertEqual(process.wait(timeout=240), 0)
        pictures = shown.split("\033[4A")  # progress, titles, two workers
        self.assertGreater(len(pictures), 2)
        self.assertIn("req/min", pictures[0])
        for pid in pids.values():
            self.assertIn(f":{pid} ", pictures[0])
        self.assertTrue(pictures[-1].startswith("\r\033[Jfinished in 00:"), pictures[-1])


class Resize(RunTest):
    def test_an_order_to_a_run_that_has_ended_is_an_error_and_leaves_nothing(self):
        run = self.run_job("done", [{"id": "a", "prompt": "x", "max_tokens": 2}])
        before = sorted(os.listdir(run.folder))
        done = self.call("resize", run.folder, "--workers", 3)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the run has ended", done.stderr)
        self.assertEqual(sorted(os.listdir(run.folder)), before)

    def test_an_order_to_a_run_that_drains_is_refused_while_it_drains(self):
        # Longer than the drain may take: it is cut short below.
        requests = [{"prompt": f"Number {i} is", "max_tokens": 480, "ignore_eos": True} for i in range(2000)]
        process = self.start("run", "-i", write_lines(self.scratch / "in.jsonl", requests), "-o", self.scratch / "run",
                             "--model", self.tiny_model(), "--set", "engine.max_sequences=1000")
        run = Run(self.scratch / "run")
        self.worker_pids(run, 1)
        os.kill(process.pid, signal.SIGINT)
        self.wait_until(lambda: run.status["phase"] == "draining", what="the drain")
        done = self.call("resize", run.folder, "--workers", 2, timeout=60)
        self.assertEqual(run.status["phase"], "draining")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--workers 2: refused: the run is about to end", done.stdout)
        os.kill(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 4)

    def test_wrong_words_are_named(self):
        for arguments, said in (
            (["--workers", "0"], "--workers"),
            ([], "one of --workers N, --add HOST and --drain HOST"),
            (["--workers", "2", "--add", "node7"], "--workers excludes --add"),
            (["--add", "a b"], "no host name"),
            (["--add", "node7:x"], "slots"),
            (["--drain", ""], "empty"),
            (["--workers", "2"], "holds no run"),
        ):
            done = self.call("resize", self.scratch, *arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(said, done.stderr, arguments)


if __name__ == "__main__":
    unittest.main()
