"""`sweep`: one job on many variants of a drive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments, output, paths, plugins
from drivelab.commands import printing
from drivelab.errors import RequestError

SweepFile = Annotated[
    Path,
    typer.Argument(
        metavar="SWEEP.toml",
        help="drive, [job] with fio's options, what is varied ([grid], [[points]], [samples]), "
        "and optionally scale, state, seed, repeats, [set].",
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="PLACE",
        help="Folder, or file NAME.duckdb, where every result stays as soon as it is there: "
        "the same command goes on where it was stopped.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=64,
        help="Processes; default: as many as processors, as far as --memory goes.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Measure on a cluster: the address of its Dask scheduler, e.g. tcp://10.0.0.1:8786.",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="K/N",
        help="Only part K of N, for queues of batch jobs; `drivelab merge` joins their stores.",
    ),
]
CsvFile = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="File for the table with all columns."),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="File for a page that says what moves what."),
]


OPTIONS = ("shard", "scheduler", "store")
"""Parameters of a sweep that its file hasn't got."""


def sweep(
    file: SweepFile,
    store: Store = None,
    workers: Workers = None,
    memory: arguments.Memory = None,
    scheduler: Scheduler = None,
    shard: Shard = None,
    csv: CsvFile = None,
    html: HtmlFile = None,
    plugin: arguments.Plugins = None,
    json: arguments.Json = False,
) -> None:
    """Measure a job for every combination of parameters, states and options."""
    # Tables take a while to load, which only this command needs.
    from drivelab.lab import sweep_file
    from drivelab.lab.axes import MODEL, varied
    from drivelab.lab.study import SHOWN
    from drivelab.lab.sweep import sweep as run
    from drivelab.text import study as study_text

    if store is not None:
        paths.checked("--store", store)
    if csv is not None:
        output.writable_file(csv, "--csv", ".csv")
    if html is not None:
        output.writable_file(html, "--html", *output.HTML)
    arguments.memory_bytes(memory)
    for option, value in (("--workers", workers), ("--memory", memory)):
        if scheduler is not None and value is not None:
            raise RequestError(
                f'{option} "{value}": a cluster counts its own; allowed: without --scheduler'
            )
    wanted = sweep_file.read(file, plugins.known(plugin or ()).states)
    if html is not None and not varied(wanted.grid, wanted.points).keys:
        raise RequestError(f'--html "{html}": nothing is varied but seeds')
    try:
        study = run(
            wanted.drive,
            wanted.grid,
            points=wanted.points,
            job=wanted.job,
            state=wanted.state,
            repeats=wanted.repeats,
            workers=workers,
            memory=memory,
            scheduler=scheduler,
            shard=shard,
            store=store,
        )
    except RequestError as error:
        # What are options here are parameters there; the cluster's own words name what they mean.
        if error.key == "executor":
            raise
        place = "--" if error.key in OPTIONS else f"{file}: "
        raise RequestError(f"{place}{error}", error.key) from None
    frame = study.frame()
    if csv is not None:
        output.publish(csv.parent, {csv.name: lambda place: frame.write_csv(place)})
        printing.message(f"Written: {csv}")
    # Of several models none is meant: the points name theirs.
    model = None if MODEL in study.keys else wanted.drive.name
    for note in study.notes:
        printing.message(note if model is None else f"{model}: {note}")
    if html is not None:
        printing.message(f"Written: {study.report(html)}")
    if json:
        own = {"model": model, "varied": list(study.keys), "notes": study.notes}
        printing.document(own | {"points": frame.to_dicts()})
    else:
        repeated = ["repeat", "seed"] if frame["repeat"].n_unique() > 1 else []
        printing.parts(study_text.parts(frame.to_dicts(), [*study.keys, *repeated], SHOWN))
