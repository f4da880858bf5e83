"""Options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from drivelab import completion
from drivelab.errors import RequestError, nearest

ModelName = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Name, NAME@FIRMWARE, or the path of a TOML file.",
        autocompletion=completion.model_names,
    ),
]
OptionalModelNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL",
        help="Names, NAME@FIRMWARE, or paths of TOML files.",
        autocompletion=completion.model_names,
    ),
]
DriveName = Annotated[
    str,
    typer.Option(
        "--drive",
        metavar="MODEL",
        help="Name, NAME@FIRMWARE, or path of a TOML file.",
        autocompletion=completion.model_names,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a parameter of the model; may be repeated."
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="1/N",
        help="A small version of the drive that behaves as it does, e.g. 1/64.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**63 - 1, help="Same seed, same result, to the bit."),
]
Repeat = Annotated[
    int,
    typer.Option(
        "--repeat",
        min=1,
        max=1000,
        metavar="N",
        help="Measure with N seeds, not rounds as in `replay`: means with their 95 % interval; a "
        "difference within is none.",
    ),
]
StateName = Annotated[
    str,
    typer.Option(
        "--state",
        metavar="STATE",
        help="State of the drive: new, used, tortured, ...",
        autocompletion=completion.state_names,
    ),
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
Size = Annotated[
    str | None,
    typer.Option("--size", metavar="SIZE", help="fio:... only: bytes to use, e.g. 1g."),
]
Span = Annotated[
    str | None,
    typer.Option(
        "--span",
        metavar="SIZE",
        help="Use only so many first bytes of the drive, e.g. 2g; states are of the whole drive.",
    ),
]
Destroy = Annotated[
    list[str] | None,
    typer.Option(
        "--destroy",
        metavar="PATH",
        help="fio:PATH only: the path once more, for one that holds data; all of it is lost.",
    ),
]
Buffered = Annotated[
    bool, typer.Option("--buffered", help="fio:... only: through the system's page cache.")
]
PlanOnly = Annotated[
    bool,
    typer.Option("--plan", help="fio:... only: say what would be written and how long; no more."),
]
Tests = Annotated[
    list[str] | None,
    typer.Option(
        "--tests",
        metavar="NAMES",
        help="Only these tests, separated by commas; repeatable.",
        autocompletion=completion.test_names,
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="Shorter tests: streams last 10 s, others do a part of their work."
    ),
]
OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for report and results.")
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=64,
        help="Tests measured at the same time; default: as many as processors, as far as --memory "
        "goes.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Room for the drives in work, of which there is one in any case, e.g. 6g; default: a "
        "quarter of the machine's memory.",
    ),
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        help="A file with tests and states of your own (@dl.test, @dl.state); may be repeated.",
    ),
]
DatabaseFile = Annotated[
    Path | None,
    typer.Option(
        "--database", metavar="FILE.duckdb", help="Add the run to this database, too; see `runs`."
    ),
]
RequestLogFile = Annotated[
    Path | None,
    typer.Option(
        "--request-log",
        metavar="FILE.parquet",
        help="Every request with its times and the parts of its latency, as a Parquet table.",
    ),
]
ImageFile = Annotated[
    Path, typer.Argument(metavar="IMAGE", help="The file of a drive that `create` made.")
]
NewImageFile = Annotated[
    Path, typer.Argument(metavar="IMAGE", help="The file to make; refused if it is there.")
]
ImageOrSocket = Annotated[
    Path,
    typer.Argument(
        metavar="IMAGE|SOCKET", help="The file of a drive, or the socket of one that is served."
    ),
]


def one_of(option: str, value: str | None, allowed: Sequence[str]) -> None:
    """Raises RequestError for a word that is not allowed; None is."""
    if value is not None and value not in allowed:
        hint, known = nearest(value, allowed), ", ".join(allowed)
        raise RequestError(f'{option} "{value}" is unknown{hint} Allowed: {known}.')


def memory_bytes(text: str | None) -> int:
    """What `--memory` says; raises RequestError."""
    # The laboratory is loaded only by commands that need it.
    from drivelab import schedule

    return schedule.memory_bytes(text)


def plugin_words(files: Sequence[Path] | None) -> list[str]:
    """`--plugin` options as words of a command line."""
    return [word for file in files or () for word in ("--plugin", str(file))]


def worker_count(wanted: int | None) -> int:
    """What `--workers` says."""
    from drivelab import schedule

    return schedule.usual_workers() if wanted is None else wanted


def settings(sets: Sequence[str] | None, scale: str | None) -> list[str]:
    """The `--set` options, with what `--scale` stands for.

    Raises RequestError for a scale that is not one in so many, or that is said twice.
    """
    if scale is None:
        return list(sets or ())
    from drivelab import model as models

    stated = dict(models.split_overrides(sets or ())).get(models.SCALE)
    if stated is not None:
        raise RequestError(f"--scale {scale} and --set {models.SCALE}={stated}: give one of them")
    return [*(sets or ()), f"{models.SCALE}={models.scale_divisor(scale)}"]


def split_names(option: str, texts: Sequence[str] | None) -> list[str]:
    """Names separated by commas or blanks, of an option that may be repeated.

    Raises RequestError for an option that names nothing: an unset variable of a shell, perhaps.
    """
    names = [name for text in texts or () for name in text.replace(",", " ").split()]
    if texts and not names:
        raise RequestError(f'{option} "{" ".join(texts)}": give names, or leave the option out')
    return names
