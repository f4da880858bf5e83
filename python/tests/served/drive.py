"""A drive that is served for the length of a test, and what can be done to its server."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from served.programs import output, started

from drivelab import cli
from drivelab.served import image

DRIVELAB = [sys.executable, "-c", "from drivelab.cli import main; main()"]
END_S = 180.0
"""For a server that ends: the machine may have other things to do."""


class ServedDrive:
    """An image and the process that serves it on a Unix socket."""

    def __init__(
        self,
        folder: Path,
        model: str,
        sets: tuple[str, ...],
        clock: str,
        options: tuple[str, ...] = (),
    ) -> None:
        self.folder = folder
        self.image = folder / "my.drive"
        self.socket = folder / "socket"
        self.clock = clock
        self.uri = f"nbd+unix:///?socket={self.socket}"
        self._process: subprocess.Popen[str] | None = None
        self._make(model, sets)
        self.start(None, *options)

    @property
    def size_bytes(self) -> int:
        """What the server says that the drive holds."""
        return int(output("nbdinfo", "--size", self.uri))

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self._process is not None
        return self._process.pid

    def start(self, listen: str | None = None, *options: str, within: Sequence[str] = ()) -> str:
        """Serves the image; returns the URI that the server prints when it is ready."""
        words = [*within, *self._serve_words(listen or f"unix:{self.socket}", *options)]
        log = (self.folder / "server.log").open("a")
        self._process = started(words, stdout=subprocess.PIPE, stderr=log)
        log.close()
        return self._ready()

    def stop(self) -> None:
        """The orderly end: whatever was written is in flash, the map too."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            assert self._ended() == 0, self.log()

    def kill9(self) -> None:
        """What a power cut is to the drive: its server is gone from one moment to the next."""
        assert self._process is not None
        assert self._process.poll() is None, f"the server had ended by itself: {self.log()}"
        self._process.kill()
        self._ended()

    def restart(self, *options: str) -> None:
        """Serves the image again after `stop` or `kill9`."""
        self.start(None, *options)

    def discard(self) -> None:
        """Ends whatever still runs, at the end of a test."""
        if self._process is not None:
            self._process.kill()
            self._ended()

    def _ended(self) -> int:
        process, self._process = self._process, None
        assert process is not None
        status = process.wait(END_S)
        if process.stdout is not None:
            process.stdout.close()
        return status

    def log(self) -> str:
        """What the server said."""
        return (self.folder / "server.log").read_text()

    def control(self, command: str, **more: Any) -> Any:
        """One request and its reply on the socket for control."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(END_S)
            line.connect(str(self.image) + ".control")
            line.sendall(json.dumps({"command": command, **more}).encode() + b"\n")
            with line.makefile("rb") as replies:
                return json.loads(replies.readline())

    def smart(self) -> dict[str, Any]:
        """The drive's own counters, over its life."""
        return dict(self.control("smart"))

    def check(self) -> None:
        """Every invariant of the image at rest."""
        assert image.check(self.image)["problems"] == []

    def _make(self, model: str, sets: tuple[str, ...]) -> None:
        settings = [word for pair in sets for word in ("--set", pair)]
        assert cli.run(["create", str(self.image), "--model", model, *settings]) == 0

    def _serve_words(self, listen: str, *options: str) -> list[str]:
        serve = ["serve", str(self.image), "--listen", listen, "--clock", self.clock]
        return [*DRIVELAB, *serve, *options]

    def _ready(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        uri = self._process.stdout.readline().strip()
        assert uri.startswith("nbd"), f"not ready: {uri}{self.log()}"
        return uri
