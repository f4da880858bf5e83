"""The book of promises lets pass what a drive may do, and names what it may not."""

from __future__ import annotations

import pytest
from served.stamps import SECTOR, ZEROS, Book, sector

SEED = 3


def found(book: Book, *contents: bytes) -> list[str]:
    return book.after_cut(8, b"".join(contents))


def written(book: Book, count: int = 1, **how: bool) -> int:
    sequence = book.begin(8, count)
    book.acknowledge(sequence, **how)
    return sequence


def test_an_unflushed_write_may_be_there_or_not_sector_by_sector() -> None:
    for contents in ([1, 1], [0, 1], [1, 0], [0, 0]):
        book = Book(SEED)
        written(book, 2)
        data = [sector(SEED, 8 + i, 1) if there else ZEROS for i, there in enumerate(contents)]
        assert found(book, *data) == []


def test_what_was_found_after_a_cut_stays() -> None:
    book = Book(SEED)
    written(book)
    assert found(book, ZEROS) == []
    assert found(book, sector(SEED, 8, 1)) != []


@pytest.mark.parametrize("how", ["fua", "flush", "capacitor"])
def test_a_promised_write_must_be_there(how: str) -> None:
    book = Book(SEED, capacitor=how == "capacitor")
    written(book, fua=how == "fua")
    if how == "flush":
        book.flushed(book.moment())
    assert found(book, ZEROS) == ["sector 8: lost: zeros; allowed: 1"]
    assert found(book, sector(SEED, 8, 1)) == []


def test_a_flush_covers_what_was_acknowledged_before_it_was_sent() -> None:
    book = Book(SEED)
    written(book)
    moment = book.moment()
    written(book)
    book.begin(8, 1)
    book.flushed(moment)
    assert "stale" not in str(found(book, sector(SEED, 8, 3)))
    book = Book(SEED)
    written(book)
    written(book)
    book.flushed(book.moment())
    assert found(book, sector(SEED, 8, 1)) == ["sector 8: stale: data of command 1; allowed: 2"]


def test_trimmed_data_stays_away_after_a_flush() -> None:
    book = Book(SEED)
    written(book, fua=True)
    trim = book.begin(8, 1, zeros=True)
    book.acknowledge(trim)
    assert found(book, sector(SEED, 8, 1)) == []
    trim = book.begin(8, 1, zeros=True)
    book.acknowledge(trim)
    book.flushed(book.moment())
    assert found(book, sector(SEED, 8, 1)) == [
        "sector 8: back after a trim: data of command 1; allowed: 3"
    ]


def test_failures_have_names() -> None:
    whole, other = sector(SEED, 8, 1), sector(SEED, 9, 1)
    torn = whole[:256] + other[256:]
    for content, name in (
        (torn, "torn"),
        (other, "misdirected: data of sector 9"),
        (b"\xff" * SECTOR, "corrupt"),
        (sector(SEED + 1, 8, 1), "foreign"),
    ):
        book = Book(SEED)
        written(book, fua=True)
        [said] = found(book, content)
        assert f"sector 8: {name}" in said
