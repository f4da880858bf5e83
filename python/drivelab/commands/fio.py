"""`run`: fio job files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _engine, arguments, states, subject
from drivelab import model as models
from drivelab.commands import printing, real_drives, recording
from drivelab.commands.preparation import prepared_drive, remark_trim, set_words
from drivelab.data_patterns import data_pattern_text, parse_data_pattern
from drivelab.database import RUN, Recorded
from drivelab.fio import jobs
from drivelab.fio.output import to_fio_json
from drivelab.progress import Stopwatch, TaskProgress, run_alone
from drivelab.quantities import MIB
from drivelab.results import model_result
from drivelab.subject import Subject
from drivelab.targets import Report, Target
from drivelab.targets.fio import Wish


def run(
    job_file: Annotated[Path, typer.Argument(metavar="JOB.fio", help="A fio job file.")],
    drive: arguments.DriveName,
    state: arguments.StateName = "new",
    data: arguments.DataText = "random",
    seed: arguments.Seed = 1,
    sets: arguments.Settings = None,
    database_file: arguments.DatabaseFile = None,
    json: arguments.Json = False,
    size: arguments.Size = None,
    destroy: arguments.Destroy = None,
    buffered: arguments.Buffered = False,
    plan_only: arguments.PlanOnly = False,
) -> None:
    """Run a fio job file on a drive; --json prints fio's JSON with an object `drivelab`."""
    watch = Stopwatch()
    wish = Wish(size, tuple(destroy or ()), buffered)
    subject.check_wish([drive], wish, plan_only)
    recording.check(database_file)
    found = subject.find(drive, [models.split_override(text) for text in sets or ()], wish)
    wanted = states.find(state)
    pattern = parse_data_pattern(data)
    workload = jobs.read_workload(job_file, found.user_capacity_bytes, seed, data=pattern)
    remark_trim(found, wanted)
    real_drives.show_plan(found, wanted, job_file.name, partial(_run_groups, workload), plan_only)
    if plan_only:
        return
    with subject.claimed([found]):
        reports = run_alone(
            f"{found.name}: {job_file.name}",
            lambda progress: _measure(found, wanted, workload, seed, progress),
        )
    words = ["drivelab", "run", str(job_file), "--drive", drive, "--state", state]
    words += ["--data", data, *real_drives.wish_words(size, buffered)]
    own: dict[str, Any] = {
        "seed": seed,
        "engine_version": _engine.engine_version(),
        "model": found.name,
        "model_hash": found.hash,
        "state": state,
        "command_line": printing.command_line([*words, *set_words(sets)], seed),
        "ignored_options": workload.ignored,
    }
    document = to_fio_json(workload, reports, own)
    document["drivelab"]["wall_s"] = watch.seconds()
    for option, reason in workload.ignored.items():
        printing.message(f"option {option} has no effect: {reason}")
    with recording.recorded(database_file, Recorded(RUN, document, [model_result(found)])):
        if json:
            printing.document(document)
        else:
            _print(document)


def _measure(
    drive: Subject,
    state: states.State,
    workload: jobs.Workload,
    seed: int,
    progress: TaskProgress,
) -> list[Report]:
    target, share = prepared_drive(drive, state, seed, progress)
    return _run_groups(workload, target, progress, share)


def _run_groups(
    workload: jobs.Workload, target: Target, progress: TaskProgress, share: float = 1.0
) -> list[Report]:
    return [
        target.run([job.job for job in group], progress, share / len(workload.groups))
        for group in workload.groups
    ]


def _print(document: dict[str, Any]) -> None:
    columns = ("job", "", "MiB/s", "IOPS", "mean ms", "99 % ms", "99.99 % ms", "max ms")
    rows = []
    for job in document["jobs"]:
        for direction in ("read", "write", "trim"):
            part = job[direction]
            if not part["total_ios"]:
                continue
            latency = part["clat_ns"]
            at = latency["percentile"]
            times = [latency["mean"], at.get("99.000000"), at.get("99.990000"), latency["max"]]
            rows.append(
                (
                    job["jobname"],
                    direction,
                    printing.number(part["bw_bytes"] / MIB),
                    printing.number(part["iops"]),
                    *(printing.number(None if ns is None else ns / 1e6) for ns in times),
                )
            )
    printing.table(columns, rows, columns[2:])
    own = document["drivelab"]
    written = dict.fromkeys(data_pattern_text(part["pattern"]) for part in own["data"])
    inside = printing.inside_text(own)
    printing.console().print(
        f"{own['model']}, {own['state']}: {inside and inside + '; '}data {' '.join(written)}; "
        f"seed {own['seed']}",
        markup=False,
    )
