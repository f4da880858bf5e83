from __future__ import annotations

import re
from pathlib import Path

import example_pictures
import pytest

EXAMPLES = sorted(example_pictures.EXAMPLES.glob("*.py"))
RUN_ELSEWHERE = ["placement_hints"]
"""test_placement_hints.py runs it, and compares what it prints with the page."""
DRAWING = example_pictures.drawing()
PAGES = ["python.md", "study.md", "cluster.md", "page-map.md"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "example",
    [path for path in EXAMPLES if path.stem not in RUN_ELSEWHERE],
    ids=lambda path: path.stem,
)
def test_an_example_runs_as_it_stands_and_draws_its_picture(example: Path, tmp_path: Path) -> None:
    done = example_pictures.made(example, tmp_path)
    # A slow machine is told how far a sweep is.
    said = [line for line in done.stderr.splitlines() if "% done" not in line]
    assert (done.returncode, said) == (0, [])
    if example not in DRAWING:
        return
    picture = f"{example.stem}.png"
    now = example_pictures.kept(tmp_path / picture)
    assert example_pictures.kept(example_pictures.PICTURES / picture) == now, "`make pictures`"


def test_pictures_are_small_and_show_something() -> None:
    pictures = sorted(example_pictures.PICTURES.iterdir())
    assert [path.stem for path in pictures] == [path.stem for path in DRAWING]
    for path in pictures:
        assert path.stat().st_size < 200_000
        assert len(example_pictures.kept(path)["columns"]["y"]) > 3


def test_the_pages_show_the_examples_as_they_are() -> None:
    docs = example_pictures.ROOT / "docs"
    text = "".join((docs / name).read_text(encoding="utf-8") for name in PAGES)
    for path in EXAMPLES:
        code = path.read_text(encoding="utf-8").split('"""\n\n', 1)[1]
        assert f"```python\n{code}```" in text or f"(../examples/{path.name})" in text, path.name
        assert path not in DRAWING or re.search(
            rf"!\[[^]]+\]\(examples/{path.stem}\.png\)", text
        ), path.name


def test_the_persona_s_study_is_twelve_lines() -> None:
    text = (example_pictures.EXAMPLES / "policies_over_spare_area.py").read_text(encoding="utf-8")
    code = text.split('"""\n', 1)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    assert "._" not in code
