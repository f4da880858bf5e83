"""`merge`: results of parts of a sweep in one store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab.commands import printing


def merge(
    stores: Annotated[
        list[Path],
        typer.Argument(metavar="STORE...", help="Stores of `sweep`: folders, or files of them."),
    ],
    into: Annotated[
        Path,
        typer.Option("--into", metavar="STORE", help="The store that gets all results."),
    ],
) -> None:
    """Merge stores of a sweep's parts into one: every result once, each checked by its key."""
    # DuckDB takes a while to load, which only this command needs.
    from drivelab.lab import store

    added, there = store.merge(stores, into)
    printing.message(f"{into}: {added} points added, {there} were there already")
