"""`run`: fio job files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from drivelab import _engine, arguments, output, plugins, repeats, states, subject
from drivelab import model as models
from drivelab.commands import fio_table, printing, real_drives, recording, run_files
from drivelab.commands.preparation import prepared_drive, remark_trim, set_words
from drivelab.data_patterns import parse_data_pattern
from drivelab.database import RUN, Recorded
from drivelab.errors import RequestError
from drivelab.fio import groups, jobs, units
from drivelab.fio.groups import Asked, GroupRun
from drivelab.fio.output import to_fio_json
from drivelab.progress import Stopwatch, TaskProgress, run_alone
from drivelab.quantities import repeat_seeds
from drivelab.results import model_result, state_origin
from drivelab.subject import Subject
from drivelab.targets.fio import RealDrive, Wish

if TYPE_CHECKING:
    from drivelab.lab.steady import Metric, Steady

ROUND, LIMIT = "60s", "24h"
"""Of `--until-steady`, as of `dl.Steady`."""
METRICS = ("iops", "mib_per_s", "latency_mean_us", "write_amplification")

UntilSteady = Annotated[
    str | None,
    typer.Option(
        "--until-steady",
        metavar="METRIC",
        help=f"The last group of jobs ends once this is steady: {', '.join(METRICS)}.",
    ),
]
Round = Annotated[
    str | None,
    typer.Option(
        "--round", metavar="TIME", help=f"Length of a round of --until-steady; default: {ROUND}."
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="TIME",
        help=f"When a job without an end ends with --until-steady; default: {LIMIT}.",
    ),
]


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
    until_steady: UntilSteady = None,
    round_time: Round = None,
    limit: Limit = None,
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
    database_file: arguments.DatabaseFile = None,
    request_log: run_files.RequestLog = None,
    json: arguments.Json = False,
    size: arguments.Size = None,
    destroy: arguments.Destroy = None,
    buffered: arguments.Buffered = False,
    plan_only: arguments.PlanOnly = False,
) -> None:
    """Run a fio job file on a drive; --json prints fio's JSON with an object `drivelab`."""
    watch = Stopwatch()
    wish = Wish(size, tuple(destroy or ()), buffered, plan_only)
    subject.check_wish([drive], wish, plan_only)
    recording.check(database_file)
    settings = arguments.settings(sets, scale)
    found = subject.find(drive, [models.split_override(text) for text in settings], wish)
    printing.scale_remarks([found])
    wanted = states.find(state, known=plugins.known(plugin or ()).states)
    pattern = parse_data_pattern(data)
    seeds = repeat_seeds(seed, repeat)
    capacity_bytes = found.user_capacity_bytes
    workloads = [jobs.read_workload(job_file, capacity_bytes, of, data=pattern) for of in seeds]
    asked = Asked(request_log is not None, _until(until_steady, round_time, limit))
    _check(found, workloads[0], asked, request_log)
    remark_trim(found, wanted)
    work = partial(groups.run, workloads[0], asked)
    real_drives.show_plan(found, wanted, job_file.name, work, plan_only)
    if plan_only:
        return
    with subject.claimed([found]):
        parts = _measure(found, wanted, job_file.name, workloads, asked, seeds)
    words = ["drivelab", "run", str(job_file), "--drive", drive, "--state", state]
    words += [*arguments.plugin_words(plugin), "--data", data]
    options = {"--until-steady": until_steady, "--round": round_time, "--limit": limit}
    words += printing.option_words(options | {"--request-log": request_log})
    words += [*real_drives.wish_words(size, buffered), *set_words(settings)]
    own = _provenance(found, wanted, workloads[0], seed)
    own["command_line"] = printing.command_line(words, seed)
    if repeat > 1:
        own["command_line"] += f" --repeat {repeat}"
    document = _document(workloads, parts, own, seeds)
    document["drivelab"]["wall_s"] = watch.seconds()
    for option, reason in workloads[0].ignored.items():
        printing.message(f"option {option} has no effect: {reason}")
    output.publish_files(run_files.of_run(workloads[0], parts[0], request_log))
    with recording.recorded(database_file, Recorded(RUN, document, [model_result(found)])):
        if json:
            printing.document(document)
        else:
            fio_table.show(document)


def _until(metric: str | None, round_time: str | None, limit: str | None) -> Steady | None:
    """What `--until-steady` says; raises RequestError."""
    if metric is None:
        for option, text in (("--round", round_time), ("--limit", limit)):
            if text is not None:
                raise RequestError(f"{option} {text}: counts with --until-steady only")
        return None
    from drivelab.lab.steady import Steady

    arguments.one_of("--until-steady", metric, METRICS)
    times = {"--round": round_time or ROUND, "--limit": limit or LIMIT}
    for option, text in times.items():
        try:
            units.time_ns(text)
        except ValueError as error:
            raise RequestError(f'{option} "{text}": expected {error}') from None
    return Steady(cast("Metric", metric), every=times["--round"], limit=times["--limit"])


def _check(drive: Subject, workload: jobs.Workload, asked: Asked, request_log: Path | None) -> None:
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


def _measure(
    drive: Subject,
    state: states.State,
    name: str,
    workloads: Sequence[jobs.Workload],
    asked: Asked,
    seeds: Sequence[int],
) -> list[list[GroupRun]]:
    """The groups of every repeat; of the second and later ones nobody sees single requests."""

    def work(place: int, progress: TaskProgress) -> list[GroupRun]:
        target, share = prepared_drive(drive, state, seeds[place], progress)
        wanted = asked if place == 0 else replace(asked, log=False)
        return groups.run(workloads[place], wanted, target, progress, share)

    return [run_alone(f"{drive.name}: {name}", partial(work, place)) for place in range(len(seeds))]


def _provenance(
    drive: Subject, state: states.State, workload: jobs.Workload, seed: int
) -> dict[str, Any]:
    """What the numbers come from: the object `drivelab` of the document."""
    return {
        "seed": seed,
        "engine_version": _engine.engine_version(),
        "model": drive.name,
        "model_hash": drive.hash,
        "effective_spare_ratio": getattr(drive, "effective_spare_ratio", None),
        "state": state.name,
        **({"state_from": origin} if (origin := state_origin(state)) else {}),
        "ignored_options": workload.ignored,
    }


def _document(
    workloads: Sequence[jobs.Workload],
    parts: Sequence[Sequence[GroupRun]],
    own: dict[str, Any],
    seeds: Sequence[int],
) -> dict[str, Any]:
    """The document of the first repeat, with the numbers of all."""
    documents = [
        to_fio_json(workload, runs, dict(own))
        for workload, runs in zip(workloads, parts, strict=True)
    ]
    document = documents[0]
    if parts[0][-1].until is not None:
        document["drivelab"]["until_steady"] = dict(parts[0][-1].until)
    if len(seeds) > 1:
        document["drivelab"]["repeats"] = repeats.of_jobs(documents, seeds)
    return document
