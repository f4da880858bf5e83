"""A job file on a drive that is brought into a state for it, once for each seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from drivelab.errors import RequestError
from drivelab.fio import groups, run_files
from drivelab.fio.groups import Asked, GroupRun
from drivelab.fio.jobs import Workload
from drivelab.preparation import prepared_drive
from drivelab.progress import TaskProgress, run_alone
from drivelab.states import State
from drivelab.subject import Subject
from drivelab.targets.fio import RealDrive


def check(drive: Subject, workload: Workload, asked: Asked, request_log: Path | None) -> None:
    """Raises RequestError for what can't be asked of the drive, or written, before it works."""
    real = isinstance(drive, RealDrive)
    if real and asked.until is not None:
        raise RequestError(
            "--until-steady: not on a real drive; steadystate in its job file is fio's own"
        )
    if drive.is_disk and asked.until is not None and asked.until.metric == "write_amplification":
        raise RequestError("--until-steady write_amplification: a hard disk has none")
    groups.check(workload, asked, real)
    run_files.check_request_log(request_log, real)
    run_files.check_logs(workload.jobs)


def measure(
    drive: Subject,
    state: State,
    name: str,
    workloads: Sequence[Workload],
    asked: Asked,
    seeds: Sequence[int],
    remark: Callable[[str], None],
) -> list[list[GroupRun]]:
    """The groups of every repeat, each with its workload and its seed; of the second and later ones
    nobody sees single requests.

    `name` is on the progress bar; `remark` hears what `prepared_drive` has to say.
    """

    def work(place: int, progress: TaskProgress) -> list[GroupRun]:
        target, share = prepared_drive(drive, state, seeds[place], progress, remark)
        wanted = asked if place == 0 else replace(asked, requests=None, window=None)
        return groups.run(workloads[place], wanted, target, progress, share)

    return [run_alone(f"{drive.name}: {name}", partial(work, place)) for place in range(len(seeds))]
