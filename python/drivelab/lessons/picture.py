"""What every page of a lesson's drive is after each operation of its flash.

The engine says what pages are before and after a command, and which operations lie between; which
page each of them was about follows from both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drivelab.errors import WorkError

Touched = tuple[tuple[int, int], ...]
"""Blocks and pages that an operation was about; a page of -1 is the whole block."""


@dataclass
class DrawnPage:
    """A page: erased, valid or invalid."""

    state: str
    lpn: int | None
    label: str = ""


@dataclass
class DrawnBlock:
    """A block; its mode is None while it is erased."""

    erase_count: int
    mode: str | None
    pages: list[DrawnPage]


class Picture:
    """The blocks as they are now. Each operation says what it did, and what it touched."""

    def __init__(self, blocks: list[DrawnBlock], line_pages: int) -> None:
        """`line_pages` of native blocks are programmed at once."""
        self.blocks = blocks
        self.labels: dict[int, str] = {}
        self.deleted: set[int] = set()
        self.cache: dict[int, str] = {}
        self._reading: dict[int, int] = {}
        self._written: set[int] = set()
        self.programmed_pages = 0
        """Until now; a word line is as many as its cells have bits."""
        self._line_pages = line_pages
        self._native_pages = len(blocks[0].pages)

    def begin(self, written: set[int]) -> None:
        """A command begins that writes these pages: no block is being emptied."""
        self._reading = {}
        self._written = written

    def read(self, after: list[DrawnBlock], is_copied_next: bool) -> tuple[str, str, Touched]:
        """The page of which a copy is programmed next, alone; else the next valid one of the block
        that is being emptied."""
        is_alone = is_copied_next and self._line_pages == 1
        found = self._source_of_next(after) if is_alone else None
        block, place = found or self._next_of_victim(after)
        pages = self.blocks[block].pages
        self._reading[block] = place + 1
        lpn = pages[place].lpn
        assert lpn is not None
        self.cache[lpn] = pages[place].label
        label = pages[place].label
        why = (
            f"the host has deleted “{label}”, but the drive doesn't know, and saves it too."
            if lpn in self.deleted
            else f"“{label}” is still valid, and must not be lost."
        )
        say = f"Page {place} of block {block} is read into the drive's memory: {why}"
        return "read", say, ((block, place),)

    def _source_of_next(self, after: list[DrawnBlock]) -> tuple[int, int] | None:
        """Where the page is now that the next program writes."""
        block, place = self._next_page(after, is_cleaning=True)
        lpn = after[block].pages[place].lpn
        return next(self._places_of(lpn), None)

    def _next_of_victim(self, after: list[DrawnBlock]) -> tuple[int, int]:
        block = self._victim(after)
        first = self._reading.get(block, 0)
        for place, page in enumerate(self.blocks[block].pages):
            if place >= first and page.state == "valid":
                return block, place
        raise WorkError("the lesson: a read that no page shows")

    def _victim(self, after: list[DrawnBlock]) -> int:
        """The block that is emptied: one that is erased in the end, or has lost valid pages to
        copies; the first of them that still has some."""
        moved = {lpn for _, _, lpn in _valid(self.blocks) - _valid(after)}
        for fallen in (True, False):
            for number, block in enumerate(self.blocks):
                will_fall = after[number].erase_count > block.erase_count
                unread = block.pages[self._reading.get(number, 0) :]
                left = [page for page in unread if page.state == "valid" and page.lpn in moved]
                waiting = [page for page in left if page.lpn not in self.cache]
                if waiting and will_fall == fallen:
                    return number
        return 0

    def programmed(self, after: list[DrawnBlock], is_cleaning: bool) -> tuple[str, str, Touched]:
        """The next page or word line: of the host's, or of copies."""
        block, place = self._next_page(after, is_cleaning)
        then, now = after[block], self.blocks[block]
        if place == 0 and then.mode != now.mode:
            now.mode, now.pages = then.mode, _erased(len(then.pages))
        count = self._line_pages if then.mode == "native" else 1
        self.programmed_pages += count
        if count > 1:
            return self._programmed_line(block, place, then)
        later = then.pages[place]
        lpn = later.lpn
        was_copied = lpn in self.cache and lpn not in self._written
        label = self.labels.get(lpn, "") if lpn is not None else ""
        held = self.cache.pop(lpn, label) if lpn is not None else label
        if lpn in self._written:
            self.deleted.discard(lpn)
        old = self._forgotten(lpn)
        self.blocks[block].pages[place] = DrawnPage("valid", lpn, label)
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

    def _programmed_line(
        self, block: int, first: int, then: DrawnBlock
    ) -> tuple[str, str, Touched]:
        """All pages of a word line, in one operation."""
        touched, labels = [], []
        for place in range(first, first + self._line_pages):
            lpn = then.pages[place].lpn
            label = "" if lpn is None else self.cache.pop(lpn, self.labels[lpn])
            touched += [(block, place), *self._forgotten(lpn)]
            state = "invalid" if lpn is None else "valid"
            self.blocks[block].pages[place] = DrawnPage(state, lpn, label)
            labels += [f"“{label}”"] if lpn is not None else []
        say = (
            f"{', '.join(labels)}: a word line of block {block} is programmed, all "
            f"{self._line_pages} bits of its cells in one operation."
        )
        if len(touched) > self._line_pages:
            say += " What was there of them before is invalid now."
        return "program", say, tuple(touched)

    def _next_page(self, after: list[DrawnBlock], is_cleaning: bool) -> tuple[int, int]:
        """The first erased page of the block that is open; else of the one that is opened. Of
        several the one that gets what cleaning writes, or what the host does."""
        found: list[tuple[bool, bool, int, int]] = []
        for number, (block, then) in enumerate(zip(self.blocks, after, strict=True)):
            place = next((i for i, page in enumerate(block.pages) if page.state == "erased"), None)
            if place is not None and then.pages[place].state != "erased":
                if then.erase_count > block.erase_count:
                    continue
                is_copy = then.pages[place].lpn not in self._written
                found.append((is_copy != is_cleaning, place == 0, number, place))
        if not found:
            raise WorkError("the lesson: a program that no page shows")
        return min(found)[2:]

    def _forgotten(self, lpn: int | None) -> Touched:
        """Old copies, which are invalid from now on."""
        places = tuple(self._places_of(lpn))
        for number, place in places:
            self.blocks[number].pages[place].state = "invalid"
        return places

    def _places_of(self, lpn: int | None) -> Iterator[tuple[int, int]]:
        """Blocks and pages where a logical page is valid."""
        for number, block in enumerate(self.blocks):
            for place, page in enumerate(block.pages):
                if page.state == "valid" and page.lpn == lpn:
                    yield number, place

    def erased(self, after: list[DrawnBlock]) -> tuple[str, str, Touched]:
        """A block, from now on without a mode."""
        falling = [
            number
            for number, (block, then) in enumerate(zip(self.blocks, after, strict=True))
            if then.erase_count > block.erase_count
        ]
        # Of several the one that is empty comes first.
        number = min(
            falling, key=lambda one: sum(p.state == "valid" for p in self.blocks[one].pages)
        )
        block = self.blocks[number]
        block.erase_count += 1
        all_pages = len(block.pages)
        block.mode, block.pages = None, _erased(self._native_pages)
        say = (
            f"Block {number} is erased, all {all_pages} pages of it at once: flash can't "
            "erase less, and can't program a page twice."
        )
        return "erase", say, ((number, -1),)

    def settle(self, after: list[DrawnBlock]) -> None:
        """The engine's own picture at the end of a command: steps must have led there."""
        for number, (block, then) in enumerate(zip(self.blocks, after, strict=True)):
            for page, later in zip(block.pages, then.pages, strict=True):
                if page.state == "valid" and later.state == "invalid":
                    page.state = "invalid"  # trimmed
                if (page.state, page.lpn) != (later.state, later.lpn):
                    raise WorkError(f"the lesson: block {number} is not as the engine has it")
        self.cache.clear()


def _erased(count: int) -> list[DrawnPage]:
    return [DrawnPage("erased", None) for _ in range(count)]


def _valid(blocks: Sequence[DrawnBlock]) -> set[tuple[int, int, int | None]]:
    """Block, place and logical page of every valid page."""
    return {
        (number, place, page.lpn)
        for number, block in enumerate(blocks)
        for place, page in enumerate(block.pages)
        if page.state == "valid"
    }
