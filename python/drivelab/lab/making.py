"""The engine's drive of one that a script holds: everything that was done to it is done again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from drivelab import kept_states
from drivelab.lab import running
from drivelab.lab.history import let_pass, state_label, until_of
from drivelab.lab.job import Job
from drivelab.lab.trace import Trace
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.targets import EngineTarget

if TYPE_CHECKING:
    from drivelab.lab.drive import Drive


def made(drive: Drive, progress: TaskProgress, *, keeping: bool = False) -> EngineTarget:
    """A drive of its own that is as `drive` is.

    `keeping`: a state that took long to prepare stays on disk. Raises RequestError for a trace that
    isn't where it was, or is another one.
    """
    seed, history = drive.seed, drive.history
    # As reviews and `drivelab run` derive them.
    seeds = partial(derive_seed, seed, drive.name)
    target = EngineTarget(drive.model, seeds("drive"))
    for index, step in enumerate(history):
        part = TaskProgress("step")
        progress.follow(part, 1 / len(history))
        if "state" in step:
            kept_states.prepare(drive.begun[0], target, seeds, part, keeping=keeping)
        elif "trace" in step:
            state = state_label(history[:index])
            trace = Trace.of_step(step)
            target = running.run_trace(target, trace, seed, state, False, part).target
        elif "jobs" not in step:
            let_pass(target, step)
        else:
            jobs = [Job.of_record(record) for record in step["jobs"]]
            target = running.run_jobs(target, jobs, seed, False, until_of(step), part).target
    return target
