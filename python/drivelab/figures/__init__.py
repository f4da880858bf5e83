"""Figures that hardware reviews published, and the comparison of models with them."""

from __future__ import annotations

from drivelab.figures.comparison import compare, has_figures, measurements_for
from drivelab.figures.published import Figure, published

__all__ = ["Figure", "compare", "has_figures", "measurements_for", "published"]
