"""The control socket of a served drive: one request as JSON in a line, one answer in a line."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from drivelab import paths
from drivelab.errors import RequestError, WorkError
from drivelab.served import address

ANSWER_BYTES_MAX = 1 << 20
TIMEOUT_S = 30.0
GREETING = b"NBDMAGIC"
"""What a server of NBD says first; a control socket says nothing unasked."""


class NotServedError(Exception):
    """Nobody answers there."""


class WentAwayError(WorkError):
    """The server ended before it answered."""


def ask(place: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Sends a request; returns the answer's fields.

    Raises NotServedError if nobody listens, RequestError for what the drive refuses, WorkError for
    a server that goes away or talks nonsense.
    """
    line = json.dumps(request, allow_nan=False).encode() + b"\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(TIMEOUT_S)
        try:
            link.connect(str(place))
        except OSError as error:
            raise NotServedError(f"{place}: {error.strerror or error}") from None
        try:
            link.sendall(line)
            text = _line(link)
        except TimeoutError:
            raise WorkError(f"{place}: no answer in {TIMEOUT_S:.0f} s") from None
        except OSError as error:
            raise WentAwayError(f"{place}: the server went away ({error.strerror})") from None
    if text.startswith(GREETING):
        raise RequestError(
            f'"{place}": NBD clients are served there; give the image, or its control socket'
        )
    return _answer(place, text)


class ControlLink:
    """A connection for many requests, one after the other: to look at a drive while it serves."""

    ANSWER_BYTES_MAX = 1 << 28
    """All blocks of a large drive, in letters."""

    def __init__(self, place: Path) -> None:
        """Raises NotServedError if nobody listens."""
        self._place = place
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._link.settimeout(TIMEOUT_S)
        try:
            self._link.connect(str(place))
        except OSError as error:
            self._link.close()
            raise NotServedError(f"{place}: {error.strerror or error}") from None

    def __enter__(self) -> ControlLink:
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """As `ask` of this module."""
        try:
            self._link.sendall(json.dumps(request, allow_nan=False).encode() + b"\n")
            parts, length = [self._link.recv(1 << 18)], 0
            while parts[-1] and b"\n" not in parts[-1] and length < self.ANSWER_BYTES_MAX:
                length += len(parts[-1])
                parts.append(self._link.recv(1 << 18))
        except TimeoutError:
            raise WorkError(f"no answer in {TIMEOUT_S:.0f} s") from None
        except OSError as error:
            raise WentAwayError(f"the server went away ({error.strerror})") from None
        return _answer(self._place, b"".join(parts))


def _line(link: socket.socket) -> bytes:
    text = b""
    while b"\n" not in text and len(text) < ANSWER_BYTES_MAX:
        part = link.recv(1 << 16)
        text += part
        if not part or text.startswith(GREETING):
            break
    return text


def _answer(place: Path, text: bytes) -> dict[str, Any]:
    if not text:
        raise WentAwayError(f"{place}: the server went away without an answer")
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or "ok" not in answer:
        raise WorkError(f"{place}: not the answer of a served drive")
    if answer.pop("ok") is not True:
        raise RequestError(str(answer.get("error", "refused")))
    return answer


def place_of(target: Path) -> Path:
    """The control socket that an IMAGE or SOCKET argument means."""
    paths.checked("IMAGE", target)
    if not target.is_socket():
        return address.control_socket(target)
    # The data socket beside an image has its control socket beside it.
    beside = target.with_suffix(".control")
    return beside if target.suffix == ".sock" and beside.is_socket() else target
