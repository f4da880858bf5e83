"""A server that survives what a test sends, and an order that it would take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from web import wire
from web.conftest import Server, start

ORDER = {"models": ["intel-x25-v-40gb"], "quick": True, "scale": 64, "tests": ["power-idle"]}


@contextmanager
def surviving(folder: Path) -> Iterator[Server]:
    """One for all tests of a file: what the first left behind the last would meet."""
    (folder / "secret.txt").write_text("a secret beside the results")
    found = start(folder)
    yield found
    # It has survived everything, started nothing, and complained of nothing.
    assert wire.ask(found, "/api/jobs").json == []
    found.stop()
    assert "Traceback" not in (folder / "server.log").read_text()
