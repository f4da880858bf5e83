"""What is said of a figure beside its values: units, notes, why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from drivelab.figures import tables
from drivelab.figures.formulas import Input
from drivelab.figures.published import Figure
from drivelab.figures.readings import Property, Reading
from drivelab.model_layers import known_names


class Known(Protocol):
    """What is known of the models."""

    def missing(self, inputs: Iterable[Input]) -> list[str]:
        """Models that are not among those measured."""

    def value(self, item: Input) -> float | None:
        """An input of a figure; None if it wasn't measured."""

    def tested(self, item: Input) -> bool:
        """Whether the test of an input was run."""


def unjudged(figure: Figure) -> str:
    """Why a figure isn't judged; empty if it is."""
    contradiction = tables.remarks("contradicted").get(figure.id)
    if contradiction is not None:
        return f"the review contradicts itself: {contradiction}"
    return tables.remarks("arithmetic").get(figure.id, "")


def unit(figure: Figure, single: Reading | None) -> str:
    """Iometer's and AS SSD's "MB/s" are MiB/s."""
    return "MiB/s" if single is not None and single.unit == "MiB/s" else figure.unit


def reason(
    figure: Figure, inputs: Mapping[str, Input], measured: Known, modelled: float | None
) -> str:
    """Why there is no modelled value, why it isn't judged, or what is to be said of it."""
    if modelled is not None:
        return unjudged(figure) or tables.remarks("beside").get(figure.id, "")
    if figure.id in tables.remarks("no_model"):
        return tables.remarks("no_model")[figure.id]
    missing = measured.missing(inputs.values())
    if missing:
        known = set(known_names())
        absent_models = [name for name in missing if name not in known]
        if absent_models:
            return f"no model yet: {', '.join(absent_models)}"
        return f"not among the models compared: {', '.join(missing)}"
    if not inputs:
        return "no test of the laboratory repeats it"
    absent = [item for item in inputs.values() if measured.value(item) is None]
    if figure.id in tables.remarks("not_found") and all(map(measured.tested, absent)):
        return tables.remarks("not_found")[figure.id]
    return "not measured: " + ", ".join(dict.fromkeys(map(_words, absent)))


def _words(item: Input) -> str:
    if isinstance(item, Property):
        return f"{item.key} of {item.model}"
    return f"{item.test_id} in state {item.state}"


def note(figure: Figure, single: Reading | None) -> str:
    """What the review says of a figure, and what was assumed."""
    notes = [figure.note] if figure.note else []
    if figure.variant:
        notes.append(figure.variant)
    if data := figure.workload.get("data"):
        notes.append(f"{data} data")
    if single is not None and figure.state == "unstated":
        notes.append(f"the review doesn't say the state; modelled: {single.state}")
    if single is not None and single.state == "used":
        notes.append("depends on the assumed image of the used state")
    return "; ".join(notes)
