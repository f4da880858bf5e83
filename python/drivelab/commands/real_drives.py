"""The plan that a command prints before it writes to a real drive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from drivelab import forecast
from drivelab.commands import printing
from drivelab.progress import TaskProgress
from drivelab.review import Plan
from drivelab.states import State
from drivelab.subject import Subject
from drivelab.targets import Target
from drivelab.targets.fio import RealDrive


def with_forecasts(plan: Plan, by_name: bool, plan_only: bool) -> Plan:
    """Prints the plan of every real drive; what a drive refuses is left out with a message.

    Raises RequestError for a test that was asked for by name, or if no test is left.
    """
    measurements, weights = dict(plan.measurements), {}
    for drive in plan.models:
        if not isinstance(drive, RealDrive):
            continue
        wanted = plan.measurements[drive.name]
        possible, refused = forecast.review_parts(
            drive, wanted, plan.seed, plan.quick, plan.span_bytes
        )
        for item, error in refused.items():
            if by_name or not possible:
                raise error
            printing.message(f"left out: {item.procedure.id}, {item.state.name}: {error}")
        _show(drive, list(possible.values()), plan_only, plan.quick, plan.span_bytes)
        measurements[drive.name] = list(possible)
        weights[drive.name] = {item: part.weight for item, part in possible.items()}
    return replace(plan, measurements=measurements, weights=weights)


def show_plan(
    subject: Subject,
    state: State,
    label: str,
    work: Callable[[Target, TaskProgress], object],
    plan_only: bool,
    repeat: int = 1,
) -> None:
    """Prints the plan of one piece of work on a real drive; nothing for a model.

    Raises RequestError for what the drive would refuse.
    """
    if isinstance(subject, RealDrive):
        parts = [
            forecast.preparation(subject, state, 1),
            forecast.rehearsed(subject, label, work),
        ]
        _show(subject, parts, plan_only)
        remark_repeat(repeat)


def remark_repeat(repeat: int) -> None:
    """Says that a plan is that of one repeat."""
    if repeat > 1:
        printing.message(f"--repeat {repeat}: all of this {repeat} times, states included")


def remark_smart(drives: Sequence[Subject]) -> None:
    """Says why real drives told nothing of themselves, once each."""
    for drive in drives:
        if isinstance(drive, RealDrive) and drive.smart.remark is not None:
            printing.message(f"{drive.name}: {drive.smart.remark}")


def smart_of(drive: Subject) -> dict[str, Any]:
    """What the object `drivelab` of a run has of it; nothing for a model."""
    return {"smart": drive.smart.record()} if isinstance(drive, RealDrive) else {}


def wish_words(size: str | None, buffered: bool) -> list[str]:
    """The options of real drives as words of a command line; permission is given anew each time."""
    return [*(["--size", size] if size else []), *(["--buffered"] if buffered else [])]


def _show(
    drive: RealDrive,
    parts: Sequence[forecast.Part],
    plan_only: bool,
    quick: bool = False,
    span_bytes: int | None = None,
) -> None:
    """To standard output if that is all that was asked for."""
    text = forecast.plan_text(drive, parts, quick, span_bytes)
    if plan_only and (loss := drive.place.loss):
        text += f"\n  {loss}, which would be lost: it takes --destroy {drive.place.name}"
    if plan_only:
        printing.plain(text + "\n")
    else:
        printing.message(text)
