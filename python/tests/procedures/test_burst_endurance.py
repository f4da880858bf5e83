"""Bursts are fast for as long as what they take and what pauses give back allow: by arithmetic, on
drives with an SLC cache, with spare area alone, and with nothing that could be used up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from small import MODEL_NAME, OVERRIDES

from drivelab import model
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.burst_endurance import DASHES, bursts_held
from drivelab.procedures.pieces import FALLEN, FIRST, FULL_SPEED, fast_pieces
from drivelab.procedures.random_pieces import BLOCK_BYTES
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB
from drivelab.states import STATES
from drivelab.targets import EngineTarget
from drivelab.workload import Job

TEST = PROCEDURES["burst-endurance"]
Row = dict[str, Any]
SMALL = ("scale_divisor", "64")


def measured(drive: Model, quick: bool = False) -> tuple[list[Row], dict[str, Any], list[str]]:
    target = EngineTarget(drive, 1)
    STATES["filled"].prepare(target, lambda state: 1, TaskProgress("filled"))
    progress = TaskProgress(TEST.id)
    found = TEST.measure(target, 1, quick, progress).found()
    assert progress.fraction == pytest.approx(1, abs=0.01)
    values = {value["name"]: value["value"] for value in found["values"]}
    return found["tables"][0]["rows"], values, found["notes"]


@given(st.integers(1, 10_000), st.integers(1, 1_000), st.integers(0, 1_000))
def test_the_formula_is_what_taking_and_giving_back_comes_to(
    reserve: int, burst: int, back: int
) -> None:
    """A dumber count: burst by burst."""
    assume(burst <= reserve)
    taken, held = 0, 0
    while taken + burst <= reserve and held < 20_000:
        held += 1
        taken = max(0, taken + burst - back)
    assert bursts_held(reserve, burst, back) == (None if back >= burst else held)
    assert bursts_held(reserve, reserve + 1, back) == 0


def test_speed_falls_where_several_pieces_are_slow() -> None:
    # The first is the write buffer's, and one that is slow by itself is no end.
    assert fast_pieces([50, 9, 9, 1, 9, 1, 1, 1]) == 5
    assert fast_pieces([9] * 8) == 8
    assert fast_pieces([1] * FALLEN, full=9) == 0


@given(st.lists(st.integers(1, 20), max_size=30), st.sampled_from([None, 10.0]))
def test_a_fall_is_the_first_place_of_which_that_is_true(
    speeds: list[int], full: float | None
) -> None:
    """A dumber search: every place, with a median of its own."""
    fallen = [
        at
        for at in range(0 if full else FIRST, len(speeds) - FALLEN + 1)
        if max(speeds[at : at + FALLEN]) < FULL_SPEED * (full or median(speeds[1:at]))
    ]
    assert fast_pieces(speeds, full) == (fallen[0] if fallen else len(speeds))


@dataclass
class Tank:
    """A drive that is a reserve of bytes, and gives them back at one rate in every pause."""

    reserve: float
    back_per_s: float = 0.0
    capacity_bytes: int = 64 * 10**9
    slow_mb_per_s: float = 100.0
    buffer_bytes: int = 0
    moments: int = 0
    """Pieces that are slow although there is room, from the fifth on."""
    queue_depth: int = 32
    original: None = None
    used: float = 0.0
    pieces: int = 0
    clones: int = 0

    def clone(self) -> Tank:
        self.clones += 1
        # A fault that comes once isn't met a second time.
        return replace(self, clones=0, moments=self.moments if self.clones == 1 else 0)

    def parameter(self, key: str) -> float | None:
        return {"write_buffer_bytes": float(self.buffer_bytes)}[key]

    def idle(self, duration_ns: int) -> None:
        self.used = max(0.0, self.used - self.back_per_s * duration_ns / 1e9)

    def run(self, jobs: list[Job], progress: TaskProgress, share: float) -> dict[str, Any]:
        assert progress.label == TEST.id
        assert not progress.cancelled
        progress.add(share)
        size = jobs[0].io_bytes or 0
        fast = min(float(size), self.reserve - self.used)
        self.used += fast
        self.pieces += 1
        if 5 <= self.pieces < 5 + self.moments:
            fast = 0
        seconds = self.seconds(fast, size - fast)
        nothing = {"mean": 0, "max": 0, "percentiles": {}}
        done = {"ios": 1, "bytes": size, "runtime_ns": seconds * 1e9, "latency_ns": nothing}
        return {"jobs": [{"write": done}]}

    def seconds(self, fast: float, slow: float) -> float:
        """What so many bytes into the reserve and so many behind it take."""
        return fast / 1e9 + slow / 1e6 / self.slow_mb_per_s


@dataclass
class Buffered(Tank):
    """The same behind a buffer that is filled faster than it is emptied."""

    times: float = 2.0
    """How much faster than a reserve of 1 GB/s."""
    held: float = 0.0

    def idle(self, duration_ns: int) -> None:
        """A pause that is longer than the buffer takes to be emptied."""
        super().idle(duration_ns)
        self.held = 0.0

    def seconds(self, fast: float, slow: float) -> float:
        """What is taken at the link's rate leaves the buffer fuller than it was."""
        parts = ((fast, 1e9), (slow, 1e6 * self.slow_mb_per_s))
        return sum(self._part(size, rate) for size, rate in parts if size)

    def _part(self, size: float, rate: float) -> float:
        link = self.times * 1e9
        at_once = min(size, (self.buffer_bytes - self.held) / (1 - rate / link))
        self.held += at_once * (1 - rate / link)
        return at_once / link + (size - at_once) / rate


def measured_of(tank: Tank) -> tuple[list[Row], dict[str, Any], tuple[str, ...]]:
    progress = TaskProgress(TEST.id)
    found = TEST.measure(cast(Any, tank), 1, False, progress)
    if found.tables:
        assert progress.fraction == pytest.approx(1, abs=1e-6)
    rows = [dict(row) for table in found.tables for row in table.rows]
    return rows, {value.name: value.value for value in found.values}, found.notes


@pytest.mark.parametrize("pieces", range(32, 36))
def test_who_gets_back_all_of_a_burst_is_fast_for_ever(pieces: int) -> None:
    # Ten pieces of the first run, of which the second one's are 10/32, and some of them more.
    first = 64 * 10**9 // 500 // BLOCK_BYTES * BLOCK_BYTES
    second = 10 * first // 32 // BLOCK_BYTES * BLOCK_BYTES
    rows, values, _ = measured_of(Tank(reserve=(pieces + 0.1) * second, back_per_s=1e9))
    assert values["reserve_gb"] == pytest.approx(pieces * second / 1e9)
    for row in rows:
        if row["pause_s"] >= 10:
            assert (row["kept"], row["arithmetic_kept"]) == ("yes", "yes"), row


@pytest.mark.parametrize("part", [0.0002, 0.0015, 0.0035, 0.006, 0.02])
def test_a_reserve_of_a_small_part_of_the_drive_is_seen(part: float) -> None:
    tank = Tank(reserve=part * 4e12, capacity_bytes=4 * 10**12)
    rows, values, _ = measured_of(tank)
    assert values["reserve_gb"] == pytest.approx(part * 4e3, rel=0.05)
    assert values["full_mb_per_s"] == pytest.approx(1000)
    assert values["sustained_mb_per_s"] == pytest.approx(100)
    assert {row["kept"] for row in rows} == {"no"}
    # Of a drive that is no slower behind it there is none.
    _, values, notes = measured_of(replace(tank, slow_mb_per_s=900.0))
    assert values["reserve_gb"] is values["kept_pause_s"] is None
    assert "does not fall in 4000 GB" in notes[0]


def test_a_write_buffer_is_no_reserve() -> None:
    """It takes twice what it holds where it is emptied half as fast as it is filled."""
    buffer = 64 * MIB
    tank = Tank(reserve=2 * buffer, slow_mb_per_s=500.0, buffer_bytes=buffer)
    assert measured_of(tank)[1]["reserve_gb"] is None
    rows, values, _ = measured_of(replace(tank, reserve=5 * buffer))
    assert values["reserve_gb"] == pytest.approx(5 * buffer / 1e9, rel=0.05)
    # Nothing comes back of its few pieces.
    assert {row["back_gb"] for row in rows} == {0}
    assert {row["kept"] for row in rows} == {"no"}
    assert {row["arithmetic_kept"] for row in rows} == {"no"}


@pytest.mark.parametrize("reserve_mb", [500, 1000, 1500])
def test_the_reserve_of_a_small_version_lies_behind_its_write_buffer(reserve_mb: int) -> None:
    """Pieces are as small as the buffer, which makes four of them twice as fast: full speed is the
    reserve's, pauses give back none of it, and bursts are slow when it is used up."""
    tank = Buffered(
        reserve=reserve_mb * 1e6, buffer_bytes=32 * MIB, capacity_bytes=8 * 10**9, times=4 / 3
    )
    rows, values, notes = measured_of(tank)
    assert values["reserve_gb"] == pytest.approx(reserve_mb / 1e3, abs=0.05)
    assert values["full_mb_per_s"] == pytest.approx(1000)
    assert values["sustained_mb_per_s"] == pytest.approx(100)
    assert values["back_10_s_gb"] == pytest.approx(0, abs=0.04)
    assert {row["kept"] for row in rows} == {"no"}
    assert values["kept_pause_s"] is None
    assert not any("are not tried" in note for note in notes)


def test_bursts_that_the_buffer_holds_say_nothing_of_a_reserve() -> None:
    """Each pause makes room for them, whatever the drive does: no pause keeps them fast."""
    tank = Buffered(reserve=2e8, buffer_bytes=32 * MIB, capacity_bytes=8 * 10**9, times=10)
    rows, values, notes = measured_of(tank)
    assert values["reserve_gb"] == pytest.approx(0.2, abs=0.04)
    [burst_gb] = {row["burst_gb"] for row in rows}
    assert burst_gb * 1e9 > 32 * MIB
    assert {row["kept"] for row in rows} == {"no"}
    assert any(note.startswith("bursts of 0.03355 GB are not tried") for note in notes)


def test_a_buffer_in_front_of_a_drive_without_a_reserve_is_none() -> None:
    tank = Buffered(reserve=1e12, buffer_bytes=32 * MIB, capacity_bytes=8 * 10**9, times=2)
    rows, values, notes = measured_of(tank)
    assert [(row["kept"], row["bursts"]) for row in rows] == [("yes", None)]
    assert values["reserve_gb"] is values["kept_pause_s"] is None
    assert values["full_mb_per_s"] == pytest.approx(1000)
    assert "that the write buffer takes" in notes[0]


def test_what_is_slow_once_is_no_end() -> None:
    """The second, finer run doesn't find what the first one did."""
    tank = Tank(reserve=1e12, moments=5)
    rows, values, notes = measured_of(tank)
    assert [(row["kept"], row["bursts"]) for row in rows] == [("yes", None)]
    assert values["reserve_gb"] is None
    assert values["full_mb_per_s"] == pytest.approx(1000)
    assert values["sustained_mb_per_s"] == pytest.approx(1000)
    assert "does not fall" in notes[0]


def test_a_drive_of_few_write_buffers_says_what_can_be_done() -> None:
    rows, values, notes = measured_of(Tank(reserve=1e9, buffer_bytes=10**9))
    assert rows == []
    assert set(values.values()) == {None}
    assert "a smaller `scale_divisor`" in notes[0]


CACHED = "samsung-980-pro-1tb"
BLOCKS_ENOUGH = ("scale_divisor", "12")
"""Of a smaller version a burst takes one or two blocks of the cache on a die: what a pause gives
back of these is all or nothing, and not what the arithmetic is about."""


def held_as_reckoned(rows: list[Row], reserve_gb: float) -> set[str]:
    """Holds every duty to the arithmetic, within a burst; what is kept says how many were tried."""
    for row in rows:
        expected = row["arithmetic_bursts"]
        assert (expected is None) == (row["arithmetic_kept"] == "yes"), row
        if row["kept"] == "yes":
            assert row["bursts"] is row["written_gb"] is None
            assert row["then_mb_per_s"] == pytest.approx(row["first_mb_per_s"], rel=0.1)
            assert expected is None or expected >= 3 * reserve_gb / row["burst_gb"] - 1, row
        else:
            assert row["bursts"] == pytest.approx(expected, abs=1), row
            assert row["written_gb"] == pytest.approx(row["bursts"] * row["burst_gb"])
            assert row["then_mb_per_s"] < 0.9 * row["first_mb_per_s"]
    return {row["kept"] for row in rows}


def test_a_cache_lasts_as_long_as_what_is_folded_in_pauses_allows() -> None:
    rows, values, _ = measured(model.load(CACHED, (BLOCKS_ENOUGH,)))
    assert values["full_mb_per_s"] > 3 * values["sustained_mb_per_s"]
    # A drive that folds a second after the last write makes nothing of a pause of one.
    assert held_as_reckoned(rows, values["reserve_gb"]) == {"yes", "no"}
    small, large = sorted({row["burst_gb"] for row in rows})
    kept = {(row["burst_gb"], row["pause_s"]) for row in rows if row["kept"] == "yes"}
    # Longer pauses give back what 10 s do: all that is folded; of half the reserve a part.
    assert kept == {(small, pause_s) for pause_s in (10, 60, 600)}
    assert values["kept_pause_s"] == 10
    backs = {row["pause_s"]: row["back_gb"] for row in rows}
    assert backs == {1: 0, **dict.fromkeys((10, 60, 600), values["back_10_s_gb"])}
    assert small < values["back_10_s_gb"] < large


def test_a_drive_that_folds_later_needs_longer_pauses() -> None:
    late = ("controller.idle_delay_ns", str(20 * 10**9))
    rows, values, notes = measured(model.load(CACHED, (BLOCKS_ENOUGH, late)))
    assert held_as_reckoned(rows, values["reserve_gb"]) == {"yes", "no"}
    assert (values["back_10_s_gb"], values["kept_pause_s"]) == (0, 60)
    assert "a small version" in notes[-1]


@pytest.mark.parametrize("name", ["samsung-ssd-830-256gb", "corsair-nova-128gb"])
def test_spare_area_behind_a_buffer_is_the_reserve_at_every_size(name: str) -> None:
    """As large a part of either version, within what a buffer takes of the smaller one."""
    found = {}
    for divisor in (16, 64):
        drive = model.load(name, (("scale_divisor", str(divisor)),))
        rows, values, _ = measured(drive, quick=True)
        assert {row["kept"] for row in rows} == {"no"}
        assert values["kept_pause_s"] is None
        assert values["full_mb_per_s"] > 4 * values["sustained_mb_per_s"]
        found[divisor] = values
    small, large = found[64], found[16]
    assert small["full_mb_per_s"] == pytest.approx(large["full_mb_per_s"], rel=0.05)
    assert 4 * small["reserve_gb"] == pytest.approx(large["reserve_gb"], rel=0.3)


def test_spare_area_is_a_reserve_too() -> None:
    """The X25-M cleans no further in a pause than it has begun: nothing comes back."""
    drive = model.load(MODEL_NAME, (SMALL,))
    rows, values, notes = measured(drive, quick=True)
    spare_gb = drive.description["derived"]["effective_spare_bytes"] / 1e9
    # Before the speed falls some of what was written twice is erased as well.
    assert spare_gb < values["reserve_gb"] < 1.35 * spare_gb
    assert held_as_reckoned(rows, values["reserve_gb"]) == {"no"}
    assert values["back_10_s_gb"] == 0
    # What a dash stands for is said.
    assert values["kept_pause_s"] is None
    burst_gb = min(row["burst_gb"] for row in rows)
    assert notes[0].startswith(
        f"no pause that was tried (up to 60 s) keeps bursts of {burst_gb:.4g} GB fast"
    )


def test_a_drive_that_is_never_slower_has_no_reserve() -> None:
    rows, values, notes = measured(
        model.load(MODEL_NAME, (*OVERRIDES[:1], ("user_capacity_bytes", "249999360"))), quick=True
    )
    assert [(row["kept"], row["pause_s"], row["bursts"]) for row in rows] == [("yes", 0, None)]
    assert values["reserve_gb"] is values["back_10_s_gb"] is None
    assert values["kept_pause_s"] is None
    assert values["sustained_mb_per_s"] == pytest.approx(values["full_mb_per_s"], rel=0.1)
    assert "no burst of as much is too long" in notes[0]
    assert "there is no reserve" in notes[0]


def test_what_does_not_end_has_no_number_and_a_word() -> None:
    """A dash alone would stand for what was not measured, too."""
    rows, _, notes = measured_of(Tank(reserve=6.4e9, back_per_s=1e9))
    for row in rows:
        for word, number in (("kept", "bursts"), ("arithmetic_kept", "arithmetic_bursts")):
            assert (row[word], row[number] is None) in {("yes", True), ("no", False)}, row
    assert {row["arithmetic_kept"] for row in rows} == {"yes", "no"}
    assert DASHES in notes
