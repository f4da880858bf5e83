"""`run`: fio job files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _engine, arguments, plugins, repeats, states, subject
from drivelab import model as models
from drivelab.commands import printing, real_drives, recording
from drivelab.commands.preparation import prepared_drive, remark_trim, set_words
from drivelab.data_patterns import data_pattern_text, parse_data_pattern
from drivelab.database import RUN, Recorded
from drivelab.fio import jobs
from drivelab.fio.output import DIRECTIONS, to_fio_json
from drivelab.progress import Stopwatch, TaskProgress, run_alone
from drivelab.quantities import MIB, repeat_seeds
from drivelab.results import model_result, state_origin, unmapped_note
from drivelab.subject import Subject
from drivelab.targets import Report, Target
from drivelab.targets.fio import Wish


def run(
    job_file: Annotated[
        Path,
        typer.Argument(
            metavar="JOB.fio",
            help="A fio job file. zipf and pareto in it are fio's, offset for offset; zipf_true "
            "and pareto_true, which fio has not, the laws themselves.",
        ),
    ],
    drive: arguments.DriveName,
    state: arguments.StateName = "new",
    plugin: arguments.Plugins = None,
    data: arguments.DataText = "random",
    seed: arguments.Seed = 1,
    repeat: arguments.Repeat = 1,
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
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
    settings = arguments.settings(sets, scale)
    found = subject.find(drive, [models.split_override(text) for text in settings], wish)
    printing.scale_remarks([found])
    wanted = states.find(state, known=plugins.known(plugin or ()).states)
    pattern = parse_data_pattern(data)
    chosen = repeat_seeds(seed, repeat)
    workload, *others = (
        jobs.read_workload(job_file, found.user_capacity_bytes, of, data=pattern) for of in chosen
    )
    remark_trim(found, wanted)
    real_drives.show_plan(found, wanted, job_file.name, partial(_run_groups, workload), plan_only)
    if plan_only:
        return
    with subject.claimed([found]):
        parts = [
            run_alone(
                f"{found.name}: {job_file.name}",
                partial(_measure, found, wanted, each, of),
            )
            for each, of in zip((workload, *others), chosen, strict=True)
        ]
    words = ["drivelab", "run", str(job_file), "--drive", drive, "--state", state]
    words += [
        *arguments.plugin_words(plugin),
        "--data",
        data,
        *real_drives.wish_words(size, buffered),
    ]
    own: dict[str, Any] = {
        "seed": seed,
        "engine_version": _engine.engine_version(),
        "model": found.name,
        "model_hash": found.hash,
        "effective_spare_ratio": getattr(found, "effective_spare_ratio", None),
        "state": state,
        **({"state_from": found_from} if (found_from := state_origin(wanted)) else {}),
        "command_line": printing.command_line([*words, *set_words(settings)], seed),
        "ignored_options": workload.ignored,
    }
    if repeat > 1:
        own["command_line"] += f" --repeat {repeat}"
    documents = [
        to_fio_json(each, reports, dict(own))
        for each, reports in zip((workload, *others), parts, strict=True)
    ]
    document = documents[0]
    if repeat > 1:
        document["drivelab"]["repeats"] = repeats.of_jobs(documents, chosen)
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


TIMES = ("mean ms", "99 % ms", "99.99 % ms", "max ms")
FLASH = ("WA", "flash MiB", "erases")
CHANGING = ("write", "trim")


def _print(document: dict[str, Any]) -> None:
    own = document["drivelab"]
    has_flash = own["erases"] is not None
    columns = ("job", "", "MiB/s", "IOPS", *TIMES, *(FLASH if has_flash else ()))
    rows: list[tuple[str, ...]] = []
    for group in own["groups"]:
        jobs = [
            index
            for index, job in enumerate(document["jobs"])
            if job["groupid"] == group["groupid"]
        ]
        found = [_row(document, index, direction) for index in jobs for direction in DIRECTIONS]
        shown = [row for row in found if row is not None]
        if has_flash and sum(row[1] in CHANGING for row in shown) > 1:
            blanks = ("",) * (2 + len(TIMES))
            shown.append((f"{len(jobs)} jobs together", "", *blanks, *_flash_cells(group)))
        rows += [row if has_flash else row[: len(columns)] for row in shown]
    printing.table(columns, rows, columns[2:])
    if "repeats" in own:
        printing.message(
            f"Means of {own['repeats']['count']} repeats, ± half of the 95 % interval; the flash's "
            "numbers, and the line below them, are of the first repeat."
        )
    written = dict.fromkeys(data_pattern_text(part["pattern"]) for part in own["data"])
    inside = printing.inside_text(own)
    whole = "all jobs: " if inside and len(own["groups"]) > 1 else ""
    out = printing.console()
    out.print(
        f"{own['model']}, {own['state']}: {whole}{inside and inside + '; '}"
        f"data {' '.join(written)}; seed {own['seed']}{printing.spare_text(own)}",
        markup=False,
    )
    for group in own["groups"]:
        if note := unmapped_note(group["unmapped_read_share"]):
            out.print(f"{', '.join(group['jobs'])}: {note}", markup=False)


UNKNOWN = printing.number(None)


def _row(document: dict[str, Any], index: int, direction: str) -> tuple[str, ...] | None:
    """A direction of a job, with what the flash did for it; None if it did nothing."""
    job = document["jobs"][index]
    part = job[direction]
    if not part["total_ios"]:
        return None
    return (
        job["jobname"],
        direction,
        *_cells(document, index, direction),
        *_flash_cells(part["drivelab"]),
    )


def _flash_cells(flash: dict[str, Any]) -> tuple[str, str, str]:
    programmed = flash["flash_write_bytes"]
    return (
        printing.number(flash["write_amplification"], 3),
        printing.number(None if programmed is None else programmed / MIB),
        UNKNOWN if flash["erases"] is None else str(flash["erases"]),
    )


CELLS = ("latency_mean_us", "latency_p99_us", "latency_p99_99_us", "latency_max_us")
"""Names that repeats give the latencies of the table."""


def _cells(document: dict[str, Any], index: int, direction: str) -> Iterator[str]:
    """Numbers of a job's direction: of one run, or means of repeats with their intervals."""
    part = document["jobs"][index][direction]
    latency, at = part["clat_ns"], part["clat_ns"]["percentile"]
    repeats = document["drivelab"].get("repeats")
    numbers: dict[str, Any] = next(
        (
            row["numbers"]
            for row in (repeats or {"jobs": ()})["jobs"]
            if (row["index"], row["direction"]) == (index, direction)
        ),
        {},
    )
    for key, value in (("mib_per_s", part["bw_bytes"] / MIB), ("iops", part["iops"])):
        single = None if repeats else value
        yield printing.spread(numbers.get(key, {}).get("mean", single), {"repeats": numbers}, key)
    times = (latency["mean"], at.get("99.000000"), at.get("99.990000"), latency["max"])
    for key, ns in zip(CELLS, times, strict=True):
        if key in numbers:
            scaled = {edge: numbers[key][edge] / 1e3 for edge in ("mean", "low", "high")}
            yield printing.spread(scaled["mean"], {"repeats": {key: scaled}}, key)
        else:
            # What a repeat hasn't got has no mean.
            yield printing.number(None if ns is None or repeats else ns / 1e6)
