"""The page's addresses as a script asks them, with the lines that docs/web.md has."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from web import wire
from web.conftest import Standing
from web.running import END_S

PAGE = Path(__file__).resolve().parents[3] / "docs" / "web.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed: `make system`")
def test_the_lines_of_the_document_measure_a_drive(tmp_path: Path) -> None:
    lines = re.search(r"(?: {4}.*\n|\n)*? {4}umask 077\n(?: {4}.*\n|\n)*", PAGE.read_text("utf-8"))
    assert lines is not None
    kept = {key: str(tmp_path / key) for key in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", lines[0]],
        cwd=tmp_path,
        env={**os.environ, **kept, "PATH": path},
        capture_output=True,
        text=True,
        timeout=END_S,
    )
    assert done.returncode == 0, done.stderr
    assert '"runs":[{"run":1,"kind":"review"' in done.stdout
    assert (tmp_path / "lab.duckdb").exists()
    # Nobody else is to read the token from where it was printed.
    assert (tmp_path / "printed").stat().st_mode & 0o077 == 0


def test_the_header_is_the_one_that_the_document_names(standing: Standing) -> None:
    [name] = set(re.findall(r"\bX-[A-Z][A-Za-z-]*Token\b", PAGE.read_text("utf-8")))
    server = standing.server
    assert wire.ask(server, "/api/history", token="").status == 401
    given = (f"{name}: {server.token}",)
    assert wire.ask(server, "/api/history", token="", headers=given).status == 200
