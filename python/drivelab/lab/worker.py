"""A process that measures points: `python -m drivelab.lab.worker FD`, started by `workers.py`.

It is no fork and no copy of the main script, so scripts need no guard around what they do and
nothing of the parent's threads comes along. The parent sends a drive and jobs; each report goes
back as soon as it is there. When the parent is gone, so is the worker.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from drivelab.errors import RequestError, WorkError
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job

REPORT, FAILED, DONE = "report", "failed", "done"
"""What a worker says: of one job, of an error that ends the task, of the task's end."""


def main(descriptor: int) -> None:
    """Takes tasks until there are no more."""
    # Ctrl-C goes to all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Connection(descriptor)
    tasks: queue.Queue[tuple[Drive, list[Job]]] = queue.Queue()
    threading.Thread(target=_listen, args=(channel, tasks), daemon=True).start()
    while True:
        drive, jobs = tasks.get()
        try:
            for index, job in enumerate(jobs):
                channel.send((REPORT, (index, drive.run(job, progress=False).report)))
        except (RequestError, WorkError) as error:
            channel.send((FAILED, error))
        else:
            channel.send((DONE, None))


def _listen(channel: Connection, tasks: queue.Queue[Any]) -> None:
    while True:
        try:
            tasks.put(channel.recv())
        except (RequestError, WorkError) as error:
            # A drive that can't be made here: its model or its state has changed meanwhile.
            channel.send((FAILED, error))
        except (EOFError, OSError):
            # The parent is gone, perhaps by a signal that it heard nothing of.
            os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
