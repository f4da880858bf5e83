"""A drive of a few pages whose power can be cut: drawn as its flash is, not as its map says.

What flash holds, page by page with the bytes that are on it, is the engine's medium; so is what was
torn, and which pages were read when the power came back. After that the picture is compared with
the map that the drive has made of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab import _engine
from drivelab import model as models
from drivelab.errors import WorkError
from drivelab.lessons.drives import PAGE_SECTORS
from drivelab.lessons.lesson import Block, Page, Step
from drivelab.lessons.picture import Touched
from drivelab.model import Overrides
from drivelab.quantities import NS_PER_S
from drivelab.targets import engine_errors
from drivelab.workload import FLUSH, READ, WRITE

FIRST_LETTER = ord("A")
HOST_PAGES_MAX = 26
Place = tuple[int, int]
"""Block and page."""


@dataclass(frozen=True)
class Version:
    """What the host writes to a page of its own: "A2" is the second version of page A."""

    page: int
    number: int

    @property
    def label(self) -> str:
        """As it is drawn."""
        return f"{chr(FIRST_LETTER + self.page)}{self.number}"

    @property
    def mark(self) -> int:
        """The number that every sector of it holds."""
        return self.number * HOST_PAGES_MAX + self.page

    @classmethod
    def of(cls, mark: int) -> Version:
        """Of a mark that was read."""
        return cls(mark % HOST_PAGES_MAX, mark // HOST_PAGES_MAX)


@dataclass(frozen=True)
class _Command:
    """A command under way."""

    version: Version | None
    """None: a flush, or a read."""
    promises: tuple[Version, ...]
    """What is promised once it is answered."""


@dataclass(frozen=True)
class _Programmed:
    """A page that can be read."""

    version: Version
    sequence: int


class KeptStage:
    """A drive on stage whose power can be cut; `heard` is what the host was told, in order."""

    def __init__(self, model: str, overrides: Overrides) -> None:
        loaded = models.load(model, overrides)
        with engine_errors():
            self._drive = _engine.KeptDrive(loaded.engine, 1)
        self._program_s = loaded.value("flash.program_ns") / NS_PER_S
        self._title = "A new drive"
        self._begun_ns = self._tag = self._host_pages = 0
        self._has_capacitor = dict(overrides).get("write_buffer.capacitor") == "true"
        self._waiting: dict[int, _Command] = {}
        self._acknowledged: dict[int, Version] = {}
        self.promised: dict[int, Version] = {}
        """What must be there after a power cut, or something newer, by page of the host."""
        self._held: list[Version] = []
        self.buffered: list[Version] = []
        """In the drive's memory, and not yet in flash."""
        self.heard: list[Version | None] = []
        """What was acknowledged, since it was last emptied; None: a flush."""
        self._pages: dict[Place, _Programmed] = {}
        self._look_at_flash()

    @property
    def elapsed_s(self) -> float:
        """Since the host's command began."""
        return (self._drive.now_ns - self._begun_ns) / NS_PER_S

    @property
    def acknowledged(self) -> list[Version]:
        """The newest version of every page that the host was told of."""
        return list(self._acknowledged.values())

    def begin(self, title: str) -> None:
        """The host's next command, from which seconds count."""
        self._title, self._begun_ns, self.heard = title, self._drive.now_ns, []

    def look(self, say: str, title: str | None = None, kind: str = "look") -> Step:
        """A sentence about what is there."""
        if title is not None:
            self.begin(title)
        return self._step(kind, say)

    def write(self, *versions: Version, fua: bool = False) -> None:
        """The host hands over pages; with `fua` each is done only when it is in flash."""
        for version in versions:
            self._host_pages += 1
            self.buffered.append(version)
            sure = fua or self._has_capacitor
            self._submit(WRITE, version, (version,) if sure else (), fua)

    def flush(self) -> None:
        """The host wants to hear when all that was acknowledged is in flash."""
        self._submit(FLUSH, None, tuple(self._acknowledged.values()), False)

    def _submit(
        self, op: int, version: Version | None, promises: tuple[Version, ...], fua: bool
    ) -> None:
        self._tag += 1
        self._waiting[self._tag] = _Command(version, promises)
        page, mark = (0, 0) if version is None else (version.page, version.mark)
        count = 0 if op == FLUSH else PAGE_SECTORS
        with engine_errors():
            self._drive.submit(self._tag, op, page * PAGE_SECTORS, count, mark, fua)

    def until(self, seconds: float, answered: bool = False) -> Iterator[Step]:
        """The drive works until so many seconds after the command began: a step for each page that
        was programmed, and for each answer that the host hears. `answered`: or until there is no
        command left to be answered."""
        end_ns = self._begun_ns + round(seconds * NS_PER_S)
        while (event_ns := self._drive.next_event()) is not None and event_ns <= end_ns:
            before, known = len(self.heard), set(self._pages)
            self._advance(event_ns)
            for place in sorted(set(self._pages) - known):
                yield self._program(place, self.heard[before:])
                before = len(self.heard)
            if fresh := self.heard[before:]:
                yield self._step("host", _answer(fresh))
            if answered and not self._waiting:
                return
        self._advance(end_ns)

    def _program(self, place: Place, heard: Sequence[Version | None]) -> Step:
        version = self._pages[place].version
        if version in self.buffered:
            self.buffered.remove(version)
        old = [
            other
            for other, page in self._pages.items()
            if page.version.page == version.page and other != place
        ]
        say = f"“{version.label}” is programmed into page {place[1]} of block {place[0]}."
        if old:
            say += " What was there of the page before is outdated from now on, and not sooner."
        seconds = self._program_s
        say += f" {seconds:g} s."
        if heard:
            say += f" {_answer(heard)}"
        return self._step("program", say, (place, *old), seconds)

    def cut(self, why: str) -> Step:
        """The power fails now."""
        lost = ", ".join(f"“{version.label}”" for version in self.buffered)
        at_s = self.elapsed_s
        self._drive.cut()
        self._waiting.clear()
        self._look_at_flash()
        torn = [place for place, state in self._states.items() if state == "torn"]
        say = why
        for block, page in torn:
            say += (
                f" Page {page} of block {block} was being programmed: its cells are neither erased "
                "nor what they were to be."
            )
        if not lost:
            say += " Memory held nothing that wasn't in flash."
        elif self._has_capacitor:
            say += f" The capacitor's charge is enough to save what memory held: {lost}."
        else:
            say += f" Memory held {lost}: that is gone."
        self._held, self.buffered = (self.buffered if self._has_capacitor else []), []
        return self._step("cut", say, tuple(torn), at_s=at_s)

    def power_on(self) -> Iterator[Step]:
        """The power comes back: what the drive reads to find out what it holds."""
        held = self._held
        self._title, self._begun_ns, self.heard = "The power comes back", 0, []
        yield self._step(
            "on",
            "The map was in memory: it is gone. But every page says in its out-of-band data which "
            "page of the host it is, and as which program of the drive's life it was written.",
            at_s=0.0,
        )
        with engine_errors():
            report = json.loads(self._drive.power_on())
        torn = {block for (block, _), state in self._states.items() if state == "torn"}
        for block in sorted({block for block, _ in report["read"]} | torn):
            pages = [page for other, page in report["read"] if other == block]
            yield from self._recovered(block, pages)
        if report["held_units"] != len(held):
            raise WorkError("the lesson: the capacitor kept something else than was in memory")
        if held:
            self.buffered = held
            names = ", ".join(f"“{version.label}”" for version in held)
            yield self._step(
                "on",
                f"What the capacitor saved in the last moment is there as well: {names}.",
                at_s=0.0,
            )
        self._look_at_flash()
        self._settle()
        yield self._step(
            "on",
            f"{report['pages_read']} pages were read, and the map is whole again, after "
            f"{report['duration_ns'] / NS_PER_S:g} s. Of each page of the host the version that "
            "was programmed last counts.",
        )

    def _recovered(self, block: int, pages: Sequence[int]) -> Iterator[Step]:
        """The pages of a block whose out-of-band data is read, and those that can't be."""
        states = {page: state for (other, page), state in self._states.items() if other == block}
        torn = [page for page, state in states.items() if state == "torn"]
        for page in sorted({*pages, *torn}):
            say = f"Page {page} of block {block} is torn: no checksum fits. It counts as nothing."
            if page in pages:
                found = self._pages[block, page]
                say = f"Page {page} of block {block}: “{found.version.label}”, program number "
                say += f"{found.sequence}."
            yield self._step("read", say, ((block, page),), at_s=0.0)

    def read_back(self, title: str, pages: Sequence[int]) -> tuple[list[Version], Step]:
        """What the host reads of its pages."""
        self.begin(title)
        found: list[Version] = []
        for page in pages:
            self._submit(READ, Version(page, 0), (), False)
            self._waiting.clear()
            done: list[tuple[int, int, list[int]]] = []
            while not done:
                if (event_ns := self._drive.next_event()) is None:
                    raise WorkError("the lesson: the drive never answers a read")
                done = self._drive.advance(event_ns)
            [(_, _, marks)] = done
            if len(set(marks)) != 1:
                raise WorkError("the lesson: a page that is half old and half new")
            found.append(Version.of(marks[0]))
        self._look_at_flash()
        said = ", ".join(f"“{version.label}”" for version in found)
        return found, self._step("host", f"The host reads {said}.")

    def _advance(self, until_ns: int) -> None:
        with engine_errors():
            done = self._drive.advance(until_ns)
        for tag, _, _ in done:
            command = self._waiting.pop(tag)
            self.heard.append(command.version)
            self.promised |= {version.page: version for version in command.promises}
            if command.version is not None:
                self._acknowledged[command.version.page] = command.version
        self._look_at_flash()

    def _look_at_flash(self) -> None:
        """The medium as it is now. What is on a page is looked at when it has just been programmed:
        the engine keeps no bytes of what is outdated."""
        self._blocks: list[dict[str, Any]] = json.loads(self._drive.flash())
        places = {
            (block, page): found
            for block, own in enumerate(self._blocks)
            for page, found in enumerate(own["pages"])
        }
        self._states = {place: found["state"] for place, found in places.items()}
        for place, found in places.items():
            for unit in found.get("units", ()):
                if self._pages.get(place) is None:
                    version = Version.of(unit["mark"])
                    self._pages[place] = _Programmed(version, found["sequence"])

    def _newest(self) -> set[Place]:
        """Where the last version of every page of the host is."""
        found: dict[int, Place] = {}
        for place, page in sorted(self._pages.items(), key=lambda item: item[1].sequence):
            found[page.version.page] = place
        return set(found.values())

    def _settle(self) -> None:
        """The drive's own map, which must say the same as the picture."""
        held = {version.page for version in self.buffered}
        own = {
            (number, place)
            for number, block in enumerate(json.loads(self._drive.page_states()))
            for place, page in enumerate(block["pages"])
            if page["state"] == "valid" and page["lpn"] not in held
        }
        drawn = {place for place in self._newest() if self._pages[place].version.page not in held}
        if own != drawn:
            raise WorkError("the lesson: the drive's map is not what its flash says")

    def _step(
        self,
        kind: str,
        say: str,
        touched: Touched = (),
        seconds: float = 0.0,
        at_s: float | None = None,
    ) -> Step:
        newest = self._newest()

        def page(place: Place) -> Page:
            found, state = self._pages.get(place), self._states[place]
            if found is None:
                return Page("erased" if state == "erased" else "torn", None, "", False)
            drawn = "valid" if place in newest else "invalid"
            return Page(drawn, found.version.page, found.version.label, False)

        blocks = tuple(
            Block(
                number,
                block["erase_count"],
                None if block["pages"][0]["state"] == "erased" else "native",
                tuple(page((number, at)) for at in range(len(block["pages"]))),
            )
            for number, block in enumerate(self._blocks)
        )
        return Step(
            title=self._title,
            say=say,
            kind=kind,
            seconds=seconds,
            command_s=self.elapsed_s if at_s is None else at_s,
            blocks=blocks,
            touched=touched,
            cache=tuple(version.label for version in self.buffered),
            host_pages=self._host_pages,
            programmed_pages=len(self._pages),
            reads=0,
            erases=0,
        )


def _answer(heard: Sequence[Version | None]) -> str:
    """What the host hears, in words."""
    names = ", ".join(f"“{version.label}”" for version in heard if version is not None)
    parts = [f"{names} {'is' if names.count('“') == 1 else 'are'} written"] if names else []
    parts += ["the flush is done"] if None in heard else []
    return f"The drive answers: {', and '.join(parts)}."
