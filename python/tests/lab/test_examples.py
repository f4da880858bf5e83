from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True
    )
    # A slow machine is told how far a sweep is.
    said = [line for line in done.stderr.splitlines() if "% done" not in line]
    assert (done.returncode, said) == (0, [])
    assert "write_amplification" in done.stdout


def test_the_page_shows_the_examples_as_they_are() -> None:
    page = (EXAMPLES.parent / "docs" / "python.md").read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):
        code = path.read_text(encoding="utf-8").split('"""\n\n', 1)[1]
        assert code in page, path.name
