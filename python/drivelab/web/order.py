"""What a page may ask to be measured: checked in full before it waits in the queue."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from drivelab import model as models
from drivelab import model_layers, procedures, schedule
from drivelab import review as laboratory
from drivelab.comparison.sides import SIDES_MAX
from drivelab.errors import RequestError, nearest
from drivelab.quantities import bytes_text

TESTS_MAX = 64
SCALE_MAX = 4096
"""Small versions are of 1/4096 at least."""
SHOWN_MAX = 3
"""Tests that a job's title names, and states."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=80)]
VALUE = r"[A-Za-z0-9_.+%µ, -]{1,40}"
"""A value of a parameter; what the engine doesn't take ("28%"), it says itself. No path: a model's
text may name files, which are nobody's business here."""
Setting = Annotated[str, StringConstraints(pattern=rf"^[a-z0-9_.]{{1,80}}={VALUE}$")]


class Order(BaseModel):
    """A review of some drives, as `drivelab review` does it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    models: Annotated[list[Name], Field(min_length=1, max_length=SIDES_MAX)]
    tests: Annotated[list[Name], Field(max_length=TESTS_MAX)] = []
    """Tests, or groups of them ("four corners" or "four-corners"); none: as a review chooses."""
    states: Annotated[list[Name], Field(max_length=16)] = []
    settings: Annotated[list[Setting], Field(max_length=32)] = []
    quick: bool
    seed: Annotated[int, Field(ge=0, le=2**53 - 1)] = 1
    scale: Annotated[int, Field(ge=1, le=SCALE_MAX)] = 1

    @property
    def scaled_settings(self) -> list[str]:
        """The settings, and what the scale stands for."""
        scale = [f"{models.SCALE}={self.scale}"] if self.scale > 1 else []
        return [*self.settings, *scale]


def checked(words: dict[str, Any]) -> Order:
    """An order in words of Python; raises RequestError that names the first thing that is
    wrong."""
    try:
        return Order.model_validate(words)
    except ValidationError as error:
        raise wrong(error) from None


def wrong(error: ValidationError, tags: Collection[str] = ()) -> RequestError:
    """The first thing that is wrong, as pages read it; `tags` are no part of its place."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"] if part not in tags) or "body"
    told = SIZES.get(first["type"], "{msg}").format(msg=first["msg"], **first.get("ctx", {}))
    return RequestError(f"{place[:120]}: {told[:200]}")


SIZES = {
    "too_long": "{actual_length} of them; allowed: {max_length} at most",
    "too_short": "{actual_length} of them; allowed: {min_length} at least",
    "string_pattern_mismatch": "it is too long, or has signs that it can't have",
}
"""How it is told that a list is too long or too short, and that a text is no name or value."""


def check_names(names: Sequence[str]) -> None:
    """Raises RequestError for a model that doesn't come along: others are files."""
    known = model_layers.known_names()
    for name in names:
        if name not in known:
            raise RequestError(f'model "{name}" is none that comes along{nearest(name, known)}')


def check_memory(drives: Iterable[models.Model]) -> None:
    """Raises RequestError for a drive that takes more memory than there is for one."""
    memory_bytes = schedule.usual_memory_bytes()
    for model in drives:
        if model.memory_bytes > memory_bytes:
            raise RequestError(
                f'model "{model.name}": takes {bytes_text(model.memory_bytes)} of memory; allowed: '
                f"{bytes_text(memory_bytes)}; choose a small version, or another geometry"
            )


def plan(order: Order) -> laboratory.Plan:
    """The review of an order; raises RequestError for names and values that mean nothing."""
    check_names(order.models)
    overrides = models.split_overrides(order.scaled_settings)
    loaded = [models.load(name, overrides) for name in order.models]
    memory_bytes = schedule.usual_memory_bytes()
    check_memory(loaded)
    tests = list(map(procedures.group_name, order.tests))
    made = laboratory.Plan(
        models=loaded,
        measurements={
            model.name: laboratory.plan_measurements(model, tests, order.states, lambda _: None)
            for model in loaded
        },
        command_line=command_line(order),
        seed=order.seed,
        quick=order.quick,
        workers=schedule.usual_workers(),
        memory_bytes=memory_bytes,
        keeps_on=True,
    )
    laboratory.check(made)
    return made


def command_line(order: Order) -> str:
    """The command that gives the same results."""
    words = ["drivelab", "review", *order.models, *models.set_words(order.scaled_settings)]
    for option, names in (("--tests", order.tests), ("--states", order.states)):
        words += [option, ",".join(map(procedures.group_name, names))] if names else []
    return shlex.join([*words, *(["--quick"] if order.quick else []), "--seed", str(order.seed)])


def title(order: Order) -> str:
    """A line that says what is measured."""
    length = "quick" if order.quick else "whole tests"
    size = f", 1/{order.scale} of their size" if order.scale > 1 else ""
    changed = f", {', '.join(order.settings)}" if order.settings else ""
    tests, states = map(_several, (order.tests, order.states))
    what = f": {tests or 'what a review does'}{f', {states}' if states else ''}"
    return f"{', '.join(order.models)}{what} ({length}{size}{changed})"


def _several(names: Sequence[str]) -> str:
    """Names in a row, of many the first ones."""
    shown = list(map(procedures.group_name, names[:SHOWN_MAX]))
    left = len(names) - len(shown)
    return ", ".join([*shown, *([f"{left} more"] if left else [])])


def as_json(order: Order) -> dict[str, Any]:
    """As it was asked for."""
    return order.model_dump()
