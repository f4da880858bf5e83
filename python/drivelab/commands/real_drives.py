"""The plan that a command prints before it writes to a real drive."""

from __future__ import annotations

from collections.abc import Callable

from drivelab import forecast
from drivelab.commands import printing
from drivelab.progress import TaskProgress
from drivelab.review import Plan
from drivelab.states import State
from drivelab.subject import Subject
from drivelab.targets import Target


def with_forecasts(plan: Plan, by_name: bool, plan_only: bool) -> Plan:
    """Prints the plan of every real drive; what a drive refuses is left out with a message.

    Raises RequestError for a test that was asked for by name, or if no test is left.
    """
    return forecast.of_review(plan, by_name, plan_only, printing.message, _shown(plan_only))


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
    if text := forecast.of_work(subject, state, label, work, plan_only):
        _shown(plan_only)(text)
        remark_repeat(repeat)


def remark_repeat(repeat: int) -> None:
    """Says that a plan is that of one repeat."""
    if repeat > 1:
        printing.message(f"--repeat {repeat}: all of this {repeat} times, states included")


def wish_words(size: str | None, buffered: bool) -> list[str]:
    """The options of real drives as words of a command line; permission is given anew each time."""
    return [*(["--size", size] if size else []), *(["--buffered"] if buffered else [])]


def _shown(plan_only: bool) -> Callable[[str], None]:
    """To standard output if that is all that was asked for."""
    return (lambda text: printing.plain(f"{text}\n")) if plan_only else printing.message
