"""What a user sees: exit codes, messages, and the commands that need no launch."""
import json
import os
import signal
import subprocess
import unittest

from harness import REAL_MODEL, Run, RunTest, claims, write_lines


class Commands(RunTest):
    def test_a_job_with_several_mistakes_names_them_all(self):
        job = self.scratch / "job.toml"
        job.write_text('[input]\nfiles = ["missing.jsonl"]\nstrickt = true\n[samplng]\ntemperature = 0.0\n'
                       '[state.default]\nmodel = "nowhere"\ncontext = -1\n')
        done = self.call("run", job)
        self.assertEqual(done.returncode, 1)
        said = done.stdout + done.stderr
        for expected in ("job.toml:3", "strict", "job.toml:4", "sampling", "job.toml:8", "context"):
            self.assertIn(expected, said)
        self.assertNotIn("terminate", said)

    def test_a_folder_is_no_job_file(self):
        done = self.call("run", self.tiny_model())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("tiny-llama-smollm2: cannot be read: it is a folder, not a regular file", done.stderr)

    def test_a_pipe_in_place_of_a_file_is_refused_at_once(self):
        model = self.tiny_model()
        lines = write_lines(self.scratch / "in.jsonl", [{"prompt": "x"}])
        pipe = self.scratch / "pipe"
        os.mkfifo(pipe)
        words = "pipe: cannot be read: it is a pipe, not a regular file"
        for arguments in (("check", pipe), ("check", "-i", pipe, "--model", model),
                          ("check", "-i", lines, "--model", model, "--set", f"chat.template={pipe}"),
                          ("render", "-i", pipe, "--model", model, "--all"), ("run", "-i", pipe, "--model", model)):
            done = self.call(*arguments, timeout=20)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stdout + done.stderr)
        (self.scratch / "model.gguf").symlink_to(pipe)
        self.assertIn("it is a pipe", self.call("inspect", self.scratch / "model.gguf", timeout=20).stderr)
        for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
                     "generation_config.json", "chat_template.jinja"):
            kept = (model / name).read_bytes() if (model / name).exists() else None
            (model / name).unlink(missing_ok=True)
            (model / name).symlink_to(pipe)
            for arguments in (("inspect", model), ("check", "-i", lines, "--model", model)):
                done = self.call(*arguments, timeout=20)
                self.assertNotEqual(done.returncode, 0, (name, arguments))
                self.assertIn(f"{name}: cannot be read: it is a pipe", done.stdout + done.stderr)
            (model / name).unlink()
            if kept is not None:
                (model / name).write_bytes(kept)

    def test_a_link_to_itself_is_named_wherever_it_stands(self):
        model = self.tiny_model()
        lines = write_lines(self.scratch / "in.jsonl", [{"prompt": "x"}])
        for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
                     "special_tokens_map.json", "generation_config.json", "chat_template.jinja"):
            kept = (model / name).read_bytes() if (model / name).exists() else None
            (model / name).unlink(missing_ok=True)
            (model / name).symlink_to(name)
            for arguments in (("inspect", model), ("check", "-i", lines, "--model", model)):
                done = self.call(*arguments, timeout=20)
                self.assertEqual(done.returncode, 1, (name, arguments, done.stderr))
                self.assertIn(f"{name}: cannot be read: ", done.stdout + done.stderr)
            (model / name).unlink()
            if kept is not None:
                (model / name).write_bytes(kept)
        loop = self.scratch / "loop"
        loop.symlink_to("loop")
        for arguments in (("check", loop), ("check", "-i", loop, "--model", model), ("inspect", loop),
                          ("check", "-i", lines, "--model", loop), ("run", "-i", lines, "--model", loop),
                          ("check", "-i", lines, "--model", model, "--set", f"chat.template={loop}"),
                          ("run", "-i", lines, "--model", model, "-o", loop), ("resume", loop),
                          ("render", "-i", lines, "--model", loop, "--all")):
            done = self.call(*arguments, timeout=20)
            self.assertEqual(done.returncode, 1, (arguments, done.stderr))
            self.assertIn("loop", done.stdout + done.stderr)
            self.assertNotIn("filesystem error", done.stdout + done.stderr)

    def test_a_current_directory_that_is_gone_is_told(self):
        gone = self.scratch / "gone"
        gone.mkdir()
        program = ["bash", "-c", f'cd {gone}; rmdir {gone}; exec "$@"', "-", *self.command("resume", "there")]
        done = subprocess.run(program, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the current directory cannot be told", done.stderr)

    def test_lines_may_come_through_a_pipe_of_the_shell(self):
        model = self.tiny_model()
        for path in ("/dev/stdin", "/dev/fd/0", "-"):
            done = self.call("render", "-i", path, "--model", model, "--all", input='{"prompt": "x"}\n')
            self.assertEqual(done.returncode, 0, done.stderr)
        end, start = os.pipe()
        with os.fdopen(start, "w") as writer:
            writer.write('{"prompt": "x"}\n')
        done = self.call("render", "-i", f"/dev/fd/{end}", "--model", model, "--all", pass_fds=(end,))
        os.close(end)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.call("run", "-i", "/dev/fd/9", "--model", model)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/fd/9", done.stderr)

    def test_a_folder_that_holds_a_run_is_left_alone(self):
        run = self.run_job("first", claims(5), "--set", "sampling.temperature=0")
        before = {file.name: file.read_bytes() for file in run.folder.iterdir() if file.is_file()}
        done = self.call("run", "-i", self.scratch / "first.jsonl", "-o", run.folder, "--model", self.tiny_model())
        self.assertEqual(done.returncode, 1)
        self.assertIn("resume", done.stderr)
        self.assertEqual({f.name: f.read_bytes() for f in run.folder.iterdir() if f.is_file()}, before)

    def test_status_tells_of_a_finished_run(self):
        run = self.run_job("done", claims(5), "--set", "sampling.temperature=0")
        done = self.call("status", run.folder, "--exit-code")
        self.assertEqual(done.returncode, 0)
        self.assertIn("5", done.stdout)

    def test_errors_are_tried_again_only_when_asked(self):
        lines = [{"id": "good", "prompt": "x"}, {"id": "long", "prompt": "long " * 1000}]
        run = self.run_job("retry", lines, "--set", "state.default.context=64", expect=3)
        self.assertEqual(self.call("resume", run.folder).returncode, 3)
        self.assertEqual(len(run.errors), 1)
        self.assertEqual(self.call("resume", run.folder, "--retry-errors=worker_lost").returncode, 3)
        self.assertEqual(self.call("resume", run.folder, "--retry-errors").returncode, 3)
        self.assertEqual((len(run.results), len(run.errors)), (1, 1))

    def test_an_edited_and_reordered_input_runs_only_what_changed(self):
        requests = claims(40)
        run = self.run_job("edited", requests, "--set", "sampling.temperature=0")
        before = run.answers()
        requests[3]["body"]["messages"][1]["content"] = "Claim: this one is new."
        changed = requests[3]["custom_id"]
        del requests[7]
        write_lines(self.scratch / "edited.jsonl", list(reversed(requests)))
        done = self.call("resume", run.folder, "--workers", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = run.answers()
        self.assertEqual(set(after), {r["custom_id"] for r in requests})
        self.assertEqual({k: v for k, v in after.items() if k != changed},
                         {k: before[k] for k in after if k != changed})
        self.assertEqual(len((run.folder / "superseded.jsonl").read_text().splitlines()), 2)

    def test_render_needs_only_text_files(self):
        model = self.tiny_model()
        for name in ("config.json", "model.safetensors"):
            (model / name).unlink()
        file = write_lines(self.scratch / "in.jsonl", [
            {"id": "a", "messages": [{"role": "user", "content": "Hi <|im_end|> there"}]},
            {"id": "b", "prompt": ""},
            {"id": "c", "messages": []},
        ])
        done = self.call("render", "-i", file, "--model", model, "--all", "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertTrue(lines[0]["text"].endswith("there<|im_end|>\n<|im_start|>assistant\n"))
        self.assertEqual(lines[0]["token_ids"].count(2), 2)  # <|im_end|> of the template, not of the user
        self.assertEqual(lines[1], {"id": "b", "text": "", "token_ids": []})
        self.assertEqual(lines[2]["error"]["code"], "invalid_request")
        self.assertEqual(lines[2]["line"], 3)

    def test_check_finds_every_bad_line_without_a_launch(self):
        file = write_lines(self.scratch / "in.jsonl", [claims(1)[0], "{bad", {"id": "x", "prompt": "y", "top_p": 7}])
        done = self.call("check", "-i", file, "--model", self.tiny_model())
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("in.jsonl:2", done.stdout + done.stderr)
        self.assertIn("in.jsonl:3", done.stdout + done.stderr)

    def test_check_tells_what_a_launch_would_look_like(self):
        file = write_lines(self.scratch / "in.jsonl", claims(3))
        done = self.call("check", "-i", file, "--model", self.tiny_model(), "--workers", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"binding +2 workers on this machine's CPUs [0-9]")
        self.assertRegex(done.stdout, r"worker 2: CPUs [0-9,-]+.*, [0-9]+ threads?\n")
        self.assertRegex(done.stdout, r"carries +.+ is linked: (workers may be added|a fixed number)")
        self.assertRegex(done.stdout, r"estimate +[0-9:]+ for prompts and at most [0-9:]+ for answers: 2 workers")
        self.assertRegex(done.stdout, r"basis .* on this machine")

    def test_check_without_a_model_still_reads_the_input(self):
        file = write_lines(self.scratch / "in.jsonl", ["{bad", {"id": "x", "prompt": "y", "top_p": 7}, claims(1)[0]])
        done = self.call("check", "-i", file, "--model", self.scratch / "nowhere")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for expected in ("nowhere", "in.jsonl:1", "in.jsonl:2"):
            self.assertIn(expected, done.stdout + done.stderr)

    def test_another_model_than_asked_for_answers_with_one_warning(self):
        lines = [{"id": str(i), "prompt": "x", "model": "other", "max_tokens": 2} for i in range(5)]
        run = self.run_job("other", lines)
        self.assertEqual({r["response"]["body"]["model"] for r in run.results}, {"other"})
        self.assertEqual((run.folder / "run.log").read_text().count('asks for the model "other"'), 1)

    def test_inspect_shows_the_real_model(self):
        done = self.call("inspect", REAL_MODEL / "smollm2.gguf")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("llama", done.stdout)
        self.assertIn("q4_1", done.stdout.lower())

    def test_a_lying_model_file_stops_the_run_and_says_where(self):
        model = self.tiny_model()
        weights = model / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-1000])
        file = write_lines(self.scratch / "in.jsonl", claims(3))
        done = self.call("run", "-i", file, "-o", self.scratch / "lying", "--model", model)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("model.safetensors", done.stdout + done.stderr)

    def test_input_order_is_kept_when_asked(self):
        run = self.run_job("ordered", claims(60), "--set", "output.order=input", "--set", "engine.max_sequences=5")
        self.assertEqual([r["custom_id"] for r in run.results], [r["custom_id"] for r in claims(60)])

    def test_the_closing_text_names_no_summary_that_could_not_be_written(self):
        (self.scratch / "run/summary.json/in the way").mkdir(parents=True)
        file = write_lines(self.scratch / "in.jsonl", claims(3))
        done = self.call("run", "-i", file, "-o", self.scratch / "run", "--model", self.tiny_model())
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("summary  could not be written (exit code 0): ", done.stderr)
        self.assertNotIn("run/summary.json (exit code", done.stderr)
        self.assertIn("error: the run ended without a summary", done.stderr)
        self.assertNotIn("[00:00:00] error", done.stderr)

    def test_on_a_terminal_the_final_counts_stay_above_the_summary(self):
        file = write_lines(self.scratch / "in.jsonl", claims(40))
        code, shown = self.call_on_terminal(["stdout", "stderr"], "run", "-i", file, "-o", self.scratch / "run",
                                            "--model", self.tiny_model())
        self.assertEqual(code, 0)
        *before, summary = shown.split("finished in ")
        self.assertRegex(before[-1].splitlines()[-1], r"\[00:00:\d\d\] 40/40 \(100.0 %\)")
        self.assertNotIn("req/min  in", summary)
        self.assertNotIn("\033[K", summary)

    def test_an_order_for_a_thousand_workers_is_refused(self):
        requests = claims(1500)
        for request in requests:
            request["body"]["max_tokens"] = 600
        process = self.start("run", "-i", write_lines(self.scratch / "in.jsonl", requests), "-o", self.scratch / "run",
                             "--model", self.tiny_model(), "--workers", 1)
        run = Run(self.scratch / "run")
        self.worker_pids(run, 1)
        done = self.call("resize", run.folder, "--workers", 1000)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"room for (\d+) workers only; at most \1 on one host, unless resize.max_workers is set")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=120), 4)


class Finished(RunTest):
    def files(self, run):
        return {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in run.folder.iterdir() if f.is_file()}

    def expect_nothing_done(self, run, done, exit_code, before):
        self.assertEqual(done.returncode, exit_code, done.stderr)
        self.assertIn(f"have their records (exit code {exit_code})", done.stderr)
        self.assertEqual(self.files(run), before)

    def test_a_finished_run_is_left_as_it_is(self):
        lines = [*claims(4), {"id": "long", "prompt": "long " * 1000}]
        run = self.run_job("done", lines, "--set", "state.default.context=256", expect=3)
        before = self.files(run)
        self.expect_nothing_done(run, self.call("resume", run.folder), 3, before)
        self.expect_nothing_done(run, self.call("resume", run.folder, "--retry-errors=worker_lost"), 3, before)
        self.expect_nothing_done(run, self.call("run", "--resume", "-i", self.scratch / "done.jsonl", "-o", run.folder,
                                                "--model", self.tiny_model()), 3, before)
        mpirun = "mpirun --oversubscribe --bind-to none --enable-recovery --allow-run-as-root -n 2".split()
        direct = subprocess.run([*mpirun, *self.command("resume", run.folder)], capture_output=True, text=True,
                                timeout=60, cwd=self.scratch)
        self.assertIn("nothing is left to do", direct.stderr)
        self.assertEqual(self.files(run), before)

    def test_what_is_new_or_asked_for_is_done(self):
        run = self.run_job("done", claims(4))
        with open(self.scratch / "done.jsonl", "ab") as more:
            more.write(b'{"id": "new", "prompt": "x", "max_tokens": 2}\n')
        done = self.call("resume", run.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("nothing is left", done.stderr)
        self.assertEqual(len(run.results), 5)
        self.assertEqual(self.call("resume", run.folder, "--set", "output.order=input").returncode, 0)
        self.assertEqual(run.summary["counts"]["this_run"]["done_before"], 5)

    def test_standard_input_counts_as_it_was_kept(self):
        done = self.call("run", "-i", "-", "-o", self.scratch / "run", "--model", self.tiny_model(),
                         input='{"prompt": "x", "max_tokens": 2}\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        run = Run(self.scratch / "run")
        before = self.files(run)
        done = self.call("resume", run.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing is left to do: the only request has its record (exit code 0)", done.stderr)
        self.assertEqual(self.files(run), before)


if __name__ == "__main__":
    unittest.main()
