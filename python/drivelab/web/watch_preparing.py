"""A drive that is to be watched, brought into its state."""

from __future__ import annotations

from functools import partial

from drivelab import states
from drivelab.lab.job import Job
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.targets import EngineTarget
from drivelab.targets.kept import KeptTarget
from drivelab.web import watch_choice
from drivelab.web.watch_choice import Choice


def prepared(choice: Choice, progress: TaskProgress) -> EngineTarget:
    """The drive that was chosen, in its state: nobody else has it."""
    drive = choice.drive
    is_part = choice.state == "filled" and choice.fill_percent < 100
    state = "new" if is_part else choice.state
    target: EngineTarget
    if choice.power == watch_choice.STEADY:
        target = drive.in_state(state).make_with(TaskProgress("new") if is_part else progress)
    else:
        seeds = partial(derive_seed, drive.seed, drive.name)
        target = KeptTarget(drive.model, seeds("drive"), watch_choice.MEMORY_BYTES_MAX)
        part = TaskProgress("new") if is_part else progress
        states.find(state).prepare(target, seeds, part)
    if is_part:
        fill = Job(rw="write", bs="128k", size=f"{choice.fill_percent}%", name="fill")
        seed = derive_seed(drive.seed, drive.name, "fill")
        target.run([fill.on_drive(target.capacity_bytes, seed, 0).job], progress)
    if isinstance(target, KeptTarget):
        # As if it had been switched off and on since: there is a checkpoint of its map.
        target.rest()
    return target
