"""Ctrl-C and SIGTERM in the middle of the work: nothing is left, and the status says which."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small import MODEL_NAME, SETS

EXCERPT = Path(__file__).parent / "traces" / "wsrch-excerpt.trace"

SIGNALS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
RUN = """
import os, sys, time
from drivelab import cli, iolog
from drivelab.targets import EngineTarget

def lines(requests, file_name):
    yield "fio version 3 iolog" + chr(10)
    os.kill(os.getpid(), NUMBER)
    time.sleep(600)

def run_requests(self, *_):
    os.kill(os.getpid(), NUMBER)
    time.sleep(0.5)
    return self.run_requests_of_old(*_)

NUMBER = int(sys.argv[1])
iolog._lines = lines
EngineTarget.run_requests_of_old = EngineTarget.run_requests
EngineTarget.run_requests = run_requests
sys.argv = ["drivelab", *sys.argv[2:]]
cli.main()
"""


def interrupted(number: signal.Signals, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that is sent a signal while it writes an iolog or replays a trace."""
    command = [sys.executable, "-c", RUN, str(int(number)), *words]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(("number", "status", "message"), SIGNALS)
def test_an_iolog_that_is_half_written_is_removed(
    tmp_path: Path, number: signal.Signals, status: int, message: str
) -> None:
    out = tmp_path / "trace.iolog"
    old = "fio version 3 iolog\nold\n"
    out.write_text(old, encoding="ascii")
    ended = interrupted(number, "convert", str(EXCERPT), "--out", str(out))
    assert (ended.returncode, ended.stdout) == (status, "")
    assert ended.stderr == f"drivelab: {message}\n"
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    assert out.read_text(encoding="ascii") == old


@pytest.mark.parametrize(("number", "status", "message"), SIGNALS)
def test_a_replay_that_is_stopped_reports_nothing(
    tmp_path: Path, number: signal.Signals, status: int, message: str
) -> None:
    words = ["--drive", MODEL_NAME, *SETS, "--out-of-range", "compact", "--json"]
    database = tmp_path / "runs.duckdb"
    ended = interrupted(number, "replay", str(EXCERPT), *words, "--database", str(database))
    assert (ended.returncode, ended.stdout) == (status, "")
    remark, said = ended.stderr.splitlines()[:2]
    assert remark.startswith(f"{MODEL_NAME}: at this scale: effective spare area")
    assert said == f"drivelab: {message}"
    assert list(tmp_path.iterdir()) == []


LOST = """
import os, signal, sys
from drivelab import cli, progress

class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

def show(self, tasks, show=progress.Bar.show):
    if not hasattr(self, "dropped"):
        self.dropped = True
        Dropped()
    show(self, tasks)

progress.Bar.show = show
sys.argv = ["drivelab", *sys.argv[1:]]
cli.main()
"""


def test_what_python_drops_is_remembered(tmp_path: Path) -> None:
    """An exception of a destructor is printed and forgotten."""
    out = tmp_path / "out"
    words = ["review", MODEL_NAME, *SETS, "--out", str(out)]
    found = subprocess.run([sys.executable, "-c", LOST, *words], capture_output=True, text=True)
    assert found.returncode == 130, found.stderr
    assert "Exception ignored" in found.stderr
    assert "drivelab: interrupted" in found.stderr
    assert not out.exists()
