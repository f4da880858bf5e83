"""Options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelName = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="Name, NAME@FIRMWARE, or the path of a TOML file."),
]
OptionalModelNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="MODEL", help="Names, NAME@FIRMWARE, or paths of TOML files."),
]
DriveName = Annotated[
    str,
    typer.Option("--drive", metavar="MODEL", help="Name, NAME@FIRMWARE, or path of a TOML file."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a parameter of the model; may be repeated."
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**63 - 1, help="Same seed, same result, to the bit."),
]
StateName = Annotated[
    str,
    typer.Option("--state", metavar="STATE", help="State of the drive: new, used, tortured, ..."),
]
DataText = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="PATTERN",
        help="What is written: zeros, repeating, random, compressible:46 (percent left), "
        "duplicate:30 (percent copies).",
    ),
]
OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for report and results.")
]
Workers = Annotated[
    int, typer.Option("--workers", min=1, max=64, help="Tests measured at the same time.")
]
DatabaseFile = Annotated[
    Path | None,
    typer.Option(
        "--database", metavar="FILE.duckdb", help="Add the run to this database, too; see `runs`."
    ),
]
