"""Tables in docs/ that are generated."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.procedures import PROCEDURES, document, group_name

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", ["tests", "states"])
def test_tables_are_what_the_command_prints(name: str) -> None:
    command = f"drivelab list --{name} --markdown"
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    wanted = f"<!-- {command} -->\n{document.table(tests=name == 'tests')}\n"
    assert wanted in text, f"renew the table in docs/{name}.md from `{command}`"


GROUPS = sorted({test.group for test in PROCEDURES.values()})


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_of_tests_has_a_page_that_names_them_all(group: str) -> None:
    page = DOCS / "tests" / f"{group_name(group)}.md"
    assert page.is_file(), f"write {page}: scope and limits first"
    text = page.read_text(encoding="utf-8")
    assert "scope and limits" in text.lower()
    names = [test.id for test in PROCEDURES.values() if test.group == group]
    assert [name for name in names if f"`{name}`" not in text] == []
    assert f"tests/{page.name}" in (DOCS / "tests.md").read_text(encoding="utf-8")
