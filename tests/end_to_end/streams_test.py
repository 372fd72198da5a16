"""Standard output and standard error that are full, closed, or whose reader has gone."""
import os
import subprocess
import unittest

from harness import Run, RunTest, write_lines


class Streams(RunTest):
    def setUp(self):
        super().setUp()
        requests = [{"id": f"c{i}", "prompt": f"Number {i} is", "max_tokens": 30} for i in range(300)]
        self.file = write_lines(self.scratch / "requests.jsonl", requests)
        self.job = ("-i", self.file, "--model", self.tiny_model())

    def shell(self, redirections, *arguments):
        """Runs the binary to its end as a shell redirects it: its exit code."""
        line = 'exec "$@" ' + redirections
        return subprocess.run(["sh", "-c", line, "sh", *self.command(*arguments)], cwd=self.scratch, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode

    def check_whole(self, name, exit_code):
        run = Run(self.scratch / name)
        self.assertEqual((exit_code, run.summary["exit_code"], len(run.results)), (0, 0, 300), name)

    def test_a_run_is_not_ended_by_words_that_nobody_takes(self):
        for name, redirections in (("full", "2>/dev/full"), ("closed", "2>&-"), ("all-closed", "<&- >&- 2>&-")):
            code = self.shell(redirections, "run", *self.job, "-o", self.scratch / name, "--workers", 2)
            self.check_whole(name, code)
            code = self.shell(redirections, "resume", self.scratch / name)
            self.assertEqual(code, 0, f"{name}: a finished run")
            self.assertEqual(self.shell(">/dev/full", "status", self.scratch / name, "--exit-code"), 0, name)
            code = self.shell(redirections, "resume", self.scratch / "none")
            self.assertEqual(code, 1, f"{name}: no run")

    def test_a_run_outlives_the_reader_of_its_words(self):
        process = subprocess.Popen(
            self.command("run", *self.job, "-o", self.scratch / "piped", "--workers", 2), cwd=self.scratch,
            stderr=subprocess.PIPE, start_new_session=True,
        )
        self.assertIn(b"run folder", process.stderr.readline())
        process.stderr.close()
        self.check_whole("piped", process.wait(timeout=120))

    def test_a_mistake_is_told_by_the_exit_code_where_no_word_is_taken(self):
        code = self.shell("<&- >&- 2>&-", "run", *self.job, "-o", self.scratch / "run", "--set", "sampling.top_k=x")
        self.assertEqual(code, 1)

    def test_output_that_is_not_taken_is_no_success(self):
        (self.scratch / "seen").mkdir()
        (self.scratch / "seen/lock").write_text("{}")
        for arguments in (
            ("render", *self.job, "--line", 1, "--json"), ("render", *self.job, "--all"), ("check", *self.job),
            ("status", self.scratch / "seen"), ("inspect", self.tiny_model()), ("run", *self.job, "--print-launch"), ("--version",), ("run", "--help"),
            ("run", "--model", self.tiny_model(), "--prompt", "Hello", "--set", "sampling.max_tokens=4"),
        ):
            for target in (">/dev/full", ">&-"):
                self.assertEqual(self.shell(target, *arguments), 5, (arguments, target))
        with open(os.devnull) as nothing, open("/dev/full", "w") as full:
            done = subprocess.run(self.command("render", *self.job, "--line", 1), stdin=nothing, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertIn("standard output", done.stderr)
        self.assertIn("No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main()
