"""The page's addresses as a script asks them, with the lines that docs/web.md has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from web import wire
from web.conftest import Standing
from web.running import END_S

PAGE = Path(__file__).resolve().parents[3] / "docs" / "web.md"
CURL = pytest.mark.programs("curl")


@CURL
def test_the_lines_of_the_document_measure_a_drive(tmp_path: Path) -> None:
    done = followed(tmp_path, Path(sys.executable).parent)
    assert done.returncode == 0, done.stderr
    assert '"runs":[{"run":1,"kind":"review"' in done.stdout
    assert (tmp_path / "lab.duckdb").exists()
    # Nobody else is to read the token from where it was printed.
    assert (tmp_path / "printed").stat().st_mode & 0o077 == 0


ENDED = """#!/bin/sh
echo no such database >&2
exit 2
"""
FAILING = f"""#!/usr/bin/env -S "{sys.executable}"
import http.server

class Answers(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def do_GET(self):
        Answers.asked += 1
        state = "waiting" if Answers.asked < 3 else "failed"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'[{{"id":1,"state":"%s"}}]' % state.encode())

server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
print(f"http://127.0.0.1:{{server.server_port}}/#token=x", flush=True)
server.serve_forever()
"""


@CURL
@pytest.mark.parametrize(
    ("program", "ends"), [(ENDED, False), (FAILING, True)], ids=["server", "job"]
)
def test_they_end_whatever_becomes_of_the_server_or_its_job(
    tmp_path: Path, program: str, ends: bool
) -> None:
    file = tmp_path / "drivelab"
    file.write_text(program)
    file.chmod(0o755)
    done = followed(tmp_path, tmp_path)
    assert (done.returncode == 0) == ends, done.stderr
    assert done.stdout.endswith('"state":"failed"}]') == ends


def followed(folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    """The lines, in a folder, with the `drivelab` of another."""
    lines = re.search(r"(?: {4}.*\n|\n)*? {4}umask 077\n(?: {4}.*\n|\n)*", PAGE.read_text("utf-8"))
    assert lines is not None
    kept = {key: str(folder / key) for key in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    path = f"{programs}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", lines[0]],
        cwd=folder,
        env={**os.environ, **kept, "PATH": path},
        capture_output=True,
        text=True,
        timeout=END_S,
    )


def test_the_header_is_the_one_that_the_document_names(standing: Standing) -> None:
    [name] = set(re.findall(r"\bX-[A-Z][A-Za-z-]*Token\b", PAGE.read_text("utf-8")))
    server = standing.server
    assert wire.ask(server, "/api/history", token="").status == 401
    given = (f"{name}: {server.token}",)
    assert wire.ask(server, "/api/history", token="", headers=given).status == 200
