"""What is compared: sides, each one drive of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drivelab import model as models
from drivelab.comparison.compared import Compared
from drivelab.comparison.runs import completed
from drivelab.errors import RequestError
from drivelab.records.model import Model
from drivelab.records.record import Origin
from drivelab.records.run import Run
from drivelab.records.test import Test
from drivelab.report.reading import Reviewed, read

SIDES_MAX = 6
"""More lines and bars than these can't be told apart by colour."""
LETTERS = "ABCDEF"
TOKENS = ("$new", "$used", "$tortured", "$trimmed", "$passed", "$other")
CLASSES = tuple(f"s-{token[1:]}" for token in TOKENS)
"""Colours of sides, in plots and in the style sheet."""


@dataclass(frozen=True)
class Source:
    """Results that were asked for: where they come from, and the document (results.json)."""

    text: str
    document: Mapping[str, Any]
    models: tuple[str, ...] | None = None
    """Only these models of the document; None: all of them."""


@dataclass(frozen=True)
class Side:
    """One drive in one run."""

    index: int
    label: str
    """Its name in this comparison, unlike all others."""
    source: str
    model: Model
    review: Reviewed
    """The run that it is part of."""

    @property
    def run(self) -> Run:
        """Which run that is: engine version, seed, quick, command line."""
        return self.review.drivelab

    @cached_property
    def records(self) -> list[Test]:
        """Records of its tests."""
        return [test for test in self.review.tests if test.model == self.model.name]

    @property
    def letter(self) -> str:
        """A to F."""
        return LETTERS[self.index]

    @property
    def token(self) -> str:
        """Its colour in plots."""
        return TOKENS[self.index]

    @property
    def css(self) -> str:
        """Its colour in the style sheet."""
        return CLASSES[self.index]

    @property
    def scale_notes(self) -> tuple[str, ...]:
        """What a small version has to say of itself."""
        return tuple(models.scale_notes(self.model.scale_remarks or ()))

    def record(self, test_id: str, state: str) -> Test | None:
        """The record of one test in one state."""
        found = (test for test in self.records if (test.id, test.state) == (test_id, state))
        return next(found, None)

    def state_origin(self, state: str) -> Origin | None:
        """Where a state comes from, if it doesn't come with drivelab."""
        name = self.model.name
        found = (item for item in self.review.states if (item.model, item.state) == (name, state))
        return next((item.origin for item in found), None)


def check_count(names: Sequence[str]) -> None:
    """Raises RequestError for too few drives, or too many; `names` say which, and where from."""
    if not 2 <= len(names) <= SIDES_MAX:
        raise RequestError(
            f"a comparison takes two drives at least and {SIDES_MAX} at most; there "
            f"{'is' if len(names) == 1 else 'are'} {len(names)}: {', '.join(names) or 'none'}"
        )


def sides_of(sources: Sequence[Source]) -> list[Side]:
    """A side for each model of each source; raises RequestError for fewer than two, or too many."""
    reviews = [(source, read(completed(source.document), Compared)) for source in sources]
    found = [
        (source, review, model)
        for source, review in reviews
        for model in review.models
        if source.models is None or model.name in source.models
    ]
    check_count([f"{model.name} of {source.text}" for source, _, model in found])
    labels = _labels([(model, source.text) for source, _, model in found])
    return [
        Side(
            index=index,
            label=labels[index],
            source=source.text,
            model=model,
            review=review,
        )
        for index, (source, review, model) in enumerate(found)
    ]


def _labels(found: Sequence[tuple[Model, str]]) -> list[str]:
    """Titles; what tells drives of one title apart is added: name, source, or number."""
    for make in (
        lambda model, text: model.title,
        lambda model, text: f"{model.title} ({model.name})",
        lambda model, text: f"{model.title} ({text})",
    ):
        labels = [make(model, text) for model, text in found]
        if len(set(labels)) == len(labels):
            return labels
    return [f"{model.title} ({LETTERS[index]})" for index, (model, _) in enumerate(found)]


def lettered(sides: Sequence[Side], lines: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What was said of each side, every line once, after the letters of the sides that it is of."""
    letters: dict[str, list[str]] = {}
    for side, own in zip(sides, lines, strict=True):
        for line in own:
            letters.setdefault(line, []).append(side.letter)
    return tuple(f"{', '.join(of)}: {line}" for line, of in letters.items())
