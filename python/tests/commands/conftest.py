from __future__ import annotations

import json
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served.stand_in import Engine

from drivelab.served import image

Answers = Callable[[Path, Callable[[dict[str, Any]], bytes]], None]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    monkeypatch.setattr(image, "engine", found)
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a path short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="drive-") as name:
        yield Path(name)


@pytest.fixture
def drive(folder: Path) -> Path:
    path = folder / "my.drive"
    path.write_text("{}", encoding="utf-8")
    return path


@pytest.fixture
def answering() -> Iterator[Answers]:
    """Serves control sockets: every request is answered by a function."""
    listeners = []

    def work(listener: socket.socket, answer: Callable[[dict[str, Any]], bytes]) -> None:
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            with link:
                line = link.makefile("rb").readline()
                if line:
                    link.sendall(answer(json.loads(line)))

    def serve(path: Path, answer: Callable[[dict[str, Any]], bytes]) -> None:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen()
        listeners.append(listener)
        threading.Thread(target=work, args=(listener, answer), daemon=True).start()

    yield serve
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
