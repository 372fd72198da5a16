"""The recorded answers of SmolLM2-135M-Instruct through the whole binary: same tokens, same log-probabilities."""
import json
import lzma
import unittest

from harness import DATA, REAL_MODEL, RunTest


def golden():
    return json.loads(lzma.open(DATA / "smollm2/golden.json.xz").read())


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


if __name__ == "__main__":
    unittest.main()
