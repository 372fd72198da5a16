"""What a user sees: exit codes, messages, and the commands that need no launch."""
import json
import os
import unittest

from harness import REAL_MODEL, RunTest, claims, write_lines


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
        self.assertRegex(done.stdout, r"worker 2: CPUs [0-9,-]+.*, [0-9]+ threads")
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


if __name__ == "__main__":
    unittest.main()
