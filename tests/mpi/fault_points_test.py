"""Workers that are killed or stopped at each point of their life, and thawed again: nothing is lost, nothing counts twice.

    fault_points_test.py ECHO_RANKS [unittest arguments]
"""
import os
import random
import signal
import time

from echo_run import EchoTest, is_alive, main, state_of

POINTS = [f"{when}_{what}" for what in ("receive", "compute", "send") for when in ("before", "after")]


class FaultPoints(EchoTest):
    def test_a_worker_killed_at_any_point_loses_nothing(self):
        for point in POINTS:
            # A message that is gone at once, and one of several parts.
            for count, n_bytes in ((1, 100), (4, 100_000)):
                with self.subTest(point=point, count=count):
                    run = self.start(3, orders=False, requests=100, bytes=n_bytes, step_ms=5, slots=4, per_step=1,
                                     dies_when=point, at_count=count)
                    self.finish(run, 100, losses=["died"])
                    self.assertEqual(run.said("struck"), [[point]])

    def test_workers_stopped_at_any_point_lose_nothing_and_are_killed(self):
        run = self.start(len(POINTS) + 2, orders=False, requests=1500, bytes=100, step_ms=5, slots=4, per_step=1,
                         freezes_when=",".join(POINTS), at_count=3, heartbeat_s=3, attempts=20)
        self.finish(run, 1500, losses=["frozen"] * len(POINTS))
        self.assertEqual(sorted(point for (point,) in run.said("struck")), sorted(POINTS))
        self.assertEqual(run.said("thawed"), [])
        self.assertEqual([worker for worker, pid in run.pids().items() if is_alive(pid)], [])

    def test_an_answer_that_a_thawed_worker_sends_late_is_not_counted(self):
        run = self.start(3, orders=False, requests=650, bytes=100, step_ms=10, slots=4, per_step=1, heartbeat_s=3,
                         freezes_when="before_send", at_count=3, cannot_fence=1, orphan_s=2)
        run.wait_for(lambda: "is lost (frozen)" in run.text())
        self.assertEqual(state_of(run.pids()[1]), "T")
        os.kill(run.pids()[1], signal.SIGCONT)
        run.wait_for(lambda: run.said("thawed"))  # and now it sends
        self.assertLess(run.number("progress"), 600)
        self.finish(run, 650, losses=["frozen"])
        self.assertEqual(run.said("answered"), [["1", "2"], ["2", "648"]])

    def test_workers_that_thaw_when_they_are_given_up_answer_nothing_twice(self):
        draw = random.Random(3)
        run = self.start(8, orders=False, requests=3000, bytes=100, step_ms=10, slots=8, per_step=1, heartbeat_s=2,
                         attempts=20)
        run.wait_for(lambda: run.number("ready") == 7)
        for victims in ((1, 2, 3), (4, 5, 6)):
            for worker in victims:
                os.kill(run.pids()[worker], signal.SIGSTOP)
            # The last heartbeat is up to a second old.
            thaws = sorted((1 + 1.3 * draw.random(), worker) for worker in victims)
            begin = time.monotonic()
            for at, worker in thaws:
                time.sleep(max(0.0, begin + at - time.monotonic()))
                if is_alive(run.pids()[worker]):
                    os.kill(run.pids()[worker], signal.SIGCONT)
        self.wait_for_end(run)
        self.judge(run, 3000, losses=[cause for cause, _ in run.said("cause")])


if __name__ == "__main__":
    main()
