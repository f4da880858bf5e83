"""Which part of a review runs when: prepared drives are handed on, and memory is counted.

Every state of a model is prepared once, from its parent's snapshot; every test runs on a copy. The
last user of a snapshot gets the snapshot itself. A piece of work starts when a worker is free, its
snapshot is there, and the drive that it would add fits into memory; the order of models decides
what comes first, so that the drives of one model are gone before the next ones need room. Should
nothing be running, the first piece starts in any case.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from drivelab.errors import RequestError
from drivelab.fio import units
from drivelab.progress import Crew, TaskProgress
from drivelab.targets import Target

MEMORY_BYTES = 3 * 2**30
"""Room for the drives of a review, all together: with it, every model of half a terabyte can be
reviewed; a larger one is measured by itself, whatever it takes. The rest of the program needs
another 0.5 GiB."""


def usual_memory_bytes() -> int:
    """Room unless somebody says otherwise: a quarter of the machine's memory, 3 GiB at least."""
    pages, page_bytes = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return max(MEMORY_BYTES, pages * page_bytes // 4)


def memory_bytes(said: str | int | None, option: str = "--memory") -> int:
    """Room for drives as text ("6g") or a number of bytes; None: the usual. Raises RequestError."""
    if said is None:
        return usual_memory_bytes()
    if isinstance(said, bool) or not isinstance(said, str | int):
        raise RequestError(f"{option} = {said!r}: allowed: {units.SIZE_ALLOWED}")
    try:
        size = units.size_bytes(said) if isinstance(said, str) else said
    except ValueError as error:
        raise RequestError(f'{option} "{said}": allowed: {error}') from None
    if size <= 0:
        raise RequestError(
            f'{option} "{said}": allowed: from 1 byte on; one test at a time always runs'
        )
    return size


WORKERS_MAX = 64


def usual_workers() -> int:
    """Work done at the same time unless somebody says otherwise: as processors for this process."""
    return min(WORKERS_MAX, len(os.sched_getaffinity(0)))


class Snapshot:
    """A prepared drive that several users start from."""

    def __init__(self, user_count: int) -> None:
        self._drive: Target | None = None
        self._promised = user_count
        self._copying = 0
        self._free = threading.Condition()

    def fill(self, drive: Target) -> None:
        """Puts the prepared drive in."""
        self._drive = drive

    @property
    def last(self) -> bool:
        """Whether the next user is the last one, who gets the drive itself."""
        return self._promised == 1

    def promise(self) -> Callable[[], Target]:
        """Reserves the drive for one user, who calls the result when it needs it."""
        taking = self.last
        self._promised -= 1
        self._copying += not taking
        return self._take if taking else self._copy

    def _copy(self) -> Target:
        assert self._drive is not None
        with self._free:
            copy = self._drive.clone()
            self._copying -= 1
            self._free.notify_all()
        return copy

    def _take(self) -> Target:
        with self._free:
            self._free.wait_for(lambda: self._copying == 0)
        drive, self._drive = self._drive, None
        assert drive is not None
        return drive


@dataclass
class Piece:
    """One piece of work: a preparation, which keeps its drive, or a test, which lets go of it."""

    progress: TaskProgress
    order: int
    """Lower numbers first."""
    drive_bytes: int
    """Memory that one drive of the model takes."""
    work: Callable[[Callable[[], Target] | None, TaskProgress], Target | None]
    """Given a function that gives it its drive (None: it makes its own); returns what it keeps, or
    None if there is nothing that others could start from: they must not ask for it then."""
    start: Snapshot | None = None
    result: Snapshot | None = None
    after: Piece | None = None
    """The preparation of `start`."""
    extra_bytes: int = 0
    """Memory that it takes beside its drive as long as it runs."""
    done: bool = field(default=False, init=False)

    @property
    def ready(self) -> bool:
        """Whether what it starts from is there."""
        return self.after is None or self.after.done

    @property
    def added_bytes(self) -> int:
        """Memory that it takes beyond what is already held."""
        own = 0 if self.start is not None and self.start.last else self.drive_bytes
        return own + self.extra_bytes

    @property
    def needed_bytes(self) -> int:
        """Memory that must be free: what it adds, and if that stays, a copy for its tests."""
        stays = self.result is not None and self.added_bytes > 0
        return self.added_bytes + (self.drive_bytes if stays else 0)


def run(pieces: Sequence[Piece], crew: Crew, workers: int, memory_bytes: int) -> None:
    """Does all pieces; raises the first failure."""
    waiting = sorted(pieces, key=lambda piece: piece.order)
    running: dict[Future[None], Piece] = {}
    held_bytes = 0
    while waiting or running:
        for piece in [piece for piece in waiting if piece.ready]:
            if len(running) == workers:
                break
            if running and held_bytes + piece.needed_bytes > memory_bytes:
                continue
            waiting.remove(piece)
            held_bytes += piece.added_bytes
            running[_submit(piece, crew)] = piece
        for future in crew.finished(running):
            future.result()
            piece = running.pop(future)
            piece.done = True
            held_bytes -= piece.extra_bytes
            if piece.result is None:
                held_bytes -= piece.drive_bytes


def _submit(piece: Piece, crew: Crew) -> Future[None]:
    drive = piece.start.promise() if piece.start is not None else None

    def work(progress: TaskProgress) -> None:
        kept = piece.work(drive, progress)
        if piece.result is not None and kept is not None:
            piece.result.fill(kept)

    return crew.submit(piece.progress, work)
