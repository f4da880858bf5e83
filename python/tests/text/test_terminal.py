from __future__ import annotations

import os
import subprocess
import sys

import pytest

from drivelab.text import terminal
from drivelab.text.layout import BLANK, Line, Table

WORDS = "word " * 60


def shown(capsys: pytest.CaptureFixture[str], *parts: Line | Table) -> list[str]:
    terminal.show(parts)
    return capsys.readouterr().out.splitlines()


def test_brackets_of_a_line_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, Line("a [bold]b[/] [1]", style="bold")) == ["a [bold]b[/] [1]"]
    assert shown(capsys, Line([("[red]", "white on red"), (" ", "")])) == ["[red] "]


def test_brackets_of_a_table_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(("job", "[b]n"), [("[red]x", "1 [/]")], ("[b]n",))
    head, row = shown(capsys, table)
    assert head.split() == ["job", "[b]n"]
    assert row.split() == ["[red]x", "1", "[/]"]


def test_what_is_no_terminal_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for stated, wide in (("80", 80), ("200", 200), ("0", 140), ("wide", 140), ("", 140)):
        monkeypatch.setenv("COLUMNS", stated)
        assert terminal.width() == wide


def test_what_is_no_terminal_has_140_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.width() == terminal.PLAIN_WIDTH == 140
    lines = shown(capsys, Line(WORDS))
    assert len(lines) == 3
    assert max(map(len, lines)) <= 140
    assert shown(capsys, Line(WORDS, wrapped=False)) == [WORDS]


def test_numbers_are_aligned_to_the_right_and_whole_columns_not_cut(
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = "k" * 100
    table = Table(("key", "n", "text"), [(key, "1", WORDS), ("b", "22", "")], ("n",), ("key",))
    lines = shown(capsys, table)
    assert lines[1].startswith(f"{key}   1  word")
    assert lines[-1].split() == ["b", "22"]
    assert max(map(len, lines)) <= 140


def test_text_has_no_empty_lines_at_its_ends_and_no_styles() -> None:
    parts = [Line("\nhead", style="bold"), BLANK, Line("end"), BLANK]
    assert terminal.as_text(parts) == "head\n\nend"
    assert terminal.as_html([Line("a < b")]) == "<pre>a &lt; b</pre>"


def test_a_terminal_is_as_wide_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "50")
    assert terminal.width() == 50
    found = terminal.as_text([Line(WORDS, style="bold")])
    assert max(map(len, found.splitlines())) <= 50
    assert "\x1b" not in found


def test_a_reader_that_goes_away_is_told_as_everywhere() -> None:
    code = (
        "from drivelab.text import terminal\n"
        "from drivelab.text.layout import Line\n"
        "try:\n"
        "    terminal.show(Line('x' * 1000) for _ in range(1000))\n"
        "except BrokenPipeError:\n"
        "    raise SystemExit(7)\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 7, done.stderr


def test_the_data_of_tables_needs_nothing_that_draws_them() -> None:
    names = ("run", "replay", "review", "comparison", "figures", "catalogue", "model", "images")
    modules = ", ".join(f"drivelab.text.{name}" for name in names)
    code = f"import sys, {modules}; print('rich' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "False\n", found.stderr
