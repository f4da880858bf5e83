"""Which published figures a model reaches, and which of its parameters may reach them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drivelab import model as models
from drivelab import results
from drivelab.figures import remarks
from drivelab.figures.comparison import record_of, role_of
from drivelab.figures.formulas import inputs_of
from drivelab.figures.measured import Measured
from drivelab.figures.published import Figure, compared
from drivelab.figures.readings import Reading, quantity

Record = dict[str, Any]
LONG_ASPECTS = ("longest latency", "floor of a pass", "value:minutes_to_stutter")
"""What is seen in runs of full length only: events that are rare."""


def readings_of(figure: Figure) -> list[Reading]:
    """The measurements that a figure's modelled value follows from, on all drives that it takes."""
    return [item for item in inputs_of(figure).values() if isinstance(item, Reading)]


def reached_by(name: str) -> list[Figure]:
    """Figures whose modelled value a measurement of this model is a part of: those of its drive,
    and ratios of others to it."""
    return [f for f in compared() if any(item.model == name for item in readings_of(f))]


def reaches(key: str, reading: Reading) -> bool:
    """Whether a parameter may act on a measurement at all: power draws no time."""
    section = key.removeprefix("member.").partition(".")[0]
    return section != "power" or reading.quantity == "power_w"


def is_long(reading: Reading) -> bool:
    """Whether a measurement has to be made at full length: what is read from it is rare."""
    return quantity(reading.quantity).aspect in LONG_ASPECTS


def described(figures: Sequence[Figure]) -> list[Record]:
    """Figures as `record_of` has them, without modelled values; the role is the one that a value
    has, the reason why it has none."""
    names = sorted({item.model for figure in figures for item in inputs_of(figure).values()})
    measured = Measured([results.model_result(models.load(name)) for name in names], ())
    return [
        record_of(figure, measured)
        | {
            "role": role_of(figure, inputs_of(figure), measured, figure.value),
            "reason": remarks.unjudged(figure),
        }
        for figure in figures
    ]
