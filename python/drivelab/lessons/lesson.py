"""What a lesson is: a title, something to change, steps that follow from it, and a prediction."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Values = Mapping[str, str]
"""What was chosen, by knob."""


@dataclass(frozen=True)
class Knob:
    """Something to change."""

    name: str
    title: str
    choices: tuple[tuple[str, str], ...]
    """Values and what people read; the first is what the lesson begins with."""


@dataclass(frozen=True)
class Page:
    """A page of flash as it is drawn."""

    state: str
    """erased, valid or invalid; of a disk's place free, waiting or read."""
    lpn: int | None
    label: str
    """What the host calls what is in it."""
    deleted: bool
    """The host has deleted it, and the drive doesn't know."""


@dataclass(frozen=True)
class Block:
    """A block of flash as it is drawn."""

    number: int
    erase_count: int
    mode: str | None
    """Native, or slc: programmed with one bit a cell; None: erased."""
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class Step:
    """One operation of the flash, or a sentence between two."""

    title: str
    """What the host does."""
    say: str
    """What happened, and why."""
    kind: str
    """host, read, program, erase or look."""
    seconds: float
    """Of the operation."""
    command_s: float
    """Since the host's command began."""
    blocks: tuple[Block, ...]
    touched: tuple[tuple[int, int], ...]
    """Blocks and pages that the operation was about; a page of -1 is the whole block."""
    cache: tuple[str, ...]
    """What the drive holds in its own memory."""
    host_pages: int
    programmed_pages: int
    """Until now, copies among them; a word line is as many as its cells have bits."""
    reads: int
    erases: int


@dataclass(frozen=True)
class Prediction:
    """A question whose answer the engine gives."""

    question: str
    choices: tuple[str, ...]
    answer: int
    """The place of the right one."""
    told: str
    """Why it is so."""
    look: Values
    """What to choose to see it."""


@dataclass(frozen=True)
class Played:
    """A lesson with all that can be chosen."""

    variants: dict[str, list[Step]] = field(default_factory=dict)
    """By the values of the knobs, with a comma between them."""

    def last(self, **values: str) -> Step:
        """The last step of a variant."""
        return self.variants[",".join(values.values())][-1]


@dataclass(frozen=True)
class Lesson:
    """A lesson; `steps` plays it on a drive of the engine."""

    name: str
    title: str
    about: str
    knobs: tuple[Knob, ...]
    steps: Callable[[Values], Iterator[Step]]
    predict: Callable[[Played], Sequence[Prediction]]
    closing: str
    """What to take home; shown at the end."""
    medium: str = "flash"
    """What is drawn: blocks and pages of flash, or tracks and places of a disk."""

    def play(self) -> Played:
        """Every variant, step by step."""
        names = [knob.name for knob in self.knobs]
        rows = itertools.product(*([value for value, _ in knob.choices] for knob in self.knobs))
        return Played(
            {",".join(row): list(self.steps(dict(zip(names, row, strict=True)))) for row in rows}
        )

    def record(self) -> dict[str, Any]:
        """The whole lesson as JSON has it: pages need nothing else."""
        played = self.play()
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "closing": self.closing,
            "medium": self.medium,
            "knobs": [asdict(knob) for knob in self.knobs],
            "predictions": [asdict(item) for item in self.predict(played)],
            "variants": {
                key: [asdict(step) for step in steps] for key, steps in played.variants.items()
            },
        }
