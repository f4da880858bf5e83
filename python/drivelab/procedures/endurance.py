"""Endurance: how much can be written before the first sector is lost, and what a formula forecasts.

A drive of rated flash would take months, so a small version of it is worn out faster: its blocks
stand a few erases instead of thousands, and each counts for as many. What the rates of wrong bits
follow is the share of the rated erases, so they rise along the same curve; data are minutes old
when they are read. The drive is filled, then written at random all over until cleaning finds what
it can't correct, or too many blocks have failed and the drive only reads.

Beside it stands what every data sheet reckons with (JESD218 [JEDEC]): bytes of all flash times
rated cycles over write amplification. Erases that fill a block with one bit a cell are counted by
the drive and not by the formula.

The first rounds aren't as the years to come (`wear_rounds`). That is nothing of thousands of erases
and much of eight, so bytes up to then are reckoned from the erases, by the rate of all that comes
after it. From then on they are what the host wrote: blocks that are retired leave less spare area,
so an erase makes room for ever less.

A round is counted at its end, so the first loss is known as an interval: nothing was lost until
the end of the round before, and something at the end of its own. Flash that has erases behind it
stands as many less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drivelab.counters import erase_count, spent, write_amplification
from drivelab.errors import RequestError
from drivelab.procedures import small_version, steady_writes, wear_rounds
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.procedures.wear_rounds import MOST_ERASES, Rounds
from drivelab.progress import TaskProgress
from drivelab.targets import Target

SMALL_BYTES = 2_000_000_000
"""Size of the drive that is worn out, if it can be made so small."""
ERASES, QUICK_ERASES = 8, 4
"""Erases that its blocks are rated for, in place of what the model says."""
MAP_ERASES_NOTED = 0.1
"""Least share of the map in the erases that is worth a word."""
DAYS = 5 * 365
"""Of the rating in drive writes a day: five years."""
TB = 10**12
SMALL = "bytes written are its own, the drive's as many times more; drive writes a day are the same"
RAW = "raw_capacity_bytes"
BIT_ERRORS = "flash.bit_errors"
ENDURANCE, SLC_ENDURANCE, INITIAL, FAILURES = (
    f"flash.{name}"
    for name in (
        *("endurance_cycles", "slc_endurance_cycles", "initial_cycles"),
        "erase_failure_rate",
    )
)
COLUMNS = (
    Column("tbw", "Written", "TB"),
    Column("rated_percent", "Erases, of the rated", "%"),
    Column("write_amplification", "Write amplification"),
    Column("read_retries", "Read retries"),
    Column("lost_codewords", "Codewords lost"),
    Column("blocks_retired", "Blocks retired"),
)


@dataclass(frozen=True, kw_only=True)
class Endurance(Procedure):
    """Random writes until something is lost."""

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return 5 if quick else 10

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Wears out a drive of its own; the given one stays as it is."""
        small_version.check_model(target)
        try:
            cells = cells_of(target)
            cycles = target.parameter(cells + ENDURANCE)
            erases = min(QUICK_ERASES if quick else ERASES, int(cycles or 1))
            factor = (cycles or 1) / erases
            # What its cells have by default is known of a drive whose bits go wrong.
            small = small_version.variant(target, wrong_bits(target), SMALL_BYTES)
            small = small.variant(_overrides(small, erases, factor))
        except RequestError as error:
            return unmeasured(error, _values(_Found(), target.capacity_bytes))
        steady_writes.fill(small, small.capacity_bytes, seed, progress, 0.05)
        rounds = wear_rounds.run(small, self.id, erases, seed, progress)
        progress.add(max(0.0, 0.95 - progress.fraction))
        filled, ended = rounds.first, rounds.last
        warm_up, is_settled = rounds.warm_up()
        warm = rounds.counters[warm_up]
        used = spent(warm, ended)
        used["erase_count_mean"] = ended["erase_count_mean"] - warm["erase_count_mean"]
        amplification = write_amplification(used)
        before = target.parameter(cells + INITIAL) or 0
        left_bytes = _flash_bytes(target) * max(0, (cycles or 1) - before)
        forecast = left_bytes / amplification / TB if amplification else None
        behind = small.parameter(cells + INITIAL) or 0
        written = None
        if used["erase_count_mean"]:
            byte_tb = factor * _flash_bytes(target) / (small.parameter(RAW) or 1) / TB
            erase_tb = byte_tb * used["host_write_bytes"] / used["erase_count_mean"]
            written = _Written(byte_tb, erase_tb, warm)
        counts = [found["erase_count_mean"] for found in rounds.counters]
        ends = [written.tb_at(found) for found in rounds.counters] if written else None
        rows = wear_rounds.rows(rounds, behind, erases, ends)
        # Of erases that were made before there may be a part of one here.
        left = erases * max(0.0, 1 - before / (cycles or 1))
        # Writes are taken to go on behind the last round, but not of a drive that only reads.
        ended_before_rated = left > counts[-1]
        rated = None
        if written and ends and not (ended_before_rated and ended["read_only"]):
            rated = written.tb_at_erases(left, counts, ends)
        no_loss, lost = _first_loss(filled, rows, ends)
        read_only = rows[-1]["tbw"] if ended["read_only"] else None
        found = _Found(amplification, forecast, rated, no_loss, lost, read_only)
        values = _values(found, target.capacity_bytes)
        notes = _notes(small, target, erases, factor, rounds, warm_up, used)
        if not is_settled and amplification is not None:
            notes += (_unsettled(rounds),)
        if ended_before_rated and (ended["read_only"] or rated is not None):
            notes += (_ended_early(ended, 100 * (1 - (left - counts[-1]) / erases)),)
        return Measured(
            small.capacity_bytes,
            values=values,
            tables=(Table("rounds", "Wear by bytes written", COLUMNS, tuple(rows)),),
            charts=(
                Chart("rounds", "Read retries by bytes written", "lines", "tbw", "read_retries"),
            ),
            notes=notes,
        )

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "until something is lost"

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def unmeasured(error: RequestError, values: tuple[Value, ...]) -> Measured:
    """What there is of a drive that can't be worn out: no values, and why."""
    return Measured(values=values, notes=(f"not measured: no drive can be made for it: {error}",))


def cells_of(target: Target) -> str:
    """What stands before the keys of flash: those of an array are its drives', or theirs. Raises
    RequestError for an array of drives that differ, which have one each."""
    place = ""
    while target.parameter(f"{place}flash.page_bytes") is None:
        if target.parameter(f"{place}array.strip_bytes") is None:
            raise RequestError("the drives of the array differ, and wear out each by itself")
        place += "member."
    return place


def wrong_bits(target: Target) -> tuple[tuple[str, str], ...]:
    """What makes bits of a drive's flash go wrong."""
    return ((cells_of(target) + BIT_ERRORS, "true"),)


def _overrides(small: Target, erases: int, factor: float) -> list[tuple[str, str]]:
    cells = cells_of(small)
    slc = max(1, round((small.parameter(cells + SLC_ENDURANCE) or 1) / factor))
    failures = min(1.0, (small.parameter(cells + FAILURES) or 0) * factor)
    before = round((small.parameter(cells + INITIAL) or 0) / factor)
    values = {ENDURANCE: erases, SLC_ENDURANCE: slc, INITIAL: before, FAILURES: f"{failures:.6g}"}
    return [(cells + key, str(value)) for key, value in values.items()]


def _flash_bytes(target: Target) -> float:
    """Bytes of all blocks that erases are counted of, at full size."""
    original = target.original
    assert original is not None
    return original.raw_bytes * target.capacity_bytes / original.user_bytes


@dataclass(frozen=True)
class _Written:
    """TB that the whole drive would have been written, by what its small version counted."""

    byte_tb: float
    """For a byte that the host wrote."""
    erase_tb: float
    """For a mean erase of a block, behind the warm-up."""
    warm: Mapping[str, float]
    """Counters at the end of the warm-up."""

    def tb_at(self, counters: Mapping[str, float]) -> float:
        """By the erases up to the end of the warm-up, by the host's bytes behind it."""
        until = min(counters["erase_count_mean"], self.warm["erase_count_mean"])
        behind = max(0.0, counters["host_write_bytes"] - self.warm["host_write_bytes"])
        return self.erase_tb * until + self.byte_tb * behind

    def tb_at_erases(self, count: float, counts: Sequence[float], ends: Sequence[float]) -> float:
        """By a mean number of erases, which the rounds may not have come to."""
        beyond = max(0.0, count - counts[-1])
        return float(np.interp(count, [0.0, *counts], [0.0, *ends])) + self.erase_tb * beyond


def _first_loss(
    filled: dict[str, float], rows: list[dict[str, Any]], ends: Sequence[float] | None
) -> tuple[float | None, float | None]:
    """TB written up to which nothing was lost, and after which something was; None: unknown."""
    if ends is None:
        return None, None
    counts = [filled["uncorrectable_codewords"], *(row["lost_codewords"] for row in rows)]
    lossy = next((at for at, count in enumerate(counts) if count), None)
    if lossy is None:
        return ends[-1], None
    return (ends[lossy - 1] if lossy else 0.0), ends[lossy]


@dataclass(frozen=True)
class _Found:
    """What was found, in TB written but for the first."""

    amplification: float | None = None
    forecast: float | None = None
    rated: float | None = None
    no_loss: float | None = None
    lost: float | None = None
    read_only: float | None = None


def _values(found: _Found, capacity_bytes: int) -> tuple[Value, ...]:
    rated = found.rated
    a_day = None if rated is None else rated * TB / capacity_bytes / DAYS
    least, most = "with nothing lost (end of a round)", "at the end of the first loss's round"
    return (
        Value("write_amplification", "Write amplification", found.amplification, "", "lower"),
        _tb("forecast_tbw", "at the rated erases, by formula", found.forecast),
        _tb("rated_tbw", "at the rated erases, as counted", rated),
        Value("drive_writes_a_day", "The latter in drive writes a day", a_day, "", "higher"),
        _tb("no_loss_tbw", least, found.no_loss),
        _tb("first_loss_tbw", most, found.lost),
        _tb("read_only_tbw", "until the drive only reads", found.read_only),
    )


def _tb(name: str, words: str, value: float | None) -> Value:
    return Value(name, f"Written {words}", value, "TB", "higher")


def _notes(
    small: Target,
    target: Target,
    erases: int,
    factor: float,
    rounds: Rounds,
    warm_up: int,
    used: dict[str, float],
) -> tuple[str, ...]:
    filled, ended = rounds.first, rounds.last
    whole = target.original.user_bytes if target.original else target.capacity_bytes
    divisor = round(whole / small.capacity_bytes)
    part = "the drive itself" if divisor == 1 else f"1/{divisor} of the drive"
    rounds_text = "the first round" if warm_up == 1 else f"the first {warm_up} rounds"
    reckoned = f", but of {rounds_text} reckoned from the erases" if warm_up else ""
    found = [
        f"simulated: {part}, whose blocks stand {erases} erases, each for "
        f"{factor:.4g} of the drive; bytes written are those of the rounds for as many, and for as "
        f"much more flash{reckoned}",
        "data are read minutes after they were written: what a shelf adds is in `retention`",
        *small_version.notes(target, SMALL),
    ]
    if small.capacity_bytes < target.capacity_bytes:
        found += [f"at its scale: {remark}" for remark in small.scale_remarks]
    of_map, erased = used.get("erases_map", 0), erase_count(used)
    if erased and of_map > MAP_ERASES_NOTED * erased:
        found.append(
            f"{100 * of_map / erased:.0f} % of the erases were of the map's own blocks, whose bits "
            "don't go wrong here; rated erases are the mean of all, and blocks of data had fewer"
        )
    cells = cells_of(target)
    if before := target.parameter(cells + INITIAL) or 0:
        counted = (small.parameter(cells + INITIAL) or 0) * factor
        found.append(
            f"{cells}{INITIAL} = {before:.0f} counts as {counted:.4g} where bits go wrong, for it "
            f"is rounded to 1/{erases} of the rated erases; forecasts subtract all of it"
        )
    if (failures := target.parameter(cells + FAILURES) or 0) * factor > 1:
        found.append(
            f"{cells}{FAILURES} = {failures:.4g} counts as {1 / factor:.4g}: an erase stands for "
            f"{factor:.4g} here, and more than every one can't fail; a greater rate gives the same"
        )
    if filled["uncorrectable_codewords"]:
        found.append("a sector was lost while the drive was filled, before the first round")
    if not wear_rounds.has_ended(ended):
        found.append(f"nothing was lost after {MOST_ERASES} times the rated erases")
    elif ended["erase_count_mean"] == filled["erase_count_mean"]:
        found.append("it ended before a block was erased again: bytes can't be extrapolated")
    return tuple(found)


def _unsettled(rounds: Rounds) -> str:
    """What is to be said of a write amplification that still changed when it was over."""
    of_rounds = (rounds.amplification(number) for number in range(1, len(rounds.counters)))
    # A round in which all was refused has none.
    last = [value for value in of_rounds if value][-2:]
    said = ", ".join(f"{value:.3g}" for value in last)
    return (
        f"write amplification hadn't settled at the end (last rounds: {said}): where it goes on to "
        "rise, less is written than forecast, and than is reckoned at the rated erases"
    )


def _ended_early(ended: dict[str, float], percent: float) -> str:
    """What is to be said of the rated erases where the rounds ended before them."""
    until = f"{min(99, round(percent))} % of the rated erases"
    if ended["read_only"]:
        return (
            f"the drive only reads after {until}: nothing was written at all of them, nor are "
            "there drive writes a day; the formula knows nothing of blocks that fail"
        )
    return (
        f"a sector was lost by {until}: what is written at all of them goes on from there at the "
        "same rate"
    )


PROCEDURES = (
    Endurance(
        id="endurance",
        title="Endurance: random writes until a sector is lost, and a forecast",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
    ),
)
