"""`web`: the laboratory as a page in the browser."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from drivelab import paths
from drivelab.commands import printing
from drivelab.errors import RequestError


def web(
    results: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE.duckdb",
            help="Results to show, and where measurements of the page are recorded; default: a "
            "file in the user's own data folder.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1; 0: any that is free."),
    ] = 8080,
    served: Annotated[
        list[Path] | None,
        typer.Option(
            "--served",
            metavar="IMAGE|SOCKET",
            help="A served drive that may be watched as it serves; may be given several times.",
        ),
    ] = None,
) -> None:
    """Open the laboratory as a page: compare drives, watch one work, learn why."""
    # The server takes half a second to load.
    from drivelab import database
    from drivelab.web import server, storage, watch_served
    from drivelab.web.bench import Bench

    place = storage.default_results() if results is None else results
    if place.suffix != database.SUFFIX:
        raise RequestError(f'FILE "{place}": allowed: a name that ends with {database.SUFFIX}')
    database.check(place, "FILE")
    watched = [_drive(path) for path in served or []]
    listener = server.bound(port)
    with listener, contextlib.suppress(KeyboardInterrupt):
        drives = watch_served.by_name(watched)
        bench = Bench.opened(place, listener.getsockname()[1], drives)

        def ready() -> None:
            printing.plain(f"{bench.address}\n", now=True)
            printing.message(f"Results: {place}. Ctrl-C ends it.")

        server.serve(bench, listener, ready)


def _drive(place: Path) -> Path:
    """Where a served drive is; raises RequestError for what isn't there."""
    paths.checked("--served", place)
    if not place.exists():
        raise RequestError(
            f'--served "{place}": no such file; allowed: the image of a drive, or a control socket'
        )
    return place.absolute()
