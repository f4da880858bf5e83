"""`convert`: recorded traces as iologs that fio replays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments, traces
from drivelab.commands import printing, trace_arguments
from drivelab.errors import RequestError
from drivelab.fio.units import size_bytes
from drivelab.iolog import check_place, publish_iolog
from drivelab.progress import run_alone
from drivelab.quantities import SECTOR_BYTES
from drivelab.text import traces as traces_text

EVERYTHING_BYTES = 2**63
"""No offset of a trace is behind it."""


def convert(
    trace_file: trace_arguments.TraceFile,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The iolog to be written.")],
    format_name: trace_arguments.FormatName = None,
    time_unit: trace_arguments.TimeUnit = None,
    arrival_event: trace_arguments.ArrivalEvent = None,
    device: trace_arguments.TraceDevice = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size", metavar="SIZE", help="Of the drive that it is for, e.g. 80026361856 or 64g."
        ),
    ] = None,
    beyond: trace_arguments.OutOfRange = "reject",
    json: arguments.Json = False,
) -> None:
    """Convert a recorded block trace into an iolog (version 3), which fio and `replay` read."""
    file = trace_arguments.trace_file(trace_file, format_name, time_unit, arrival_event, device)
    capacity_bytes = _capacity_bytes(size, beyond)
    check_place(out)
    trace = run_alone(
        f"reading {trace_file.name}",
        lambda progress: traces.read_trace(file, progress, capacity_bytes, beyond),
    )
    publish_iolog(out, trace.requests)
    document = {"trace": trace.record(), "iolog": {"file": str(out), "end_bytes": trace.end_bytes}}
    if json:
        printing.document(document)
    else:
        printing.parts(traces_text.parts(document))


def _capacity_bytes(size: str | None, beyond: str) -> int | None:
    arguments.one_of("--out-of-range", beyond, traces.BEYOND)
    if size is None:
        if beyond == "modulo":
            raise RequestError("--out-of-range modulo: needs --size, at which offsets wrap")
        return EVERYTHING_BYTES if beyond == "compact" else None
    try:
        found = size_bytes(size)
    except ValueError as error:
        raise RequestError(f'--size "{size}": expected {error}') from None
    if found < SECTOR_BYTES:
        raise RequestError(f'--size "{size}": must be at least {SECTOR_BYTES} bytes')
    return found
