"""The files of a comparison."""

from __future__ import annotations

from typing import Any

from drivelab import output, review_files
from drivelab.comparison import Comparison, page
from drivelab.comparison.document import document as to_document
from drivelab.documents import to_json
from drivelab.review_files import Writers


def writers(found: Comparison, reviewed: dict[str, Any] | None = None) -> Writers:
    """What `output.publish` takes: page and JSON, and those of the review made for it, if any."""
    html, document = page.render(found), to_json(to_document(found))
    return {
        "compare.html": lambda path: output.write_text(path, html),
        "compare.json": lambda path: output.write_text(path, document),
        **(review_files.writers(reviewed) if reviewed is not None else {}),
    }
