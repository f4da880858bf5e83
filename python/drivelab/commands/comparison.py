"""`figures`: published against modelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments, database, figures, output, stored
from drivelab import model as models
from drivelab import review as laboratory
from drivelab.commands import printing
from drivelab.errors import RequestError, WorkError, nearest
from drivelab.example import MODEL_NAME as EXAMPLE
from drivelab.figures import document as pages
from drivelab.figures import drift, text
from drivelab.figures.bindings import TABLE
from drivelab.figures.plan import measurements
from drivelab.storage_bench.comparison import compare_traces

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
        crew = arguments.worker_count(workers)
        document = _measured(drive, chosen, sets or [], seed, crew, room)
    else:
        document = _read(results_file, drive, sets or [])
    found = _comparison(document, drive, chosen)
    if write is not None:
        for path in _written(found, write):
            printing.message(f"Written: {path}")
    if json:
        printing.document(found)
    elif markdown:
        printing.plain(text.figures_table(found["figures"]))
    elif write is None and check is None:
        _print(found, details=bool(chosen))
    if check is not None and page is not None:
        _check(found, check, page, whole=not chosen)


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
    if not whole:
        stale = drift.drifted(page, found["figures"])
    else:
        fresh, renewed = _fresh(found, path)
        stale = drift.changes(page, fresh[path.name])
        stale += [
            f"{place}: {line}"
            for folder, texts in renewed.items()
            for place, after in ((folder / name, text) for name, text in texts.items())
            for line in drift.changes(place.read_text(encoding="utf-8"), after)
        ]
    if stale:
        lines = "".join(f"\n  {line}" for line in stale)
        raise WorkError(f"{path} is out of date; `make figures` writes it anew:{lines}")
    printing.message(f"{path} is what the models give: {len(found['figures'])} figures")


def _comparison(document: Record, drive: str | None, only: frozenset[str]) -> Record:
    """The document of `--json`."""
    measured = figures.Measured(document["models"], document["tests"])
    records = figures.compare_all(measured)
    orders = figures.compare_orderings(measured)
    if drive is not None:
        # Ratios take other drives, too; their own figures aren't asked for.
        name = models.load(drive).name
        of_drive = {f.id for f in figures.published() if figures.owner_of(f) == name}
        records = [record for record in records if record["id"] in of_drive]
        orders = []
    claims = figures.judge_statements(measured) if drive is None else []
    if only:
        records, orders, claims = (
            [record for record in found if record["id"] in only]
            for found in (records, orders, claims)
        )
    parameters = figures.parameter_counts(measured, records)
    return {
        "drivelab": document["drivelab"],
        "models": [
            {key: model[key] for key in ("name", "title", "hash")} for model in document["models"]
        ],
        "figures": records,
        "orderings": orders,
        "statements": claims,
        "traces": compare_traces() if drive is None and not only else [],
        "parameters": parameters,
        "on_other_pages": other_pages(),
        "specification_sheet_only": unreviewed_names(),
        "summary": figures.summary(records, orders, claims, parameters),
    }


def _measured(
    drive: str | None, only: frozenset[str], sets: list[str], seed: int, workers: int, room: int
) -> Record:
    """Runs the tests that the figures need."""
    overrides = [models.split_override(text) for text in sets]
    chosen = models.load(drive, overrides) if drive is not None else None
    if chosen is not None and not figures.has_figures(chosen.name):
        raise RequestError(
            f'--drive "{chosen.name}": no published figure is about this drive; '
            f"there are figures for: {', '.join(_reviewed_names())}"
        )
    needed = figures.readings_for(chosen.name if chosen is not None else None, only)
    if chosen is None:
        needed |= figures.ordering_readings(only) | figures.statement_readings(only)
    loaded = _models(chosen, overrides, {reading.model for reading in needed})
    words = ["drivelab", "figures"]
    words += ["--drive", drive] if drive is not None else []
    words += ["--only", ",".join(sorted(only))] if only else []
    for setting in sets:
        words += ["--set", setting]
    plan = laboratory.Plan(
        models=loaded,
        measurements={
            model.name: measurements((r.test_id, r.state) for r in needed if r.model == model.name)
            for model in loaded
        },
        command_line=printing.command_line(words, seed),
        seed=seed,
        workers=workers,
        memory_bytes=room,
    )
    return laboratory.run(plan)


def _models(
    chosen: models.Model | None, overrides: models.Overrides, names: Iterable[str]
) -> list[models.Model]:
    """The models of these names that there are; overrides are for the chosen one, or for all."""
    known = [name for name in models.known_names() if name in set(names)]
    if chosen is None:
        return [models.load(name, overrides) for name in known]
    others = [models.load(name) for name in known if name != chosen.name]
    return [chosen, *others]


def unreviewed_names() -> list[str]:
    """Names of the models of drives that no figure is about, here or on a page of its own."""
    names = [name for name in models.known_names() if name != EXAMPLE]
    return [name for name in names if not (figures.has_figures(name) or figures.page_of(name))]


def other_pages() -> dict[str, list[str]]:
    """Names of the models whose measured figures stand on other pages, by page."""
    found: dict[str, list[str]] = {}
    for name in models.known_names():
        if page := figures.page_of(name):
            found.setdefault(page, []).append(name)
    return found


def _reviewed_names() -> list[str]:
    """Names of the models whose drives have been measured in a review."""
    return [name for name in models.known_names() if figures.has_figures(name)]


def _read(path: Path, drive: str | None, sets: list[str]) -> Record:
    """Results of an earlier review, or of one model in it."""
    if sets:
        raise RequestError("--set changes a model; it can't be combined with --results")
    run = stored.read(*stored.split(str(path)), "--results")
    if run.kind != database.REVIEW:
        raise RequestError(f'--results "{path}": a {run.kind}; figures follow from a review')
    found = dict(run.document)
    if drive is not None:
        name = models.load(drive).name
        if name not in {model["name"] for model in found["models"]}:
            raise RequestError(f'--drive "{drive}": not among the models reviewed in {path}')
    return found


def _fresh(found: Record, path: Path) -> tuple[dict[str, str], dict[Path, dict[str, str]]]:
    """The page itself, and what changes in pages around it: texts by folder and name."""
    image = path.with_suffix(".svg").name
    folder, above = path.parent, path.resolve().parent.parent
    places = ((folder, "[!.]*.md"), (folder / "tests", "[!.]*.md"), (above, "README.md"))
    renewed = {place: _renewed(place.glob(pattern), found, but=path) for place, pattern in places}
    return {path.name: pages.page(found, image)}, renewed


def _written(found: Record, path: Path) -> list[Path]:
    """Writes the page and its plot, and renews the tables of pages beside it; all or nothing."""
    # The plotting library takes a second to load.
    from drivelab.figures import plot

    texts, renewed = _fresh(found, path)
    if path.exists():
        for line in drift.changes(path.read_text(encoding="utf-8"), texts[path.name]):
            printing.message(line)
    written = output.publish(
        path.parent,
        {path.with_suffix(".svg").name: lambda place: plot.write(found["figures"], place)}
        | _writers(texts | renewed.pop(path.parent)),
    )
    for folder, others in renewed.items():
        if others:
            written += output.publish(folder, _writers(others))
    return written


def _writers(texts: Record) -> dict[str, Callable[[Path], None]]:
    return {name: partial(_write_text, page) for name, page in texts.items()}


def _renewed(places: Iterable[Path], found: Record, but: Path) -> dict[str, str]:
    """Pages whose tables of figures change, by name."""
    texts = {}
    for page in sorted(place for place in places if place.is_file() and place.name != but.name):
        before = page.read_text(encoding="utf-8")
        after = pages.renewed(before, found)
        if after != before:
            texts[page.name] = after
    return texts


def _write_text(page: str, path: Path) -> None:
    path.write_text(page, encoding="utf-8")


def _print(found: Record, details: bool) -> None:
    """The tables that have rows, and the summary; `details`: every value of the statements."""
    orders, claims, traces = (found[key] for key in ("orderings", "statements", "traces"))
    rows = text.figure_rows(found["figures"])
    tables: list[tuple[Sequence[str], Sequence[text.Row], Sequence[str]]] = [
        (text.COLUMNS, rows, text.NUMBERS),
        (text.ORDER_COLUMNS, text.order_rows(orders), ()),
        (text.STATEMENT_COLUMNS, text.statement_rows(claims), ()),
        (text.CHECK_COLUMNS, text.check_rows(claims) if details else [], text.CHECK_NUMBERS),
        (text.TRACE_COLUMNS, text.trace_rows(traces), text.TRACE_NUMBERS),
    ]
    for columns, lines, numbers in tables:
        if lines:
            whole = ("metric",) if lines is rows else ()
            printing.table(columns, lines, numbers, whole=whole)
            printing.console().print()
    for line in text.summary_lines(found["summary"]):
        printing.console().print(line, markup=False)
