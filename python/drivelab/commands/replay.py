"""`replay`: recorded traces."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from drivelab import (
    _engine,
    arguments,
    output,
    plugins,
    rounds,
    states,
    subject,
    traces,
    workload,
)
from drivelab import model as models
from drivelab import replay as laboratory
from drivelab.commands import printing, real_drives, recording, run_files, trace_arguments
from drivelab.commands.preparation import prepared_drive, remark_trim, set_words
from drivelab.data_patterns import parse_data_pattern
from drivelab.database import REPLAY, Recorded
from drivelab.errors import RequestError
from drivelab.fio.units import time_ns
from drivelab.lab.trace import IDLE_CAP
from drivelab.model import Model
from drivelab.progress import Stopwatch, TaskProgress, run_alone
from drivelab.quantities import bytes_text, derive_seed
from drivelab.results import model_result, state_origin, unmapped_note
from drivelab.subject import Subject
from drivelab.targets import Report, Target
from drivelab.targets.engine import Columns
from drivelab.targets.fio import RealDrive, Wish
from drivelab.workload import Job

Pacing = Annotated[
    str,
    typer.Option(
        "--pacing",
        metavar="HOW",
        help="arrival: at recorded times; closed: as fast as possible; capped: long gaps cut.",
    ),
]
IdleCap = Annotated[
    str | None,
    typer.Option(
        "--idle-cap", metavar="TIME", help=f"Longest gap with capped; default: {IDLE_CAP}."
    ),
]
QueueDepth = Annotated[
    int | None,
    typer.Option("--queue-depth", min=1, help="Outstanding requests with closed; default: 1."),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        min=1,
        max=100_000,
        metavar="N",
        help="Rounds of the trace, one after the other; with --until-steady at most so many.",
    ),
]
UntilSteady = Annotated[
    bool,
    typer.Option(
        "--until-steady",
        help="Rounds until write amplification is steady: "
        f"{rounds.STEADY_TEXT}; at most {rounds.ROUNDS_MAX}.",
    ),
]


def replay(
    trace_file: trace_arguments.TraceFile,
    drive: arguments.DriveName,
    format_name: trace_arguments.FormatName = None,
    time_unit: trace_arguments.TimeUnit = None,
    arrival_event: trace_arguments.ArrivalEvent = None,
    device: trace_arguments.TraceDevice = None,
    pacing: Pacing = "arrival",
    idle_cap: IdleCap = None,
    queue_depth: QueueDepth = None,
    repeat: Rounds = None,
    until_steady: UntilSteady = False,
    beyond: trace_arguments.OutOfRange = "reject",
    state: arguments.StateName = "new",
    plugin: arguments.Plugins = None,
    data: arguments.DataText = "random",
    seed: arguments.Seed = 1,
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
    """Replay a recorded block trace on a drive: rates, disk-busy time, latency, lateness."""
    watch = Stopwatch()
    recording.check(database_file)
    file = trace_arguments.trace_file(trace_file, format_name, time_unit, arrival_event, device)
    arguments.one_of("--out-of-range", beyond, traces.BEYOND)
    wish = Wish(size, tuple(destroy or ()), buffered, plan_only)
    subject.check_wish([drive], wish, plan_only)
    settings = arguments.settings(sets, scale)
    found = subject.find(drive, [models.split_override(text) for text in settings], wish)
    printing.scale_remarks([found])
    job = laboratory.replay_job(
        trace_file.name,
        _pacing(pacing, queue_depth),
        queue_depth or 1,
        _idle_cap_ns(idle_cap, pacing),
        derive_seed(seed, found.name, state, "replay"),
        parse_data_pattern(data),
    )
    wanted = states.find(state, known=plugins.known(plugin or ()).states)
    run_files.check_request_log(request_log, isinstance(found, RealDrive))
    remark_trim(found, wanted)
    trace = _read(file, found, beyond)
    goal = _goal(repeat, until_steady, found, trace)
    real_drives.show_plan(
        found, wanted, trace_file.name, partial(_rehearsed, job, trace, goal), plan_only
    )
    if plan_only:
        return
    with subject.claimed([found]):
        reports, columns = _measure(found, wanted, job, trace, goal, seed, request_log is not None)
    for report in reports:
        laboratory.check_conservation(trace.requests, report)
    options = {
        "--drive": drive,
        "--state": state,
        **trace_arguments.trace_options(file),
        "--pacing": pacing,
        "--idle-cap": idle_cap,
        "--queue-depth": queue_depth,
        "--repeat": repeat,
        "--out-of-range": beyond,
        "--data": data,
        "--request-log": request_log,
    }
    words = ["drivelab", "replay", str(trace_file), *printing.option_words(options)]
    words += ["--until-steady"] if until_steady else []
    words += [*arguments.plugin_words(plugin), *real_drives.wish_words(size, buffered)]
    command_line = printing.command_line([*words, *set_words(settings)], seed)
    document = {
        "drivelab": _provenance(found, wanted, pacing, job, seed, command_line),
        "trace": trace.record(),
        "replay": laboratory.replay_result(reports[-1]),
        **_of_rounds(reports, trace, found, goal),
        "wall_s": watch.seconds(),
    }
    recorded = Recorded(REPLAY, document, [model_result(found)])
    writers = run_files.of_replay(columns, reports[-1]["start_ns"], job.name, request_log)
    with recording.recorded(database_file, recorded, partial(output.publish_files, writers)):
        if json:
            printing.document(document)
        else:
            _print(document)


def _provenance(
    drive: Subject, state: states.State, pacing: str, job: Job, seed: int, command_line: str
) -> dict[str, Any]:
    return {
        "engine_version": _engine.engine_version(),
        "command_line": command_line,
        "seed": seed,
        "model": drive.name,
        "model_hash": drive.hash,
        "effective_spare_ratio": getattr(drive, "effective_spare_ratio", None),
        "state": state.name,
        **({"state_from": found} if (found := state_origin(state)) else {}),
        "pacing": pacing,
        "queue_depth": job.queue_depth if pacing == "closed" else None,
        "idle_cap_ns": job.source.idle_cap_ns
        if isinstance(job.source, workload.Recorded)
        else None,
        "data": job.data.model_dump(),
    }


def _read(file: traces.TraceFile, drive: Subject, beyond: str) -> traces.Trace:
    return run_alone(
        f"reading {file.path.name}",
        lambda progress: traces.read_trace(file, progress, drive.user_capacity_bytes, beyond),
    )


Goal = tuple[int, bool]
"""Rounds, and whether they end when they are steady."""


def _goal(repeat: int | None, until_steady: bool, drive: Subject, trace: traces.Trace) -> Goal:
    """What the options say; raises RequestError for what never gets steady."""
    if until_steady:
        if repeat is not None and repeat < rounds.WINDOW:
            raise RequestError(
                f"--repeat {repeat}: with --until-steady at least {rounds.WINDOW}, as steady are "
                f"{rounds.STEADY_TEXT}"
            )
        reason = "a real drive doesn't tell" if isinstance(drive, RealDrive) else None
        if drive.is_disk:
            reason = "a hard disk has none"
        elif not (trace.requests.op == workload.WRITE).any():
            reason = f"{trace.name} has no writes"
        if reason is not None:
            raise RequestError(f"--until-steady: goes by write amplification, and {reason}")
    if repeat is None:
        repeat = rounds.ROUNDS_MAX if until_steady else 1
    return repeat, until_steady


def _of_rounds(
    reports: list[Report], trace: traces.Trace, drive: Subject, goal: Goal
) -> dict[str, Any]:
    """What is said of rounds, if there were to be several."""
    if goal == (1, False):
        return {}
    recorded_s = float(trace.record()["duration_s"])
    worn = rounds.year(reports, recorded_s, drive) if isinstance(drive, Model) else None
    return {"rounds": rounds.record(reports) | {"year": worn}}


def _measure(
    drive: Subject,
    state: states.State,
    job: Job,
    trace: traces.Trace,
    goal: Goal,
    seed: int,
    log: bool,
) -> tuple[list[Report], Columns | None]:
    """Reports of the rounds, and with `log` every request of the last one."""
    last: list[Columns] = []

    def hear(columns: Columns) -> None:
        last[:] = [columns]

    def work(progress: TaskProgress) -> list[Report]:
        target, share = prepared_drive(drive, state, seed, progress)
        requests = trace.requests
        heard = hear if log else None
        return rounds.run(target, job, requests, progress, share, *goal, heard)

    reports = run_alone(f"{drive.name}: {trace.name}", work)
    return reports, last[0] if last else None


def _rehearsed(
    job: Job, trace: traces.Trace, goal: Goal, target: Target, progress: TaskProgress
) -> list[Report]:
    return rounds.run(target, job, trace.requests, progress, 1.0, *goal)


def _pacing(name: str, queue_depth: int | None) -> laboratory.Pacing:
    arguments.one_of("--pacing", name, laboratory.PACINGS)
    if queue_depth is not None and name != "closed":
        raise RequestError(f"--queue-depth {queue_depth}: counts with --pacing closed only")
    return next(pacing for pacing in laboratory.PACINGS if pacing == name)


def _idle_cap_ns(text: str | None, pacing: str) -> int:
    if text is not None and pacing != "capped":
        raise RequestError(f"--idle-cap {text}: counts with --pacing capped only")
    try:
        return time_ns(IDLE_CAP if text is None else text)
    except ValueError as error:
        raise RequestError(f'--idle-cap "{text}": expected {error}') from None


def _print(document: dict[str, Any]) -> None:
    measured, trace = document["replay"], document["trace"]
    number = printing.number
    lines = [
        f"{trace['file']} ({trace['format']}, {trace['requests']} requests) took "
        f"{number(measured['duration_s'])} s: {number(measured['iops'])} IOPS, "
        f"{number(measured['mb_per_s'])} MB/s ({number(measured['mib_per_s'])} MiB/s)",
    ]
    if measured["busy_s"] is not None:
        lines.append(
            f"disk busy {number(measured['busy_s'])} s: {number(measured['mb_per_busy_s'])} MB/s "
            f"({number(measured['mib_per_busy_s'])} MiB/s) while busy"
        )
    if len(trace["devices"]) > 1:
        lines.append(
            f"requests of {len(trace['devices'])} devices as if they were one drive's; "
            "--device chooses one"
        )
    if trace["dropped"]:
        lines.append(f"{trace['dropped']} requests without a response or data were left out")
    out = printing.console()
    if "rounds" in document:
        _print_rounds(document["rounds"], trace["duration_s"])
    for line in lines:
        out.print(line, markup=False)
    _print_directions(document)
    if inside := printing.inside_text(measured):
        out.print(inside, markup=False)
    if note := unmapped_note(measured["unmapped_read_share"]):
        out.print(note, markup=False)


SHOWN_ROUNDS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Rounds of the table, and the last ones."""


def _print_rounds(found: dict[str, Any], recorded_s: float) -> None:
    """A row for some of the rounds, what they came to, and what a year of it does."""
    number = printing.number
    columns = ("round", "s", "MiB/s", "WA", "erases", "longest write ms")
    rows = []
    for index, item in enumerate(found["each"], start=1):
        if index not in SHOWN_ROUNDS and index <= found["count"] - rounds.WINDOW:
            continue
        longest = item["write_latency_max_us"]
        cells = [item["duration_s"], item["mib_per_s"], item["write_amplification"]]
        cells += [item["erases"], None if longest is None else longest / 1000]
        rows.append((str(index), *(number(value) for value in cells)))
    printing.table(columns, rows, columns)
    out = printing.console()
    word = "steady" if found["steady"] else "not steady"
    out.print(f"{found['count']} rounds, {word} ({rounds.STEADY_TEXT})", markup=False)
    if worn := found["year"]:
        life = ""
        if worn["endurance_cycles"]:
            years = worn["worn_out_after_years"]
            when = (
                "not worn, as these rounds wrote nothing to flash"
                if years is None
                else f"worn out after {number(years, 3)} years"
            )
            life = f", which stands {worn['endurance_cycles']}: {when}"
        out.print(
            f"a year of it, {number(recorded_s)} s a round: the host writes "
            f"{bytes_text(worn['host_write_bytes'])}, the flash "
            f"{bytes_text(worn['flash_write_bytes'])}: {number(worn['cycles'], 3)} cycles of "
            f"each block{life}",
            markup=False,
        )
    out.print("\nThe last round:", markup=False)


def _print_directions(document: dict[str, Any]) -> None:
    """One row per direction, one more for what was recorded, where the trace tells it."""
    rate_columns = ("requests", "MB/s", "MiB/s", "IOPS", "busy s")
    time_columns = ("mean ms", "50 % ms", "99 % ms", "99.99 % ms", "max ms", "late ms", "latest ms")
    rows = []
    for direction in laboratory.DIRECTIONS:
        part = document["replay"][direction]
        if not part["ios"]:
            continue
        rates = [part[key] for key in ("mb_per_s", "mib_per_s", "iops", "busy_s")]
        times = [part["latency_us"][key] for key in ("mean", "p50", "p99", "p99_99", "max")]
        late = part["lateness_ms"] or {}
        values = [*rates, *_in_ms(times), late.get("mean"), late.get("max")]
        rows.append((direction, str(part["ios"]), *(printing.number(value) for value in values)))
        recorded = document["trace"][direction]["recorded_latency_us"]
        if recorded:
            times = [recorded["mean"], recorded["p50"], recorded["p99"], None, recorded["max"]]
            values = [None] * 4 + _in_ms(times) + [None] * 2
            cells = (printing.number(value) for value in values)
            rows.append(("  as recorded", str(recorded["count"]), *cells))
    numbers = (*rate_columns, *time_columns)
    printing.table(("", *numbers), rows, numbers)


def _in_ms(times_us: list[float | None]) -> list[float | None]:
    return [None if us is None else us / 1000 for us in times_us]
