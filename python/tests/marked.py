"""Parts of pages that commands write, each between two marks that the page keeps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

END = "<!-- end -->\n"


def renewed(text: str, begin: str, end: str, part: str) -> str:
    """The page with a part as it is now; raises ValueError if its place isn't marked."""
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise ValueError(f"the page lacks the marks {begin.strip()} and {end.strip()}")
    return before + begin + part + end + after


def write(document: Path, section: str, parts: Mapping[str, str]) -> None:
    """Writes parts into a page, each behind the mark `section` with its name; nothing if one of
    them isn't marked, which is a ValueError."""
    text = document.read_text("utf-8")
    for name, part in parts.items():
        text = renewed(text, section.format(name=name), END, part)
    document.write_text(text, "utf-8")
