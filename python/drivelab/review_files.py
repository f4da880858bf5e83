"""The files of a review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from drivelab import database, output
from drivelab.documents import to_json

Writers = dict[str, Callable[[Path], None]]
"""By name in the folder: what writes the file."""


def writers(results: dict[str, Any], *, with_report: bool = False) -> Writers:
    """What `output.publish` takes for a review: JSON, database, and its page if wanted."""
    found: Writers = {}
    if with_report:
        # The report brings the plotting library, which takes a second to load.
        from drivelab import report

        page = report.render(results)
        found["report.html"] = lambda path: output.write_text(path, page)
    run = database.Recorded.review(results)
    found["results.json"] = lambda path: output.write_text(path, to_json(results))
    found["results.duckdb"] = lambda path: database.write(run, path)
    return found
