"""Published against modelled: which test and state repeat a figure, and how far off it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.figures.published import Figure, published

SCENARIO_NOTE = "scenario to come"


@dataclass(frozen=True)
class Repeat:
    """How the laboratory repeats a figure: the test, the state, and what is read off the result."""

    test_id: str
    state: str | None
    quantity: tuple[str, ...]
    """Path into the test's record."""
    factor: float = 1.0
    """What the record's value is multiplied by to have the figure's unit."""


_THROUGHPUT = ("mib_per_s",)
_MEAN_MS = (("latency_us", "mean"), 1e-3)
_MAX_MS = (("latency_us", "max"), 1e-3)


def repeat_of(figure: Figure) -> Repeat | None:
    """How a figure is repeated, or None if no test of the laboratory does so."""
    if figure.kind != "measured":
        return None
    found = _test_and_quantity(figure)
    if found is None:
        return None
    test_id, quantity, factor, unstated_state = found
    return Repeat(test_id, _state(figure.state, unstated_state), quantity, factor)


def _state(text: str, unstated: str | None) -> str | None:
    """The laboratory's state for the words of a figure."""
    if text == "unstated":
        return unstated
    if text.startswith("used"):
        return "used"
    if text.startswith(("new", "clean")):
        return "new"
    return None


def _test_and_quantity(figure: Figure) -> tuple[str, tuple[str, ...], float, str | None] | None:
    workload = figure.workload
    depth, span_gb = workload.get("qd"), workload.get("span_gb")
    match figure.metric:
        case "random_read_latency":
            # Tools of the time read single sectors on the drive as it was found: used.
            return ("access-time", *_MEAN_MS, "used")
        case "seq_read_2mb":
            return ("sequential-read-2m", _THROUGHPUT, 1.0, None)
        case "seq_write_2mb":
            return ("sequential-write-2m", _THROUGHPUT, 1.0, None)
        case "4k_random_write_latency_max" if depth == 1 and workload.get("span") == "whole drive":
            # The same review measured 11171 IOPS in this test: a drive that had nothing to clean.
            return ("random-write-4k-qd1-drive", *_MAX_MS, "new")
    if depth != 3 or span_gb not in (8, None):
        return None
    direction = {"random_write": "write", "random_read": "read"}.get(str(workload.get("op")))
    if direction is None:
        return None
    # Iometer aligns to sectors unless it is told otherwise.
    alignment = "aligned" if workload.get("align_b") == 4096 else "sector"
    test_id = f"random-{direction}-4k-qd3-{alignment}"
    match figure.metric.removeprefix(f"4k_random_{direction}"):
        case "":
            return (test_id, _THROUGHPUT, 1.0, None)
        case "iops":
            return (test_id, ("iops",), 1.0, None)
        case "_latency_avg":
            return (test_id, *_MEAN_MS, None)
        case "_latency_max":
            return (test_id, *_MAX_MS, None)
    return None


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _is_of(figure: Figure, model: Mapping[str, Any]) -> bool:
    """Whether a figure is about the drive that a model stands for."""
    return _folded(figure.drive) in (_folded(model["name"]), _folded(model["title"]))


def reviewed_drives() -> frozenset[str]:
    """Folded names of all drives with measured figures."""
    return frozenset(_folded(f.drive) for f in published() if f.kind == "measured")


def has_figures(model: Mapping[str, Any]) -> bool:
    """Whether any review measured the drive that a model (name, title) stands for."""
    return bool({_folded(model["name"]), _folded(model["title"])} & reviewed_drives())


def measurements_for(model: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The (test, state) pairs that all figures about a model's drive need."""
    repeats = [repeat_of(figure) for figure in published() if _is_of(figure, model)]
    return {(r.test_id, r.state) for r in repeats if r is not None and r.state is not None}


def compare(
    models: Sequence[Mapping[str, Any]], tests: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Every measured figure about these models, and those about other drives in the same tests.

    `models` and `tests` are records of results.json. A figure about another drive has no model.
    """
    by_key: dict[object, Mapping[str, Any]] = {
        (test["model"], test["id"], test["state"]): test for test in tests
    }
    measured_tests = {test["id"] for test in by_key.values()}
    records: list[dict[str, Any]] = []
    for figure in published():
        if figure.kind != "measured":
            continue
        repeat = repeat_of(figure)
        owners = [model for model in models if _is_of(figure, model)]
        for model in owners:
            key = (model["name"], repeat.test_id, repeat.state) if repeat else None
            records.append(_record(figure, repeat, model, by_key.get(key)))
        if not owners and repeat is not None and repeat.test_id in measured_tests:
            records.append(_record(figure, repeat, None, None))
    return records


def _record(
    figure: Figure,
    repeat: Repeat | None,
    model: Mapping[str, Any] | None,
    test: Mapping[str, Any] | None,
) -> dict[str, Any]:
    modelled = _value(test, repeat)
    bound = figure.relation in ("lt", "le", "gt", "ge")
    satisfied = _satisfied(figure, modelled) if bound else None
    error_ratio = None
    if modelled is not None and figure.value:
        # A bound that holds has no error; one that doesn't is missed by this much.
        error_ratio = 0.0 if satisfied else modelled / figure.value - 1
    return {
        "id": figure.id,
        "drive": figure.drive,
        "firmware": figure.firmware,
        "state": figure.state,
        "metric": figure.metric,
        "unit": _unit(figure, repeat),
        "published": figure.value,
        "modelled": modelled,
        "error_ratio": error_ratio,
        "satisfied": satisfied,
        "role": _role(figure, model) if model is not None and repeat is not None else None,
        "model": model["name"] if model is not None else None,
        "model_state": repeat.state if repeat is not None and model is not None else None,
        "test_id": repeat.test_id if repeat is not None else None,
        "relation": figure.relation,
        "note": _note(figure, repeat, model),
    }


def _value(test: Mapping[str, Any] | None, repeat: Repeat | None) -> float | None:
    if test is None or repeat is None:
        return None
    value: Any = test
    for key in repeat.quantity:
        value = value[key]
    return None if value is None else float(value) * repeat.factor


def _unit(figure: Figure, repeat: Repeat | None) -> str:
    """Iometer's "MB/s" are MiB/s."""
    return "MiB/s" if figure.unit == "MB/s" and repeat is not None else figure.unit


def _satisfied(figure: Figure, modelled: float | None) -> bool | None:
    if modelled is None:
        return None
    match figure.relation:
        case "lt":
            return modelled < figure.value
        case "le":
            return modelled <= figure.value
        case "gt":
            return modelled > figure.value
        case _:
            return modelled >= figure.value


def _role(figure: Figure, model: Mapping[str, Any]) -> str:
    """`fitted` if the source of any parameter names the figure, else `predicted`."""
    named = re.compile(rf"\b{re.escape(figure.id)}\b")
    sources = (str(parameter.get("source", "")) for parameter in model["parameters"])
    return "fitted" if any(named.search(source) for source in sources) else "predicted"


def _note(figure: Figure, repeat: Repeat | None, model: Mapping[str, Any] | None) -> str:
    notes = [figure.note] if figure.note else []
    if figure.variant:
        notes.append(figure.variant)
    if data := figure.workload.get("data"):
        notes.append(f"{data} data")
    if model is not None and repeat is None:
        notes.append(SCENARIO_NOTE)
    elif model is not None and repeat is not None and figure.state == "unstated":
        notes.append(f"the review doesn't say the state; modelled: {repeat.state or 'none'}")
    if model is not None and repeat is not None and repeat.state == "used":
        notes.append("depends on the assumed image of the used state")
    return "; ".join(notes)
