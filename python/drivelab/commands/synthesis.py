"""`synthesize`: traces made from published statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments, iolog, storage_bench
from drivelab.commands import printing
from drivelab.storage_bench.document import document
from drivelab.text import synthesis as synthesis_text


def synthesize(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"{', '.join(storage_bench.traces())}.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the trace there as fio iolog v3."),
    ] = None,
    seed: arguments.Seed = storage_bench.REVIEW_SEED,
    json: arguments.Json = False,
) -> None:
    """Synthesise a trace of the Storage Bench from its published statistics; print what it is."""
    trace = storage_bench.find(name)
    requests = storage_bench.synthesise(trace, seed)
    if out is not None:
        iolog.publish_iolog(out, requests)
    found = document(trace, storage_bench.statistics(requests), seed, out)
    if json:
        printing.document(found)
    else:
        printing.plain(f"{found['title']} (seed {found['seed']})\n")
        printing.parts([synthesis_text.statistics(found)])
        if out is not None:
            printing.message(f"written: {out}")
