"""`synthesize`: traces made from published statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments, iolog, storage_bench
from drivelab.commands import printing
from drivelab.figures.published import Figure
from drivelab.text import synthesis as synthesis_text


def synthesize(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"{', '.join(storage_bench.TRACES)}.")
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
    document = _document(trace, storage_bench.statistics(requests), seed, out)
    if json:
        printing.document(document)
    else:
        printing.plain(f"{document['title']} (seed {document['seed']})\n")
        printing.parts([synthesis_text.statistics(document)])
        if out is not None:
            printing.message(f"written: {out}")


def _document(
    trace: storage_bench.Specification, found: storage_bench.Statistics, seed: int, out: Path | None
) -> dict[str, Any]:
    return {
        "name": trace.name,
        "title": trace.title,
        "seed": seed,
        "file": None if out is None else str(out),
        "statistics": [
            {
                "name": statistic,
                "value": value,
                "published": _published(trace, statistic),
                "source": trace.aims[statistic].source if statistic in trace.aims else None,
            }
            for statistic, value in found.as_dict().items()
        ],
    }


def _published(trace: storage_bench.Specification, statistic: str) -> dict[str, Any] | None:
    figure: Figure | None = trace.published().get(statistic)
    if figure is None:
        return None
    return {"id": figure.id, "relation": figure.relation, "value": figure.value}
