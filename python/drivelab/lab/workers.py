"""Processes that measure points side by side, and what happens when one of them dies."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection

from drivelab.errors import WorkError
from drivelab.lab import worker
from drivelab.lab.points import Point
from drivelab.lab.turns import Turns
from drivelab.progress import Bar, Crew, Heard, TaskProgress

ATTEMPTS = 3
"""Workers that a point may cost: one that ends them all is not tried for ever."""
LOOK_S = 0.1
"""How long a worker is listened to before somebody looks whether the sweep was stopped."""

Take = Callable[[Point, str], None]
"""Hears of a point as soon as it is done: its report as JSON has it. One call at a time."""


class Team:
    """Processes that may start before their work is known, and are ready by then."""

    def __init__(self, workers: int) -> None:
        self._workers = [Worker() for _ in range(workers)]

    def __enter__(self) -> Team:
        return self

    def start(self, points: int) -> None:
        """Starts as many as so many points may need; others start with their first point."""
        for one in self._workers[:points]:
            one.start()

    def __exit__(self, *_: object) -> None:
        for one in self._workers:
            one.close()

    def measure(
        self,
        points: Sequence[Point],
        take: Take,
        workers: int,
        shown: bool,
        idle: Callable[[], object],
        heard: Heard | None = None,
    ) -> None:
        """Measures points in so many of the processes at most; raises the first failure. `idle` is
        called whenever one of them has nothing more to do, `heard` of how far it is."""
        turns, lock = Turns(points), threading.Lock()
        needed = min(workers, len(points))
        for one in self._workers[needed:]:
            one.close()

        def take_alone(point: Point, report: str) -> None:
            with lock:
                take(point, report)

        def work(one: Worker, progress: TaskProgress) -> None:
            one.measure(turns, take_alone, progress)
            idle()

        with Bar(len(points), shown, heard) as bar, Crew(needed, bar) as crew:
            futures = []
            for one in self._workers[:needed]:
                task = TaskProgress("starting", len(points))
                futures.append(crew.submit(task, partial(work, one)))
            crew.wait(*futures)


class Worker:
    """One process at a time; started again when it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Connection | None = None
        self._prepared: str | None = None
        """The key of the drive that the process has."""

    def start(self) -> None:
        """Starts the process, which takes a moment to be ready."""
        ours, theirs = multiprocessing.Pipe()
        number = theirs.fileno()
        os.set_inheritable(number, True)
        command = [sys.executable, "-m", worker.__name__, str(number)]
        self._process = subprocess.Popen(
            command, pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        theirs.close()
        self._channel, self._prepared = ours, None

    def measure(self, turns: Turns, take: Take, progress: TaskProgress) -> None:
        """Measures points as long as there are some.

        Raises RequestError and WorkError as the run of a job does; WorkError when stopped, and
        for a point that has ended every worker that tried it.
        """
        point, attempts = turns.next(None), 0
        done: tuple[Point, str] | None = None
        while point is not None:
            progress.label = f"{point.drive.name}, {point.values}"
            self._send(point, turns.is_alone(point))
            if done is not None:
                # Kept while the worker is busy with the next one.
                take(*done)
                progress.add(1 / progress.weight)
                done = None
            said = self._heard(progress)
            if said is not None:
                report, prepare_s, point_s = said
                turns.took(point, prepare_s, point_s)
                done, attempts = (point, report), 0
                point = turns.next(self._prepared)
                continue
            self.close()
            attempts += 1
            if attempts == ATTEMPTS:
                raise WorkError(
                    f"{progress.label}: {ATTEMPTS} workers died of this point, "
                    "perhaps for want of memory: try workers=1"
                )
        if done is not None:
            take(*done)

    def close(self) -> None:
        """Ends the process."""
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._channel = None

    def _send(self, point: Point, is_alone: bool) -> None:
        """Gives a point to the process; that it is gone is heard afterwards."""
        if self._channel is None:
            self.start()
        assert self._channel is not None
        key = point.drive.key
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            drive = None if key == self._prepared else point.drive
            self._channel.send((drive, point.job, is_alone))
            self._prepared = key

    def _heard(self, progress: TaskProgress) -> tuple[str, float, float] | None:
        """The report of the point that was sent; None if the process has died."""
        assert self._channel is not None
        try:
            while not self._channel.poll(LOOK_S):
                if progress.cancelled:
                    self.close()
                    raise WorkError("stopped")
            kind, said = self._channel.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return None
        if kind == worker.FAILED:
            # Of a thousand drives, which one it was.
            raise WorkError(f"{progress.label}: {said}") if isinstance(said, WorkError) else said
        report, prepare_s, point_s = said
        return report, prepare_s, point_s
