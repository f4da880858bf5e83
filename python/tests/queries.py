"""docs/queries.md: its queries, and their answers on a small laboratory's database.

`make queries` makes that database and writes the answers into the page.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
from small import MODEL_NAME, SETS

from drivelab import cli, database, stored

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "queries.md"
SECTION = re.compile(r"(?P<head>## .+?```sql\n(?P<sql>.+?)```\n)(?P<answer>.*?)(?=\n## |\Z)", re.S)

WRITES = "random-write-4k-qd1-aligned,random-write-4k-qd32-aligned"
READS = "random-read-4k-qd1-aligned,random-read-4k-qd3-aligned,random-read-4k-qd32-aligned"
TWO = (MODEL_NAME, "ocz-vertex-120gb", "--scale", "1/64")
WRITE = ("--scale", "1/64", "--tests", "random-write-4k-qd32-aligned", "--states")
USED = (MODEL_NAME, *WRITE, "used", "--quick")
SUITE = "pts-latency,pts-throughput-1024k,random-write-4k-qd3-sector"
RUNS = (
    (*TWO, "--tests", f"{WRITES},{READS}", "--states", "new,used", "--quick"),
    (*USED, "--set", "spare_ratio=0.15"),
    (*USED, "--set", "spare_ratio=0.28"),
    (*USED, "--set", "ftl.victim_selection=fifo", "--set", "spare_ratio=0.28"),
    (MODEL_NAME, *SETS, "--tests", SUITE, "--states", "used", "--quick"),
    (MODEL_NAME, *WRITE, "new"),
)
"""Reviews of the laboratory, as run 1, 2, ..."""
OLDER = ("--set", "ftl.cleaning_stop_blocks=6")
"""What makes a run that stands for one of an older version."""


def make(path: Path) -> None:
    """The database of the page."""
    with tempfile.TemporaryDirectory() as folder:
        for words in RUNS:
            _review(folder, *words, "--database", str(path))
        _review(folder, *RUNS[1], *OLDER)
        old = stored.read(Path(folder), None, "RESULTS")
    [original, *_] = (run for run in database.runs(path, "FILE") if run["run_id"] == 2)
    own = {"engine_version": "0.0.9", "command_line": original["command_line"]}
    document = {**old.document, "drivelab": {**old.document["drivelab"], **own}}
    database.append(path, replace(old, document=document))


def _review(folder: str, *words: str) -> None:
    status = cli.run(["review", *words, "--out", folder])
    assert status == 0, words


def queries(text: str) -> Iterator[tuple[str, str]]:
    """Query and answer of each section of the page."""
    for found in SECTION.finditer(text):
        yield found["sql"], found["answer"].strip()


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """What a query gives, as a table of Markdown; numbers with four digits."""
    found = connection.execute(sql)
    heads = [column[0] for column in found.description or ()]
    rows = [[_cell(value) for value in row] for row in found.fetchall()]
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10000 else f"{value:.0f}"
    return str(value)


def renewed(text: str, path: Path) -> str:
    """The page with the answers that a database gives."""
    with duckdb.connect(str(path), read_only=True) as connection:

        def section(found: re.Match[str]) -> str:
            return f"{found['head']}\n{answer(connection, found['sql'])}\n"

        return SECTION.sub(section, text)


def main(arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments[0]) if arguments else Path(folder) / "lab.duckdb"
        if not path.exists():
            make(path)
        DOCUMENT.write_text(renewed(DOCUMENT.read_text(encoding="utf-8"), path), encoding="utf-8")
    print(DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
