"""Long series made short for drawing: what a screen can't show is left out, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

COLUMNS_MAX = 600
"""Most columns of pixels that a chart is wide."""


def thinned(values: Sequence[float | None], columns: int = COLUMNS_MAX) -> list[int]:
    """Positions of the values that a line through all of them shows, in order.

    Of even steps of x. Of every column of pixels its first, lowest, highest and last value, or one
    gap where it has none: no extreme is lost, and the line is broken where a column is empty.
    """
    if len(values) <= 4 * columns:
        return list(range(len(values)))
    kept: list[int] = []
    for column in range(columns):
        begin, end = (len(values) * side // columns for side in (column, column + 1))
        known = [index for index in range(begin, end) if values[index] is not None]
        if not known:
            kept.append(begin)
            continue
        chosen = {
            known[0],
            known[-1],
            min(known, key=lambda index: values[index]),  # type: ignore[arg-type, return-value]
            max(known, key=lambda index: values[index]),  # type: ignore[arg-type, return-value]
        }
        kept += sorted(chosen)
    return kept
