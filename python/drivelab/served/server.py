"""Serves a drive until somebody stops it: the engine in a thread, signals in this one."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from drivelab import output, paths
from drivelab.errors import RequestError
from drivelab.progress import Stopwatch
from drivelab.served import image
from drivelab.served.address import Address
from drivelab.served.faults import Plan

STDIO = "stdio"
INTERRUPTED = 130
LISTEN_S = 0.2
"""A signal that reaches another thread, or just before this one waits, is heard after this time."""
STOPPING = (
    "stopping: commands are finished, the buffer is flushed, a checkpoint is written; "
    "interrupt once more to stop as a power cut would"
)
CUT = "interrupted again: stopped as by a power cut"
ONE_PRESS_S = 0.3
"""Interrupts that come within this time are one: `timeout` tells a process, and then its group."""

Ready = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Request:
    """What is served, where and how."""

    image: Path
    address: Address | None
    """None: one session over standard input and output."""
    control: Path | None
    clock: str
    export: str
    read_only: bool = False
    sync: bool = False
    faults: Plan | None = None
    record: Path | None = None
    """A new file for what clients ask for, as a trace."""

    def options(self) -> str:
        """What the engine is told, as JSON."""
        return json.dumps(
            {
                "export_name": self.export,
                "control": None if self.control is None else str(self.control),
                "read_only": self.read_only,
                "sync": self.sync,
                "record": None if self.record is None else str(self.record),
                "faults": None if self.faults is None else self.faults.record(),
            }
        )


def check_record(path: Path) -> None:
    """Raises RequestError for a place that can't take a trace: what is there is never replaced."""
    paths.checked("--record", path)
    if path.exists():
        raise RequestError(f'--record "{path}": is there already; give the name of a new file')
    output.writable_file(path, "--record")


def serve(request: Request, ready: Ready) -> dict[str, Any]:
    """Serves until SIGINT, SIGTERM, `stop` on the control socket, a power cut, or the end of input.

    Returns what happened. Raises RequestError for what can't be served, WorkError for a failure.
    """
    stop = image.engine.ServerStop()
    found: list[dict[str, Any]] = []
    failed: list[BaseException] = []

    def work() -> None:
        plan = request.faults
        try:
            with (
                nullcontext() if plan is None else plan.refusals(request.image),
                image.engine_errors(),
            ):
                text = image.engine.serve_image(
                    str(request.image),
                    STDIO if request.address is None else request.address.text,
                    request.clock,
                    request.options(),
                    lambda text: ready(json.loads(text)),
                    stop,
                )
            found.append(json.loads(text))
        except BaseException as error:
            failed.append(error)

    watch = Stopwatch()
    thread = threading.Thread(target=work, name="server")
    with _signals(stop):
        thread.start()
        # Handlers run in this thread, between two waits: one without an end might hear none.
        while thread.is_alive():
            thread.join(LISTEN_S)
    if failed:
        raise failed[0]
    return found[0] | {"wall_s": watch.seconds()}


@contextmanager
def _signals(stop: image.Stop) -> Iterator[None]:
    """The first SIGINT or SIGTERM asks for a clean end, a later SIGINT is a power cut."""
    asked: Stopwatch | None = None

    def handle(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked and number == signal.SIGINT and asked.seconds() > ONE_PRESS_S:
            print(f"drivelab: {CUT}", file=sys.stderr, flush=True)
            # Nothing may run that would still write to the image.
            os._exit(INTERRUPTED)
        if not asked:
            asked = Stopwatch()
            print(f"drivelab: {STOPPING}", file=sys.stderr, flush=True)
            stop.stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
