"""What measuring real drives will take: bytes written and time, before anything is touched.

Every part is rehearsed with a stand-in that counts, at the assumed speed of `Rehearsal`. A test
that ends when it has seen enough may take longer than its rehearsal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_MS, NS_PER_S, bytes_text, time_text
from drivelab.states import State
from drivelab.subject import Subject
from drivelab.targets import Target
from drivelab.targets.account import Account, AccountedTarget
from drivelab.targets.fio import RealDrive
from drivelab.targets.fio.lineage import Lineage
from drivelab.targets.fio.rehearsal import assumed_speed

if TYPE_CHECKING:
    from drivelab.review import Measurement, Plan

POWER = "power"
"""The group of tests that read the drive's energy counter."""

SECONDS_A_UNIT = 180.0
"""A weight of 1 on the progress bar: a stream of 3 minutes."""


@dataclass(frozen=True)
class Part:
    """One part of a plan, at the assumed speed."""

    label: str
    written_bytes: int
    seconds: float

    def __add__(self, other: Part) -> Part:
        return Part(
            self.label, self.written_bytes + other.written_bytes, self.seconds + other.seconds
        )

    @property
    def weight(self) -> float:
        """For the progress bar."""
        return self.seconds / SECONDS_A_UNIT


def rehearsed(drive: RealDrive, label: str, work: Callable[[Target, TaskProgress], object]) -> Part:
    """What some work would take; raises RequestError for what the drive would refuse."""
    stand_in = drive.rehearsal()
    work(Lineage(stand_in, drive.name), TaskProgress(label))
    return Part(label, stand_in.written_bytes, stand_in.now_ns / NS_PER_S)


def preparation(drive: RealDrive, state: State, seed: int) -> Part:
    """What bringing the drive into a state would take."""
    return rehearsed(
        drive, state.name, lambda target, progress: state.prepare(target, lambda _: seed, progress)
    )


def review_parts(
    drive: RealDrive,
    measurements: Sequence[Measurement],
    seed: int,
    quick: bool,
    span_bytes: int | None = None,
) -> tuple[dict[Measurement, Part], dict[Measurement, RequestError]]:
    """What each measurement of a review would take with its preparation; and what can't be."""
    possible: dict[Measurement, Part] = {}
    refused: dict[Measurement, RequestError] = {}
    for item in measurements:
        test, state = item.procedure, item.state
        try:
            if test.group == POWER:
                raise RequestError(f'--tests "{test.id}": {drive.name} has no meter of its power')
            label = f"{test.id}, {state.name}"
            possible[item] = rehearsed(
                drive, label, partial(_measured, item, seed, quick, span_bytes)
            )
        except RequestError as error:
            refused[item] = error
    return possible, refused


def _measured(
    item: Measurement,
    seed: int,
    quick: bool,
    span_bytes: int | None,
    target: Target,
    progress: TaskProgress,
) -> None:
    item.state.prepare(target, lambda _: seed, progress)
    used = AccountedTarget(target, Account(), span_bytes)
    item.procedure.measure(used, seed, quick, progress)


def of_review(
    plan: Plan,
    by_name: bool,
    alone: bool,
    left_out: Callable[[str], None],
    show: Callable[[str], None],
) -> Plan:
    """The plan of a review with weights, and without what its real drives refuse.

    `show` hears the plan of each of them, `left_out` what it goes without; `alone`: nothing but the
    plan was asked for. Raises RequestError for a test that was asked for by name, or if no test is
    left.
    """
    measurements, weights = dict(plan.measurements), {}
    for drive in plan.models:
        if not isinstance(drive, RealDrive):
            continue
        wanted = plan.measurements[drive.name]
        possible, refused = review_parts(drive, wanted, plan.seed, plan.quick, plan.span_bytes)
        for item, error in refused.items():
            if by_name or not possible:
                raise error
            left_out(f"left out: {item.procedure.id}, {item.state.name}: {error}")
        show(plan_text(drive, [*possible.values()], alone, plan.quick, plan.span_bytes))
        measurements[drive.name] = list(possible)
        weights[drive.name] = {item: part.weight for item, part in possible.items()}
    return replace(plan, measurements=measurements, weights=weights)


def of_work(
    subject: Subject,
    state: State,
    label: str,
    work: Callable[[Target, TaskProgress], object],
    alone: bool,
) -> str:
    """The plan of one piece of work on a real drive; nothing for a model.

    Raises RequestError for what the drive would refuse.
    """
    if not isinstance(subject, RealDrive):
        return ""
    parts = [preparation(subject, state, 1), rehearsed(subject, label, work)]
    return plan_text(subject, parts, alone)


def plan_text(
    drive: RealDrive,
    parts: Sequence[Part],
    alone: bool,
    quick: bool = False,
    span_bytes: int | None = None,
) -> str:
    """The plan as people read it; `alone`: with what its work would need to be permitted."""
    speed, command_ns = assumed_speed(drive.place.rotating)
    facts = drive.real
    total = sum(parts, Part("together", 0, 0.0))
    capacity = drive.user_capacity_bytes
    lines = [
        f"{drive.name}: {facts['kind']}, {bytes_text(capacity)}; {drive.title}",
        f"  through {facts['fio_version']}; new state: {facts['new_state']}",
    ]
    if drive.place.trim_refusal is not None:
        lines.append(f"  no TRIM: {drive.place.trim_refusal}")
    lines += [f"  {_row(part)}" for part in parts]
    lines += [
        f"  {_row(total)}; {total.written_bytes / capacity:.1f} times the size",
        f"  counted for a drive of {speed / 1e6:.0f} MB/s and {command_ns / NS_PER_MS:g} ms a "
        "command; parts that last for a time write more on a faster one",
    ]
    if span_bytes is not None:
        lines.append(
            f"  --span: tests keep to the first {bytes_text(span_bytes)}; states are of all of it"
        )
    if quick:
        lines.append(
            "  --quick shortens the tests; bringing the drive into their states takes as long"
        )
    if alone and (loss := drive.place.loss):
        needed = f"it takes --destroy {drive.place.name}"
        given = "--destroy permits it" if drive.place.may_be_lost else needed
        lines.append(f"  {loss}, which would be lost: {given}")
    return "\n".join(lines)


def _row(part: Part) -> str:
    return f"{part.label}: {bytes_text(part.written_bytes)} written, {time_text(part.seconds)}"
