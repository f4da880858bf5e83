"""What `run` and `replay` do before they measure."""

from __future__ import annotations

from drivelab.model import Model
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.states import State
from drivelab.targets import EngineTarget

COSTLY_SHARE = 0.5
"""Share of the progress bar that the preparation of a costly state takes."""


def prepared_drive(
    model: Model, state: State, seed: int, progress: TaskProgress
) -> tuple[EngineTarget, float]:
    """A drive in a state, with the seeds of a review, and the share of the bar that is left."""
    preparation = TaskProgress(state.name)
    share = COSTLY_SHARE if state.costly else 0.0
    progress.follow(preparation, share)
    target = EngineTarget(model, derive_seed(seed, model.name, "drive"))
    state.prepare(target, lambda name: derive_seed(seed, model.name, name), preparation)
    return target, 1 - share


def set_words(sets: list[str] | None) -> list[str]:
    """`--set` options as words of a command line."""
    return [word for text in sets or () for word in ("--set", text)]
