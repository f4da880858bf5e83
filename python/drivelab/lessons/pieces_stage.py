"""A drive of a few pages that compresses: what lies on every page, operation by operation.

Units of the host take more or less of a page, so several lie on one. Which, and how much of it each
takes, the engine says after every second of the drive's time; which operation lies between, its
timeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drivelab import _engine, counters
from drivelab import model as models
from drivelab.data_patterns import parse_data_pattern
from drivelab.lessons.drives import PAGE_BYTES, PAGE_SECTORS
from drivelab.lessons.lesson import Block, Page, Step
from drivelab.lessons.picture import Touched
from drivelab.model import Overrides
from drivelab.quantities import NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.targets.going import FOR_EVER_NS, EngineSession
from drivelab.workload import FLUSH, TRIM, WRITE

READ_OP, PROGRAM_OP, ERASE_OP = 0, 1, 2
PARTS = 2
"""Of a page, that are given out."""
TICK_NS = NS_PER_S
"""No two operations of these drives begin within it, but a copy's read and program."""
AT_ONCE = 4
"""Pages that the host writes before it waits."""
LONGEST_S = 1000.0
"""Of a command."""
_MOST = 10_000
Place = tuple[int, int]
"""Block and page."""


@dataclass(frozen=True)
class Piece:
    """What a unit of the host takes of a page."""

    label: str
    parts: int
    trimmed: bool
    """The host has trimmed it, and the drive keeps it all the same."""


@dataclass(frozen=True)
class PartedPage(Page):
    """A page on which several units lie; what is left of it is outdated, or was never used."""

    parts: tuple[Piece, ...]


@dataclass(frozen=True)
class _Seen:
    """The drive between two operations."""

    states: dict[Place, str]
    erase_counts: tuple[int, ...]
    pieces: dict[Place, tuple[Piece, ...]]
    programmed_pages: int
    erases: int

    @property
    def where(self) -> dict[str, Place]:
        """Units and where they lie."""
        return {piece.label: place for place, own in self.pieces.items() for piece in own}


class PiecesStage:
    """A compressing drive on stage."""

    def __init__(self, model: str, overrides: Overrides) -> None:
        self._target = EngineTarget(models.load(model, overrides), seed=1)
        self._session: EngineSession | None = None
        self._data = ""
        self._title, self._begun_ns = "A new drive", 0
        self._seen = self._look_inside()
        self.host_pages = self.reads = 0

    @property
    def programmed_pages(self) -> int:
        """Until now, copies among them."""
        return self._seen.programmed_pages

    @property
    def erases(self) -> int:
        """Until now."""
        return self._seen.erases

    @property
    def command_s(self) -> float:
        """Since the host's command began."""
        return (self._target.now_ns - self._begun_ns) / NS_PER_S

    @property
    def erased_pages(self) -> int:
        """Pages that can be programmed."""
        return sum(state == "erased" for state in self._seen.states.values())

    @property
    def held_units(self) -> int:
        """That the host has trimmed, and that take room all the same."""
        return sum(piece.trimmed for own in self._seen.pieces.values() for piece in own)

    def look(self, say: str, title: str | None = None) -> Step:
        """A sentence about what is there."""
        if title is not None:
            self._title, self._begun_ns = title, self._target.now_ns
        return self._step("look", say, self._seen)

    def write(self, title: str, pages: Sequence[int], data: str, why: str) -> Iterator[Step]:
        """The host writes pages of such data at once."""
        yield self.look(why, title)
        self._submit(WRITE, pages, data)
        self._submit(FLUSH, [0], data)
        yield from self._watched(LONGEST_S, until_done=True)

    def write_quietly(self, title: str, pages: Sequence[int], data: str, why: str) -> Step:
        """The same, a few at a time, in one step."""
        self._title, self._begun_ns = title, self._target.now_ns
        before = self.programmed_pages
        for first in range(0, len(pages), AT_ONCE):
            self._submit(WRITE, pages[first : first + AT_ONCE], data)
            self._submit(FLUSH, [0], data)
            self._running.advance(FOR_EVER_NS)
        self._seen = self._look_inside()
        programs = self.programmed_pages - before
        say = f"{why} {len(pages)} pages of the host, {programs} programs."
        return self._step("host", say, self._seen)

    def trim(self, title: str, pages: Sequence[int], why: str) -> Step:
        """The host deletes pages, one after the other, and says so."""
        self._title, self._begun_ns = title, self._target.now_ns
        for page in pages:
            self._submit(TRIM, [page], "random")
        self._running.advance(FOR_EVER_NS)
        self._seen = self._look_inside()
        return self._step("host", why, self._seen)

    def idle(self, title: str, seconds: float, why: str) -> Iterator[Step]:
        """The host waits."""
        yield self.look(why, title)
        yield from self._watched(seconds, until_done=False)

    @property
    def _running(self) -> EngineSession:
        assert self._session is not None
        return self._session

    def _submit(self, op: int, pages: Sequence[int], data: str) -> None:
        """Requests of one page each, of such data."""
        if self._session is None or data != self._data:
            pattern = parse_data_pattern(data, "data").model_dump()
            self._session, self._data = EngineSession(self._target, pattern, 1, False), data
            self._target = self._session.target
        count = len(pages)
        sectors = 0 if op == FLUSH else PAGE_SECTORS
        self.host_pages += count if op == WRITE else 0
        self._session.submit(
            np.full(count, op, np.uint8),
            np.array(pages, np.uint64) * np.uint64(PAGE_SECTORS),
            np.full(count, sectors, np.uint32),
            np.full(count, self._target.now_ns, np.uint64),
        )

    def _watched(self, seconds: float, until_done: bool) -> Iterator[Step]:
        """A step for each operation of the flash in so many seconds; `until_done`: or until the
        host's commands and the operations are done."""
        end_ns = self._target.now_ns + round(seconds * NS_PER_S)
        busy_ns = 0
        while self._target.now_ns < end_ns:
            self._target.record_timeline(0, 2**63, _MOST)
            self._running.advance(self._target.now_ns + TICK_NS)
            columns, _ = self._target.take_timeline()
            after = self._look_inside()
            names = ("begin_ns", "end_ns", "work", "cleaning")
            rows = zip(*(columns[name].tolist() for name in names), strict=True)
            for begin_ns, until_ns, work, is_cleaning in sorted(rows):
                busy_ns = max(busy_ns, until_ns)
                yield self._operation(
                    work, bool(is_cleaning), after, (until_ns - begin_ns) / NS_PER_S, until_ns
                )
            self._seen = after
            if until_done and not self._running.waiting and self._target.now_ns >= busy_ns:
                return

    def _operation(
        self, work: int, is_cleaning: bool, after: _Seen, seconds: float, end_ns: int
    ) -> Step:
        before = self._seen
        if work == READ_OP:
            self.reads += 1
            moved = [
                label for label, place in before.where.items() if after.where.get(label) != place
            ]
            sources = sorted({before.where[label] for label in moved})
            say = (
                f"{_places(sources)} is read: {_units(moved)} must not be lost."
                if moved
                else "A page is read."
            )
            return self._step(
                "read", f"{say} {seconds:g} s.", before, tuple(sources), end_ns, seconds
            )
        if work == ERASE_OP:
            counts = zip(before.erase_counts, after.erase_counts, strict=True)
            number = next(i for i, (one, two) in enumerate(counts) if two > one)
            say = f"Block {number} is erased: its pages can be programmed again. {seconds:g} s."
            return self._step("erase", say, after, ((number, -1),), end_ns, seconds)
        fresh = sorted(
            p
            for p, state in after.states.items()
            if state != "erased" and before.states[p] == "erased"
        )
        say = self._told(fresh, after, is_cleaning)
        return self._step("program", f"{say} {seconds:g} s.", after, tuple(fresh), end_ns, seconds)

    def _told(self, fresh: Sequence[Place], after: _Seen, is_cleaning: bool) -> str:
        """What was programmed."""
        pieces = [piece for place in fresh for piece in after.pieces.get(place, ())]
        used = sum(piece.parts for piece in pieces)
        what = _units([piece.label for piece in pieces])
        to = _places(fresh).lower()
        if is_cleaning:
            return f"The copies of {what} are programmed together into {to}."
        if len(pieces) > 1:
            return f"{what} take {used} halves together: one program, into {to}, is enough."
        if used < PARTS:
            return f"{what} takes a half of {to}. Nothing else waits, so the rest stays empty."
        return f"{what} doesn't compress: it takes all of {to}."

    def _look_inside(self) -> _Seen:
        blocks: list[dict[str, Any]] = self._target.page_states()
        states = {
            (number, at): str(page["state"])
            for number, block in enumerate(blocks)
            for at, page in enumerate(block["pages"])
        }
        columns = _engine.unit_pieces(self._target.engine)
        names = ("block", "page", "lpn", "granules", "trimmed")
        found: dict[Place, tuple[Piece, ...]] = {}
        for block, page, lpn, granules, trimmed in zip(
            *(columns[name].tolist() for name in names), strict=True
        ):
            piece = Piece(str(lpn), granules, bool(trimmed))
            found[block, page] = (*found.get((block, page), ()), piece)
        counted = self._target.counters()
        return _Seen(
            states,
            tuple(block["erase_count"] for block in blocks),
            found,
            (counters.program_bytes(counted) or 0) // PAGE_BYTES,
            counters.erase_count(counted) or 0,
        )

    def _step(
        self,
        kind: str,
        say: str,
        seen: _Seen,
        touched: Touched = (),
        at_ns: int | None = None,
        seconds: float = 0.0,
    ) -> Step:
        def page(place: Place) -> PartedPage:
            parts, state = seen.pieces.get(place, ()), seen.states[place]
            state = "erased" if state == "erased" else "valid" if parts else "invalid"
            return PartedPage(state, None, " ".join(part.label for part in parts), False, parts)

        per_block = len(seen.states) // len(seen.erase_counts)
        blocks = tuple(
            Block(number, count, None, tuple(page((number, at)) for at in range(per_block)))
            for number, count in enumerate(seen.erase_counts)
        )
        at_ns = self._target.now_ns if at_ns is None else at_ns
        return Step(
            title=self._title,
            say=say,
            kind=kind,
            seconds=seconds,
            command_s=(at_ns - self._begun_ns) / NS_PER_S,
            blocks=blocks,
            touched=touched,
            cache=(),
            host_pages=self.host_pages,
            programmed_pages=seen.programmed_pages,
            reads=self.reads,
            erases=seen.erases,
        )


def _units(labels: Sequence[str]) -> str:
    return ", ".join(f"“{label}”" for label in labels)


def _places(places: Sequence[Place]) -> str:
    return ", ".join(f"Page {page} of block {block}" for block, page in places)
