"""What the report knows of a review: drives, measurements, states, published figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drivelab import verdicts
from drivelab.report.loose import text
from drivelab.traits import NO_STATE_TRAITS, StateTraits, TestTraits

SPLIT_PARTS = ("queueing", "link", "firmware", "flash", "cleaning")
PERCENTILE_KEYS = (("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99_9", 99.9), ("p99_99", 99.99))


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model, with where its value comes from."""

    key: str
    value: Any
    unit: str
    source: str
    role: str
    default: bool


@dataclass(frozen=True)
class Model:
    """A reviewed model."""

    name: str
    title: str
    hash: str
    user_capacity_bytes: float | None
    raw_capacity_bytes: float | None
    parameters: tuple[Parameter, ...]
    family: str = ""
    released: str = ""
    controller: str = ""
    firmware: str = ""
    price_usd: float | None = None
    price_usd_per_gib_flash: float | None = None
    price_usd_per_gib_user: float | None = None
    effective_spare_ratio: float | None = None
    real: tuple[tuple[str, str], ...] = ()
    """How a real drive was measured, as label and value; empty for a model."""
    warnings: tuple[str, ...] = ()
    """What makes its numbers doubtful: said by a real drive of itself, of a small version by how it
    differs from the drive."""
    readings: tuple[tuple[str, ...], ...] = ()
    """Rows of `smart.COLUMNS`: what it said around each test."""

    @property
    def is_disk(self) -> bool:
        """Whether it is a hard disk: no flash, one state."""
        return self.family == "hard-disk"

    @property
    def spare_ratio(self) -> float | None:
        """Spare area as part of the user capacity."""
        if not self.user_capacity_bytes or self.raw_capacity_bytes is None or self.is_disk:
            return None
        return self.raw_capacity_bytes / self.user_capacity_bytes - 1


@dataclass(frozen=True)
class Tail:
    """The slowest requests of a stream: their share of all, and what they waited for."""

    share: float
    latency_min_us: float
    split_us: dict[str, float]


@dataclass(frozen=True)
class LatencyField:
    """Requests by time and latency: `requests[stretch][row]`, rows between `edges_us`."""

    interval_s: float
    edges_us: tuple[float, ...]
    requests: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Measurement:
    """One test of one model in one state. Latencies in us, throughput in MiB/s."""

    id: str
    title: str
    model: str
    state: str
    declared: TestTraits
    standing: StateTraits
    """What its state declares."""
    direction: str
    block_bytes: float | None
    queue_depth: float | None
    align_bytes: float | None
    span_bytes: float | None
    duration_s: float | None
    iops: float | None
    mib_per_s: float | None
    latency_us: dict[str, float]
    percentiles: tuple[tuple[float, float], ...]
    split_us: dict[str, float]
    write_amplification: float | None
    host_write_bytes: float | None
    flash_program_bytes: float | None
    erases: float | None
    energy_j: float | None
    mean_power_w: float | None
    series_interval_s: float
    series_mib_per_s: tuple[float | None, ...]
    series: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """What else was measured in every interval, by its name in results.json."""
    tails: tuple[Tail, ...] = ()
    latency_field: LatencyField | None = None
    data: str = ""
    zone_bytes: float | None = None
    zones_mb_per_s: tuple[float | None, ...] = ()
    """Of a pass over the whole drive, by position; MB are 10^6 bytes."""
    mean_mb_per_s: float | None = None
    floor_mb_per_s: float | None = None
    repeats: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """What every repeat gave, by the name of the number; empty for a test that ran once."""
    plus_minus: dict[str, float] = field(default_factory=dict)
    """Half the width of the 95 % interval of the mean over the repeats."""
    notes: tuple[str, ...] = ()
    from_map: bool = False
    """Whether most of what it read was never written: zeros, out of the map, without flash."""

    @property
    def pattern(self) -> str:
        """`access`, `random`, `sequential`, `pass`, `power` or empty."""
        return self.declared.pattern

    @property
    def writes(self) -> bool:
        """Whether the test writes."""
        return "write" in self.direction

    @property
    def mean_us(self) -> float | None:
        """Mean latency."""
        return self.latency_us.get("mean")

    @property
    def moved_bytes(self) -> float | None:
        """Bytes that the host read or wrote in the test."""
        if self.writes and self.host_write_bytes:
            return self.host_write_bytes
        if self.mib_per_s is None or self.duration_s is None:
            return None
        return self.mib_per_s * 2**20 * self.duration_s


@dataclass(frozen=True)
class StateRun:
    """How a state was made and what that cost."""

    model: str
    state: str
    description: str
    host_write_bytes: float | None
    program_bytes: float | None
    write_amplification: float | None
    erases: float | None


BOUNDS = ("lt", "le", "gt", "ge", "range")
"""Relations of published figures that hold or fail, and have no error of their own."""


@dataclass(frozen=True)
class Figure:
    """A published figure and what the model gives for it, both in `unit`."""

    id: str
    drive: str
    firmware: str
    state: str
    metric: str
    unit: str
    published: float | None
    modelled: float | None
    given_error: float | None
    given_satisfied: bool | None
    role: str
    test_id: str
    relation: str
    note: str
    model: str = ""
    model_state: str = ""
    quantity: str = ""
    """What is read off the test, if it is one measurement: "mib_per_s", "value:score"."""
    published_min: float | None = None
    published_max: float | None = None
    """Ends of a range; `published` is its middle."""
    reason: str = ""
    """Why there is nothing to compare, or what must be said of the comparison."""

    @property
    def is_judged(self) -> bool:
        """Whether comparing means anything: not where a review contradicts itself, for one."""
        return self.role != "none" and (self.error_ratio is not None or self.holds is not None)

    @property
    def error_ratio(self) -> float | None:
        """(modelled - published) / published of figures that are values, not bounds or ranges."""
        if self.relation in BOUNDS:
            return None
        if self.published and self.modelled is not None:
            return self.modelled / self.published - 1
        return self.given_error

    @property
    def holds(self) -> bool | None:
        """For a published bound or range ("less than 0.3 ms"): does the model keep it?"""
        if self.published is None or self.modelled is None:
            return None
        if self.given_satisfied is not None or self.relation not in BOUNDS[:4]:
            return self.given_satisfied
        return verdicts.keeps(self.relation, self.modelled, self.published, self.published)


@dataclass(frozen=True)
class FailedTest:
    """A test that has no result, and why."""

    id: str
    title: str
    model: str
    state: str
    reason: str


@dataclass(frozen=True)
class Review:
    """Everything in results.json that the report shows."""

    command_line: str
    engine_version: str
    schema: str
    seed: str
    quick: bool
    wall_s: float | None
    models: tuple[Model, ...]
    tests: tuple[Measurement, ...]
    states: tuple[StateRun, ...]
    figures: tuple[Figure, ...]
    titles: dict[str, str] = field(default_factory=dict)
    compound: tuple[dict[str, Any], ...] = ()
    """Records of compound tests, as in results.json."""
    repeat_count: int = 1
    """How many seeds numbers are the mean of."""
    span_bytes: float | None = None
    """The first bytes of each drive, if tests kept to them."""
    known_states: Mapping[str, StateTraits] = field(default_factory=dict)
    """What states declare, by name."""
    failed: tuple[FailedTest, ...] = ()

    def state(self, name: str) -> StateTraits:
        """What a state declares."""
        return self.known_states.get(name, NO_STATE_TRAITS)

    def rank(self, state: str) -> tuple[float, str]:
        """The order in which states are shown: new first."""
        return (self.state(state).order, state)

    def title_of(self, model: str) -> str:
        """The model's title, or its name if it has none."""
        return self.titles.get(model, model)

    def test_ids(self, model: str | None = None) -> list[str]:
        """Ids of the tests, in the order they were run."""
        ids = (test.id for test in self.tests if model is None or test.model == model)
        return list(dict.fromkeys(ids))

    def of(self, test_id: str, model: str | None = None) -> list[Measurement]:
        """All measurements of one test, models in order, new before used."""
        names = [model.name for model in self.models]
        found = [t for t in self.tests if t.id == test_id and model in (None, t.model)]
        return sorted(found, key=lambda t: (names.index(t.model), self.rank(t.state)))

    def one(self, test_id: str, model: str, state: str) -> Measurement | None:
        """The measurement of one test of one model in one state."""
        return next((t for t in self.of(test_id, model) if t.state == state), None)

    def new(self, test_id: str, model: str) -> Measurement | None:
        """The measurement of one test on a new model, which those in other states stand beside."""
        found = self.of(test_id, model)
        return next((test for test in found if test.standing.role == "new"), None)

    def states_of(self, model: str) -> list[str]:
        """States the model was tested in, new first."""
        compound = {text(item.get("state")) for item in self.compound if item.get("model") == model}
        streams = {test.state for test in self.tests if test.model == model}
        return sorted(streams | compound, key=self.rank)
