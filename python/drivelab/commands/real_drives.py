"""The plan that a command prints before it writes to a real drive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

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
        possible, refused = forecast.review_parts(drive, wanted, plan.seed, plan.quick)
        for item, error in refused.items():
            if by_name or not possible:
                raise error
            printing.message(f"left out: {item.procedure.id}, {item.state.name}: {error}")
        _show(drive, list(possible.values()), plan_only, plan.quick)
        measurements[drive.name] = list(possible)
        weights[drive.name] = {item: part.weight for item, part in possible.items()}
    return replace(plan, measurements=measurements, weights=weights)


def show_plan(
    subject: Subject,
    state: State,
    label: str,
    work: Callable[[Target, TaskProgress], object],
    plan_only: bool,
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


def wish_words(size: str | None, buffered: bool) -> list[str]:
    """The options of real drives as words of a command line; permission is given anew each time."""
    return [*(["--size", size] if size else []), *(["--buffered"] if buffered else [])]


def _show(
    drive: RealDrive, parts: Sequence[forecast.Part], plan_only: bool, quick: bool = False
) -> None:
    """To standard output if that is all that was asked for."""
    text = forecast.plan_text(drive, parts, quick)
    if plan_only and (loss := drive.place.loss):
        text += f"\n  {loss}, which would be lost: it takes --destroy {drive.place.name}"
    if plan_only:
        printing.plain(text + "\n")
    else:
        printing.message(text)
