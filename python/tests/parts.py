"""The picture of the parts in ARCHITECTURE.md: who uses whom, read from manifests and imports.

`python -m parts` draws it anew; test_parts.py says when it is out of date.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import rust_imports

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- parts: drawn by `make parts` -->\n", "<!-- end of parts -->\n"
OPENED = ("controller", "ftl")
"""Crates whose parts are shown; of the others only that they are there."""
PREFIX = "drivelab-"
Edges = dict[str, set[str]]


def crates() -> Edges:
    """Which crates each crate uses, leaving out what it uses through another one anyway."""
    found: Edges = {}
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        used = tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {})
        found[manifest.parent.name] = {
            name.removeprefix(PREFIX) for name in used if name.startswith(PREFIX)
        }
    return reduced(found)


def parts(crate: str) -> Edges:
    """Which parts of a crate each part uses: its folders. Files beside them are words for all."""
    found: Edges = {}
    for file, used in rust_imports.Crate(ROOT / "crates" / crate).graph().items():
        if own := folder(file):
            others = {folder(other) for other in used} - {own, ""}
            found.setdefault(own, set()).update(others)
    return found


def folder(file: str) -> str:
    """The first folder of a file's path, or nothing."""
    return file.partition("/")[0] if "/" in file else ""


def reduced(edges: Edges) -> Edges:
    """Without arrows that a longer way makes superfluous; as it is if parts use each other."""

    def beyond(name: str) -> set[str]:
        return set().union(*({other} | beyond(other) for other in edges[name]))

    if rust_imports.circles(edges):
        return edges

    return {
        name: {other for other in used if all(other not in beyond(via) for via in used - {other})}
        for name, used in edges.items()
    }


def drawn() -> str:
    """The picture, as Mermaid's text."""
    lines = ["```mermaid", "flowchart TD"]
    edges = crates()
    for crate in edges:
        if crate not in OPENED:
            lines.append(f"  {crate}")
            continue
        inside = reduced(parts(crate))
        lines.append(f"  subgraph {crate}")
        lines += [f"    {crate}.{name}[{name}]" for name in sorted(inside)]
        lines += [
            f"    {crate}.{name} --> {crate}.{other}"
            for name, used in sorted(inside.items())
            for other in sorted(used)
        ]
        lines.append("  end")
    lines += [f"  {crate} --> {other}" for crate, used in edges.items() for other in sorted(used)]
    return "\n".join([*lines, "```", ""])


def replaced(text: str) -> str:
    """The document with the picture as it is now.

    Raises ValueError if its place isn't marked.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{DOCUMENT.name} lacks {BEGIN.strip()} or {END.strip()}")
    return before + BEGIN + drawn() + END + after


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(replaced(text), encoding="utf-8")
    print(DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
