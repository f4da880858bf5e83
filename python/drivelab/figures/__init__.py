"""Figures that hardware reviews published, and the comparison of models with them."""

from __future__ import annotations

from drivelab.figures.comparison import (
    compare,
    compare_all,
    compared_ids,
    modelled_values,
    parameter_counts,
    record_of,
    role_of,
)
from drivelab.figures.measured import Measured
from drivelab.figures.orderings import compare_orderings, ordering_readings
from drivelab.figures.owners import figure_count, has_figures, owner_of, readings_for
from drivelab.figures.published import Figure, Ordering, figures_by_id, orderings, published
from drivelab.figures.readings import Reading
from drivelab.figures.statements import judge_statements, statement_readings, statements
from drivelab.figures.summary import summary
from drivelab.figures.tables import page_of

__all__ = [
    "Figure",
    "Measured",
    "Ordering",
    "Reading",
    "compare",
    "compare_all",
    "compare_orderings",
    "compared_ids",
    "figure_count",
    "figures_by_id",
    "has_figures",
    "judge_statements",
    "modelled_values",
    "ordering_readings",
    "orderings",
    "owner_of",
    "page_of",
    "parameter_counts",
    "published",
    "readings_for",
    "record_of",
    "role_of",
    "statement_readings",
    "statements",
    "summary",
]
