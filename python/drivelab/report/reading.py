"""The results of a review as typed records, whatever results.json leaves out or fills with null."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab import traits
from drivelab.procedures import PROCEDURES
from drivelab.report import smart
from drivelab.report.loose import as_dict, as_list, dicts, flag, text
from drivelab.report.measurements import (
    PERCENTILE_KEYS,
    SPLIT_PARTS,
    FailedTest,
    Figure,
    LatencyField,
    Measurement,
    Model,
    Parameter,
    Review,
    StateRun,
    Tail,
)
from drivelab.report.quantities import number
from drivelab.states import STATES
from drivelab.traits import NO_STATE_TRAITS, NO_TEST_TRAITS, StateTraits, TestTraits


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


def _parameter(raw: dict[str, Any]) -> Parameter:
    return Parameter(
        key=text(raw.get("key")),
        value=raw.get("value"),
        unit=text(raw.get("unit")),
        source=text(raw.get("source")),
        role=text(raw.get("role")),
        default=raw.get("default") is True,
    )


def _model(raw: dict[str, Any], tests: Sequence[dict[str, Any]] = ()) -> Model:
    name = text(raw.get("name"), "unnamed")
    said, own = as_dict(raw.get("smart")), [test for test in tests if test.get("model") == name]
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
        real=(*_facts(raw.get("real")), *smart.rows(said)),
        warnings=(
            *(f"At this scale: {text(remark)}." for remark in as_list(raw.get("scale_remarks"))),
            *smart.warnings(said, own),
        ),
        readings=tuple(smart.table(own)),
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


def _latency_field(raw: dict[str, Any]) -> LatencyField | None:
    found = as_dict(raw.get("latency_field"))
    edges, stretches = found.get("edges_us"), found.get("requests")
    if not isinstance(edges, list) or not isinstance(stretches, list):
        return None
    requests = tuple(tuple(number(count) or 0.0 for count in column) for column in stretches)
    return LatencyField(
        interval_s=number(found.get("interval_s")) or 1.0,
        edges_us=tuple(number(edge) or 0.0 for edge in edges),
        requests=requests,
    )


def _measurement(
    raw: dict[str, Any], real: frozenset[str], known: Mapping[str, StateTraits]
) -> Measurement:
    latency = as_dict(raw.get("latency_us"))
    series = as_dict(raw.get("series"))
    rates = series.get("mib_per_s")
    whole = as_dict(raw.get("pass"))
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
        split_us=_numbers(as_dict(raw.get("split_mean_us")), SPLIT_PARTS),
        series_interval_s=number(series.get("interval_s")) or 1.0,
        series_mib_per_s=tuple(map(number, rates)) if isinstance(rates, list) else (),
        series={
            str(name): tuple(map(number, values))
            for name, values in series.items()
            if isinstance(values, list)
        },
        tails=tuple(_tails(raw)),
        latency_field=_latency_field(raw),
        data=text(raw.get("data")),
        zone_bytes=number(whole.get("zone_bytes")),
        zones_mb_per_s=tuple(map(number, zones)) if isinstance(zones, list) else (),
        mean_mb_per_s=number(whole.get("mean_mb_per_s")),
        floor_mb_per_s=number(whole.get("floor_mb_per_s")),
        from_map=_is_from_map(raw, real, standing),
        notes=tuple(map(text, as_list(raw.get("notes")))),
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
        split = _numbers(as_dict(tail.get("split_mean_us")), SPLIT_PARTS)
        if share and least is not None and sum(split.values()) > 0:
            yield Tail(share, least, split)


def repeated(raw: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    """What every repeat of a test gave, by the name of the number."""
    return {
        name: tuple(value for value in map(number, found["values"]) if value is not None)
        for name, found in as_dict(raw.get("repeats")).items()
        if isinstance(found, dict) and isinstance(found.get("values"), list)
    }


def _plus_minus(raw: dict[str, Any]) -> dict[str, float]:
    found = {}
    for name, item in as_dict(raw.get("repeats")).items():
        low, high = (number(as_dict(item).get(key)) for key in ("low", "high"))
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
    zeros = number(as_dict(raw.get("counters")).get("zero_read_bytes"))
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
        given_satisfied=flag(raw.get("satisfied")),
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
    meta = as_dict(results.get("drivelab"))
    records = dicts(results.get("tests"))
    models = [_model(item, records) for item in dicts(results.get("models"))]
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
        repeat_count=int(number(as_dict(meta.get("repeats")).get("count")) or 1),
        known_states=known_states,
        span_bytes=number(meta.get("span_bytes")),
        failed=tuple(
            FailedTest(
                title=text(item.get("title")) or text(item.get("id"), "unnamed"),
                **{key: text(item.get(key)) for key in ("id", "model", "state", "reason")},
            )
            for item in dicts(results.get("failed"))
        ),
    )
