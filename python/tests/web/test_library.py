"""Which runs the page takes together as one drive's results, and whose numbers count."""

from __future__ import annotations

from pathlib import Path

import documents
import pytest

from drivelab import database
from drivelab.database import Recorded
from drivelab.web.library import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Run 1 has two tests, runs 2 and 3 have the first of them again, each with another rate."""
    path = tmp_path / "lab.duckdb"
    first = documents.review(documents.stream("a", rate=1.0), documents.compound("a"))
    for document in (first, *(documents.review(documents.stream("a", rate=r)) for r in (2.0, 3.0))):
        database.append(path, Recorded.review(document))
    return Library(path)


@pytest.mark.parametrize(
    ("key", "rate", "runs"),
    [("a", 3.0, "1, 3"), ("a~1", 1.0, " 1"), ("a~2", 2.0, "1, 2"), ("a~3", 3.0, "1, 3")],
)
def test_a_run_that_is_asked_for_counts_and_others_add_what_it_lacks(
    library: Library, key: str, rate: float, runs: str
) -> None:
    found = library.find(key, None)
    assert found is not None
    source = library.source(found)
    rates = {
        test["id"]: test["mib_per_s"] for test in source.document["tests"] if "mib_per_s" in test
    }
    assert rates["random-write-4k"] == rate
    assert {test["id"] for test in source.document["tests"]} == {"random-write-4k", "sweep"}
    # Runs that nothing is shown of aren't named.
    assert source.text.endswith(runs), source.text
