"""Where a served drive listens: addresses as people type them, the sockets' places, clients."""

from __future__ import annotations

import errno
import ipaddress
import os
import shlex
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import output, paths
from drivelab.errors import RequestError

SOCKET_BYTES_MAX = 107
"""Longest path of a Unix socket on Linux."""
EXPORT_BYTES_MAX = 255
LOOPBACK = "127.0.0.1"
ALLOWED = "unix:PATH, HOST:PORT, or PORT (on 127.0.0.1)"


@dataclass(frozen=True)
class Address:
    """A Unix socket, or host and port."""

    path: Path | None = None
    host: str = ""
    port: int = 0

    @property
    def text(self) -> str:
        """As the engine reads it."""
        if self.path is not None:
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def is_open(self) -> bool:
        """Whether other machines may reach it."""
        if self.path is not None or self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True


def parse(text: str, option: str = "--listen") -> Address:
    """The address that a text means; raises RequestError."""
    kind, colon, rest = text.partition(":")
    if colon and kind == "unix":
        if not rest:
            raise RequestError(f'{option} "{text}": no path; allowed: {ALLOWED}')
        return Address(path=socket_path(Path(rest), option))
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdigit()) or int(port) > 65535 or "/" in host:
        raise RequestError(f'{option} "{text}": allowed: {ALLOWED}; ports 0 to 65535')
    if ":" in bare and bare == host:
        raise RequestError(f'{option} "{text}": put an IPv6 address into brackets: [{host}]:{port}')
    return Address(host=bare or LOOPBACK, port=int(port))


def of_server(image: Path, text: str | None) -> Address:
    """Where a drive is served: at the address that was asked for, or beside its image."""
    if text is None:
        return Address(path=socket_path(data_socket(image), "--listen"))
    return parse(text)


def socket_path(path: Path, option: str) -> Path:
    """The path of a Unix socket; raises RequestError for one that Linux can't have."""
    length = len(bytes(path))
    if length > SOCKET_BYTES_MAX:
        raise RequestError(
            f'{option} "{path}": {length} bytes; a Unix socket\'s path has at most '
            f"{SOCKET_BYTES_MAX}: give a shorter one, as --listen unix:PATH and --control PATH do"
        )
    paths.check_reachable(f'{option} "{path}"', path)
    if not path.parent.is_dir():
        raise RequestError(f'{option} "{path}": there is no folder {path.parent}')
    if path.exists() and not path.is_socket():
        raise RequestError(f'{option} "{path}": is there already, and is no socket')
    return path


def check_apart(places: Mapping[str, Path | None]) -> None:
    """Raises RequestError if two of these options mean one path, however it is written.

    The server makes the files one after the other, the last of them when the drive is under power.
    """
    found: dict[str, tuple[str, Path]] = {}
    for option, path in places.items():
        if path is None:
            continue
        real = os.path.realpath(path)
        if real in found:
            other, its_path = found[real]
            raise RequestError(
                f'{other} "{its_path}" and {option} "{path}": are the same path; give each its own'
            )
        found[real] = option, path


def check(address: Address, option: str) -> None:
    """Raises RequestError for an address that no server of this machine can have. Whether another
    server has it already, the engine says."""
    if address.path is not None:
        output.writable_file(address.path, option)
        return
    named = f'{option} "{address.text}"'
    try:
        places = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise RequestError(f"{named}: no address of that name ({error.strerror})") from None
    found = [_refusal(family, place) for family, *_, place in places]
    refusals = [error for error in found if error is not None and error.errno != errno.EADDRINUSE]
    if len(refusals) == len(found):
        raise RequestError(
            f"{named}: can't listen there ({refusals[0].strerror}); give an address of this "
            "machine, and a port that this user may have"
        )


def _refusal(family: int, place: Any) -> OSError | None:
    """Why a place can't be listened on; None if it can."""
    try:
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            # As the engine does: connections of an earlier server linger.
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(place)
    except OSError as error:
        return error
    return None


def export_name(name: str) -> str:
    """The name of an export; raises RequestError for one that clients can't ask for."""
    if len(name.encode()) > EXPORT_BYTES_MAX or any(ord(letter) < 32 for letter in name):
        raise RequestError(
            f'--name "{name}": at most {EXPORT_BYTES_MAX} bytes, without control characters'
        )
    return name


def data_socket(image: Path) -> Path:
    """Where a drive listens unless it is told otherwise: beside its image."""
    return image.with_name(f"{image.name}.sock")


def control_socket(image: Path) -> Path:
    """Where a served drive hears of commands, beside its image.

    Raises RequestError for a path that names no file.
    """
    if not image.name:
        raise RequestError(f'IMAGE "{image}": is not a file')
    return image.with_name(f"{image.name}.control")


def commands(uri: str, *, read_only: bool) -> list[str]:
    """Commands of NBD clients, ready to be pasted."""
    rw = "randread" if read_only else "randwrite"
    word = shlex.quote(uri)
    drive = shlex.quote(f"file={uri.replace(',', ',,')},format=raw,if=virtio,discard=unmap")
    return [
        f"nbdinfo {word}",
        f"fio --name=try --ioengine=nbd --uri={word} --rw={rw} --bs=4k --iodepth=32 --size=64m",
        f"qemu-img info {word}",
        f"qemu-system-x86_64 -drive {drive} ...",
    ]
