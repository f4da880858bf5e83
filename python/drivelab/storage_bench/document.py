"""What `drivelab synthesize --json` prints: statistics of a trace, beside what was published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drivelab.storage_bench.specification import Specification
from drivelab.storage_bench.statistics import Statistics


def document(
    trace: Specification, found: Statistics, seed: int, file: Path | None
) -> dict[str, Any]:
    """A trace that was synthesised with a seed, and written to a file, if it was."""
    return {
        "name": trace.name,
        "title": trace.title,
        "seed": seed,
        "file": None if file is None else str(file),
        "statistics": [
            {
                "name": statistic,
                "value": value,
                "published": _published(trace, statistic),
                "source": trace.aims[statistic].source if statistic in trace.aims else None,
            }
            for statistic, value in found.as_dict().items()
        ],
    }


def _published(trace: Specification, statistic: str) -> dict[str, Any] | None:
    figure = trace.published().get(statistic)
    if figure is None:
        return None
    return {"id": figure.id, "relation": figure.relation, "value": figure.value}
