"""Every kind of bad line gives one record of its own, and its neighbours are unharmed."""
import gzip
import json
import struct
import subprocess
import unittest

from harness import Run, RunTest, write_lines

GREEDY = ("--set", "sampling.temperature=0", "--set", "sampling.max_tokens=4")


def chat(custom_id, **body):
    body = {"messages": [{"role": "user", "content": "Claim: water is wet."}], "max_tokens": 4, **body}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


# line, expected code, expected param (None: do not care)
BAD_LINES = [
    (b"{not json", "invalid_json_line", None),
    (b'{"id": "x", "prompt": "\xff"}', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "\\ud800"}', "invalid_json_line", None),
    (b"[1, 2]", "invalid_json_line", None),
    (b'"text"', "invalid_json_line", None),
    (b"[" * 100000, "invalid_json_line", None),
    ({"custom_id": "", "prompt": "x"}, "invalid_request", "custom_id"),
    ({"custom_id": 7, "prompt": "x"}, "invalid_request", "custom_id"),
    ({"id": "nothing"}, "invalid_request", None),
    ({"id": "good-0", "prompt": "the id of an earlier line"}, "duplicate_custom_id", None),
    ({**chat("url"), "url": "/v1/images"}, "url_mismatch", None),
    (chat("hot", temperature=-1), "invalid_request", "temperature"),
    (chat("hot text", temperature="warm"), "invalid_request", "temperature"),
    (chat("p", top_p=0), "invalid_request", "top_p"),
    (chat("none", max_tokens=0.5), "invalid_request", "max_tokens"),
    (chat("stop", stop=""), "invalid_request", "stop"),
    (chat("stop ids", stop_token_ids=[10**6]), "invalid_request", "stop_token_ids"),
    (chat("bias", logit_bias={"2000000000": 1}), "invalid_request", "logit_bias"),
    (chat("messages", messages=[]), "invalid_request", "messages"),
    (chat("role", messages=[{"content": "x"}]), "invalid_request", "messages[0].role"),
    (chat("long", messages=[{"role": "user", "content": "long " * 2000}]), "context_length_exceeded", None),
    ({"id": "ids", "prompt": [1, 2, 1 << 20]}, "invalid_request", "prompt"),
    ({"id": "empty", "prompt": []}, "invalid_request", "prompt"),
]


class Lines(RunTest):
    def test_each_bad_line_is_one_record_and_harms_nobody(self):
        lines = []
        for i, (bad, _, _) in enumerate(BAD_LINES):
            lines += [chat(f"good-{i}"), bad]
        run = self.run_job("zoo", lines, *GREEDY, expect=3)
        self.assertEqual({r["custom_id"] for r in run.results}, {f"good-{i}" for i in range(len(BAD_LINES))})
        self.assertEqual(len({r["response"]["body"]["choices"][0]["message"]["content"] for r in run.results}), 1)
        self.assertEqual(len(run.errors), len(BAD_LINES))
        by_line = {record["error"]["line"]: record["error"] for record in run.errors}
        for i, (bad, code, param) in enumerate(BAD_LINES):
            with self.subTest(line=str(bad)[:80]):
                error = by_line[2 * i + 2]
                self.assertEqual(error["code"], code, error)
                if param is not None:
                    self.assertEqual(error["param"], param, error)
                self.assertGreater(len(error["message"]), 10)
                self.assertTrue(error["file"].endswith("zoo.jsonl"))
        self.assertEqual(run.summary["exit_code"], 3)

    def test_byte_offsets_point_at_the_lines(self):
        lines = [chat("a"), b"bad", "", chat("b"), b"worse"]
        run = self.run_job("offsets", lines, *GREEDY, expect=3)
        content = (self.scratch / "offsets.jsonl").read_bytes()
        for record in run.errors:
            offset, number = record["error"]["byte_offset"], record["error"]["line"]
            self.assertEqual(content[offset:].split(b"\n")[0], content.split(b"\n")[number - 1])

    def test_strict_refuses_the_whole_input_before_any_work(self):
        file = write_lines(self.scratch / "strict.jsonl", [chat("a"), b"bad", chat("b")])
        done = self.call("run", "-i", file, "-o", self.scratch / "strict", "--model", self.tiny_model(), "--set",
                         "input.strict=true")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("strict.jsonl:2", done.stdout + done.stderr)

    def test_bom_crlf_blank_lines_and_a_missing_last_newline_are_fine(self):
        text = "\ufeff" + json.dumps(chat("a")) + "\r\n\r\n  \n" + json.dumps(chat("b"))
        file = self.scratch / "windows.jsonl"
        file.write_bytes(text.encode())
        run = self.run_job("windows", file, *GREEDY)
        self.assertEqual(set(run.answers()), {"a", "b"})
        self.assertEqual({r["custom_id"]: r["sticky"]["line"] for r in run.results}, {"a": 1, "b": 4})

    def test_packed_files_standard_input_and_several_files_give_the_same(self):
        requests = [{"id": f"r{i}", "prompt": f"Number {i}", "note": i} for i in range(20)]
        expected = self.run_job("plain", requests, *GREEDY).answers()
        plain = self.scratch / "plain.jsonl"
        gz = self.scratch / "packed.jsonl.gz"
        gz.write_bytes(gzip.compress(plain.read_bytes()))
        self.assertEqual(self.run_job("packed", gz, *GREEDY).answers(), expected)

        parts = [write_lines(self.scratch / f"part{i}.jsonl", requests[i::2]) for i in range(2)]
        done = self.call("run", "-i", parts[0], "-i", parts[1], "-o", self.scratch / "parts", "--model",
                         self.tiny_model(), *GREEDY)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run(self.command("run", "-i", "-", "-o", self.scratch / "stdin", "--model", self.tiny_model(),
                                           *GREEDY), input=plain.read_bytes(), capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("parts", "stdin"):
            self.assertEqual(Run(self.scratch / name).answers(), expected)

    def test_other_columns_are_kept(self):
        row = {"id": "r", "prompt": "x", "label": "SUPPORTED", "score": 1.10, "big": 12345678901234567890123}
        run = self.run_job("rows", [row], *GREEDY)
        self.assertEqual(run.results[0]["row"], {"label": "SUPPORTED", "score": 1.1, "big": row["big"]})

    def test_weights_that_are_not_numbers_give_errors_and_no_empty_answers(self):
        model = self.tiny_model()
        weights = bytearray((model / "model.safetensors").read_bytes())
        (n_header,) = struct.unpack("<Q", weights[:8])
        start, end = json.loads(weights[8:8 + n_header])["model.norm.weight"]["data_offsets"]
        for at in range(8 + n_header + start, 8 + n_header + end, 2):
            weights[at:at + 2] = b"\xc0\x7f"  # NaN in bf16
        (model / "model.safetensors").write_bytes(weights)
        lines = [{"id": "greedy", "prompt": "x", "temperature": 0, "column": 1}, {"id": "drawn", "prompt": "x"},
                 {"id": "chat", "messages": [{"role": "user", "content": "x"}]}]
        run = self.run_job("nan", lines, expect=3)
        self.assertEqual(run.results, [])
        self.assertEqual({e["custom_id"] for e in run.errors}, {"greedy", "drawn", "chat"})
        for error in run.errors:
            self.assertEqual(error["error"]["code"], "non_finite_logits")
            self.assertIn("NaN or infinity", error["error"]["message"])
            self.assertEqual(error["response"]["status_code"], 500)
            self.assertEqual(error.get("row"), {"column": 1} if error["custom_id"] == "greedy" else None)


if __name__ == "__main__":
    unittest.main()
