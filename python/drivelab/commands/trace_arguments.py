"""Options of commands that read recorded traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import traces
from drivelab.arguments import one_of

TraceFile = Annotated[
    Path, typer.Argument(metavar="TRACE", help="A recorded trace, plain or compressed by gzip.")
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help=f"{', '.join(traces.FORMATS)}; default: guessed.",
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        "--time-unit", metavar="UNIT", help="Of arrivals in mqsim: ps, ns, us, ms, s; default: ns."
    ),
]
ArrivalEvent = Annotated[
    str | None,
    typer.Option(
        "--arrival-event",
        metavar="EVENT",
        help="In blkparse, what counts as arrival: Q (queued) or D (given to the drive); "
        "default: Q.",
    ),
]
TraceDevice = Annotated[
    str | None, typer.Option("--device", metavar="NAME", help="Only this device of the trace.")
]
OutOfRange = Annotated[
    str,
    typer.Option(
        "--out-of-range",
        metavar="HOW",
        help="Requests beyond the drive: reject, modulo (wrap) or compact (renumber).",
    ),
]


def trace_file(
    path: Path,
    format_name: str | None,
    time_unit: str | None,
    arrival_event: str | None,
    device: str | None,
) -> traces.TraceFile:
    """The trace that these options describe; raises RequestError for a word that isn't known."""
    one_of("--format", format_name, traces.FORMATS)
    one_of("--time-unit", time_unit, traces.TIME_UNITS)
    one_of("--arrival-event", arrival_event, traces.ARRIVAL_EVENTS)
    return traces.TraceFile(path, format_name, time_unit, arrival_event, device)


def trace_options(file: traces.TraceFile) -> dict[str, str | None]:
    """The options that describe a trace, for a command line."""
    return {
        "--format": file.format_name,
        "--time-unit": file.time_unit,
        "--arrival-event": file.arrival_event,
        "--device": file.device,
    }
