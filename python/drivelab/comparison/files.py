"""The files of a comparison."""

from __future__ import annotations

from typing import Any

from drivelab import output, review_files
from drivelab.comparison import Comparison, page
from drivelab.documents import to_json
from drivelab.review_files import Writers


def writers(
    found: Comparison, document: dict[str, Any], reviewed: dict[str, Any] | None = None
) -> Writers:
    """What `output.publish` takes: page and JSON, and those of the review made for it, if any."""
    html, text = page.render(found), to_json(document)
    return {
        "compare.html": lambda path: output.write_text(path, html),
        "compare.json": lambda path: output.write_text(path, text),
        **(review_files.writers(reviewed) if reviewed is not None else {}),
    }
