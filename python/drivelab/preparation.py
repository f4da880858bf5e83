"""A drive that is brought into a state for one piece of work, as `run` and `replay` do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from drivelab import kept_states
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.states import State
from drivelab.subject import Subject, open_target
from drivelab.targets import Target

COSTLY_SHARE = 0.5
"""Share of the progress bar that the preparation of a costly state takes."""


def prepared_drive(
    subject: Subject,
    state: State,
    seed: int,
    progress: TaskProgress,
    remark: Callable[[str], None],
) -> tuple[Target, float]:
    """A drive in a state, with the seeds of a review, and the share of the bar that is left.

    `remark` hears why it isn't kept for the next time, if it is to be and can't.
    """
    preparation = TaskProgress(state.name)
    share = COSTLY_SHARE if state.costly else 0.0
    progress.follow(preparation, share)
    target = open_target(subject, derive_seed(seed, subject.name, "drive"), progress)
    seeds = partial(derive_seed, seed, subject.name)
    kept_states.prepare(state, target, seeds, preparation, keeping=True, remark=remark)
    return target, 1 - share


def trim_note(subject: Subject, state: State) -> str:
    """What a state after TRIM is on a drive that ignores TRIM; nothing of others."""
    if not state.needs_trim or subject.takes_trim:
        return ""
    before = [part.name for part in state.lineage if not part.needs_trim]
    return f"{subject.name} ignores TRIM: state {state.name} is the same as {before[-1]} there"
