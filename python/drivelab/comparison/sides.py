"""What is compared: sides, each one drive of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.errors import RequestError
from drivelab.report.loose import dicts, text
from drivelab.report.measurements import Measurement, Model, Review
from drivelab.report.reading import read

Record = Mapping[str, Any]

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
    document: Record
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
    own: Record
    """The run's own object: engine version, seed, quick, command line."""
    records: tuple[Record, ...]
    """Records of its tests, as in results.json."""
    review: Review
    """The run that it is part of."""
    state_origins: Mapping[str, Record]
    """Of its states that don't come with drivelab, where they come from."""
    measurements: Mapping[tuple[str, str], Measurement]
    """Of its tests of one stream, by test and state."""

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

    def record(self, test_id: str, state: str) -> Record | None:
        """The record of one test in one state."""
        found = (r for r in self.records if r["id"] == test_id and r["state"] == state)
        return next(found, None)


def check_count(names: Sequence[str]) -> None:
    """Raises RequestError for too few drives, or too many; `names` say which, and where from."""
    if not 2 <= len(names) <= SIDES_MAX:
        raise RequestError(
            f"a comparison takes two drives at least and {SIDES_MAX} at most; there "
            f"{'is' if len(names) == 1 else 'are'} {len(names)}: {', '.join(names) or 'none'}"
        )


def sides_of(sources: Sequence[Source]) -> list[Side]:
    """A side for each model of each source; raises RequestError for fewer than two, or too many."""
    reviews = [(source, read(dict(source.document))) for source in sources]
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
            own=source.document["drivelab"],
            records=tuple(t for t in source.document["tests"] if t["model"] == model.name),
            review=review,
            state_origins={
                text(state.get("state")): state["origin"]
                for state in dicts(source.document.get("states"))
                if state.get("model") == model.name and isinstance(state.get("origin"), dict)
            },
            measurements={(t.id, t.state): t for t in review.tests if t.model == model.name},
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
