"""The main job on a tiny model: 2,000 claims, whatever the number of workers and the batch sizes."""
import subprocess
import unittest

from harness import BINARY, Run, RunTest, claims, write_lines

GREEDY = ("--set", "sampling.temperature=0", "--set", "state.default.dtype=f32")


class Claims(RunTest):
    def test_answers_do_not_depend_on_workers_or_batches(self):
        requests = claims()
        ids = {request["custom_id"] for request in requests}
        plain = self.run_job("two", requests, *GREEDY, workers=2)
        expected = plain.answers()
        self.assertEqual(set(expected), ids)
        self.assertEqual(plain.errors, [])
        self.assertEqual(plain.summary["exit_code"], 0)
        self.assertGreater(len(set(expected.values())), 500)  # the answers differ, so equal answers mean something

        variants = {
            "one": (1, ()),
            "three": (3, ("--set", "engine.max_sequences=7", "--set", "engine.max_batch_tokens=33")),
            "uncached": (2, ("--set", "engine.prefix_cache=false", "--set", "run.batch=1")),
        }
        for name, (workers, options) in variants.items():
            with self.subTest(name):
                run = self.run_job(name, requests, *GREEDY, *options, workers=workers)
                self.assertEqual(run.answers(), expected)

    def test_mpirun_form_gives_the_same_as_the_launcher(self):
        requests = claims(200)
        file = write_lines(self.scratch / "in.jsonl", requests)
        expected = self.run_job("launcher", file, *GREEDY).answers()
        printed = self.call("run", "-i", file, "-o", self.scratch / "mpirun", "--model", self.tiny_model(),
                            "--workers", 2, *GREEDY, "--print-launch")
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn("mpirun", printed.stdout)
        done = subprocess.run(printed.stdout, shell=True, capture_output=True, timeout=120, text=True)
        run = Run(self.scratch / "mpirun")
        self.assertEqual(run.answers(), expected, done.stdout + done.stderr)
        self.assertEqual(run.summary["exit_code"], 0)

    def test_one_rank_is_coordinator_and_worker(self):
        requests = claims(100)
        file = write_lines(self.scratch / "in.jsonl", requests)
        expected = self.run_job("launcher", file, *GREEDY).answers()
        done = subprocess.run(
            ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "1", BINARY, "run", "-i", file,
             "-o", self.scratch / "single", "--model", self.tiny_model(), *GREEDY],
            capture_output=True, timeout=120, text=True)
        self.assertEqual(Run(self.scratch / "single").answers(), expected, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
