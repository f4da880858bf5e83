"""`figures`: published against modelled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments, figures, output
from drivelab import model as models
from drivelab.commands import printing
from drivelab.errors import RequestError, WorkError, nearest
from drivelab.figures import publishing, record, text
from drivelab.figures.bindings import TABLE
from drivelab.text import figures as figures_text

Record = dict[str, Any]

UNCOMPARED = {
    "config": "it says how a drive or a test was set up",
    "price": "prices are given to models",
    "spec": "specifications are what models are made of",
    "trace": "it is a statistic of a trace, of no drive; without --only its table is printed",
    "worked_example": "it is an example, not a measurement",
}
"""Why published figures of these kinds aren't held against models."""


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
        _find_bindings(drive, seed, arguments.worker_count(workers))
        return
    room = arguments.memory_bytes(memory)
    chosen = _chosen_ids(only, drive)
    if write is not None and (drive is not None or chosen or write.suffix != ".md"):
        raise RequestError(
            f'--write "{write}": the page is about all drives and is a .md file; '
            "leave --drive out, and --only, and give a name such as figures.md"
        )
    if write is not None:
        output.writable_folder(write.parent, "--write")
    page = None if check is None else _page(check, drive)
    if results_file is None:
        document = record.measured(
            drive,
            chosen,
            [models.split_override(text) for text in sets or ()],
            _command_line(drive, chosen, sets or (), seed),
            seed=seed,
            workers=arguments.worker_count(workers),
            memory_bytes=room,
        )
    else:
        if sets:
            raise RequestError("--set changes a model; it can't be combined with --results")
        document = record.of_review(results_file, drive)
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
        _check(found, check, page, whole=not chosen)


def _command_line(drive: str | None, only: frozenset[str], sets: Sequence[str], seed: int) -> str:
    words = ["drivelab", "figures"]
    words += ["--drive", drive] if drive is not None else []
    words += ["--only", ",".join(sorted(only))] if only else []
    for setting in sets:
        words += ["--set", setting]
    return printing.command_line(words, seed)


def _find_bindings(drive: str | None, seed: int, workers: int) -> None:
    """Renews the table of what binds figures, model by model, so that little is lost on the way."""
    from drivelab import variation

    known = variation.names()
    if drive is not None and drive not in known:
        raise RequestError(
            f'--drive "{drive}": no published figure follows from it; allowed: {", ".join(known)}'
        )
    stale = [name for name in known if variation.is_stale(name)]
    chosen = [drive] if drive is not None else stale
    for name in chosen:
        variation.renew(name, seed, workers, printing.message)
        printing.message(f"{name}: written to {TABLE}")
    if not chosen:
        printing.message(f"{TABLE} is about the models as they are: nothing to do")


def _chosen_ids(only: Sequence[str] | None, drive: str | None) -> frozenset[str]:
    """What --only names, each kind as a whole or by identities; none of them: all."""
    kinds = {
        "figures": list(figures.compared_ids()),
        "orderings": [ordering.id for ordering in figures.orderings()],
        "statements": [statement.id for statement in figures.statements()],
    }
    names = arguments.split_names(only)
    known = [name for ids in kinds.values() for name in ids]
    others = {figure.id: figure.kind for figure in figures.published()}
    for name in names:
        if name in others and name not in known:
            raise RequestError(f'--only "{name}": isn\'t compared: {UNCOMPARED[others[name]]}')
        if name not in known and name not in kinds:
            near = nearest(name, known)
            raise RequestError(f'--only "{name}": no such figure, ordering or statement{near}')
    if names and drive is not None:
        raise RequestError("--drive and --only: give one of them")
    return frozenset(each for name in names for each in kinds.get(name, [name]))


def _page(path: Path, drive: str | None) -> str:
    """The page that --check asks about."""
    if drive is not None:
        raise RequestError(f'--check "{path}": the page is about all drives; leave --drive out')
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise RequestError(f'--check "{path}": can\'t read it ({reason})') from None


def _check(found: Record, path: Path, page: str, *, whole: bool) -> None:
    """Raises WorkError with the rows of a page that are out of date."""
    stale = publishing.stale(found, path, page, whole=whole)
    if stale:
        lines = "".join(f"\n  {line}" for line in stale)
        raise WorkError(f"{path} is out of date; `make figures` writes it anew:{lines}")
    printing.message(f"{path} is what the models give: {len(found['figures'])} figures")
