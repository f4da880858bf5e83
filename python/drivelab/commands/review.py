"""`review`: all tests of one or more models, with a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from drivelab import (
    arguments,
    completion,
    database,
    failures,
    model_layers,
    output,
    plugins,
    repeats,
    review_files,
    spans,
    subject,
)
from drivelab import model as models
from drivelab import review as laboratory
from drivelab.commands import printing, real_drives, recording
from drivelab.errors import RequestError
from drivelab.targets.fio import Wish
from drivelab.text import review as review_text

StateNames = Annotated[
    list[str] | None,
    typer.Option(
        "--states",
        metavar="NAMES",
        help="Run the tests in these states instead of their own; as --tests.",
        autocompletion=completion.state_names,
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Review all models that come with drivelab.")]
Unabridged = Annotated[
    bool,
    typer.Option(
        "--unabridged",
        help="Standard tests at full length, studies of large drives at all points.",
    ),
]


def review(
    names: arguments.OptionalModelNames = None,
    out: arguments.OutFolder = Path("review"),
    tests: arguments.Tests = None,
    state_names: StateNames = None,
    every: Every = False,
    quick: arguments.Quick = False,
    unabridged: Unabridged = False,
    plugin: arguments.Plugins = None,
    seed: arguments.Seed = 1,
    repeat: arguments.Repeat = 1,
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
    span: arguments.Span = None,
    workers: arguments.Workers = None,
    memory: arguments.Memory = None,
    database_file: arguments.DatabaseFile = None,
    json: arguments.Json = False,
    size: arguments.Size = None,
    destroy: arguments.Destroy = None,
    buffered: arguments.Buffered = False,
    plan_only: arguments.PlanOnly = False,
) -> None:
    """Review models new and used; write report.html, results.json and results.duckdb."""
    lengths = _lengths(quick, unabridged)
    span_bytes = spans.checked(span)
    settings = arguments.settings(sets, scale)
    overrides = models.split_overrides(settings)
    chosen = arguments.split_names("--tests", tests)
    wanted = arguments.split_names("--states", state_names)
    known = plugins.known(plugin or ())
    requested = _requested(names or [], every)
    wish = Wish(size, tuple(destroy or ()), buffered, plan_only)
    subject.check_wish(requested, wish, plan_only)
    loaded = [subject.find(name, overrides, wish) for name in requested]
    if every:
        loaded = [m for m in loaded if m.user_capacity_bytes >= laboratory.CAPACITY_BYTES_MIN]
    words = _command_words(names or [], every, settings, chosen, wanted, lengths)
    words += [*arguments.plugin_words(plugin), *real_drives.wish_words(size, buffered)]
    words += ["--repeat", str(repeat)] if repeat > 1 else []
    words += printing.option_words({"--span": span})
    plan = laboratory.Plan(
        models=loaded,
        measurements={
            model.name: laboratory.plan_measurements(
                model,
                chosen,
                wanted,
                printing.message,
                unabridged=unabridged,
                known=known,
                span_bytes=span_bytes,
            )
            for model in loaded
        },
        command_line=printing.command_line(words, seed),
        seed=seed,
        quick=quick,
        workers=arguments.worker_count(workers),
        memory_bytes=arguments.memory_bytes(memory),
        span_bytes=span_bytes,
        keeps_on=True,
    )
    laboratory.check(plan)
    printing.model_notes(loaded)
    plan = real_drives.with_forecasts(plan, bool(chosen), plan_only)
    if plan.weights:
        real_drives.remark_repeat(repeat)
    printing.longer_tests(plan)
    if plan_only:
        return
    folder = output.writable_folder(out)
    recording.check(database_file)
    with output.claimed(folder):
        printing.replaced_results(folder, "results.json")
        results = repeats.review(plan, repeat)
        printing.messages(subject.smart_remarks(loaded))
        printing.failed_tests(results)
        written = output.publish(folder, review_files.writers(results, with_report=True))
    with recording.recorded(database_file, database.Recorded.review(results)):
        if json:
            printing.document(results)
        else:
            printing.parts(review_text.parts(results))
        printing.message("Written: " + ", ".join(str(path) for path in written))
    failures.check_none(results)


def _requested(names: Sequence[str], every: bool) -> list[str]:
    """The models that the arguments ask for."""
    if bool(names) == every:
        problem = "not both" if every else "neither was given"
        raise RequestError(f'MODEL "{" ".join(names)}": give models or --all, {problem}')
    return model_layers.known_names() if every else list(names)


def _lengths(quick: bool, unabridged: bool) -> list[str]:
    """The options that say how long tests last; one at most."""
    asked = {"--quick": quick, "--unabridged": unabridged}
    if all(asked.values()):
        raise RequestError('"--quick" and "--unabridged": give one of them')
    return [option for option, wanted in asked.items() if wanted]


def _command_words(
    names: Sequence[str],
    every: bool,
    sets: Sequence[str],
    tests: Sequence[str],
    state_names: Sequence[str],
    lengths: Sequence[str],
) -> list[str]:
    """The command that repeats the results; what doesn't change them is left out."""
    words = ["drivelab", "review", *(["--all"] if every else names)]
    words += models.set_words(sets)
    if tests:
        words += ["--tests", ",".join(tests)]
    if state_names:
        words += ["--states", ",".join(state_names)]
    return [*words, *lengths]
