"""`runs`, `export` and `schema`: what was recorded, as files, and what those hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments, database, export, output, stored
from drivelab.commands import printing
from drivelab.commands.recording import record
from drivelab.documents import to_json
from drivelab.errors import RequestError
from drivelab.text import runs as runs_text

Results = Annotated[
    Path,
    typer.Argument(metavar="RESULTS", help="results.json, the folder of a review, or FILE.duckdb."),
]


def runs(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.duckdb", help="A database that runs were added to.")
    ],
    json: arguments.Json = False,
) -> None:
    """List the runs that a database holds."""
    records = database.runs(stored.database_of(file), "FILE")
    if json:
        printing.document(records)
        return
    printing.parts(runs_text.parts(records))


def export_command(
    results: Results,
    run_id: Annotated[
        int | None, typer.Option("--run", min=1, help="Which run of a database; see `runs`.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="DIR", help="Folder for one CSV file per table.")
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option("--parquet", metavar="DIR", help="Folder for one Parquet file per table."),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="File for the whole document; - prints it."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option("--database", metavar="FILE.duckdb", help="Database to add the run to."),
    ] = None,
) -> None:
    """Write stored results as CSV or Parquet files, one per table, or as one JSON document.

    Results of older versions are written as they would be now.
    """
    if csv is None and parquet is None and json is None and into is None:
        raise RequestError(
            "export: say what to write: --csv DIR, --parquet DIR, --json FILE or "
            "--database FILE.duckdb"
        )
    path, run_of_path = stored.split(str(results))
    found = stored.read(path, run_id if run_id is not None else run_of_path, "RESULTS")
    if csv is not None:
        output.writable_folder(csv, "--csv")
    if parquet is not None:
        output.writable_folder(parquet, "--parquet")
    if into is not None:
        database.check(into)
    printed = json == Path("-")
    if json is not None and not printed:
        # Its folder is made as those of tables are, which it may be.
        output.check_ending(json, "--json", ".json")
        output.writable_folder(json.parent, "--json", file=json)
        if json.exists() and json.samefile(stored.file_of(path)):
            raise RequestError(f'--json "{json}": is what is exported; give another name')
    written: list[Path] = []
    if csv is not None:
        written += output.publish(csv, export.csv_files(found))
    if parquet is not None:
        written += output.publish(parquet, export.parquet_files(found, parquet))
    if json is not None:
        if printed:
            printing.document(found.document)
        else:
            text = to_json(found.document)
            written += output.publish(
                json.parent, {json.name: lambda place: output.write_text(place, text)}
            )
    if written:
        printing.message("Written: " + ", ".join(str(item) for item in written))
    record(into, found)


def schema(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="As the tables in docs/results.md.")
    ] = False,
) -> None:
    """Print what results.json holds: a JSON schema, with what every field means."""
    # Loading the definitions takes a tenth of a second.
    from drivelab.records import description

    if markdown:
        printing.plain(description.markdown())
    else:
        printing.document(description.json_schema())
