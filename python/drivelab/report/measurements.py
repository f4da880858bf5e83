"""The results of a review as typed records, whatever results.json leaves out or fills with null."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from drivelab import traits, verdicts
from drivelab.procedures import PROCEDURES
from drivelab.report.quantities import number
from drivelab.states import STATES
from drivelab.traits import NO_STATE_TRAITS, NO_TEST_TRAITS, StateTraits, TestTraits

SPLIT_PARTS = ("queueing", "link", "firmware", "flash", "cleaning")
PERCENTILE_KEYS = (("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99_9", 99.9), ("p99_99", 99.99))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def dicts(value: Any) -> list[dict[str, Any]]:
    """The dictionaries in a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any, default: str = "") -> str:
    """A value as text, or the default where it is missing."""
    missing = value is None or (isinstance(value, float) and number(value) is None)
    return default if missing else str(value)


def test_traits(record: Mapping[str, Any]) -> TestTraits:
    """What the test of a record declares."""
    known = PROCEDURES.get(text(record.get("id")))
    usual = known.traits if known is not None else NO_TEST_TRAITS
    return traits.of_record(TestTraits, record.get("declared")) or usual


def state_traits(results: Mapping[str, Any]) -> dict[str, StateTraits]:
    """What the states of results declare, and those that come with drivelab, by name."""
    found = {state.name: state.traits for state in STATES.values()}
    for record in dicts(results.get("states")):
        own = traits.of_record(StateTraits, record.get("declared"))
        if own is not None:
            found[text(record.get("state"))] = own
    return found


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


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


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
    known_states: Mapping[str, StateTraits] = field(default_factory=dict)
    """What states declare, by name."""

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


def _parameter(raw: dict[str, Any]) -> Parameter:
    return Parameter(
        key=text(raw.get("key")),
        value=raw.get("value"),
        unit=text(raw.get("unit")),
        source=text(raw.get("source")),
        role=text(raw.get("role")),
        default=raw.get("default") is True,
    )


def _model(raw: dict[str, Any]) -> Model:
    name = text(raw.get("name"), "unnamed")
    return Model(
        name=name,
        title=text(raw.get("title")) or name,
        hash=text(raw.get("hash")),
        user_capacity_bytes=number(raw.get("user_capacity_bytes")),
        raw_capacity_bytes=number(raw.get("raw_capacity_bytes")),
        parameters=tuple(_parameter(item) for item in dicts(raw.get("parameters"))),
        family=text(raw.get("family")),
        released=text(raw.get("released")),
        controller=text(raw.get("controller_name")),
        firmware=text(raw.get("firmware")),
        price_usd=number(raw.get("price_usd")),
        price_usd_per_gib_flash=number(raw.get("price_usd_per_gib_flash")),
        price_usd_per_gib_user=number(raw.get("price_usd_per_gib_user")),
        effective_spare_ratio=number(raw.get("effective_spare_ratio")),
        real=tuple(_facts(raw.get("real"))),
    )


def _facts(raw: object) -> Iterator[tuple[str, str]]:
    for key, value in raw.items() if isinstance(raw, dict) else ():
        if value is not None:
            words = {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else None
            yield str(key).replace("_", " "), words or str(value)


def _percentiles(latency: dict[str, Any]) -> tuple[tuple[float, float], ...]:
    points: dict[float, float] = {}
    for key, percent in PERCENTILE_KEYS:
        value = number(latency.get(key))
        if value is not None:
            points[percent] = value
    pairs = latency.get("percentiles")
    for pair in pairs if isinstance(pairs, list) else []:
        if isinstance(pair, list | tuple) and len(pair) == 2:
            at, value = number(pair[0]), number(pair[1])
            if at is not None and value is not None and 0 <= at < 100:
                points[at] = value
    return tuple(sorted(points.items()))


def _numbers(raw: dict[str, Any], keys: tuple[str, ...]) -> dict[str, float]:
    found = ((key, number(raw.get(key))) for key in keys)
    return {key: value for key, value in found if value is not None}


def _measurement(
    raw: dict[str, Any], real: frozenset[str], known: Mapping[str, StateTraits]
) -> Measurement:
    latency = _dict(raw.get("latency_us"))
    series = _dict(raw.get("series"))
    rates = series.get("mib_per_s")
    whole = _dict(raw.get("pass"))
    zones = whole.get("mb_per_s")
    test_id = text(raw.get("id"), "unnamed")
    state = text(raw.get("state"), "unstated")
    standing = known.get(state, NO_STATE_TRAITS)
    return Measurement(
        id=test_id,
        title=text(raw.get("title")) or test_id,
        model=text(raw.get("model"), "unnamed"),
        state=state,
        declared=test_traits(raw),
        standing=standing,
        direction=text(raw.get("direction")),
        latency_us=_numbers(latency, ("mean", *(key for key, _ in PERCENTILE_KEYS), "max")),
        percentiles=_percentiles(latency),
        split_us=_numbers(_dict(raw.get("split_mean_us")), SPLIT_PARTS),
        series_interval_s=number(series.get("interval_s")) or 1.0,
        series_mib_per_s=tuple(map(number, rates)) if isinstance(rates, list) else (),
        series={
            str(name): tuple(map(number, values))
            for name, values in series.items()
            if isinstance(values, list)
        },
        tails=tuple(_tails(raw)),
        data=text(raw.get("data")),
        zone_bytes=number(whole.get("zone_bytes")),
        zones_mb_per_s=tuple(map(number, zones)) if isinstance(zones, list) else (),
        mean_mb_per_s=number(whole.get("mean_mb_per_s")),
        floor_mb_per_s=number(whole.get("floor_mb_per_s")),
        from_map=_is_from_map(raw, real, standing),
        notes=tuple(map(text, _list(raw.get("notes")))),
        repeats=repeated(raw),
        plus_minus=_plus_minus(raw),
        **{
            key: number(raw.get(key))
            for key in (
                *("block_bytes", "queue_depth", "align_bytes", "span_bytes", "duration_s"),
                *("iops", "mib_per_s", "write_amplification", "host_write_bytes"),
                *("flash_program_bytes", "erases", "energy_j", "mean_power_w"),
            )
        },
    )


def _tails(raw: dict[str, Any]) -> Iterator[Tail]:
    for tail in dicts(raw.get("tails")):
        share, least = (number(tail.get(key)) for key in ("share_of_requests", "latency_min_us"))
        split = _numbers(_dict(tail.get("split_mean_us")), SPLIT_PARTS)
        if share and least is not None and sum(split.values()) > 0:
            yield Tail(share, least, split)


def repeated(raw: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    """What every repeat of a test gave, by the name of the number."""
    return {
        name: tuple(value for value in map(number, found["values"]) if value is not None)
        for name, found in _dict(raw.get("repeats")).items()
        if isinstance(found, dict) and isinstance(found.get("values"), list)
    }


def _plus_minus(raw: dict[str, Any]) -> dict[str, float]:
    found = {}
    for name, item in _dict(raw.get("repeats")).items():
        low, high = (number(_dict(item).get(key)) for key in ("low", "high"))
        if low is not None and high is not None:
            found[name] = (high - low) / 2
    return found


FROM_MAP_SHARE = 0.5
"""From this share of bytes on a test of reads is one of the map, not of flash."""


def _is_from_map(raw: dict[str, Any], real: frozenset[str], standing: StateTraits) -> bool:
    """Whether a test mostly read what was never written.

    Drives in software count it. A real one that is new holds nothing (a sparse file, blocks that
    were discarded), unless the test wrote what it read.
    """
    if text(raw.get("direction")) != "read":
        return False
    zeros = number(_dict(raw.get("counters")).get("zero_read_bytes"))
    moved = number(raw.get("bytes"))
    if zeros is not None and moved:
        return zeros >= FROM_MAP_SHARE * moved
    is_new = text(raw.get("model")) in real and standing.role == "new"
    return is_new and not text(raw.get("data"))


def _state(raw: dict[str, Any]) -> StateRun:
    return StateRun(
        model=text(raw.get("model")),
        state=text(raw.get("state"), "unstated"),
        description=text(raw.get("description")),
        host_write_bytes=number(raw.get("host_write_bytes")),
        program_bytes=number(raw.get("program_bytes")),
        write_amplification=number(raw.get("write_amplification")),
        erases=number(raw.get("erases")),
    )


def _figure(raw: dict[str, Any]) -> Figure:
    inputs = dicts(raw.get("inputs"))
    return Figure(
        quantity=text(inputs[0].get("quantity")) if len(inputs) == 1 else "",
        published=number(raw.get("published")),
        published_min=number(raw.get("published_min")),
        published_max=number(raw.get("published_max")),
        modelled=number(raw.get("modelled")),
        given_error=number(raw.get("error_ratio")),
        given_satisfied=_flag(raw.get("satisfied")),
        relation=text(raw.get("relation"), "eq"),
        **{
            key: text(raw.get(key))
            for key in (
                *("id", "drive", "firmware", "state", "metric", "unit"),
                *("role", "test_id", "note", "reason", "model", "model_state"),
            )
        },
    )


def read(results: dict[str, Any]) -> Review:
    """Results of a review as records; missing parts are empty, never an error."""
    meta = _dict(results.get("drivelab"))
    records = dicts(results.get("tests"))
    models = [_model(item) for item in dicts(results.get("models"))]
    real = frozenset(model.name for model in models if model.real)
    known_states = state_traits(results)
    tests = tuple(
        _measurement(item, real, known_states) for item in records if item.get("kind") != "compound"
    )
    known = {model.name for model in models}
    for test in tests:
        if test.model not in known:
            known.add(test.model)
            models.append(_model({"name": test.model}))
    return Review(
        command_line=text(meta.get("command_line")),
        engine_version=text(meta.get("engine_version")),
        schema=text(meta.get("schema")),
        seed=text(meta.get("seed")),
        quick=meta.get("quick") is True,
        wall_s=number(results.get("wall_s")),
        models=tuple(models),
        tests=tests,
        states=tuple(_state(item) for item in dicts(results.get("states"))),
        figures=tuple(_figure(item) for item in dicts(results.get("figures"))),
        titles={model.name: model.title for model in models},
        compound=tuple(item for item in records if item.get("kind") == "compound"),
        repeat_count=int(number(_dict(meta.get("repeats")).get("count")) or 1),
        known_states=known_states,
    )
