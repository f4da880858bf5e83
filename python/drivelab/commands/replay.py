"""`replay`: recorded traces."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from drivelab import (
    arguments,
    output,
    plugins,
    rounds,
    spans,
    states,
    subject,
    traces,
)
from drivelab import model as models
from drivelab import replay as laboratory
from drivelab.commands import (
    printing,
    real_drives,
    recording,
    trace_arguments,
)
from drivelab.data_patterns import parse_data_pattern
from drivelab.database import REPLAY, Recorded
from drivelab.errors import RequestError
from drivelab.fio import run_files
from drivelab.fio.units import time_ns
from drivelab.lab.trace import IDLE_CAP, REPEAT_MAX
from drivelab.preparation import trim_note
from drivelab.progress import Stopwatch, TaskProgress, run_alone
from drivelab.results import model_result
from drivelab.subject import Subject
from drivelab.targets import Report, Target
from drivelab.targets.fio import RealDrive, Wish
from drivelab.text import replay as replay_text

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
        max=REPEAT_MAX,
        metavar="N",
        help="Rounds of the trace, one after the other, not seeds as in `run`; with "
        "--until-steady at most so many.",
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
    span: arguments.Span = None,
    database_file: arguments.DatabaseFile = None,
    request_log: arguments.RequestLogFile = None,
    json: arguments.Json = False,
    size: arguments.Size = None,
    destroy: arguments.Destroy = None,
    buffered: arguments.Buffered = False,
    plan_only: arguments.PlanOnly = False,
) -> None:
    """Replay a recorded block trace on a drive: rates, disk-busy time, latency, lateness."""
    watch = Stopwatch()
    recording.check(database_file)
    span_bytes = spans.checked(span)
    file = trace_arguments.trace_file(trace_file, format_name, time_unit, arrival_event, device)
    arguments.one_of("--out-of-range", beyond, traces.BEYOND)
    wish = Wish(size, tuple(destroy or ()), buffered, plan_only)
    subject.check_wish([drive], wish, plan_only)
    settings = arguments.settings(sets, scale)
    found = subject.find(drive, models.split_overrides(settings), wish)
    how = laboratory.Replay(
        file,
        pacing=_pacing(pacing, queue_depth),
        idle_cap_ns=_idle_cap_ns(idle_cap, pacing),
        queue_depth=queue_depth,
        out_of_range=beyond,
        data=parse_data_pattern(data),
        repeat=repeat,
        until_steady=until_steady,
    )
    named = states.find(state, known=plugins.known(plugin or ()).states)
    wanted = subject.state_on(found, named)
    job = how.job(seed, found.name, wanted.name)
    run_files.check_request_log(request_log, isinstance(found, RealDrive))
    one_state = subject.state_note(found, "--state", [named])
    printing.messages([one_state, trim_note(found, wanted)])
    trace = _read(how, found, span_bytes)
    goal = rounds.goal(found, trace, how, rounds.Wording())
    printing.model_notes([found])

    def rehearsed(target: Target, progress: TaskProgress) -> list[Report]:
        return rounds.run(target, job, trace.requests, progress, 1.0, goal).reports

    real_drives.show_plan(found, wanted, trace_file.name, rehearsed, plan_only)
    if plan_only:
        return

    log = request_log is not None
    with subject.claimed([found]):
        done = rounds.measure(found, wanted, seed, job, trace, goal, printing.message, log=log)
    printing.messages(subject.smart_remarks([found]))
    done.check(trace.requests)
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
        "--span": span,
        "--request-log": request_log,
    }
    words = ["drivelab", "replay", str(trace_file), *printing.option_words(options)]
    words += ["--until-steady"] if until_steady else []
    words += [*arguments.plugin_words(plugin), *real_drives.wish_words(size, buffered)]
    command_line = printing.command_line([*words, *models.set_words(settings)], seed)
    document = laboratory.document(
        found,
        trace,
        done.last,
        job=job,
        pacing=how.pacing,
        state=wanted,
        seed=seed,
        command_line=command_line,
        span_bytes=span_bytes,
        smart=subject.smart_record(found),
        of_rounds=rounds.document(done.reports, trace, found, goal),
        wall_s=watch.seconds(),
    )
    recorded = Recorded(REPLAY, document, [model_result(found)])
    writers = run_files.of_replay(done.columns, job.name, request_log)
    with recording.recorded(database_file, recorded, partial(output.publish_files, writers)):
        if json:
            printing.document(document)
        else:
            printing.parts(replay_text.parts(document, getattr(found, "scale", 1)))


def _read(how: laboratory.Replay, drive: Subject, span_bytes: int | None) -> traces.Trace:
    """The trace as it fits the drive, or what is used of it."""
    spans.check_fits(drive.name, drive.user_capacity_bytes, span_bytes)
    used_bytes = spans.bounded(drive.user_capacity_bytes, span_bytes)
    return run_alone(f"reading {how.file.path.name}", partial(how.read, used_bytes))


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
