"""`sweep`: one job on many variants of a drive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments, output
from drivelab.commands import printing
from drivelab.errors import RequestError

SHOWN = ("iops", "mib_per_s", "latency_mean_us", "latency_p99_us", "write_amplification")
"""Columns of the table, after what is varied; --csv and --json have all."""


def sweep(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="SWEEP.toml",
            help="drive, [job] with fio's options, [grid] with lists of values, and optionally "
            "scale, state, seed, repeats, [set].",
        ),
    ],
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="PLACE",
            help="Folder, or file NAME.duckdb, where every result stays as soon as it is there: "
            "the same command goes on where it was stopped.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            max=64,
            help="Processes; default: as processors, as far as the drives fit into a quarter of "
            "the memory.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="File for the table with all columns."),
    ] = None,
    json: arguments.Json = False,
) -> None:
    """Measure a job for every combination of parameters, states and options."""
    # Tables take a while to load, which only this command needs.
    from drivelab.lab import sweep_file
    from drivelab.lab.sweep import sweep as run

    if csv is not None and csv.is_dir():
        raise RequestError(f'--csv "{csv}": is a folder; give a file such as study.csv')
    wanted = sweep_file.read(file)
    study = run(
        wanted.drive,
        wanted.grid,
        job=wanted.job,
        state=wanted.state,
        repeats=wanted.repeats,
        workers=workers,
        store=store,
    )
    frame = study.frame()
    if csv is not None:
        output.publish(csv.parent, {csv.name: lambda place: frame.write_csv(place)})
        printing.message(f"Written: {csv}")
    if json:
        own = {"model": wanted.drive.name, "varied": list(study.keys)}
        printing.document(own | {"points": frame.to_dicts()})
    else:
        for note in dict.fromkeys(note for result in study for note in result.notes):
            printing.message(f"{wanted.drive.name}: {note}")
        _print(frame.to_dicts(), [*study.keys, *(["repeat"] if wanted.repeats > 1 else [])])


def _print(rows: list[dict[str, Any]], varied: list[str]) -> None:
    columns = [*varied, "direction", *SHOWN]
    cells = [
        [
            *(str(row[key]) for key in varied),
            row["direction"],
            *(printing.number(row[k]) for k in SHOWN),
        ]
        for row in rows
    ]
    printing.table(columns, cells, SHOWN)
