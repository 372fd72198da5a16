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


def completion(custom_id, **body):
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/completions",
            "body": {"prompt": "Water is", "max_tokens": 4, **body}}


def said(**message):
    return chat("said", messages=[{"role": "user", "content": "x"}, message])


LONG = 2 ** 26 + 1  # bytes of a line that is too long by one

# line, expected code, expected param (None: do not care). What has an id of its own is refused behind the reader.
BAD_LINES = [
    # no JSON, no request
    (b"{not json", "invalid_json_line", None),
    (b'{"id": "x", "prompt": "\xff"}', "invalid_json_line", None),
    (b'{"id": "x", "prompt": "\xc0\xaf"}', "invalid_json_line", None),
    (b'\xff\xfe{\x00}\x00', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "\\ud800"}', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "\\udc00\\ud800"}', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "\\u12"}', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "\x01"}', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "a"', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "a"} more', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "a",}', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "a", "temperature": NaN}', "invalid_json_line", None),
    (b'{"id": "x1", "prompt": "a", "temperature": 1e400}', "invalid_json_line", None),
    (b"{'id': 'x1', 'prompt': 'a'}", "invalid_json_line", None),
    (b"[1, 2]", "invalid_json_line", None),
    (b'"text"', "invalid_json_line", None),
    (b"null", "invalid_json_line", None),
    (b"0", "invalid_json_line", None),
    (b"[" * 100000, "invalid_json_line", None),
    (b'{"id": "deep", "prompt": "a", "tree": ' + b"[" * 600 + b"]" * 600 + b"}", "invalid_json_line", None),
    (b'{"id": "long", "prompt": "' + b"a" * LONG + b'"}', "line_too_long", None),
    ({"custom_id": "", "prompt": "x"}, "invalid_request", "custom_id"),
    ({"custom_id": 7, "prompt": "x"}, "invalid_request", "custom_id"),
    ({"custom_id": None, "prompt": "x"}, "invalid_request", "custom_id"),
    ({"id": ["x"], "prompt": "x"}, "invalid_request", "custom_id"),
    ({"id": "nothing"}, "invalid_request", None),
    ({"id": "both", "prompt": "x", "messages": []}, "invalid_request", "prompt"),
    ({"id": "good-0", "prompt": "the id of an earlier line"}, "duplicate_custom_id", None),
    ({**chat("url"), "url": "/v1/images"}, "url_mismatch", None),
    ({**chat("url"), "url": "/v1/embeddings"}, "url_mismatch", None),
    ({**chat("url"), "url": 7}, "invalid_request", "url"),
    ({**chat("method"), "method": "GET"}, "invalid_request", "method"),
    ({**chat("body"), "body": [1]}, "invalid_request", "body"),
    ({**chat("body"), "body": None}, "invalid_request", "body"),
    # what to answer
    (chat("messages", messages=[]), "invalid_request", "messages"),
    (chat("messages", messages="x"), "invalid_request", "messages"),
    (chat("messages", messages=["x"]), "invalid_request", "messages[0]"),
    (chat("role", messages=[{"content": "x"}]), "invalid_request", "messages[0].role"),
    (said(role=7, content="x"), "invalid_request", "messages[1].role"),
    (said(role="", content="x"), "invalid_request", "messages[1].role"),
    (said(role="user"), "invalid_request", "messages[1].content"),
    (said(role="user", content=7), "invalid_request", "messages[1].content"),
    (said(role="user", content=[{"type": "image_url"}]), "invalid_request", "messages[1].content[0].type"),
    (said(role="user", content=[{"type": "text", "text": "a"}, {"type": "text"}]), "invalid_request",
     "messages[1].content[1].text"),
    (chat("long", messages=[{"role": "user", "content": "long " * 2000}]), "context_length_exceeded", "messages"),
    (chat("longer", messages=[{"role": "user", "content": "long " * 200000}]), "context_length_exceeded", "messages"),
    ({"id": "ids", "prompt": [1, 2, 1 << 20]}, "invalid_request", "prompt"),
    ({"id": "ids", "prompt": [1, -2]}, "invalid_request", "prompt[1]"),
    ({"id": "ids", "prompt": [1, 2.5]}, "invalid_request", "prompt[1]"),
    ({"id": "ids", "prompt": [1, True]}, "invalid_request", "prompt[1]"),
    ({"id": "ids", "prompt": [10 ** 30]}, "invalid_request", "prompt[0]"),
    ({"id": "empty", "prompt": []}, "invalid_request", "prompt"),
    ({"id": "empty", "prompt": ""}, "invalid_request", "prompt"),
    ({"id": "two", "prompt": ["a", "b"]}, "invalid_request", "prompt"),
    ({"id": "object", "prompt": {"a": 1}}, "invalid_request", "prompt"),
    ({"id": "long ids", "prompt": [5] * 100000}, "context_length_exceeded", "prompt"),
    (chat("model", model=""), "invalid_request", "model"),
    (chat("model", model=7), "invalid_request", "model"),
    # parameters out of their domains
    (chat("hot", temperature=-1), "invalid_request", "temperature"),
    (chat("hotter", temperature=2.5), "invalid_request", "temperature"),
    (chat("hot text", temperature="warm"), "invalid_request", "temperature"),
    (chat("p", top_p=0), "invalid_request", "top_p"),
    (chat("p", top_p=1.01), "invalid_request", "top_p"),
    (chat("k", top_k=-2), "invalid_request", "top_k"),
    (chat("k", top_k=1.5), "invalid_request", "top_k"),
    (chat("min p", min_p=-0.1), "invalid_request", "min_p"),
    (chat("repetition", repetition_penalty=0), "invalid_request", "repetition_penalty"),
    (chat("presence", presence_penalty=2.1), "invalid_request", "presence_penalty"),
    (chat("frequency", frequency_penalty=-2.1), "invalid_request", "frequency_penalty"),
    (chat("seed", seed=2 ** 63), "invalid_request", "seed"),
    (chat("seed", seed="x"), "invalid_request", "seed"),
    (chat("none", max_tokens=0), "invalid_request", "max_tokens"),
    (chat("half", max_tokens=0.5), "invalid_request", "max_tokens"),
    (chat("many", max_tokens=10 ** 30), "invalid_request", "max_tokens"),
    (chat("two lengths", max_completion_tokens=5), "invalid_request", "max_completion_tokens"),
    (chat("least", min_tokens=5), "invalid_request", "min_tokens"),
    (chat("stop", stop=""), "invalid_request", "stop"),
    (chat("stop", stop=["a", ""]), "invalid_request", "stop[1]"),
    (chat("stop", stop=["a"] * 65), "invalid_request", "stop"),
    (chat("stop", stop="x" * 5000), "invalid_request", "stop"),
    (chat("stop ids", stop_token_ids=[10**6]), "invalid_request", "stop_token_ids"),
    (chat("stop ids", stop_token_ids=["5"]), "invalid_request", "stop_token_ids[0]"),
    (chat("stop ids", stop_token_ids=[5] * 1025), "invalid_request", "stop_token_ids"),
    (chat("eos", ignore_eos=1), "invalid_request", "ignore_eos"),
    (chat("include", include_stop_str_in_output="yes"), "invalid_request", "include_stop_str_in_output"),
    (chat("logprobs", logprobs=5), "invalid_request", "logprobs"),
    (chat("logprobs", logprobs=True, top_logprobs=21), "invalid_request", "top_logprobs"),
    (chat("logprobs", top_logprobs=2), "invalid_request", "top_logprobs"),
    (completion("logprobs", logprobs=21), "invalid_request", "logprobs"),
    (chat("prompt logprobs", prompt_logprobs=21), "invalid_request", "prompt_logprobs"),
    (chat("prompt logprobs", prompt_logprobs=True), "invalid_request", "prompt_logprobs"),
    (completion("prompt logprobs", prompt_logprobs=-1), "invalid_request", "prompt_logprobs"),
    (chat("bias", logit_bias={"2000000000": 1}), "invalid_request", "logit_bias"),
    (chat("bias", logit_bias={"5": 101}), "invalid_request", "logit_bias[5]"),
    (chat("bias", logit_bias={"five": 1}), "invalid_request", "logit_bias"),
    (chat("bias", logit_bias=[1]), "invalid_request", "logit_bias"),
    (chat("n", n=0), "invalid_request", "n"),
    (chat("n", n=129), "invalid_request", "n"),
    (completion("n", n=128, logprobs=20, max_tokens=10 ** 9), "invalid_request", "n"),
    (completion("best", n=2, best_of=3), "invalid_request", "best_of"),
    (chat("choice", choice=[]), "invalid_request", "choice"),
    (chat("choice", choice="yes"), "invalid_request", "choice"),
    (chat("choice", choice=["yes", ""]), "invalid_request", "choice[1]"),
    (chat("choice", choice=["yes", "no", "yes"]), "invalid_request", "choice[2]"),
    (chat("choice", choice=[str(i) for i in range(257)]), "invalid_request", "choice"),
    (chat("choice", choice=["yes"], n=2), "invalid_request", "n"),
    (chat("choice", choice=["yes", "~" * 4096]), "context_length_exceeded", "choice[1]"),
    (completion("echo", echo="yes"), "invalid_request", "echo"),
    (chat("echo", echo=True), "invalid_request", "echo"),
    (completion("special", add_special_tokens=1), "invalid_request", "add_special_tokens"),
    (chat("prompt of chat", add_generation_prompt="x"), "invalid_request", "add_generation_prompt"),
    (chat("ids", return_token_ids=1), "invalid_request", "return_token_ids"),
    (chat("tools", tools={}), "invalid_request", "tools"),
    (chat("kwargs", chat_template_kwargs=[]), "invalid_request", "chat_template_kwargs"),
    # what is not offered, or not known
    (chat("stream", stream=True), "invalid_request", "stream"),
    (chat("regex", regex="(a+)+$"), "invalid_request", "regex"),
    (chat("format", response_format={"type": "json_object"}), "invalid_request", "response_format"),
    (chat("guided", guided_choice=["a"]), "invalid_request", "guided_choice"),
    (chat("tool choice", tool_choice="required"), "invalid_request", "tool_choice"),
    (completion("suffix", suffix="end"), "invalid_request", "suffix"),
    (completion("other endpoint", tools=[]), "invalid_request", "tools"),
    (chat("misspelt", max_token=5), "invalid_request", "max_token"),
]

# Unlikely, and no mistake: each is answered.
ODD_LINES = [
    completion("zero byte", prompt="a\0b"),
    completion("control tokens", prompt="<|im_end|><|im_start|>"),
    completion("every kind", prompt="\U0001f469\u200d\U0001f692 \u0e01\u0e33 e\u0301 \ufeff\u202e\ufffd \t\r\n"),
    completion("one token", prompt=[0]),
    completion("coldest", temperature=5e-324),
    completion("coldest of few", temperature=1e-300, top_p=1e-300, min_p=1, top_k=2 ** 63 - 1),
    completion("hottest", temperature=2, top_k=-1, min_p=0, top_p=1),
    completion("no repetition", repetition_penalty=10 ** 6, presence_penalty=2, frequency_penalty=2, ignore_eos=True),
    completion("repetition", repetition_penalty=1e-300, presence_penalty=-2, frequency_penalty=-2),
    completion("all banned", logit_bias={str(i): -100 for i in range(1000)}),
    completion("all wanted", logit_bias={str(i): 100 for i in range(1000)}, temperature=2),
    completion("first seed", seed=-2 ** 63),
    completion("last seed", seed=2 ** 63 - 1),
    completion("many stops", stop=["\u00e9" * 2048] * 64, stop_token_ids=[7] * 1024),
    completion("stop at once", stop=[chr(c) for c in range(32, 96)], include_stop_str_in_output=True),
    completion("endless", max_tokens=2 ** 63 - 1, stop_token_ids=list(range(0, 1000, 2))),
    completion("never ends", max_tokens=20, min_tokens=20, stop=["e"], stop_token_ids=list(range(900))),
    completion("many answers", n=128, max_tokens=1),
    completion("equal answers", n=128, temperature=0),
    completion("everything told", logprobs=20, prompt_logprobs=20, echo=True, return_token_ids=True, n=3),
    completion("nothing made", max_tokens=0, echo=True, logprobs=20, n=100),
    completion("every choice", choice=[f" {i}" for i in range(256)], logprobs=2),
    chat("no content", messages=[{"role": "user", "content": ""}]),
    chat("no parts", messages=[{"role": "user", "content": []}]),
    chat("many parts", messages=[{"role": "user", "content": [{"type": "text", "text": "x"}] * 400}]),
    chat("null", temperature=None, stop=None, n=None, logit_bias=None, choice=None, prompt_logprobs=None),
    chat("scored", max_tokens=0, prompt_logprobs=0),
    chat("template", chat_template_kwargs={"a" * 500: [[[{}]]]}, tools=[{}]),
]


def good(custom_id, kind):
    """Neighbours of three kinds, each always with the same answer."""
    return (chat(custom_id, temperature=0, max_tokens=4), completion(custom_id, seed=3, logprobs=3, max_tokens=12),
            chat(custom_id, seed=5, n=2, max_tokens=12, presence_penalty=1.0))[kind % 3]


def with_own_id(line, i):
    for name in ("custom_id", "id"):
        if isinstance(line, dict) and isinstance(line.get(name), str) and line[name] not in ("", "good-0"):
            return {**line, name: f"{line[name]} {i}"}
    return line


class Lines(RunTest):
    def check_neighbours(self, run, n):
        alone = self.run_job("alone", [good(f"good-{i}", i) for i in range(3)], workers=1)
        expected = {r["custom_id"]: r["response"]["body"]["choices"] for r in alone.results}
        answered = {r["custom_id"]: r["response"]["body"]["choices"] for r in run.results}
        for i in range(n):
            self.assertEqual(json.dumps(answered[f"good-{i}"]), json.dumps(expected[f"good-{i % 3}"]))

    def test_each_bad_line_is_one_record_and_harms_nobody(self):
        self.assertGreaterEqual(len(BAD_LINES), 60)
        lines = []
        for i, (bad, _, _) in enumerate(BAD_LINES):
            lines += [good(f"good-{i}", i), with_own_id(bad, i)]
        run = self.run_job("zoo", lines, expect=3)
        self.assertEqual({r["custom_id"] for r in run.results}, {f"good-{i}" for i in range(len(BAD_LINES))})
        self.assertEqual(len(run.results), len(BAD_LINES))
        self.check_neighbours(run, len(BAD_LINES))
        self.assertEqual(len(run.errors), len(BAD_LINES))
        by_line = {record["error"]["line"]: record["error"] for record in run.errors}
        for i, (bad, code, param) in enumerate(BAD_LINES):
            with self.subTest(line=str(bad if isinstance(bad, dict) else bad[:80])[:80]):
                error = by_line[2 * i + 2]
                self.assertEqual(error["code"], code, error)
                if param is not None:
                    self.assertEqual(error["param"], param, error)
                self.assertGreater(len(error["message"]), 10)
                self.assertLess(len(error["message"]), 400)
                self.assertTrue(error["file"].endswith("zoo.jsonl"))
        self.assertEqual(run.summary["exit_code"], 3)

    def test_each_odd_line_is_answered_and_harms_nobody(self):
        lines = []
        for i, odd in enumerate(ODD_LINES):
            lines += [good(f"good-{i}", i), odd]
        run = self.run_job("odd", lines, expect=None)
        self.assertEqual([record["error"] for record in run.errors], [])
        self.assertEqual(len(run.results), 2 * len(ODD_LINES))
        self.check_neighbours(run, len(ODD_LINES))
        choices = {r["custom_id"]: r["response"]["body"]["choices"] for r in run.results}
        self.assertEqual(len(choices["many answers"]), 128)
        self.assertEqual(len({c["text"] for c in choices["equal answers"]}), 1)
        self.assertEqual([c["text"] for c in choices["nothing made"]], ["Water is"] * 100)
        self.assertEqual(choices["scored"][0]["message"]["content"], "")
        self.assertEqual(len(choices["every choice"][0]["choice_scores"]), 256)
        self.assertIn("Water is", choices["everything told"][2]["text"])

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
