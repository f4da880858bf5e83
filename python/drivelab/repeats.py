"""A review, or a run, with several seeds: means in place of single numbers, every repeat kept.

The first repeat has the seed that was asked for, so one repeat is the run without them. Of a test
the headline numbers become means; what belongs to one run of it stays that of the first: series,
tables, counters, bytes. `repeats` of a test holds every number of every repeat and its interval.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from drivelab import failures
from drivelab import review as laboratory
from drivelab.estimates import estimate
from drivelab.fio.flushes import FLUSHES, flushes_of
from drivelab.fio.output import DIRECTIONS
from drivelab.quantities import mib, repeat_seeds

Record = dict[str, Any]

HEADLINES = (
    *("iops", "mib_per_s", "write_amplification", "energy_j", "mean_power_w"),
    *(f"latency_us.{key}" for key in ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "max")),
    *(f"split_mean_us.{key}" for key in ("queueing", "link", "firmware", "flash", "cleaning")),
    *(f"pass.{key}" for key in ("mean_mb_per_s", "floor_mb_per_s", "median_mb_per_s")),
)
"""Numbers of a test of one stream that become means, by where they are in its record."""
VALUE = "value:"
"""What a headline value of a compound test is called here, before its name."""


def review(plan: laboratory.Plan, count: int) -> Record:
    """Carries out a plan with so many seeds; returns the results as in results.json."""
    if count == 1:
        return laboratory.run(plan)
    chosen = repeat_seeds(plan.seed, count)
    documents: list[Record] = []
    failed: list[failures.Failure] = []
    for seed in chosen:
        own: list[failures.Failure] = []
        judge = partial(_kept, own)
        documents.append(laboratory.run(replace(plan, seed=seed), judge=judge))
        # What has failed before is part of why nothing is left.
        failed += [failure.with_seed(seed) for failure in own]
        failures.check_some_left(documents[-1]["tests"], failed)
        plan = _without(plan, _keys(documents[-1].get("failed", ())))
    return merged(documents, chosen)


def _kept(
    kept: list[failures.Failure], _: Sequence[Record], failed: Sequence[failures.Failure]
) -> None:
    kept.extend(failed)


Key = tuple[str, str, str]


def _keys(records: Iterable[Mapping[str, Any]]) -> set[Key]:
    """Model, state and test of records of tests."""
    return {(record["model"], record["state"], record["id"]) for record in records}


def _without(plan: laboratory.Plan, keys: Collection[Key]) -> laboratory.Plan:
    """A plan without tests that can have no mean any more."""
    measurements = {
        model: [i for i in items if (model, i.state.name, i.procedure.id) not in keys]
        for model, items in plan.measurements.items()
    }
    return replace(plan, measurements=measurements)


def merged(documents: Sequence[Record], chosen: Sequence[int]) -> Record:
    """The reviews of these seeds as one document."""
    found = copy.deepcopy(documents[0])
    # What a real drive says of itself at the end of the last repeat is the end of all.
    found["models"] = copy.deepcopy(documents[-1]["models"])
    found["drivelab"]["repeats"] = {"count": len(chosen), "seeds": list(chosen)}
    failed = [
        record | {"reason": failures.seeded(record["reason"], seed)}
        for seed, document in zip(chosen, documents, strict=True)
        for record in document.get("failed", ())
    ]
    if failed:
        found["failed"] = failed
    each = [_left(document["tests"], _keys(failed)) for document in documents]
    found["tests"] = _left(found["tests"], _keys(failed))
    for record, *parts in zip(found["tests"], *each, strict=True):
        _merge(record, parts)
    span_bytes = found["drivelab"].get("span_bytes")
    found["figures"] = laboratory.compared_figures(found["models"], found["tests"], span_bytes)
    found["wall_s"] = sum(document["wall_s"] for document in documents)
    return found


def _left(tests: Iterable[Record], failed: Collection[Key]) -> list[Record]:
    return [test for test in tests if not _keys([test]) & set(failed)]


def _merge(record: Record, parts: Sequence[Record]) -> None:
    """Turns the first repeat's record of a test into that of all of them."""
    keys = {(part["model"], part["state"], part["id"]) for part in parts}
    assert len(keys) == 1, keys
    each = [dict(_numbers(part)) for part in parts]
    found = {}
    missing = []
    for name in dict.fromkeys(name for numbers in each for name in numbers):
        values = [numbers[name] for numbers in each if name in numbers]
        if len(values) == len(parts):
            found[name] = estimate(values)
            _put(record, name, found[name].mean)
        else:
            # A number that some repeats haven't got (a time of recovery) has no mean.
            missing.append(_partial(name, parts, values))
            if name in each[0]:
                _put(record, name, None)
    if missing:
        record["notes"] = [*(record.get("notes") or ()), *missing]
    record["repeats"] = {name: item.record() for name, item in found.items()}
    record["wall_s"] = sum(part["wall_s"] for part in parts)


def _numbers(record: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name in HEADLINES:
        place: Any = record
        for key in name.split("."):
            place = place.get(key) if isinstance(place, Mapping) else None
        if isinstance(place, int | float) and not isinstance(place, bool):
            yield name, float(place)
    for value in record.get("values") or ():
        if value["value"] is not None:
            yield VALUE + value["name"], float(value["value"])


def _partial(name: str, parts: Sequence[Record], values: Sequence[float]) -> str:
    """What is said of a number that only some of the repeats have."""
    titles = (
        value["title"]
        for part in parts
        for value in part.get("values") or ()
        if VALUE + value["name"] == name
    )
    listed = ", ".join(f"{value:.6g}" for value in values)
    return (
        f"{next(titles, name)}: no mean, {len(values)} of {len(parts)} repeats have it ({listed})"
    )


def _put(record: Record, name: str, number: float | None) -> None:
    if name.startswith(VALUE):
        for value in record["values"]:
            if VALUE + value["name"] == name:
                value["value"] = number
        return
    *path, last = name.split(".")
    place = record
    for key in path:
        place = place[key]
    place[last] = number


JOB_NUMBERS: Mapping[str, Callable[[Record], float | None]] = {
    "mib_per_s": lambda part: mib(part["bw_bytes"]),
    "iops": lambda part: part["iops"],
    "latency_mean_us": lambda part: part["lat_ns"]["mean"] / 1e3,
    "latency_max_us": lambda part: part["lat_ns"]["max"] / 1e3,
    "latency_p99_us": lambda part: _percentile_us(part, "99.000000"),
    "latency_p99_99_us": lambda part: _percentile_us(part, "99.990000"),
    "write_amplification": lambda part: part["drivelab"]["write_amplification"],
}
"""Numbers of a direction of a job that are repeated, from fio's JSON."""


def _percentile_us(part: Record, key: str) -> float | None:
    found = part["clat_ns"].get("percentile", {}).get(key)
    return None if found is None else found / 1e3


def of_jobs(documents: Sequence[Record], chosen: Sequence[int]) -> Record:
    """Every number of every repeat of a run of jobs, with its interval: `drivelab.repeats`.

    Clones of a job have one name: `index` is the job's place in `jobs`.
    """
    rows = []
    for index, job in enumerate(documents[0]["jobs"]):
        jobs = [document["jobs"][index] for document in documents]
        found = {direction: [one[direction] for one in jobs] for direction in DIRECTIONS}
        for direction, parts in (found | {FLUSHES: list(map(flushes_of, jobs))}).items():
            if not all(part["total_ios"] for part in parts):
                continue
            numbers = {}
            for name, of in JOB_NUMBERS.items():
                values = [value for value in map(of, parts) if value is not None]
                if len(values) == len(parts):
                    numbers[name] = estimate(values).record()
            rows.append(
                {"job": job["jobname"], "index": index}
                | {"direction": direction, "numbers": numbers}
            )
    whole = {}
    for name in ("write_amplification", "erases", "energy_j"):
        own = [document["drivelab"].get(name) for document in documents]
        known = [value for value in own if value is not None]
        if len(known) == len(own):
            whole[name] = estimate(known).record()
    return {"count": len(chosen), "seeds": list(chosen), "jobs": rows, "numbers": whole}
