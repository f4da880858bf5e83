"""AnandTech's Storage Bench: traces synthesised from their published statistics.

`specification.py` holds what is published and what is assumed (`traces.toml`), `synthesis.py` makes
requests of it, `statistics.py` measures any requests. The two know nothing of each other.
"""

from __future__ import annotations

# Aims are published figures, whose readings name the tests that replay these traces: figures come
# first, whoever begins.
import drivelab.figures  # noqa: F401
from drivelab.storage_bench.specification import REVIEW_SEED, Specification, find, traces
from drivelab.storage_bench.statistics import Statistics, statistics
from drivelab.storage_bench.synthesis import synthesise

__all__ = [
    "REVIEW_SEED",
    "Specification",
    "Statistics",
    "find",
    "statistics",
    "synthesise",
    "traces",
]
