"""Runs the real binary with real models and reads what it left behind. Standard library only.

The environment names what to test: STICKYINVOC (the binary), STICKY_SOURCE_DIR, STICKY_SMOLLM2 (folder made by
tests/prepare_model.sh).
"""
import gzip
import json
import lzma
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BINARY = os.environ.get("STICKYINVOC", "")
SOURCE = pathlib.Path(os.environ.get("STICKY_SOURCE_DIR", "."))
REAL_MODEL = pathlib.Path(os.environ.get("STICKY_SMOLLM2", "models"))
DATA = SOURCE / "tests/data"


def claims(n=2000):
    """The first n claim requests, parsed."""
    with gzip.open(SOURCE / "configs/claims/claims_openai.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(n))]


def write_lines(path, lines):
    """One JSON document a line; text and bytes are written as they are."""
    with open(path, "wb") as out:
        for line in lines:
            if isinstance(line, (dict, list)):
                line = json.dumps(line, ensure_ascii=False)
            out.write(line.encode() if isinstance(line, str) else line)
            out.write(b"\n")
    return path


def read_lines(path):
    """Every line must be whole and valid."""
    if not path.exists():
        return []
    with open(path, "rb") as lines:
        raw = lines.read()
    assert raw == b"" or raw.endswith(b"\n"), f"{path}: torn last line"
    return [json.loads(line) for line in raw.decode("utf-8").splitlines()]


def processes_below(marker):
    """Living processes that were started in or with the marker, a run's own folder name."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            folder = os.readlink(entry / "cwd")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if (marker in command or marker in folder) and state != "Z":
            found.append((int(entry.name), command))
    return found


class Run:
    """One run folder and what happened in it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @property
    def results(self):
        return read_lines(self.folder / "results.jsonl")

    @property
    def errors(self):
        return read_lines(self.folder / "errors.jsonl")

    @property
    def summary(self):
        return json.loads((self.folder / "summary.json").read_text())

    @property
    def status(self):
        return json.loads((self.folder / "status.json").read_text())

    @property
    def timeline(self):
        return json.loads((self.folder / "timeline.json").read_text())["traceEvents"]

    def n_recorded(self):
        """Whole lines so far; usable while the run is going on."""
        path = self.folder / "results.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def answers(self):
        """id -> text; each id once."""
        out = {}
        for record in self.results:
            body = record["response"]["body"]
            choice = body["choices"][0]
            text = choice["message"]["content"] if "message" in choice else choice["text"]
            assert record["custom_id"] not in out, f"{record['custom_id']} stands twice"
            out[record["custom_id"]] = text
        return out


class RunTest(unittest.TestCase):
    """A scratch folder a test, and nothing of ours left running after it."""

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="sticky-test-"))
        self.started = []

    def tearDown(self):
        left = self.wait_for_end()
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.assertEqual(left, [], "processes of the run were left behind")

    def wait_for_end(self, seconds=10):
        deadline = time.monotonic() + seconds
        while (left := processes_below(str(self.scratch))) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left

    def tiny_model(self):
        """A checkpoint of 1.4 M random weights with SmolLM2's architecture."""
        source = DATA / "models/tiny-llama-smollm2"
        target = self.scratch / "tiny-llama-smollm2"
        if not target.exists():
            target.mkdir()
            for file in source.iterdir():
                if file.suffix == ".xz":
                    (target / file.stem).write_bytes(lzma.open(file).read())
                elif file.is_file():
                    shutil.copy(file, target / file.name)
        return target

    def command(self, *arguments):
        return [BINARY, *map(str, arguments)]

    def call(self, *arguments, timeout=300, **options):
        """Runs the binary to its end."""
        return subprocess.run(
            self.command(*arguments), capture_output=True, timeout=timeout, cwd=self.scratch, text=True,
            errors="replace", **options,
        )

    def call_on_terminal(self, streams, *arguments):
        """Runs the binary to its end, those streams of it on a terminal: its exit code and what that shows."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(self.command(*arguments), cwd=self.scratch, **{stream: theirs for stream in streams})
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
        os.close(ours)
        return process.wait(timeout=60), shown.decode("utf-8")

    def start(self, *arguments, **options):
        """Starts the binary in the background, with its own session."""
        with open(self.scratch / f"output-{len(self.started)}.log", "wb") as log:
            process = subprocess.Popen(
                self.command(*arguments), stdout=log, stderr=subprocess.STDOUT, cwd=self.scratch,
                start_new_session=True, **options,
            )
        self.started.append(process)
        return process

    def run_job(self, name, requests, *arguments, model=None, workers=2, expect=0, timeout=300):
        """run: requests (or a file) -> finished Run."""
        file = requests
        if isinstance(requests, list):
            file = write_lines(self.scratch / f"{name}.jsonl", requests)
        done = self.call(
            "run", "-i", file, "-o", self.scratch / name, "--model", model or self.tiny_model(), "--workers", workers,
            *arguments, timeout=timeout,
        )
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return Run(self.scratch / name)

    def wait_until(self, condition, seconds=120, what="the condition"):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what} did not come true in {seconds} s")
            time.sleep(0.02)

    def worker_pids(self, run, n_workers):
        """worker -> pid, once all of them serve."""
        def ready():
            if not (run.folder / "status.json").exists():
                return {}
            return {w["worker"]: w["pid"] for w in run.status["workers"] if w["state"] == "ready"}

        self.wait_until(lambda: len(ready()) == n_workers, what="every worker's being ready")
        return ready()
