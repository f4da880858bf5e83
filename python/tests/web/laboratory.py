"""Small results for pages: measured in a moment, recorded as reviews record theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from drivelab import database, repeats, review
from drivelab import model as models
from drivelab.web import order as orders

T = TypeVar("T")
DRIVES = ("intel-x25-m-g1-80gb", "ocz-vertex-120gb", "corsair-force-f100-100gb")
DISK = "wd-velociraptor-300gb"
SCALE = 64


def record(
    results: Path,
    names: Sequence[str] = DRIVES,
    tests: Sequence[str] = ("four corners",),
    **asked: Any,
) -> int:
    """Reviews small versions of drives as `reviewed` does; returns the number of the run."""
    return database.append(results, reviewed(names, tests, **asked))


def reviewed(
    names: Sequence[str],
    tests: Sequence[str],
    *,
    quick: bool = True,
    scale: int = SCALE,
    states: Sequence[str] = (),
    settings: Sequence[str] = (),
    span_bytes: int | None = None,
    repeat: int = 1,
) -> database.Recorded:
    """A run of such a review, for `database.append_together`: a file takes a moment for each."""
    order = orders.Order(
        models=list(names),
        tests=list(tests),
        states=list(states),
        settings=list(settings),
        quick=quick,
        scale=scale,
    )
    plan = replace(orders.plan(order), span_bytes=span_bytes)
    if repeat > 1:
        plan = replace(plan, command_line=f"{plan.command_line} --repeat {repeat}")
        found = repeats.review(plan, repeat)
    else:
        found = review.run(plan, shown=False)
    return database.Recorded.review(found)


def every_model() -> list[str]:
    """All that are large enough for a review."""
    return [model.name for model in models.load_all() if model.user_capacity_bytes > 1e9]


def done(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, in a thread of its own: in this one the browser's loop may run."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
