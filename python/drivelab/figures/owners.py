"""Which model's drive a figure is about, and the measurements that a drive's figures need."""

from __future__ import annotations

from collections.abc import Collection

from drivelab.figures import tables
from drivelab.figures.formulas import inputs_of
from drivelab.figures.published import Figure, compared
from drivelab.figures.readings import Reading


def owner_of(figure: Figure) -> str | None:
    """Name of the model of the figure's drive."""
    return tables.model_of(figure.drive, figure.firmware)


def readings_for(model: str | None = None, only: Collection[str] = ()) -> set[Reading]:
    """The measurements that figures need: all, those about a model's drive, or `only` these."""
    return {
        item
        for figure in compared()
        if (model is None or owner_of(figure) == model) and (not only or figure.id in only)
        for item in inputs_of(figure).values()
        if isinstance(item, Reading)
    }


def figure_count(model: str) -> int:
    """How many figures are about the drive that a model stands for."""
    return sum(owner_of(figure) == model for figure in compared())


def has_figures(model: str) -> bool:
    """Whether any figure is about the drive that a model stands for."""
    return figure_count(model) > 0
