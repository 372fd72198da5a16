"""Every parameter through the whole binary: the same answers whoever makes them, with whom, and in what order."""
import json
import os
import random
import signal
import unittest

from harness import Run, RunTest, write_lines

PROMPTS = ("Once upon a time there was a small house by the sea, and in it", "Claim: water is wet.", "def f(x):",
           "Z\u00fcrich liegt am", "The first ten prime numbers are two, three, five, seven,")
# Each for every prompt. None has its seed from the run.
PARAMETERS = (
    {"temperature": 0},
    {"temperature": 0, "n": 3, "logprobs": 2},
    {"seed": 1, "n": 5},
    {"seed": 1, "n": 2},
    {"n": 4, "stop": ["e", "the"], "min_tokens": 3, "logprobs": 0},
    {"top_k": 20, "top_p": 0.8, "presence_penalty": 1.5, "frequency_penalty": -0.5},
    {"repetition_penalty": 1.3, "temperature": 0.7, "echo": True},
    {"logit_bias": {"5": 10, "7": -100}, "ignore_eos": True, "min_p": 0.05},
    {"max_tokens": 0, "echo": True, "logprobs": 3},
    {"max_tokens": 0, "prompt_logprobs": 2},
    {"seed": 2, "echo": True, "logprobs": 1, "prompt_logprobs": 4, "n": 2},
    {"choice": [" yes", " no", " a third way that is longer than the others", "!"]},
    {"choice": [" yes", " no"], "logprobs": 1},
)
# A chat has no echo, and says in another way that it wants logprobs.
CHAT = {"max_tokens": 0, "prompt_logprobs": 1}, {"n": 3, "logprobs": True, "top_logprobs": 2}, {"choice": ["yes", "no"]}


def requests():
    lines = []
    for p, prompt in enumerate(PROMPTS):
        for k, parameters in enumerate(PARAMETERS):
            lines.append({"id": f"{p}-{k}", "prompt": prompt, "max_tokens": 24, "return_token_ids": True, **parameters})
        for k, parameters in enumerate(CHAT):
            lines.append({"id": f"{p}-chat-{k}", "messages": [{"role": "user", "content": prompt}], "max_tokens": 24,
                          **parameters})
    return lines


def answers(run):
    """id -> all that is said of an answer and its prompt, as text: numbers with all their digits."""
    assert run.errors == [], run.errors[:1]
    out = {}
    for record in run.results:
        body = record["response"]["body"]
        assert record["custom_id"] not in out
        out[record["custom_id"]] = json.dumps([body["choices"], body.get("prompt_logprobs"),
                                               body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]])
    return out


class Parameters(RunTest):
    def test_answers_depend_on_their_request_alone(self):
        lines = requests()
        expected = answers(self.run_job("plain", lines, workers=1))
        self.assertEqual(len(expected), len(lines))
        for name, workers, settings in (
                ("alone", 1, {"engine.max_sequences": 1, "engine.max_batch_tokens": 16}),
                ("seven", 2, {"engine.max_sequences": 7, "engine.prefix_cache": "false"}),
                ("many", 3, {"engine.max_sequences": 64, "run.batch": 1}),
        ):
            with self.subTest(name):
                random.Random(name).shuffle(lines)
                arguments = [a for key, value in settings.items() for a in ("--set", f"{key}={value}")]
                self.assertEqual(answers(self.run_job(name, lines, *arguments, workers=workers)), expected)

    def test_a_killed_worker_and_those_that_leave_in_the_middle_of_answers_cost_nothing(self):
        lines = []
        for copy in range(8):
            for line in requests():
                long = {} if line["max_tokens"] == 0 else {"max_tokens": 150, "ignore_eos": True}
                lines.append({**line, **long, "id": f"{copy}-{line['id']}"})
            random.Random(copy).shuffle(lines)
        file = write_lines(self.scratch / "lines.jsonl", lines)
        expected = answers(self.run_job("undisturbed", file, workers=2))

        process = self.start("run", "-i", file, "-o", self.scratch / "disturbed", "--model", self.tiny_model(),
                             "--workers", 3)
        run = Run(self.scratch / "disturbed")
        self.wait_until(lambda: run.n_recorded() > 20, what="the first results")
        os.kill(self.worker_pids(run, 3)[2], signal.SIGKILL)
        for workers in (1, 3, 1):
            n_before = run.n_recorded()
            self.call("resize", run.folder, "--workers", workers)
            self.wait_until(lambda: run.n_recorded() > n_before + 40 or process.poll() is not None, what="some results")
        self.assertEqual(process.wait(timeout=240), 0)
        self.assertEqual(answers(run), expected)
        self.assertEqual([loss["cause"] for loss in run.summary["losses"]], ["died"])


if __name__ == "__main__":
    unittest.main()
