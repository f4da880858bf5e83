"""What the laboratory measures to repeat a figure: model, test, state, and what is read off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from drivelab import procedures
from drivelab.figures import tables
from drivelab.figures.published import Figure, figures_by_id
from drivelab.procedures.stream import RANDOM, Stream
from drivelab.quantities import KIB

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Quantity:
    """A quantity of a test's record, the unit it is stated in, and what it says of the drive.

    Quantities of one `aspect` follow from each other: at a given queue depth throughput, IOPS and
    mean latency are one measurement (Little's law), so fitting one fits all.
    """

    read: Callable[[Record], Any]
    unit: str
    aspect: str


def _of_pass(key: str) -> Callable[[Record], Any]:
    return lambda record: record["pass"][key]


def _of_value(name: str) -> Callable[[Record], Any]:
    """One of the values that a compound test found."""
    return lambda record: next(
        (value["value"] for value in record["values"] if value["name"] == name), None
    )


QUANTITIES = {
    "mib_per_s": Quantity(lambda record: record["mib_per_s"], "MiB/s", "throughput"),
    "iops": Quantity(lambda record: record["iops"], "IOPS", "throughput"),
    "mean_ms": Quantity(lambda record: _ms(record["latency_us"]["mean"]), "ms", "throughput"),
    "max_ms": Quantity(lambda record: _ms(record["latency_us"]["max"]), "ms", "longest latency"),
    "power_w": Quantity(lambda record: record["mean_power_w"], "W", "power"),
    "pass_mean_mb_per_s": Quantity(_of_pass("mean_mb_per_s"), "MB/s", "throughput"),
    "pass_median_mb_per_s": Quantity(_of_pass("median_mb_per_s"), "MB/s", "median of a pass"),
    "pass_floor_mb_per_s": Quantity(_of_pass("floor_mb_per_s"), "MB/s", "floor of a pass"),
    "pass_dips": Quantity(_of_pass("dips"), "dips", "dips of a pass"),
    "value:iops": Quantity(_of_value("iops"), "IOPS", "iops of a replay"),
    "value:score": Quantity(_of_value("score"), "points", "score"),
    "value:productivity_mb_per_s": Quantity(
        _of_value("productivity_mb_per_s"), "MB/s", "productivity"
    ),
    "value:time_s": Quantity(_of_value("time_s"), "s", "time of a program"),
}
"""Everything that is read off a stream's or a pass's record, by name."""

VALUE = "value:"
"""Begins the name of a quantity that is one of the values of a compound test."""


CELL = "cell:"
"""Begins the name of a cell of a compound test's table: `cell:TABLE:COLUMN=VALUE,...:COLUMN`."""
COUNTER = "counter:"
"""Begins the name of what a compound test added to a counter of the drive."""


def quantity(name: str) -> Quantity:
    """The quantity of this name; KeyError if there is none. The unit of a value that isn't listed
    is its test's."""
    if name in QUANTITIES:
        return QUANTITIES[name]
    kind, _, rest = name.partition(":")
    if f"{kind}:" == VALUE:
        return Quantity(_of_value(rest), "", name)
    if f"{kind}:" == CELL:
        return Quantity(_of_cell(rest), "", name)
    if f"{kind}:" == COUNTER:
        return Quantity(lambda record: record["counters"].get(rest), "", name)
    raise KeyError(name)


def _of_cell(text: str) -> Callable[[Record], Any]:
    """A cell of a compound test's table: the first row whose columns have these values."""
    table_name, where, column = text.split(":")
    wanted = [condition.split("=") for condition in where.split(",")]

    def read(record: Record) -> Any:
        rows = (
            row
            for table in record["tables"]
            if table["name"] == table_name
            for row in table["rows"]
        )
        found = (row for row in rows if all(_is(row[key], value) for key, value in wanted))
        return next((row[column] for row in found), None)

    return read


def _is(cell: object, wanted: str) -> bool:
    return f"{cell:g}" == wanted if isinstance(cell, float) else str(cell) == wanted


def _ms(latency_us: float | None) -> float | None:
    return None if latency_us is None else latency_us / 1000


@dataclass(frozen=True)
class Reading:
    """One measured value: which model, in which test and state, and which quantity of it."""

    model: str
    test_id: str
    state: str
    quantity: str

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return quantity(self.quantity).unit

    @property
    def aspect(self) -> tuple[str, str, str, str]:
        """Equal for readings that follow from each other."""
        return (self.model, self.test_id, self.state, quantity(self.quantity).aspect)

    def value(self, test: Record) -> float | None:
        """The value in the record of the test."""
        found = quantity(self.quantity).read(test)
        return None if found is None else float(found)


@dataclass(frozen=True)
class Property:
    """A value that a model is given: a parameter's key, or price_usd_per_gb."""

    model: str
    key: str


@dataclass(frozen=True)
class Rule:
    """Which figures a test repeats: metrics (a regular expression), and words of the workload."""

    metric: str
    test_id: str
    quantity: str
    workload: Mapping[str, object]
    states: Mapping[str, str]
    """The laboratory's states where the general ones don't do, by the beginning of the figure's."""

    def covers(self, figure: Figure) -> bool:
        """Whether the rule is about a figure."""
        return re.fullmatch(self.metric, figure.metric) is not None and all(
            self._agrees(figure.workload.get(key), wanted) for key, wanted in self.workload.items()
        )

    @staticmethod
    def _agrees(found: object, wanted: object) -> bool:
        if isinstance(wanted, str):
            return isinstance(found, str) and re.search(wanted, found) is not None
        return found == wanted


def _rule(
    metric: str,
    test_id: str,
    quantity: str,
    workload: Mapping[str, object] | None = None,
    states: Mapping[str, str] | None = None,
) -> Rule:
    return Rule(metric, test_id, quantity, workload or {}, states or {})


def _random_rules() -> Iterable[Rule]:
    """Random 4 KB: throughput, IOPS, mean and longest latency of each form of the test."""
    drive: dict[str, object] = {"span": "whole drive"}
    incompressible: dict[str, object] = {"align_b": 4096, "data": "^(random|incompressible)"}
    forms: tuple[tuple[str, str, dict[str, object]], ...] = (
        # The same review measured 11171 IOPS in this test: a drive that had nothing to clean.
        ("write", "random-write-4k-qd1-drive", {"qd": 1} | drive),
        ("write", "random-write-4k-qd1-sector", {"qd": 1, "span_gb": 8}),
        ("write", "random-write-4k-qd3-aligned-random-data", {"qd": 3} | incompressible),
        ("write", "random-write-4k-qd3-aligned", {"qd": 3, "align_b": 4096}),
        # Iometer aligns to sectors unless it is told otherwise.
        ("write", "random-write-4k-qd3-sector", {"qd": 3, "span_gb": 8}),
        ("write", "random-write-4k-qd32-aligned-random-data", {"qd": 32} | incompressible),
        ("write", "random-write-4k-qd32-aligned", {"qd": 32, "align_b": 4096}),
        ("read", "random-read-4k-qd3-drive", {"qd": 3} | drive),
        ("read", "random-read-4k-qd3-aligned-random-data", {"qd": 3} | incompressible),
        ("read", "random-read-4k-qd3-aligned", {"qd": 3, "align_b": 4096}),
        ("read", "random-read-4k-qd3-sector", {"qd": 3, "span_gb": 8}),
        ("read", "random-read-4k-qd32-aligned-random-data", {"qd": 32} | incompressible),
        ("read", "random-read-4k-qd32-aligned", {"qd": 32, "align_b": 4096}),
    )
    for direction, test_id, workload in forms:
        metric = f"4k_random_{direction}(_floor)?"
        needed: dict[str, object] = {"op": f"^random_{direction}$"} | workload
        states = {"unstated": "new"} if test_id == "random-write-4k-qd1-drive" else {}
        if direction == "read":
            # What is read was written before, or the drive would have nothing to look up.
            states = {"new": "filled"}
        yield _rule(metric, test_id, "mib_per_s", needed, states)
        yield _rule("iops", test_id, "iops", needed, states)
        latency = f"4k_random_{direction}_latency"
        yield _rule(f"{latency}_avg", test_id, "mean_ms", needed, states)
        yield _rule(f"{latency}_max", test_id, "max_ms", needed, states)


INCOMPRESSIBLE = {"data": "^(random|incompressible)"}
AS_SSD = {"tool": "AS SSD"}
AS_SSD_STATES = {
    "tortured then TRIM": "tortured-random-trimmed",
    "tortured (incompressible": "tortured-random",
}
RULES = (
    # Tools of the time read single sectors.
    _rule("random_read_latency", "access-time", "mean_ms", {"op": "random_read"}),
    *_random_rules(),
    _rule("seq_read", "as-ssd-read", "mib_per_s", AS_SSD, AS_SSD_STATES),
    _rule("seq_write", "as-ssd-write", "mib_per_s", AS_SSD, AS_SSD_STATES),
    _rule("seq_read(_128kb)?", "sequential-read-128k-qd1", "mib_per_s", {"bs_kb": 128, "qd": 1}),
    _rule("seq_write(_128kb)?", "sequential-write-128k-qd1", "mib_per_s", {"bs_kb": 128, "qd": 1}),
    # The test with random data writes what it reads; else it was the pass before it.
    _rule("seq_read_2mb", "sequential-read-2m-random-data", "mib_per_s", INCOMPRESSIBLE),
    _rule("seq_read_2mb", "sequential-read-2m", "mib_per_s", {"data": "^compr"}, {"new": "filled"}),
    _rule("seq_read(_2mb)?", "sequential-read-2m", "mib_per_s", {"op": "seq_read"}),
    _rule("seq_write_2mb", "sequential-write-2m-random-data", "mib_per_s", INCOMPRESSIBLE),
    _rule("seq_write(_2mb)?", "sequential-write-2m", "mib_per_s", {"op": "seq_write"}),
    _rule("hdtach_read_avg", "hdtach-read", "pass_mean_mb_per_s"),
    _rule("hdtach_write_avg", "hdtach-write", "pass_mean_mb_per_s"),
    _rule("hdtach_write_typical", "hdtach-write", "pass_median_mb_per_s"),
    _rule("hdtach_write_floor", "hdtach-write", "pass_floor_mb_per_s"),
    _rule("hdtach_write_dips_count", "hdtach-write", "pass_dips"),
    _rule(
        *("worst_case_speed", "hdtach-write-random-data", "pass_mean_mb_per_s"),
        states={"tortured (20 min incompressible": "tortured-random-20min-pass"},
    ),
    _rule("pcmark_vantage_hdd", "pcmark-vantage", "value:hdd_score"),
    _rule("pcmark_vantage_overall", "pcmark-vantage", "value:score"),
    _rule("time_to_first_stutter", "desktop-use", "value:minutes_to_stutter"),
    _rule("fresh_boot_three_apps", "three-programs", "value:time_s"),
    _rule("wow_enter_realm", "game-realm", "value:time_s"),
    _rule("power_idle", "power-idle", "power_w"),
    _rule("power_seq_write", "power-sequential-write", "power_w"),
    _rule("power_seq_read", "power-sequential-read", "power_w"),
    _rule("power_random_write", "power-random-write-qd32", "power_w"),
)
"""How the laboratory repeats measured figures; the first that covers a figure counts."""

STATES = {
    "used": "used",
    "new": "new",
    "clean": "new",
    "n/a (HDD)": "new",
    "outer tracks": "new",
    "inner tracks": "new",
    "tortured then TRIM": "tortured-trimmed",
    "tortured": "tortured",
}
"""The laboratory's states by the beginning of a figure's words; the first that fits counts."""

UNSTATED = {"anthology-2009": "used"}
"""The state of a review's figures that don't say theirs. The article of 2009 makes it a rule to
measure used drives; the later ones start from a secure erase."""

INNER_TRACKS = "sequential-read-2m-end"
"""The test that reads the slowest part of a platter."""


def reading_of(figure: Figure) -> Reading | None:
    """The one measurement that repeats a figure; None if it takes several, or none does."""
    # Every review asks several times for all, and the rules are some hundred patterns.
    is_published = figures_by_id().get(figure.id) is figure
    return _published_reading(figure.id) if is_published else _found_reading(figure)


@cache
def _published_reading(figure_id: str) -> Reading | None:
    return _found_reading(figures_by_id()[figure_id])


def _found_reading(figure: Figure) -> Reading | None:
    model = tables.model_of(figure.drive, figure.firmware)
    if figure.kind != "measured" or model is None or figure.id in tables.formulas():
        return None
    rule = next((rule for rule in RULES if rule.covers(figure)), None)
    if rule is None:
        return None
    state = _state(figure, rule)
    if state is None:
        return None
    test_id = INNER_TRACKS if figure.state.startswith("inner") else rule.test_id
    found = _with_contents(figure, Reading(model, test_id, state, rule.quantity))
    return settled(found) if found is not None else None


INCOMPRESSIBLE_WORDS = re.compile("random|incompressible")
"""How the data of a figure begin that don't compress; "pseudo-random" is Iometer's, and does."""
HOLDS_RANDOM = {"filled": "filled-random"}
"""States of repeating data, and what they are called when random data were written instead."""


def _with_contents(figure: Figure, reading: Reading) -> Reading | None:
    """The reading of the data that the figure names; None if its test has other data, or other
    requests: a figure of random data is never compared with a test of repeating ones.

    A test that reads what is there reads what the state before it wrote.
    """
    test = procedures.PROCEDURES.get(reading.test_id)
    if not isinstance(test, Stream):
        return reading
    asked = figure.workload
    if any(
        wanted is not None and wanted != found
        for wanted, found in (
            (asked.get("bs_kb"), test.block_bytes // KIB),
            (asked.get("qd"), test.queue_depth),
            (asked.get("align_b"), test.align_bytes),
        )
    ):
        return None
    if "data" not in asked:
        return reading
    random = INCOMPRESSIBLE_WORDS.match(str(asked["data"])) is not None
    if test.direction == "write" or test.written_first:
        return reading if random == (test.data == RANDOM) else None
    if random:
        reading = replace(reading, state=HOLDS_RANDOM.get(reading.state, reading.state))
    return reading if random == (RANDOM in reading.state) else None


def settled(reading: Reading) -> Reading:
    """The same reading in the state in which it is measured: hard disks have one only."""
    if reading.model in tables.one_state_models():
        return replace(reading, state="new")
    return reading


def _state(figure: Figure, rule: Rule) -> str | None:
    text = figure.state
    own = _first(rule.states, text)
    if own is not None:
        return own
    state = UNSTATED.get(figure.review, "new") if text == "unstated" else _first(STATES, text)
    return rule.states.get(state, state) if state is not None else None


def _first(table: Mapping[str, str], text: str) -> str | None:
    return next((state for prefix, state in table.items() if text.startswith(prefix)), None)
