"""`run`: fio job files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments, plugins, spans, states, subject
from drivelab import model as models
from drivelab.commands import printing, real_drives, recording, until
from drivelab.data_patterns import parse_data_pattern
from drivelab.database import RUN, Recorded
from drivelab.fio import documents, effects, groups, jobs, measuring, run_files
from drivelab.fio.groups import Asked
from drivelab.preparation import trim_note
from drivelab.progress import Stopwatch
from drivelab.quantities import repeat_seeds
from drivelab.results import model_result
from drivelab.targets.fio import Wish
from drivelab.text import run as run_text

JobFile = Annotated[
    Path,
    typer.Argument(
        metavar="JOB.fio",
        help="A fio job file. zipf and pareto in it are fio's, offset for offset; zipf_true "
        "and pareto_true, which fio has not, the laws themselves.",
    ),
]
TimelineFile = Annotated[
    Path | None,
    typer.Option(
        "--timeline",
        metavar="FILE.json",
        help="What every die, channel and request of the last group did when: a trace that "
        "ui.perfetto.dev opens.",
    ),
]
TimelineWindow = Annotated[
    str | None,
    typer.Option(
        "--timeline-window",
        metavar="[FROM:]TO",
        help="Only this part of it, e.g. 2s or 60s:62s, from when all jobs measure.",
    ),
]


def run(
    job_file: JobFile,
    drive: arguments.DriveName,
    state: arguments.StateName = "new",
    plugin: arguments.Plugins = None,
    data: arguments.DataText = "random",
    seed: arguments.Seed = 1,
    repeat: arguments.Repeat = 1,
    until_steady: until.UntilSteady = None,
    round_time: until.Round = None,
    limit: until.Limit = None,
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
    span: arguments.Span = None,
    database_file: arguments.DatabaseFile = None,
    request_log: arguments.RequestLogFile = None,
    timeline_file: TimelineFile = None,
    timeline_window: TimelineWindow = None,
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
    span_bytes = spans.checked(span)
    settings = arguments.settings(sets, scale)
    found = subject.find(drive, models.split_overrides(settings), wish)
    named = states.find(state, known=plugins.known(plugin or ()).states)
    wanted = subject.state_on(found, named)
    pattern = parse_data_pattern(data)
    seeds = repeat_seeds(seed, repeat)
    spans.check_fits(found.name, found.user_capacity_bytes, span_bytes)
    capacity_bytes = spans.bounded(found.user_capacity_bytes, span_bytes)
    workloads = [jobs.read_workload(job_file, capacity_bytes, of, data=pattern) for of in seeds]
    if isinstance(found, models.Model):
        workloads = [effects.on_drive(workload, found) for workload in workloads]
    steady = until.steady(until_steady, round_time, limit)
    window = run_files.window(timeline_file, timeline_window, found)
    asked = Asked(None, steady, window)
    measuring.check(found, workloads[0], asked, request_log)
    printing.model_notes([found])
    one_state = subject.state_note(found, "--state", [named])
    printing.messages([one_state, trim_note(found, wanted)])
    work = partial(groups.run, workloads[0], asked)
    real_drives.show_plan(found, wanted, job_file.name, work, plan_only, repeat)
    if plan_only:
        return
    with run_files.requests(request_log, workloads[0]) as requests:
        with subject.claimed([found]):
            asked = replace(asked, requests=requests)
            parts = measuring.measure(
                found, wanted, job_file.name, workloads, asked, seeds, printing.message
            )
        printing.messages(subject.smart_remarks([found]))
        words = ["drivelab", "run", str(job_file), "--drive", drive, "--state", state]
        words += [*arguments.plugin_words(plugin), "--data", data]
        words += until.words(until_steady, round_time, limit)
        logs = {"--request-log": request_log, "--timeline": timeline_file}
        words += printing.option_words({**logs, "--timeline-window": timeline_window})
        words += [*real_drives.wish_words(size, buffered), *models.set_words(settings)]
        words += printing.option_words({"--span": span})
        own = documents.provenance(found, wanted, workloads[0], seed) | {"span_bytes": span_bytes}
        own |= subject.smart_record(found)
        own["command_line"] = printing.command_line(words, seed)
        if repeat > 1:
            own["command_line"] += f" --repeat {repeat}"
        document = documents.of_repeats(workloads, parts, own, seeds)
        document["drivelab"]["wall_s"] = watch.seconds()
        printing.messages(effects.told(workloads[0].ignored))
        printing.messages([run_text.not_steady(document)])
        recorded = Recorded(RUN, document, [model_result(found)])
        written = (workloads[0], parts[0], request_log, requests, timeline_file, printing.message)
        files = partial(run_files.publish, *written)
        with recording.recorded(database_file, recorded, files):
            if json:
                printing.document(document)
            else:
                printing.parts([run_text.jobs(document)])
                printing.messages([run_text.repeats_note(document)])
                printing.parts(run_text.lines(document))
