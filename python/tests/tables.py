"""What docs/results.md says of results.json, from its definition: `make tables` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

from drivelab.records import description

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "results.md"
BEGIN, END = "<!-- drivelab schema --markdown -->\n", "<!-- end of drivelab schema -->\n"


def renewed(text: str) -> str:
    """The page with the tables as they are now; raises ValueError if their place isn't marked."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{DOCUMENT.name} lacks {BEGIN.strip()} or {END.strip()}")
    return before + BEGIN + description.markdown() + END + after


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(renewed(text), encoding="utf-8")
    print(DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
