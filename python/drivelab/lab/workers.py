"""Processes that measure points side by side, and what happens when one of them dies."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

from drivelab.errors import WorkError
from drivelab.lab import worker
from drivelab.lab.points import Point
from drivelab.progress import TaskProgress
from drivelab.targets import Report

ATTEMPTS = 3
"""Workers that a point may cost: one that ends them all is not tried for ever."""
LOOK_S = 0.1
"""How long a worker is listened to before somebody looks whether the sweep was stopped."""

Take = Callable[[Point, Report], None]


class Worker:
    """One process at a time; started when it is needed, and again when it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Connection | None = None

    def measure(self, points: Sequence[Point], take: Take, progress: TaskProgress) -> None:
        """Measures points that start from one drive; `take` hears of each as soon as it is done.

        Raises RequestError and WorkError as the run of a job does; WorkError when stopped, and
        for a point that has ended every worker that tried it.
        """
        left, attempts = list(points), 0
        while left:
            done = self._try(left, take, progress)
            attempts = attempts + 1 if done == 0 else 1
            left = left[done:]
            if left and attempts >= ATTEMPTS:
                point = left[0]
                raise WorkError(
                    f"{point.drive.name}, {point.values}: {ATTEMPTS} workers died of this point, "
                    "perhaps for want of memory: try workers=1"
                )

    def close(self) -> None:
        """Ends the process."""
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._channel = None

    def _try(self, points: Sequence[Point], take: Take, progress: TaskProgress) -> int:
        """How many of these points were done before the end, or before the worker died."""
        done = 0
        try:
            channel = self._started()
            channel.send((points[0].drive, [point.job for point in points]))
            while True:
                if progress.cancelled:
                    self.close()
                    raise WorkError("stopped")
                if not channel.poll(LOOK_S):
                    continue
                kind, said = channel.recv()
                if kind == worker.DONE:
                    return done
                if kind == worker.FAILED:
                    raise said
                take(points[said[0]], said[1])
                done += 1
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.close()
            return done

    def _started(self) -> Connection:
        if self._channel is None:
            ours, theirs = multiprocessing.Pipe()
            number = theirs.fileno()
            os.set_inheritable(number, True)
            command = [sys.executable, "-m", worker.__name__, str(number)]
            self._process = subprocess.Popen(
                command, pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            theirs.close()
            self._channel = ours
        return self._channel
