"""A process that measures points: `python -m drivelab.lab.worker FD`, started by `workers.py`.

It is no fork and no copy of the main script, so scripts need no guard around what they do and
nothing of the parent's threads comes along. The parent sends a drive and a job, or a job alone for
the drive that is here, and whether the drive has this point alone; the report goes back as text,
with the seconds that preparing the drive and measuring took. When the parent is gone, so is the
worker.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from drivelab.errors import RequestError, WorkError
from drivelab.lab import making
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.running import measured, measured_once
from drivelab.lab.trace import Trace
from drivelab.progress import TaskProgress

REPORT, FAILED = "report", "failed"
"""What a worker says: of a job, of an error in its place."""


def main(descriptor: int) -> None:
    """Takes tasks until there are no more."""
    # Ctrl-C goes to all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Connection(descriptor)
    tasks: queue.Queue[tuple[Drive | None, Job | Trace, bool]] = queue.Queue()
    threading.Thread(target=_listen, args=(channel, tasks), daemon=True).start()
    drive: Drive | None = None
    while True:
        other, job, is_alone = tasks.get()
        drive = other or drive
        assert drive is not None
        try:
            channel.send((REPORT, _measured(drive, job, is_alone)))
        # What somebody's own state raises ends no worker, which would be blamed on memory.
        except (Exception, SystemExit) as error:
            channel.send((FAILED, _told(error)))


def _measured(drive: Drive, job: Job | Trace, is_alone: bool) -> tuple[str, float, float]:
    began_s = time.perf_counter()
    own = making.made(drive, TaskProgress("as it was")) if is_alone else None
    if own is None:
        drive.make()
    made_s = time.perf_counter()
    found = measured(drive, [job]) if own is None else measured_once(drive, job, own)
    report = json.dumps(found)
    return report, made_s - began_s, time.perf_counter() - made_s


def _listen(channel: Connection, tasks: queue.Queue[Any]) -> None:
    while True:
        try:
            sent = channel.recv_bytes()
        except (EOFError, OSError):
            # The parent is gone, perhaps by a signal that it heard nothing of.
            os._exit(0)
        try:
            tasks.put(pickle.loads(sent))
        # A drive that can't be made here: its model or its state has changed meanwhile, or the
        # file of its state, which is imported here, raises anything at all.
        except (Exception, SystemExit) as error:
            channel.send((FAILED, _told(error)))


def _told(error: BaseException) -> RequestError | WorkError:
    """An error as the parent raises it, which may not have the class of somebody's own."""
    if isinstance(error, RequestError | WorkError):
        return error
    # Needed only where something is wrong.
    from drivelab.plugins import failure_text

    return WorkError(f"a worker: {failure_text(error, '')}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
