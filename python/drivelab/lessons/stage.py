"""A drive of a few pages that shows every operation of its flash.

The engine says what its dies did and when (its timeline), and what every page is before and after a
command. From both follows what each operation did to which page; at the end of every command the
picture is compared with the engine's, so that no step can tell a story of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drivelab import model as models
from drivelab.errors import WorkError
from drivelab.lessons.drives import PAGE_BYTES, PAGE_SECTORS
from drivelab.lessons.lesson import Page, Step
from drivelab.model import Overrides
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.workload import FLUSH, TRIM, WRITE, Job, Recorded, Requests

READ_OP, PROGRAM_OP, ERASE_OP = 0, 1, 2
_MOST = 100_000
"""Operations of a command that are kept."""


@dataclass
class _Page:
    state: str
    lpn: int | None
    label: str = ""


@dataclass
class _Block:
    erase_count: int
    pages: list[_Page]


@dataclass(frozen=True)
class _Operation:
    work: int
    begin_ns: int
    end_ns: int


class Stage:
    """A drive on stage. Its commands are generators of steps; only what is iterated is played."""

    def __init__(self, model: str, overrides: Overrides = ()) -> None:
        self._target = EngineTarget(models.load(model, overrides), seed=1)
        self._picture = self._seen()
        self._labels: dict[int, str] = {}
        self._deleted: set[int] = set()
        self._cache: dict[int, str] = {}
        self._reading: dict[int, int] = {}
        self._title = "A new drive"
        self._begun_ns = 0
        self.host_pages = self.programs = self.reads = self.erases = 0

    @property
    def logical_pages(self) -> int:
        """Pages that the host can address."""
        return self._target.capacity_bytes // PAGE_BYTES

    @property
    def page_count(self) -> int:
        """Pages of the flash."""
        return sum(len(block.pages) for block in self._picture)

    @property
    def command_s(self) -> float:
        """Since the host's command began."""
        return (self._target.now_ns - self._begun_ns) / NS_PER_S

    def look(self, say: str, title: str | None = None) -> Step:
        """A sentence about what is there."""
        if title is not None:
            self._title, self._begun_ns = title, self._target.now_ns
        return self._step("look", say, 0.0, self._target.now_ns, ())

    def write(
        self, title: str, pages: Sequence[int], labels: Sequence[str], why: str
    ) -> Iterator[Step]:
        """The host writes logical pages at once, and waits until all are in flash."""
        for page, label in zip(pages, labels, strict=True):
            self._labels[page] = label
        self.host_pages += len(pages)
        yield from self._command(title, [(WRITE, page, 1) for page in pages], why)

    def write_quietly(self, title: str, pages: Sequence[int], why: str) -> Iterator[Step]:
        """The same, a page at a time, as a single step."""
        self._title, self._begun_ns = title, self._target.now_ns
        before = self.programs
        for page in pages:
            self._labels[page] = str(page)
            self._deleted.discard(page)
            self.host_pages += 1
            self._run([(WRITE, page, 1)])
            for _ in self._played(*self._timeline(), {page}):
                pass
        end_ns = self._target.now_ns
        seconds = (end_ns - self._begun_ns) / NS_PER_S
        told = f"{why} {len(pages)} pages of the host, {self.programs - before} programs."
        yield self._step("host", told, seconds, end_ns, ())

    def delete(self, title: str, pages: Sequence[int], told: bool, why: str) -> Iterator[Step]:
        """The host deletes what is in logical pages; `told`: with TRIM."""
        if told:
            yield from self._command(title, [(TRIM, page, 1) for page in pages], why)
            yield self.look("To the drive these pages are invalid now: it needn't keep them.")
            return
        self._deleted.update(pages)
        yield self.look(why, title)

    def idle(self, title: str, seconds: float, why: str) -> Iterator[Step]:
        """The host waits; what the drive does by itself in that time, if anything."""
        self._title, self._begun_ns = title, self._target.now_ns
        self._record()
        self._target.idle(round(seconds * NS_PER_S))
        done, after = self._timeline()
        if done:
            yield self._step("look", why, 0.0, self._begun_ns, ())
            yield from self._played(done, after, set())

    def _command(
        self, title: str, commands: Sequence[tuple[int, int, int]], why: str
    ) -> Iterator[Step]:
        self._title, self._begun_ns = title, self._target.now_ns
        yield self._step("host", why, 0.0, self._begun_ns, ())
        self._run(commands)
        written = {page for op, page, _ in commands if op == WRITE}
        yield from self._played(*self._timeline(), written)

    def _run(self, commands: Sequence[tuple[int, int, int]]) -> None:
        self._record()
        for part in (list(commands), [(FLUSH, 0, 0)]):
            rows = [(op, page * PAGE_SECTORS, count * PAGE_SECTORS) for op, page, count in part]
            job = Job(name="host", source=Recorded(pacing="closed"), queue_depth=len(rows))
            self._target.run_requests(job, Requests.of(rows), TaskProgress("host"))

    def _record(self) -> None:
        self._target.record_timeline(0, 2**63, _MOST)

    def _timeline(self) -> tuple[list[_Operation], list[_Block]]:
        """What the flash has done since it was begun, in order; and how its pages are then."""
        columns, _ = self._target.take_timeline()
        rows = zip(columns["work"], columns["begin_ns"], columns["end_ns"], strict=True)
        done = sorted((_Operation(*map(int, row)) for row in rows), key=lambda item: item.begin_ns)
        return done, self._seen()

    def _played(
        self, done: Sequence[_Operation], after: list[_Block], written: set[int]
    ) -> Iterator[Step]:
        """What the flash has done, one operation after the other."""
        self._reading = {}
        for operation, following in itertools.zip_longest(done, done[1:]):
            is_copied_next = following is not None and following.work == PROGRAM_OP
            yield self._operation(operation, after, written, is_copied_next)
        self._settle(after)

    def _operation(
        self, operation: _Operation, after: list[_Block], written: set[int], is_copied_next: bool
    ) -> Step:
        seconds = (operation.end_ns - operation.begin_ns) / NS_PER_S
        if operation.work == READ_OP:
            kind, say, touched = self._read(after, is_copied_next)
        elif operation.work == PROGRAM_OP:
            kind, say, touched = self._programmed(after, written)
        else:
            kind, say, touched = self._erased(after)
        if seconds:
            say += f" {seconds:g} s."
        return self._step(kind, say, seconds, operation.end_ns, touched)

    def _read(
        self, after: list[_Block], is_copied_next: bool
    ) -> tuple[str, str, tuple[tuple[int, int], ...]]:
        """The page of which a copy is programmed next; else the next valid one of the block that
        is being emptied."""
        self.reads += 1
        found = self._source_of_next(after) if is_copied_next else None
        block, place = found or self._next_of_victim(after)
        pages = self._picture[block].pages
        self._reading[block] = place + 1
        lpn = pages[place].lpn
        assert lpn is not None
        self._cache[lpn] = pages[place].label
        label = pages[place].label
        why = (
            f"the host has deleted “{label}”, but the drive doesn't know, and saves it too."
            if lpn in self._deleted
            else f"“{label}” is still valid, and must not be lost."
        )
        say = f"Page {place} of block {block} is read into the drive's memory: {why}"
        return "read", say, ((block, place),)

    def _source_of_next(self, after: list[_Block]) -> tuple[int, int] | None:
        """Where the page is now that the next program writes."""
        block, place = self._next_page(after)
        lpn = after[block].pages[place].lpn
        for number, found in enumerate(self._picture):
            for at, page in enumerate(found.pages):
                if page.state == "valid" and page.lpn == lpn:
                    return number, at
        return None

    def _next_of_victim(self, after: list[_Block]) -> tuple[int, int]:
        block = self._victim(after)
        first = self._reading.get(block, 0)
        for place, page in enumerate(self._picture[block].pages):
            if place >= first and page.state == "valid":
                return block, place
        raise WorkError("the lesson: a read that no page shows")

    def _victim(self, after: list[_Block]) -> int:
        """The block that is emptied: one that is erased in the end, or has lost valid pages to
        copies; the first of them that still has some."""
        moved = {
            page.lpn
            for before, then in zip(self._picture, after, strict=True)
            for page, later in zip(before.pages, then.pages, strict=True)
            if page.state == "valid" and later.state != "valid"
        }
        for fallen in (True, False):
            for number, block in enumerate(self._picture):
                will_fall = after[number].erase_count > block.erase_count
                unread = block.pages[self._reading.get(number, 0) :]
                left = [page for page in unread if page.state == "valid" and page.lpn in moved]
                waiting = [page for page in left if page.lpn not in self._cache]
                if waiting and will_fall == fallen:
                    return number
        return 0

    def _programmed(
        self, after: list[_Block], written: set[int]
    ) -> tuple[str, str, tuple[tuple[int, int], ...]]:
        self.programs += 1
        block, place = self._next_page(after)
        later = after[block].pages[place]
        lpn = later.lpn
        was_copied = lpn in self._cache and lpn not in written
        label = self._labels.get(lpn, "") if lpn is not None else ""
        held = self._cache.pop(lpn, label) if lpn is not None else label
        if lpn in written:
            self._deleted.discard(lpn)
        old = self._forgotten(lpn)
        self._picture[block].pages[place] = _Page("valid", lpn, label)
        touched = ((block, place), *old)
        what = f"“{label}” is {'written back' if was_copied else 'programmed'}"
        say = f"{what} into page {place} of block {block}."
        if was_copied and old:
            say = f"The copy of “{label}” is programmed into page {place} of block {block}."
        if held != label:
            say += f" What was read of its place, “{held}”, is forgotten now."
        if old and not was_copied:
            where = ", ".join(f"page {page} of block {number}" for number, page in old)
            say += f" Its old copy, {where}, can't be overwritten: it becomes invalid."
        return "program", say, touched

    def _next_page(self, after: list[_Block]) -> tuple[int, int]:
        """The first erased page of the block that is open; else of the one that is opened."""
        found: list[tuple[bool, int, int]] = []
        for number, (block, then) in enumerate(zip(self._picture, after, strict=True)):
            place = next((i for i, page in enumerate(block.pages) if page.state == "erased"), None)
            if place is not None and then.pages[place].state != "erased":
                if then.erase_count > block.erase_count:
                    continue
                found.append((place == 0, number, place))
        if not found:
            raise WorkError("the lesson: a program that no page shows")
        return min(found)[1:]

    def _forgotten(self, lpn: int | None) -> tuple[tuple[int, int], ...]:
        """Old copies, which are invalid from now on."""
        places = []
        for number, block in enumerate(self._picture):
            for place, page in enumerate(block.pages):
                if page.state == "valid" and page.lpn == lpn:
                    page.state = "invalid"
                    places.append((number, place))
        return tuple(places)

    def _erased(self, after: list[_Block]) -> tuple[str, str, tuple[tuple[int, int], ...]]:
        self.erases += 1
        falling = [
            number
            for number, (block, then) in enumerate(zip(self._picture, after, strict=True))
            if then.erase_count > block.erase_count
        ]
        # Of several the one that is empty comes first.
        number = min(
            falling, key=lambda one: sum(p.state == "valid" for p in self._picture[one].pages)
        )
        block = self._picture[number]
        block.erase_count += 1
        block.pages = [_Page("erased", None) for _ in block.pages]
        say = (
            f"Block {number} is erased, all {len(block.pages)} pages of it at once: flash can't "
            "erase less, and can't program a page twice."
        )
        return "erase", say, ((number, -1),)

    def _settle(self, after: list[_Block]) -> None:
        """The engine's own picture at the end of a command: steps must have led there."""
        for number, (block, then) in enumerate(zip(self._picture, after, strict=True)):
            for page, later in zip(block.pages, then.pages, strict=True):
                if page.state == "valid" and later.state == "invalid":
                    page.state = "invalid"  # trimmed
                if (page.state, page.lpn) != (later.state, later.lpn):
                    raise WorkError(f"the lesson: block {number} is not as the engine has it")
        self._cache.clear()

    def _seen(self) -> list[_Block]:
        return [
            _Block(
                block["erase_count"],
                [_Page(page["state"], page["lpn"]) for page in block["pages"]],
            )
            for block in self._target.page_states()
        ]

    def _step(
        self,
        kind: str,
        say: str,
        seconds: float,
        at_ns: int,
        touched: tuple[tuple[int, int], ...],
    ) -> Step:
        blocks = tuple(
            (
                number,
                block.erase_count,
                tuple(
                    Page(
                        page.state,
                        page.lpn,
                        page.label,
                        page.state == "valid" and page.lpn in self._deleted,
                    )
                    for page in block.pages
                ),
            )
            for number, block in enumerate(self._picture)
        )
        return Step(
            title=self._title,
            say=say,
            kind=kind,
            seconds=seconds,
            command_s=(at_ns - self._begun_ns) / NS_PER_S,
            blocks=blocks,
            touched=touched,
            cache=tuple(self._cache.values()),
            host_pages=self.host_pages,
            programs=self.programs,
            reads=self.reads,
            erases=self.erases,
        )
