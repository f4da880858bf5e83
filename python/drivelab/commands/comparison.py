"""`figures`: published against modelled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments, output
from drivelab import model as models
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.figures import publishing, record, text
from drivelab.figures.selection import selected
from drivelab.text import figures as figures_text

OnlyModel = Annotated[
    str | None,
    typer.Option("--drive", metavar="MODEL", help="Only figures of this model's drive."),
]
ResultsFile = Annotated[
    Path | None,
    typer.Option(
        "--results",
        metavar="FILE",
        help="Take a stored review instead: results.json, its folder, or FILE.duckdb:RUN.",
    ),
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Tables for a document, in Markdown.")]
WritePage = Annotated[
    Path | None,
    typer.Option(
        "--write", metavar="FILE.md", help="Write a page with a plot; renew tables beside it."
    ),
]
CheckPage = Annotated[
    Path | None,
    typer.Option(
        "--check",
        metavar="FILE.md",
        help="Say which rows of a page that --write made are out of date: status 1 if any is.",
    ),
]
OnlyIds = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="IDS", help="Only figures, orderings or statements, by kind or ID."
    ),
]
Bindings = Annotated[
    bool,
    typer.Option(
        "--bindings",
        help="Vary what was chosen for published performance and keep which figures move: of "
        "models that changed since, or of --drive.",
    ),
]


def figures_command(
    drive: OnlyModel = None,
    results_file: ResultsFile = None,
    markdown: Markdown = False,
    write: WritePage = None,
    check: CheckPage = None,
    only: OnlyIds = None,
    bindings: Bindings = False,
    seed: arguments.Seed = 1,
    sets: arguments.Settings = None,
    workers: arguments.Workers = None,
    memory: arguments.Memory = None,
    json: arguments.Json = False,
) -> None:
    """Compare models with what hardware reviews published, with error, role, and what binds it."""
    if bindings:
        if write or check or only or results_file or sets or markdown or memory or json:
            raise RequestError("--bindings: only --drive, --seed and --workers go with it")
        # It varies models, which needs all of the laboratory.
        from drivelab import variation

        variation.renew_stale(drive, seed, arguments.worker_count(workers), printing.message)
        return
    room = arguments.memory_bytes(memory)
    chosen = selected(arguments.split_names("--only", only))
    if chosen and drive is not None:
        raise RequestError("--drive and --only: give one of them")
    if write is not None:
        for option, given in (("--drive", drive), ("--only", chosen)):
            if given:
                raise RequestError(
                    f'--write "{write}": the page is about all drives; leave {option} out'
                )
        output.check_ending(write, "--write", ".md")
        output.writable_folder(write.parent, "--write", file=write)
    if check is not None and drive is not None:
        raise RequestError(f'--check "{check}": the page is about all drives; leave --drive out')
    page = None if check is None else publishing.page_text(check, "--check")
    if results_file is None:
        document = record.measured(
            drive,
            chosen,
            models.split_overrides(sets or ()),
            _command_line(drive, chosen, sets or (), seed),
            seed=seed,
            workers=arguments.worker_count(workers),
            memory_bytes=room,
        )
    else:
        if sets:
            raise RequestError("--set changes a model; it can't be combined with --results")
        document = record.of_review(results_file, drive)
        if document["drivelab"]["quick"]:
            printing.message(
                f'--results "{results_file}": a quick run; figures are of whole tests, and those '
                "that end before a drive slows down can be out by a factor of two"
            )
    found = record.compared(document, drive, chosen)
    if write is not None:
        for path in publishing.write(found, write, printing.message):
            printing.message(f"Written: {path}")
    if json:
        printing.document(found)
    elif markdown:
        printing.plain(text.figures_table(found["figures"]))
    elif write is None and check is None:
        printing.parts(figures_text.parts(found, details=bool(chosen)))
    if check is not None and page is not None:
        printing.message(publishing.checked(found, check, page, whole=not chosen))


def _command_line(drive: str | None, only: frozenset[str], sets: Sequence[str], seed: int) -> str:
    words = ["drivelab", "figures"]
    words += ["--drive", drive] if drive is not None else []
    words += ["--only", ",".join(sorted(only))] if only else []
    return printing.command_line([*words, *models.set_words(sets)], seed)
