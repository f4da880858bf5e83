"""`smart`, `check`, `erase` and `trim`: what can be asked of, and done to, a drive in an image."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments, progress
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.fio.units import size_bytes
from drivelab.quantities import SECTOR_BYTES, bytes_text
from drivelab.served import image, since
from drivelab.served import smart as smart_data

COUNTS = ("blocks", "cells_in_use", "log_records", "held_units")
"""What a check counts, as far as it is shown."""


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
    with progress.patience("checking"):
        found = image.check(path)
    problems = list(found.get("problems", ()))
    document = {"image": str(path), "ok": not problems, **found, "problems": problems}
    if json:
        printing.document(document)
    elif not problems:
        facts = [f"{value} {key.replace('_', ' ')}" for key, value in _counted(found)]
        printing.plain(
            f"{path}: no damage found" + (f" ({', '.join(facts)})" if facts else "") + "\n"
        )
    for problem in problems:
        print(f"drivelab: {path}: {problem}", file=sys.stderr)
    return 1 if problems else 0


def _counted(found: dict[str, Any]) -> list[tuple[str, int]]:
    """What was looked at, as the engine counts it."""
    return [(key, found[key]) for key in COUNTS if found.get(key)]


def erase(path: arguments.ImageFile, json: arguments.Json = False) -> None:
    """Erase a drive securely: every byte is gone from the image, too; wear and counters stay."""
    with progress.patience("erasing"):
        found = image.erase(path)
    document = {"image": str(path), **found}
    if json:
        printing.document(document)
        return
    printing.plain(f"{path}: erased; takes {bytes_text(image.space_bytes(path))} on disk now\n")


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
    first = 0 if offset is None else _bytes("--offset", offset)
    facts = image.smart(path)
    capacity = int(facts["user_capacity_bytes"])
    count = capacity - first if length is None else _bytes("--length", length)
    if first + count > capacity:
        option, text = ("--offset", offset) if first > capacity else ("--length", length)
        raise RequestError(
            f'{option} "{text}": ends at byte {first + count}; the drive has {capacity}'
        )
    taken = facts.get("trim_supported") is not False
    before = image.space_bytes(path)
    if taken:
        with progress.patience("trimming"):
            image.trim(path, first, count)
    after = image.space_bytes(path)
    if json:
        own = {"offset_bytes": first, "length_bytes": count, "trim_supported": taken}
        space = {"image_space_bytes_before": before, "image_space_bytes": after}
        printing.document({"image": str(path), **own, **space})
    elif taken:
        printing.plain(
            f"{path}: {bytes_text(count)} trimmed from byte {first} on; takes "
            f"{bytes_text(after)} on disk, before {bytes_text(before)}\n"
        )
    if not taken:
        title = facts.get("title") or facts.get("model")
        print(f"drivelab: {path}: {title} ignores TRIM: nothing has changed", file=sys.stderr)
    return 0 if taken else 1


def _bytes(option: str, text: str) -> int:
    """Whole sectors; raises RequestError."""
    try:
        found = size_bytes(text)
    except ValueError as error:
        raise RequestError(f'{option} "{text}": allowed: {error}') from None
    if found % SECTOR_BYTES or (option == "--length" and found == 0):
        least = SECTOR_BYTES if option == "--length" else 0
        raise RequestError(
            f'{option} "{text}": allowed: multiples of {SECTOR_BYTES} bytes from {least} on'
        )
    return found
