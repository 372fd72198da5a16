"""Launches in which a rank dies before MPI has started: they end, and say what happened."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from harness import BINARY, RunTest, claims, processes_below, write_lines

# An mpirun in which one rank runs another program than it was told, so that it never comes to MPI.
SHIM = """#!/bin/bash
words=()
for word; do
  [ "$word" = "{binary}" ] && words+=(sh -c '[ $OMPI_COMM_WORLD_RANK = {rank} ] && {victim}; exec "$@"' sh)
  words+=("$word")
done
exec {mpirun} "${{words[@]}}"
"""
DIRECT = ("mpirun", "--oversubscribe", "--bind-to", "none", "--enable-recovery", "--allow-run-as-root", "-n", "3")


class Start(RunTest):
    def setUp(self):
        super().setUp()
        self.file = write_lines(self.scratch / "claims.jsonl", claims(5))
        self.arguments = ("run", "-i", self.file, "-o", self.scratch / "run", "--model", self.tiny_model())
        # A rank that is there and waits: the same program, looking at a run that seems to go on.
        self.watched = self.scratch / "watched"
        self.watched.mkdir()
        lock = {"token": "t", "host": "elsewhere", "pid": 1, "start_ticks": 1, "boot_id": "", "pid_namespace": "",
                "beat": int(time.time()) + 3600}
        (self.watched / "lock").write_text(json.dumps(lock))

    def shim(self, rank, victim):
        """An environment whose mpirun lets a rank be the victim."""
        folder = self.scratch / "bin"
        folder.mkdir()
        script = folder / "mpirun"
        script.write_text(SHIM.format(binary=os.path.realpath(BINARY), rank=rank, victim=victim,
                                      mpirun=shutil.which("mpirun")))
        script.chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def waiting(self):
        return f"exec {os.path.realpath(BINARY)} status {self.watched} --watch"

    def victims(self):
        return [pid for pid, command in processes_below(str(self.watched)) if command.startswith(os.path.realpath(BINARY))]

    def ranks(self):
        return [pid for pid, command in processes_below(str(self.scratch / "run"))
                if command.startswith(os.path.realpath(BINARY)) and b"OMPI_COMM_WORLD_RANK=" in self.environ(pid)]

    @staticmethod
    def environ(pid):
        with open(f"/proc/{pid}/environ", "rb") as environ:
            return environ.read()

    def check_lost(self, rank):
        process = self.start(*self.arguments, "--workers", 2, env=self.shim(rank, self.waiting()))
        self.wait_until(lambda: len(self.victims()) == 1 and len(self.ranks()) == 2, what="every rank's being there")
        os.kill(self.victims()[0], signal.SIGKILL)
        self.assertEqual(process.wait(timeout=60), 5)
        said = (self.scratch / "output-0.log").read_text()
        self.assertIn("this rank gives up waiting for MPI", said)
        self.assertIn("the run did not start", said)
        self.assertFalse((self.scratch / "run").exists())
        self.assertEqual(self.wait_for_end(), [])

    def test_a_worker_killed_before_mpi_has_started_ends_the_launch(self):
        self.check_lost(1)

    def test_a_coordinator_killed_before_mpi_has_started_ends_the_launch(self):
        self.check_lost(0)

    def test_a_rank_killed_before_anyone_saw_it_ends_a_direct_start(self):
        done = subprocess.run([*DIRECT, *self.command(*self.arguments)], capture_output=True, text=True, timeout=120,
                              cwd=self.scratch, env=self.shim(1, "kill -9 $$"))
        self.assertIn("of this node's 3 ranks are alive", done.stderr)
        self.assertFalse((self.scratch / "run").exists())


if __name__ == "__main__":
    unittest.main()
