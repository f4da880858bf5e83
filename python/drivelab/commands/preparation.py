"""What `run` and `replay` do before they measure."""

from __future__ import annotations

from functools import partial

from drivelab import kept_states
from drivelab.commands import printing
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.states import State
from drivelab.subject import Subject, open_target
from drivelab.targets import Target

COSTLY_SHARE = 0.5
"""Share of the progress bar that the preparation of a costly state takes."""


def prepared_drive(
    subject: Subject, state: State, seed: int, progress: TaskProgress
) -> tuple[Target, float]:
    """A drive in a state, with the seeds of a review, and the share of the bar that is left."""
    preparation = TaskProgress(state.name)
    share = COSTLY_SHARE if state.costly else 0.0
    progress.follow(preparation, share)
    target = open_target(subject, derive_seed(seed, subject.name, "drive"), progress)
    seeds = partial(derive_seed, seed, subject.name)
    kept_states.prepare(state, target, seeds, preparation, keeping=True, remark=printing.message)
    return target, 1 - share


def remark_trim(subject: Subject, state: State) -> None:
    """Says of a state after TRIM what it is on a drive that ignores TRIM."""
    if state.needs_trim and not subject.takes_trim:
        before = [part.name for part in state.lineage if not part.needs_trim]
        printing.message(
            f"{subject.name} ignores TRIM: state {state.name} is the same as {before[-1]} there"
        )


def set_words(sets: list[str] | None) -> list[str]:
    """`--set` options as words of a command line."""
    return [word for text in sets or () for word in ("--set", text)]
