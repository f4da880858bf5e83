"""Servers of pages as processes of their own, as their users start them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

END_S = 120
PROGRAM = [sys.executable, "-c", "from drivelab.cli import main; main()", "web"]


@dataclass
class Server:
    """A running `drivelab web`."""

    process: subprocess.Popen[str]
    address: str
    """As it was printed, with the token."""

    @property
    def origin(self) -> str:
        return self.address.partition("/#")[0]

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    @property
    def token(self) -> str:
        return self.address.partition("#token=")[2]

    def at(self, path: str) -> str:
        """The address of a view, with the token."""
        return f"{self.origin}{path}#token={self.token}"

    def stop(self) -> int:
        self.process.terminate()
        status = self.process.wait(timeout=END_S)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status


def start(
    folder: Path, results: Path | None = None, port: int = 0, more: Sequence[str] = ()
) -> Server:
    """Starts a server whose files are below a folder."""
    kept = {key: str(folder / key) for key in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    words = [*PROGRAM, *([str(results)] if results else []), "--port", str(port), *more]
    with (folder / "server.log").open("a") as log:
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **kept}
        )
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=\S{32}", line), (
        folder / "server.log"
    ).read_text()
    return Server(process, line)
