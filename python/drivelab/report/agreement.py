"""How a published figure and what the model gives for it agree."""

from __future__ import annotations

from drivelab import verdicts
from drivelab.records.figure import Figure

BOUNDS = ("lt", "le", "gt", "ge", "range")
"""Relations of published figures that hold or fail, and have no error of their own."""


def error_ratio(figure: Figure) -> float | None:
    """(modelled - published) / published of figures that are values, not bounds or ranges.

    A figure's own `error_ratio` is a distance for bounds and ranges, too.
    """
    if figure.relation in BOUNDS:
        return None
    if figure.published and figure.modelled is not None:
        return figure.modelled / figure.published - 1
    return figure.error_ratio


def holds(figure: Figure) -> bool | None:
    """For a published bound or range ("less than 0.3 ms"): does the model keep it?"""
    if figure.modelled is None:
        return None
    if figure.satisfied is not None or figure.relation not in BOUNDS[:4]:
        return figure.satisfied
    return verdicts.keeps(figure.relation, figure.modelled, figure.published, figure.published)


def is_judged(figure: Figure) -> bool:
    """Whether comparing means anything: not where a review contradicts itself, for one."""
    is_known = error_ratio(figure) is not None or holds(figure) is not None
    return figure.role != "none" and is_known


def met(figure: Figure) -> bool:
    """Whether the model meets the figure: within 10 %, or on the right side of a bound."""
    kept, ratio = holds(figure), error_ratio(figure)
    return kept if kept is not None else ratio is not None and verdicts.is_met(ratio)


def quantity(figure: Figure) -> str:
    """What is read off the test, if it is one measurement: "mib_per_s", "value:score"."""
    return figure.inputs[0].quantity if len(figure.inputs) == 1 else ""
