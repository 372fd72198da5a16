"""An answer depends on model, arithmetic and request alone: not on batches, neighbours, order, workers, threads, the
prefix cache or the instruction set.
"""
import json
import pathlib
import random
import unittest

from harness import RunTest

SENTENCE = "The town lies on the river, and whoever comes from the north sees the mill first. "


def requests(n=200):
    """Greedy, seeded and unseeded ones, a third each; beginnings that many share, and prompts of 1 to some 200 tokens."""
    draw = random.Random(7)
    out = []
    for i in range(n):
        body = {"prompt": SENTENCE * draw.choice([0, 1, 1, 4, 9]) + f"{i}: " + SENTENCE[:draw.randrange(60)],
                "max_tokens": draw.choice([1, 9, 24]), "logprobs": 2}
        if i % 3 == 0:
            body["temperature"] = 0
        else:
            body |= {"temperature": draw.choice([0.5, 1.2]), "top_p": draw.choice([0.7, 1.0]),
                     "top_k": draw.choice([0, 40]), "repetition_penalty": draw.choice([1.0, 1.2])}
        if i % 3 == 1:
            body["seed"] = draw.randrange(1 << 40)
        out.append({"custom_id": f"r{i}", "method": "POST", "url": "/v1/completions", "body": body})
    return out


def instruction_sets():
    """Those of this machine which compute in f32, bf16 weights widened."""
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    have_avx2 = "avx2" in flags and "fma" in flags
    return ["scalar", *(["avx2"] if have_avx2 else []), *(["avx512"] if "avx512bw" in flags else [])]


def answered(run):
    """id -> what was answered, to the byte; how much came from the cache is no part of it."""
    out = {}
    for record in run.results:
        body = record["response"]["body"]
        usage = {name: n for name, n in body["usage"].items() if name != "prompt_tokens_details"}
        out[record["custom_id"]] = json.dumps([body["choices"], usage, record["sticky"]["arithmetic"]])
    return out


class Determinism(RunTest):
    def check(self, dtype):
        lines = requests()
        shuffled = random.Random(1).sample(lines, len(lines))
        cpu = instruction_sets()[-1]
        variants = {
            "alone": (lines, 1, ("engine.max_sequences=1",)),
            "by-seven": (lines, 3, ("engine.max_sequences=7", "engine.max_batch_tokens=33")),
            "by-64": (lines, 2, ("engine.max_sequences=64", "engine.max_batch_tokens=1024")),
            "uncached": (lines, 3, ("engine.prefix_cache=false", "run.batch=1")),
            "shuffled": (shuffled, 1, ("engine.max_sequences=64",)),
            "shuffled-uncached": (shuffled, 2, ("engine.max_sequences=7", "engine.prefix_cache=false")),
            "two-threads": (lines, 1, ("engine.threads=2",)),
        } | {name: (lines, 2, (f"engine.cpu={name}",)) for name in instruction_sets()[:-1]}

        def run(name, order, workers, options):
            settings = (f"state.default.dtype={dtype}", "run.seed=5", *options)
            if not any(one.startswith("engine.cpu=") for one in options):
                settings = (*settings, f"engine.cpu={cpu}")
            words = [word for one in settings for word in ("--set", one)]
            return answered(self.run_job(f"{dtype}-{name}", order, *words, workers=workers))

        expected = run("plain", lines, 2, ())
        self.assertEqual(len(expected), len(lines))
        self.assertGreater(len(set(expected.values())), 150)  # so that equal answers mean something
        for name, variant in variants.items():
            with self.subTest(name):
                self.assertEqual(run(name, *variant), expected)
        return expected

    def test_answers_in_f32_depend_on_the_request_alone(self):
        self.check("f32")

    def test_answers_with_widened_bf16_depend_on_the_request_alone(self):
        self.check("bf16")


if __name__ == "__main__":
    unittest.main()
