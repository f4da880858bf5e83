"""Tables of docs/results.md, from the definitions of files and database: `make tables`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import marked

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
        text = marked.renewed(text, f"<!-- {name} -->\n", f"<!-- end of {name} -->\n", made())
    return text


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(renewed(text), encoding="utf-8")
    print(DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
