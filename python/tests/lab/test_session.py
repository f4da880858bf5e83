from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import drivelab as dl


@pytest.fixture
def session() -> dl.Session:
    return dl.Drive("intel-x25-m-g1-80gb", scale="1/128").open()


def test_arrays_in_tables_out(session: dl.Session) -> None:
    numbers = session.submit("write", offset=np.arange(100) * 4096, at_ns=np.arange(100) * 10_000)
    assert numbers.tolist() == list(range(100))
    done = pl.concat([session.advance("1ms"), session.finish()])
    assert sorted(done["request"]) == list(range(100))
    assert done.filter(request=7)["offset_bytes"].item() == 7 * 4096
    assert done.filter(request=7)["issued_ns"].item() == 70_000
    assert session.waiting == 0
    assert session.now_ns == max(1_000_000, done["completed_ns"].max())
    flushed = session.submit("flush")
    assert session.finish()["request"].to_list() == flushed.tolist()


def test_in_pieces_or_at_once_everything_takes_as_long() -> None:
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    places = np.random.default_rng(1).integers(0, 100_000, 3000) * 4096
    times = np.arange(3000) * 40_000
    whole = drive.open()
    whole.submit("write", offset=places, at_ns=times)
    expected = whole.finish()
    pieces = drive.open()
    found = []
    for first in range(0, 3000, 250):
        pieces.submit("write", places[first : first + 250], at_ns=times[first : first + 250])
        found.append(pieces.advance_to(int(times[min(first + 250, 2999)])))
    assert pl.concat([*found, pieces.finish()]).equals(expected)


def test_words_and_single_values_count_for_all(session: dl.Session) -> None:
    session.submit(["write", "read", "trim", "flush"], offset=8192, length=[512, 1024, 4096, 0])
    done = session.finish().sort("request")
    assert done["op"].to_list() == ["write", "read", "trim", "flush"]
    assert done["length_bytes"].to_list() == [512, 1024, 4096, 0]


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int64])
def test_whole_numbers_of_any_width_are_taken(
    session: dl.Session, kind: type[np.integer[Any]]
) -> None:
    session.submit("read", offset=np.zeros(2, kind), at_ns=np.array([0, 1], kind))
    assert session.finish().height == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"op": "wirte"}, r'op\[0\] = "wirte": unknown; did you mean "write"'),
        ({"op": [0, 9]}, r"op\[1\] = 9"),
        ({"op": "read", "offset": [0, 100]}, r"offset\[1\] = 100: allowed: multiples of 512"),
        ({"op": "read", "offset": 0.5}, "offset: has float64 elements"),
        ({"op": "read", "offset": 2**40}, r"offset\[0\] = 1099511627776, length\[0\] = 4096"),
        ({"op": "read", "length": 0}, "at least a sector"),
        ({"op": "read", "offset": [0, 512], "length": [512] * 3}, "1, 2, 3, 1, 1 elements"),
        ({"op": "read", "at_ns": [5, 4]}, r"at_ns\[1\] = 4"),
        ({"op": "read", "at_ns": -1}, r"at_ns\[0\] = -1"),
        ({"op": "read", "offset": [[0, 512], [0, 512]]}, "offset: has 2 x 2 elements"),
        ({"op": [["read"], ["write"]]}, "op: has 2 x 1 elements"),
        ({"op": "read", "length": [[512], [512, 512]]}, "length: has rows of unequal length"),
        ({"op": [["read"], ["read", "read"]]}, "op: has rows of unequal length"),
        ({"op": "write", "hint": [0, 256]}, r"hint\[1\] = 256: allowed: 0 to 255"),
        (
            {"op": "read", "at_ns": 2**61 + 1},
            r"at_ns\[0\] = \d+: allowed: 0 to 230584300921369",
        ),
        (
            {"op": "read", "offset": 2**64},
            r"offset\[0\] = 18446744073709551616: allowed",
        ),
        ({"op": "read", "offset": [True]}, "offset: has bool elements"),
        ({"op": [], "offset": [0, 512]}, "0, 2, 1, 1, 1 elements"),
    ],
)
def test_what_cannot_be_is_named_and_nothing_is_taken(
    session: dl.Session, words: dict[str, object], told: str
) -> None:
    with pytest.raises(dl.RequestError, match=told):
        session.submit(**words)  # type: ignore[arg-type]
    assert session.waiting == 0


def test_a_batch_of_nothing_is_taken_and_has_no_numbers(session: dl.Session) -> None:
    before = session.counters
    for words in ({"offset": []}, {"offset": np.arange(0), "at_ns": []}, {"op": []}):
        numbers = session.submit(**{"op": "write", **words})  # type: ignore[arg-type]
        assert (numbers.dtype, numbers.size) == (np.uint64, 0)
    assert session.waiting == 0
    assert session.counters == before
    assert session.submit("write").tolist() == [0]


def test_the_past_is_over(session: dl.Session) -> None:
    session.advance("1s")
    with pytest.raises(dl.RequestError, match="1000000000 or later"):
        session.submit("write", at_ns=999)
    with pytest.raises(dl.RequestError, match="time_ns = 5"):
        session.advance_to(5)
