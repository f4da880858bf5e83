"""Counts and medians over all comparisons."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from drivelab.figures.bindings import CERTAIN_RATIO
from drivelab.figures.comparison import measurement_of
from drivelab.figures.statements.judging import statements_summary
from drivelab.sources import FIGURE_ROLES

Record = dict[str, Any]
LIMITS_PERCENT = (5, 20)


def summary(
    records: Sequence[Mapping[str, Any]],
    orders: Sequence[Mapping[str, Any]],
    claims: Sequence[Mapping[str, Any]] = (),
    parameters: Sequence[Mapping[str, Any]] = (),
) -> Record:
    """Counts by role with median and worst error, bounds, orderings, and what has no model.

    Errors are those of values; bounds and ranges (less than, over, from .. to) are counted apart.
    `parameters` are counts by model, of `parameter_counts`.
    """
    roles = {role: [r for r in records if r["role"] == role] for role in FIGURE_ROLES}
    judged = sum(map(len, roles.values()))
    bounds = [r for r in records if r["role"] != "none" and r["satisfied"] is not None]
    unmodelled = [r for r in records if r["role"] == "none"]
    return {
        "figures": len(records),
        "compared": judged,
        "roles": {role: _errors(found) for role, found in roles.items()},
        "barely_bound": _errors(barely := [r for r in records if barely_bound(r)])
        | {"ids": [str(r["id"]) for r in barely]},
        "unfitted": _errors([r for r in records if r["role"] not in ("none", "fitted")]),
        "bound_by_stale": sorted({r["model"] for r in records if r["bound_by_stale"]} - {None}),
        "left_out": _errors([_as_left_out(r) for r in records if r["left_out"]]),
        "overfitted": [p["model"] for p in parameters if p["fitted_to_own"] > p["values"]],
        "overfitted_in_all": [
            {"model": p["model"], "fitted": p["roles"]["fitted"], "values": p["values"]}
            for p in parameters
            if p["roles"]["fitted"] > p["values"]
        ],
        "blind": _blind(records),
        "bounds": {
            "held": sum(r["satisfied"] for r in bounds),
            "missed": [r["id"] for r in bounds if not r["satisfied"]],
        },
        "without_model": [_open(r) for r in unmodelled],
        "orderings": _orders(orders),
        "statements": statements_summary(claims),
    }


def barely_bound(record: Mapping[str, Any]) -> bool:
    """Whether something moves a figure, but nothing so far that it binds it whatever other seeds
    do; what was fitted to it is no prediction."""
    moves = [
        abs(bound[key] or 0.0)
        for bound in record["bound_by"]
        for key in ("change_down_ratio", "change_up_ratio")
    ]
    unfitted = record["role"] not in ("none", "fitted", "not varied")
    return unfitted and 0.0 < max(moves, default=0.0) < CERTAIN_RATIO


def _as_left_out(record: Mapping[str, Any]) -> Record:
    """A figure with the error that it would have if nothing had been fitted to it."""
    worst = max((item["error_ratio"] for item in record["left_out"]), key=abs)
    return {**record, "error_ratio": worst, "satisfied": None}


def _blind(records: Sequence[Mapping[str, Any]]) -> Record:
    """Median errors of the figures that were kept back: as they were first met, and by now.

    `levels` were measured; `derived` follow from two levels that may both be off.
    """
    kept_back = [r for r in records if r["blind"]]
    bounds = [r for r in kept_back if r["satisfied_before"] is not None]
    return {
        "figures": len(kept_back),
        "levels": _then_and_now([r for r in kept_back if r["kind"] == "measured"]),
        "derived": _then_and_now([r for r in kept_back if r["kind"] != "measured"]),
        "all": _then_and_now(kept_back),
        "bounds": len(bounds),
        "bounds_held_before": sum(bool(r["satisfied_before"]) for r in bounds),
        "bounds_held": sum(bool(r["satisfied"]) for r in bounds),
        "fitted_since": [r["id"] for r in kept_back if r["role"] == "fitted"],
    }


def _then_and_now(records: Sequence[Mapping[str, Any]]) -> Record:
    """Of values, not of bounds: how many, and the median of their errors' sizes; now without
    those that something was fitted to since."""
    values = [r for r in records if r["satisfied_before"] is None]
    unfitted = [r for r in values if r["role"] != "fitted"]

    def median(records: Sequence[Mapping[str, Any]], key: str) -> float | None:
        sizes = [abs(float(r[key])) for r in records if r[key] is not None]
        return statistics.median(sizes) if sizes else None

    return {
        "values": len(values),
        "median_abs_error_before_ratio": median(values, "error_before_ratio"),
        "median_abs_error_ratio": median(unfitted, "error_ratio"),
    }


def _open(record: Mapping[str, Any]) -> Record:
    return {"id": record["id"], "drive": record["drive"], "reason": record["reason"]}


def _errors(records: Sequence[Mapping[str, Any]]) -> Record:
    values = [r for r in records if r["satisfied"] is None and r["error_ratio"] is not None]
    sizes = [abs(float(r["error_ratio"])) for r in values]
    worst = max(values, key=lambda r: abs(float(r["error_ratio"])), default=None)
    return {
        "count": len(records),
        "values": len(values),
        "measurements": len({measurement_of(r["id"]) for r in records}),
        "median_abs_error_ratio": statistics.median(sizes) if sizes else None,
        "worst_abs_error_ratio": max(sizes, default=None),
        "worst_id": worst["id"] if worst is not None else None,
        **{f"within_{limit}_percent": _within(sizes, limit) for limit in LIMITS_PERCENT},
    }


def _within(sizes: Sequence[float], limit_percent: int) -> int:
    return sum(size <= limit_percent / 100 for size in sizes)


def _orders(orders: Sequence[Mapping[str, Any]]) -> Record:
    def of(result: str) -> list[str]:
        return [str(order["id"]) for order in orders if order["result"] == result]

    return {
        "count": len(orders),
        "hold": of("holds"),
        "do_not_hold": of("does not hold"),
        "not_measured": of("not measured"),
    }
