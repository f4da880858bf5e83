"""Tables in docs/ that are generated."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.procedures import document

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", ["tests", "states"])
def test_tables_are_what_the_command_prints(name: str) -> None:
    command = f"drivelab list --{name} --markdown"
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    wanted = f"<!-- {command} -->\n{document.table(tests=name == 'tests')}\n"
    assert wanted in text, f"renew the table in docs/{name}.md from `{command}`"
