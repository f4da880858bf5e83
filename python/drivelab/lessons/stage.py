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
from drivelab.lessons.drives import PAGE_BYTES, PAGE_SECTORS
from drivelab.lessons.lesson import Block, Page, Step
from drivelab.lessons.picture import DrawnBlock, DrawnPage, Picture, Touched
from drivelab.model import Overrides
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.workload import FLUSH, TRIM, WRITE, Job, Recorded, Requests

READ_OP, PROGRAM_OP, ERASE_OP = 0, 1, 2
_MOST = 100_000
"""Operations of a command that are kept."""


@dataclass(frozen=True)
class _Operation:
    work: int
    is_cleaning: bool
    begin_ns: int
    end_ns: int


class Stage:
    """A drive on stage. Its commands are generators of steps; only what is iterated is played."""

    def __init__(self, model: str, overrides: Overrides = ()) -> None:
        loaded = models.load(model, overrides)
        self._target = EngineTarget(loaded, seed=1)
        line_pages = (
            models.CELL_BITS[loaded.value("flash.cell")] if loaded.value("flash.one_shot") else 1
        )
        self._picture = Picture(self._seen(), line_pages)
        self._title = "A new drive"
        self._begun_ns = 0
        self.host_pages = self.reads = self.erases = 0

    @property
    def logical_pages(self) -> int:
        """Pages that the host can address."""
        return self._target.capacity_bytes // PAGE_BYTES

    @property
    def page_count(self) -> int:
        """Pages of the flash."""
        return sum(len(block.pages) for block in self._picture.blocks)

    @property
    def programmed_pages(self) -> int:
        """Until now, copies among them."""
        return self._picture.programmed_pages

    @property
    def amplification(self) -> float:
        """Pages programmed for each page of the host, until now."""
        return self.programmed_pages / self.host_pages

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
            self._picture.labels[page] = label
        self.host_pages += len(pages)
        yield from self._command(title, [(WRITE, page, 1) for page in pages], why)

    def write_quietly(self, title: str, pages: Sequence[int], why: str) -> Iterator[Step]:
        """The same, a page at a time, as a single step."""
        self._title, self._begun_ns = title, self._target.now_ns
        before = self.programmed_pages
        for page in pages:
            self._picture.labels[page] = str(page)
            self._picture.deleted.discard(page)
            self.host_pages += 1
            self._run([(WRITE, page, 1)])
            for _ in self._played(*self._timeline(), {page}):
                pass
        end_ns = self._target.now_ns
        seconds = (end_ns - self._begun_ns) / NS_PER_S
        told = f"{why} {len(pages)} pages of the host, {self.programmed_pages - before} programs."
        yield self._step("host", told, seconds, end_ns, ())

    def delete(self, title: str, pages: Sequence[int], told: bool, why: str) -> Iterator[Step]:
        """The host deletes what is in logical pages; `told`: with TRIM."""
        if told:
            yield from self._command(title, [(TRIM, page, 1) for page in pages], why)
            yield self.look("To the drive these pages are invalid now: it needn't keep them.")
            return
        self._picture.deleted.update(pages)
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

    def _timeline(self) -> tuple[list[_Operation], list[DrawnBlock]]:
        """What the flash has done since it was begun, in order; and how its pages are then."""
        columns, _ = self._target.take_timeline()
        names = ("work", "cleaning", "begin_ns", "end_ns")
        rows = zip(*(columns[name].tolist() for name in names), strict=True)
        done = sorted((_Operation(*row) for row in rows), key=lambda item: item.begin_ns)
        return done, self._seen()

    def _played(
        self, done: Sequence[_Operation], after: list[DrawnBlock], written: set[int]
    ) -> Iterator[Step]:
        """What the flash has done, one operation after the other."""
        self._picture.begin(written)
        for operation, following in itertools.zip_longest(done, done[1:]):
            is_copied_next = following is not None and following.work == PROGRAM_OP
            yield self._operation(operation, after, is_copied_next)
        self._picture.settle(after)

    def _operation(
        self, operation: _Operation, after: list[DrawnBlock], is_copied_next: bool
    ) -> Step:
        seconds = (operation.end_ns - operation.begin_ns) / NS_PER_S
        if operation.work == READ_OP:
            self.reads += 1
            kind, say, touched = self._picture.read(after, is_copied_next)
        elif operation.work == PROGRAM_OP:
            kind, say, touched = self._picture.programmed(after, operation.is_cleaning)
        else:
            self.erases += 1
            kind, say, touched = self._picture.erased(after)
        if seconds:
            say += f" {seconds:g} s."
        return self._step(kind, say, seconds, operation.end_ns, touched)

    def _seen(self) -> list[DrawnBlock]:
        return [
            DrawnBlock(
                block["erase_count"],
                block["mode"],
                [DrawnPage(page["state"], page["lpn"]) for page in block["pages"]],
            )
            for block in self._target.page_states()
        ]

    def _step(
        self,
        kind: str,
        say: str,
        seconds: float,
        at_ns: int,
        touched: Touched,
    ) -> Step:
        blocks = tuple(
            Block(
                number,
                block.erase_count,
                block.mode,
                tuple(
                    Page(
                        page.state,
                        page.lpn,
                        page.label,
                        page.state == "valid" and page.lpn in self._picture.deleted,
                    )
                    for page in block.pages
                ),
            )
            for number, block in enumerate(self._picture.blocks)
        )
        return Step(
            title=self._title,
            say=say,
            kind=kind,
            seconds=seconds,
            command_s=(at_ns - self._begun_ns) / NS_PER_S,
            blocks=blocks,
            touched=touched,
            cache=tuple(self._picture.cache.values()),
            host_pages=self.host_pages,
            programmed_pages=self.programmed_pages,
            reads=self.reads,
            erases=self.erases,
        )
