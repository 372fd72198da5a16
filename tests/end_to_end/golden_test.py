"""The recorded answers of SmolLM2-135M-Instruct through the whole binary: same tokens, same log-probabilities."""
import array
import json
import lzma
import math
import struct
import unittest

from harness import DATA, REAL_MODEL, RunTest


def golden():
    return json.loads(lzma.open(DATA / "smollm2/golden.json.xz").read())


def golden_floats(name):
    """A recorded tensor (safetensors: length of the header, header, numbers)."""
    content = lzma.open(DATA / "smollm2/golden.safetensors.xz").read()
    (n_header,) = struct.unpack("<Q", content[:8])
    begin, end = json.loads(content[8:8 + n_header])[name]["data_offsets"]
    return array.array("f", content[8 + n_header + begin:8 + n_header + end])


class Golden(RunTest):
    def check(self, name, model, dtype):
        rows = golden()["rows"]
        requests = [
            {"custom_id": f"row-{row['n']}", "method": "POST", "url": "/v1/chat/completions",
             "body": {"messages": row["messages"], "max_tokens": 48, "temperature": 0, "logprobs": True,
                      "return_token_ids": True}}
            for row in rows
        ]
        run = self.run_job(name, requests, "--set", f"state.default.dtype={dtype}", model=model, workers=2)
        choices = {r["custom_id"]: r["response"]["body"] for r in run.results}
        self.assertEqual(len(choices), 29)
        for row in rows:
            with self.subTest(row=row["n"]):
                body = choices[f"row-{row['n']}"]
                choice = body["choices"][0]
                self.assertEqual(body["prompt_token_ids"], row["prompt_ids"])
                self.assertEqual(choice["token_ids"], row["new_ids"])
                self.assertEqual(choice["finish_reason"], row["finish_reason"])
                self.assertEqual(choice["message"]["content"], row["text"])
                self.assertEqual(body["usage"]["completion_tokens"], len(row["new_ids"]))
                ours = [entry["logprob"] for entry in choice["logprobs"]["content"]]
                for mine, theirs in zip(ours, row["logprobs"], strict=False):
                    self.assertLess(abs(mine - theirs), 1e-3)

    def test_hugging_face_folder_in_f32(self):
        self.check("hf", REAL_MODEL / "hf", "f32")

    def test_recorded_answers_score_as_choices_what_was_recorded(self):
        rows = [row for row in golden()["rows"] if row["finish_reason"] == "stop"]
        self.assertGreater(len(rows), 10)
        requests = [{"id": f"row-{row['n']}", "messages": row["messages"], "choice": [row["text"], row["text"] + " zebra"],
                     "return_token_ids": True} for row in rows]
        run = self.run_job("choice", requests, "--set", "state.default.dtype=f32", model=REAL_MODEL / "hf", workers=1)
        bodies = {r["custom_id"]: r["response"]["body"] for r in run.results}
        n_as_made = 0
        for row in rows:
            with self.subTest(row=row["n"]):
                choice = bodies[f"row-{row['n']}"]["choices"][0]
                self.assertEqual(choice["message"]["content"], row["text"])
                self.assertEqual(choice["finish_reason"], "stop")
                # A text may have been made of other tokens than those it is split into.
                if choice["token_ids"] == row["new_ids"][:-1]:
                    n_as_made += 1
                    recorded = row["logprobs"][:len(row["new_ids"]) - 1]
                    text, longer = choice["choice_scores"]
                    self.assertLess(abs(text["logprob"] - sum(recorded)), 1e-3 * len(recorded))
                    self.assertLess(longer["logprob"], text["logprob"])
                    odds = math.exp(longer["logprob"] - text["logprob"])
                    self.assertAlmostEqual(text["score"], 1.0 / (1.0 + odds), places=12)
                    self.assertAlmostEqual(longer["score"], odds / (1.0 + odds), places=12)
        self.assertGreater(n_as_made, len(rows) // 2)

    def test_a_long_text_is_scored_as_recorded(self):
        score = golden()["score"]
        recorded = golden_floats("score.logprobs")
        requests = [{"id": "legacy", "prompt": score["ids"], "echo": True, "logprobs": 0, "max_tokens": 0},
                    {"id": "text", "prompt": score["text"] * score["repeats"], "prompt_logprobs": 2, "max_tokens": 1,
                     "logprobs": 20, "temperature": 0}]
        run = self.run_job("score", requests, "--set", "state.default.dtype=f32", model=REAL_MODEL / "hf", workers=1)
        bodies = {r["custom_id"]: r["response"]["body"] for r in run.results}
        legacy = bodies["legacy"]["choices"][0]
        self.assertEqual(legacy["text"], score["text"] * score["repeats"])
        self.assertEqual(bodies["legacy"]["usage"]["completion_tokens"], 0)
        self.assertIsNone(legacy["logprobs"]["token_logprobs"][0])
        self.assertEqual("".join(legacy["logprobs"]["tokens"]), legacy["text"])
        lengths = [len(token) for token in legacy["logprobs"]["tokens"]]
        self.assertEqual(legacy["logprobs"]["text_offset"], [sum(lengths[:i]) for i in range(len(lengths))])
        ours = legacy["logprobs"]["token_logprobs"][1:]
        self.assertEqual(len(ours), len(recorded))
        for mine, theirs in zip(ours, recorded):
            self.assertLess(abs(mine - theirs), 1e-3)

        text = bodies["text"]["choices"][0]
        self.assertIsNone(text["prompt_logprobs"][0])
        for entry, token, mine in zip(text["prompt_logprobs"][1:], score["ids"][1:], ours, strict=True):
            self.assertEqual(list(entry)[0], str(token))
            self.assertEqual(entry[str(token)]["logprob"], mine)
            ranks = sorted(other["rank"] for other in entry.values())
            self.assertEqual(ranks[:2], [1, 2])
        top = list(text["logprobs"]["top_logprobs"][0].values())
        for mine, (_, theirs) in zip(top, score["last_top20"], strict=True):
            self.assertLess(abs(mine - theirs), 1e-3)


if __name__ == "__main__":
    unittest.main()
