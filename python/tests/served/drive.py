"""A drive that is served for the length of a test, and what can be done to its server."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from served.programs import output, ran, started

DRIVELAB = [sys.executable, "-c", "from drivelab.cli import main; main()"]
READY_S, END_S = 30.0, 30.0


class ServedDrive:
    """An image and the process that serves it on a Unix socket."""

    def __init__(self, folder: Path, model: str, sets: tuple[str, ...], clock: str) -> None:
        self.folder = folder
        self.image = folder / "my.drive"
        self.socket = folder / "socket"
        self.clock = clock
        self.uri = f"nbd+unix:///?socket={self.socket}"
        self._process: subprocess.Popen[str] | None = None
        self._make(model, sets)
        self.start()

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
        ran(*DRIVELAB, "check", self.image)

    def _make(self, model: str, sets: tuple[str, ...]) -> None:
        settings = [word for pair in sets for word in ("--set", pair)]
        ran(*DRIVELAB, "create", self.image, "--model", model, *settings)

    def _serve_words(self, listen: str, *options: str) -> list[str]:
        serve = ["serve", str(self.image), "--listen", listen, "--clock", self.clock]
        return [*DRIVELAB, *serve, *options]

    def _ready(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        uri = self._process.stdout.readline().strip()
        assert uri.startswith("nbd"), f"not ready: {uri}{self.log()}"
        return uri


class StandIn(ServedDrive):
    """nbdkit on a sparse file in the drive's place: shows that the tests are right.

    `DRIVELAB_TEST_SERVER=nbdkit` runs every test on it that doesn't ask for flash.
    """

    def _make(self, model: str, sets: tuple[str, ...]) -> None:
        wanted = dict(pair.split("=") for pair in sets)
        with self.image.open("wb") as image:
            image.truncate(int(wanted.get("user_capacity_bytes", 1 << 30)))

    def _serve_words(self, listen: str, *options: str) -> list[str]:
        self.socket.unlink(missing_ok=True)
        kind, _, place = listen.partition(":")
        where = ["-U", place] if kind == "unix" else ["-i", kind, "-p", place]
        self._listen = listen
        log = [f"logfile={self.folder / 'requests.log'}", "logappend=true"]
        return ["nbdkit", "-f", *where, "--filter=log", "file", f"file={self.image}", *log]

    def _ready(self) -> str:
        if self._listen.startswith("unix:"):
            while not self.socket.exists():
                assert self._process is not None
                assert self._process.poll() is None, self.log()
                time.sleep(0.01)
            return self.uri
        time.sleep(0.3)
        return f"nbd://{self._listen}"

    def smart(self) -> dict[str, Any]:
        requests = (self.folder / "requests.log").read_text().splitlines()
        total = dict.fromkeys(("Read", "Write", "Trim", "Flush", "Zero"), 0)
        for line in requests:
            kind = next((word for word in line.split()[3:4]), "")
            if kind in total:
                count = line.partition("count=")[2].partition(" ")[0]
                total[kind] += int(count, 16) if count else 1
        return {
            "host_read_bytes": total["Read"],
            "host_write_bytes": total["Write"],
            "host_trim_bytes": total["Trim"] + total["Zero"],
            "host_flush_commands": total["Flush"],
        }

    def control(self, command: str, **more: Any) -> Any:
        requests = (self.folder / "requests.log").read_text()
        flushes, forced = requests.count(" Flush "), requests.count(" fua=1")
        return {"requests": {"flush": {"count": flushes}, "write": {"fua": forced}}}

    def check(self) -> None:
        pass
