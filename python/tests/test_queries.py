"""The questions of docs/queries.md, asked again."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import queries

PAGE = queries.DOCUMENT.read_text(encoding="utf-8")
SECTIONS = list(queries.queries(PAGE))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lab") / "lab.duckdb"
    queries.make(path)
    return path


def test_the_page_has_a_query_and_an_answer_under_every_question() -> None:
    assert len(SECTIONS) == PAGE.count("\n## ") >= 10


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(SECTIONS)))
def test_a_query_gives_the_answer_that_is_printed(lab: Path, index: int) -> None:
    sql, printed = SECTIONS[index]
    with duckdb.connect(str(lab), read_only=True) as connection:
        found = queries.answer(connection, sql)
    assert found.count("\n") >= 2, "a question without an answer teaches nothing"
    assert found == printed, "`make queries` renews docs/queries.md"
