"""Drives of which each is faster than the one before it by the same factor, compared."""

from __future__ import annotations

import documents

from drivelab.comparison import Comparison, Source, compare


def found(factor: float = 2.3, count: int = 2) -> Comparison:
    names = "abcdef"[:count]
    tests = []
    for index, name in enumerate(names):
        rate = 10 * factor**index
        tests += [
            documents.stream(name, "used", rate=rate),
            documents.stream(name, "used", "sequential-read", rate=100, direction="read"),
            documents.stream(
                name,
                "used",
                "hdtach-write",
                **{"pass": documents.whole_pass(rate, rate / 2)},
            ),
            documents.compound(name, rate=rate),
            documents.compound(name, test_id="field", rate=rate, charts=[FIELD]),
        ]
    return compare([Source("review", documents.review(*tests))], "drivelab compare review")


FIELD = {
    "table": "sizes",
    "title": "Field",
    "kind": "heat",
    "x": "block_bytes",
    "y": "mb_per_s",
    "by": "direction",
    "log_x": False,
    "log_y": False,
}
