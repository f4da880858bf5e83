from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.errors import RequestError
from drivelab.served import address, clock


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("unix:/tmp/a b.sock", "unix:/tmp/a b.sock"),
        ("10810", "127.0.0.1:10810"),
        (":10809", "127.0.0.1:10809"),
        ("localhost:0", "localhost:0"),
        ("[::1]:10811", "[::1]:10811"),
    ],
)
def test_addresses(text: str, engine: str) -> None:
    found = address.parse(text)
    assert found.text == engine
    assert not found.is_open


@pytest.mark.parametrize("text", ["0.0.0.0:10809", "[::]:1", "192.168.1.2:5", "example.org:10809"])
def test_what_other_machines_reach_is_known_as_open(text: str) -> None:
    assert address.parse(text).is_open


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("unix:", "no path"),
        ("unix:/no/such/folder/s", "there is no folder"),
        ("unix:/tmp/" + "x" * 105, "110 bytes; a Unix socket's path has at most 107"),
        ("unix:/etc/passwd", "is no socket"),
        ("/tmp/s", "allowed: unix:PATH, HOST:PORT, or PORT"),
        ("localhost:65536", "ports 0 to 65535"),
        ("localhost:http", "ports 0 to 65535"),
        ("::1:10809", "[::1]:10809"),
        ("", "allowed"),
    ],
)
def test_wrong_addresses_are_refused(text: str, words: str) -> None:
    with pytest.raises(RequestError) as refusal:
        address.parse(text)
    assert words in str(refusal.value)


def test_export_names_are_what_clients_can_ask_for() -> None:
    assert address.export_name("a/ü") == "a/ü"
    for name in ("x" * 256, "a\nb"):
        with pytest.raises(RequestError, match="--name"):
            address.export_name(name)


def test_sockets_stand_beside_the_image() -> None:
    image = Path("/tmp/my.drive")
    assert address.data_socket(image) == Path("/tmp/my.drive.sock")
    assert address.control_socket(image) == Path("/tmp/my.drive.control")


@pytest.mark.parametrize(
    ("text", "found"),
    [("real", "real"), ("Instant", "instant"), ("2", "2.0"), ("0.25", "0.25"), ("1", "real")],
)
def test_clocks(text: str, found: str) -> None:
    assert clock.parse(text) == found
    assert clock.words(found)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e9", "fast", ""])
def test_wrong_clocks_are_refused(text: str) -> None:
    with pytest.raises(RequestError, match="allowed: real, instant, or how many seconds"):
        clock.parse(text)
