"""A drive in the loop of one's own program: requests as arrays in, completions as a table out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from drivelab.errors import RequestError, nearest
from drivelab.lab import checks, pieces
from drivelab.lab.inside import Inside
from drivelab.lab.requests import OPS, request_table
from drivelab.model import Model
from drivelab.quantities import NS_PER_S, SECTOR_BYTES
from drivelab.targets.going import FOR_EVER_NS, EngineSession
from drivelab.workload import HINT_MAX

_MOST = 2**61
"""Of times in ns, of bytes. A drive takes nothing after twice that: no backlog gets there."""
LEAST_PIECE_NS = 10_000_000
"""Of the link's time: what takes it less is done in one call of the engine."""


class Session:
    """A copy of a drive that somebody else's clock drives, from `Drive.open()`.

    >>> import drivelab as dl
    >>> session = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").open()
    >>> session.submit("write", offset=[0, 4096, 8192], length=4096, at_ns=[0, 0, 50_000])
    array([0, 1, 2], dtype=uint64)
    >>> session.advance("10ms").select("request", "op", "latency_ns").height
    3
    >>> session.now_ns, session.waiting, session.counters["host_write_bytes"]
    (10000000, 0, 12288)

    Times are those of the drive's clock, in ns; it stands at `now_ns`. What the drive's queue has
    no room for waits, in order, and its latency counts from when it came. One seed, one result.
    After Ctrl-C the drive stands somewhere before the time that was asked for, and can go on; what
    was done by then comes with the next call.
    """

    def __init__(self, session: EngineSession, model: Model) -> None:
        self._session = session
        self._name = model.name
        self._capacity = model.user_capacity_bytes // SECTOR_BYTES
        self._latest_ns = 0
        self._in_drive_max = model.queue_depth
        self._ns_per_byte = pieces.ns_per_byte_least(model)
        self._shortest_bytes = 2**63
        self._without_data = 0
        """Trims and flushes that may still be waiting."""

    @property
    def now_ns(self) -> int:
        """Time that the drive has reached."""
        return self._session.target.now_ns

    @property
    def waiting(self) -> int:
        """Requests that are not done."""
        return self._session.waiting

    def submit(
        self,
        op: str | Sequence[str] | NDArray[Any],
        offset: ArrayLike = 0,
        length: ArrayLike = 4096,
        at_ns: ArrayLike | None = None,
        hint: ArrayLike = 0,
    ) -> NDArray[np.uint64]:
        """Hands over requests; their numbers, by which completions name them.

        `op` is "read", "write", "trim" or "flush", or one for each (numbers 0, 1, 3 and 2 do,
        too); `offset` and `length` are bytes, whole sectors of 512; `at_ns` is when they come,
        ascending, by default now; `hint` is the write stream that a write should go to, for drives
        with `ftl.placement = "hint"`: 0 is none, and so is one that the drive has no stream for.
        Single values count for all. Raises RequestError, naming the first element that can't be;
        nothing has been handed over then. No elements, no numbers.
        """
        at = self.now_ns if at_ns is None else at_ns
        columns: list[NDArray[Any]] = [
            _codes(op),
            _whole("offset", offset, SECTOR_BYTES),
            _whole("length", length, SECTOR_BYTES),
            _whole("at_ns", at, 1),
            _whole("hint", hint, 1),
        ]
        try:
            codes, lba, sectors, times, hints = np.broadcast_arrays(*columns)
        except ValueError:
            sizes = ", ".join(str(column.size) for column in columns)
            raise RequestError(
                f"op, offset, length, at_ns, hint have {sizes} elements; allowed: as many each, "
                "or one"
            ) from None
        if not codes.size:
            return np.empty(0, dtype=np.uint64)
        flush = codes == OPS.index("flush")
        self._check_range(lba, sectors, flush)
        self._check_times(times)
        _check("hint", hints, hints > HINT_MAX, f"0 to {HINT_MAX}")
        first = self._session.submit(
            np.ascontiguousarray(codes, dtype=np.uint8),
            np.where(flush, 0, lba).astype(np.uint64),
            np.where(flush, 0, sectors).astype(np.uint32),
            np.ascontiguousarray(times, dtype=np.uint64),
            np.ascontiguousarray(hints, dtype=np.uint8),
        )
        self._latest_ns = max(self._latest_ns, int(times[-1]))
        data = (codes == OPS.index("read")) | (codes == OPS.index("write"))
        if data.any():
            shortest_bytes = int(sectors[data].min()) * SECTOR_BYTES
            self._shortest_bytes = min(self._shortest_bytes, shortest_bytes)
        self._without_data += codes.size - int(np.count_nonzero(data))
        return np.arange(first, first + codes.size, dtype=np.uint64)

    def advance(self, time: str | float) -> pl.DataFrame:
        """Lets so much time pass ("10ms", or seconds); what was done in it, in order.

        Columns as `Result.requests`, with the number of each in `request`.
        """
        return self.advance_to(self.now_ns + checks.time_ns("time", time, 1))

    def advance_to(self, time_ns: int) -> pl.DataFrame:
        """The same up to a time of the drive's clock."""
        until_ns = checks.whole("time_ns", time_ns, self.now_ns, _MOST)
        if self.waiting:
            for end_ns in pieces.ends(self.now_ns, until_ns):
                self._session.advance(end_ns)
        else:
            self._session.advance(until_ns)
        return self._done()

    def finish(self) -> pl.DataFrame:
        """Lets time pass until everything is done; the clock stands at the last completion."""
        # A piece has to end before the last completion, where the clock shall stand: not before
        # the last request comes, nor before the link has moved what has come.
        for end_ns in pieces.ends(self.now_ns, self._latest_ns):
            self._session.advance(end_ns)
        while (busy_ns := self._busy_ns()) >= LEAST_PIECE_NS:
            self._session.advance(self.now_ns + min(busy_ns, pieces.PIECE_NS))
        self._session.advance(FOR_EVER_NS)
        return self._done()

    def _busy_ns(self) -> int:
        """How long the link is busy at least with what waits outside of the drive."""
        outside = self.waiting - self._in_drive_max - self._without_data
        return int(max(0, outside) * self._shortest_bytes * self._ns_per_byte)

    def inside(self) -> Inside:
        """Every block and every die, as they are now."""
        return Inside.of(self._session.target.inside())

    @property
    def counters(self) -> dict[str, float]:
        """What the drive has counted since it was made, by name with unit."""
        return self._session.target.counters()

    def _check_range(
        self, lba: NDArray[Any], sectors: NDArray[Any], flush: NDArray[np.bool_]
    ) -> None:
        end = lba + sectors
        beyond = ((end > self._capacity) | (sectors == 0) | (sectors >= 2**32)) & ~flush
        if beyond.any():
            place = int(np.flatnonzero(beyond)[0])
            raise RequestError(
                f"offset[{place}] = {int(lba[place]) * SECTOR_BYTES}, length[{place}] = "
                f"{int(sectors[place]) * SECTOR_BYTES}: allowed: at least a sector, within the "
                f"drive's {self._capacity * SECTOR_BYTES} bytes"
            )

    def _check_times(self, times: NDArray[Any]) -> None:
        earliest_ns = np.uint64(max(self._latest_ns, self.now_ns))
        before = np.concatenate([[earliest_ns], times[:-1]])
        _check(
            "at_ns",
            times,
            times < before,
            f"{earliest_ns} or later, in order: times of the drive's clock, at {self.now_ns} now",
        )

    def _done(self) -> pl.DataFrame:
        numbers, columns = self._session.take_done()
        if not self.waiting:
            self._shortest_bytes, self._without_data = 2**63, 0
        return request_table(columns).insert_column(0, pl.Series("request", numbers))

    def __repr__(self) -> str:
        at_s = self.now_ns / NS_PER_S
        return f"<Session with {self._name!r} at {at_s:.6f} s, {self.waiting} requests waiting>"


def _codes(op: str | Sequence[str] | NDArray[Any]) -> NDArray[np.uint8]:
    words = _column("op", op)
    if words.dtype.kind in "iu":
        _check("op", words, (words < 0) | (words >= len(OPS)), f"0 to {len(OPS) - 1}")
        return words.astype(np.uint8)
    codes = np.full(words.shape, len(OPS), dtype=np.uint8)
    for code, name in enumerate(OPS):
        codes[words == name] = code
    unknown = np.flatnonzero(codes == len(OPS))
    if unknown.size:
        place = unknown[0]
        word = str(words[place])
        raise RequestError(
            f'op[{place}] = "{word}": unknown{nearest(word, OPS)} Allowed: {", ".join(OPS)}.'
        )
    return codes


def _column(key: str, values: object) -> NDArray[Any]:
    """One value or a row of them; raises RequestError for tables, and rows of unequal length."""
    try:
        found = np.atleast_1d(np.asarray(values))
    except ValueError:
        raise RequestError(f"{key}: has rows of unequal length; allowed: one row") from None
    if found.ndim > 1:
        shape = " x ".join(str(size) for size in found.shape)
        raise RequestError(f"{key}: has {shape} elements; allowed: one row")
    return found


def _whole(key: str, values: ArrayLike, multiple: int) -> NDArray[np.uint64]:
    """Whole numbers of something, in it."""
    numbers = _column(key, values)
    # Beyond 64 bits numpy keeps Python's own.
    is_whole = numbers.dtype.kind in "iu" or all(
        isinstance(number, int | np.integer) and not isinstance(number, bool) for number in numbers
    )
    # An empty list has no type of its own: numpy calls it one of floats.
    if numbers.size and not is_whole:
        raise RequestError(f"{key}: has {numbers.dtype} elements; allowed: whole numbers")
    if numbers.dtype.kind in "iu":
        # Of 8 bits, 512 would be too much to divide by.
        numbers = numbers.astype(np.int64 if numbers.dtype.kind == "i" else np.uint64)
    wrong = (numbers < 0) | (numbers > _MOST) | (numbers % multiple != 0)
    allowed = f"0 to {_MOST}" if multiple == 1 else f"multiples of {multiple}, at most {_MOST}"
    _check(key, numbers, wrong, allowed)
    found: NDArray[np.uint64] = numbers.astype(np.uint64) // np.uint64(multiple)
    return found


def _check(key: str, values: NDArray[Any], wrong: NDArray[Any], allowed: str) -> None:
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise RequestError(f"{key}[{place}] = {values[place]}: allowed: {allowed}")
