"""`smart`, `check`, `erase` and `trim`: what can be asked of, and done to, a drive in an image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.served import since, upkeep
from drivelab.served import smart as smart_data
from drivelab.text import images as text


def smart(
    target: arguments.ImageOrSocket,
    mark: Annotated[
        Path | None,
        typer.Option(
            "--since",
            metavar="MARK",
            help="What it did since then: a file with what `smart IMAGE --json` printed before.",
        ),
    ] = None,
    json: arguments.Json = False,
) -> None:
    """Show what a drive says about itself: live if it is being served, from its image otherwise."""
    before = None if mark is None else since.read_mark(mark)
    facts = smart_data.read(target)
    used = None
    if before is not None and mark is not None:
        used = since.spent(before, smart_data.own(facts), mark)
    if json:
        words = ["drivelab", "smart", str(target), "--json"]
        words += [] if mark is None else ["--since", str(mark)]
        document = smart_data.document(facts, str(target), words)
        if used is not None:
            document["drivelab"]["since"] = used
        printing.document(document)
        return
    for name, value in smart_data.lines(facts) if used is None else since.lines(used):
        printing.plain(f"{name:<20} {value}\n")


def check(path: arguments.ImageFile, json: arguments.Json = False) -> int:
    """Check an image: every structure against every other; changes nothing. Status 1: damaged."""
    if path.suffix == ".toml" and path.is_file():
        raise RequestError(
            f'IMAGE "{path}": is a TOML file; `drivelab show {path}` checks and shows a model'
        )
    document = upkeep.check(path)
    if json:
        printing.document(document)
    elif document["ok"]:
        printing.plain(text.sound(document))
    for problem in document["problems"]:
        printing.message(f"drivelab: {path}: {problem}")
    return 0 if document["ok"] else 1


def erase(path: arguments.ImageFile, json: arguments.Json = False) -> None:
    """Erase a drive securely: every byte is gone from the image, too; wear and counters stay."""
    document = upkeep.erase(path)
    if json:
        printing.document(document)
    else:
        printing.plain(text.erased(document))


def trim(
    path: arguments.ImageFile,
    offset: Annotated[
        str | None,
        typer.Option("--offset", metavar="SIZE", help="First byte, e.g. 4k or 1g; default: 0."),
    ] = None,
    length: Annotated[
        str | None, typer.Option("--length", metavar="SIZE", help="Bytes from there, e.g. 64m.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole drive.")] = False,
    json: arguments.Json = False,
) -> int:
    """Tell a drive that blocks are free (TRIM), and flush. Status 1: it ignores TRIM."""
    if everything == (length is not None) or (everything and offset is not None):
        raise RequestError("trim: say what: --offset and --length, or --all")
    found = upkeep.trim(path, offset, length)
    if json:
        printing.document(found.record())
    elif found.taken:
        printing.plain(text.trimmed(found))
    if not found.taken:
        printing.message(f"drivelab: {path}: {found.title} ignores TRIM: nothing has changed")
    return 0 if found.taken else 1
