"""Tables of docs/results.md, from the definitions of files and database: `make tables`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from drivelab.database.tables import TABLES
from drivelab.records import description

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "results.md"
PARTS: dict[str, Callable[[], str]] = {
    "drivelab schema --markdown": description.markdown,
    "tables of the database": lambda: database_tables(),
}
"""What is between two marks of the page, by their name."""


def database_tables() -> str:
    """Every table of the database: what a row is, its columns, its key."""
    lines = ["| table | a row | columns, after `run_id` | key |", "|---|---|---|---|"]
    for table in TABLES.values():
        key = "-" if table.key is None else ", ".join(f"`{name}`" for name in table.key)
        columns = ", ".join(f"`{column.name}`" for column in table.columns)
        lines.append(f"| `{table.name}` | {table.text} | {columns} | {key} |")
    return "\n".join([*lines, ""])


def renewed(text: str) -> str:
    """The page with all parts as they are now; raises ValueError if a place isn't marked."""
    for name, made in PARTS.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->\n")
        if not begin or not end:
            raise ValueError(f"{DOCUMENT.name} lacks the marks of {name}")
        text = before + begin + made() + end + after
    return text


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(renewed(text), encoding="utf-8")
    print(DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
