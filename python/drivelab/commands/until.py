"""`--until-steady` of `run`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from drivelab import arguments
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.fio import units

if TYPE_CHECKING:
    from drivelab.lab.steady import Metric, Steady

ROUND, LIMIT = "60s", "24h"
"""Of `--until-steady`, as of `dl.Steady`."""
METRICS = ("iops", "mib_per_s", "latency_mean_us", "write_amplification")

UntilSteady = Annotated[
    str | None,
    typer.Option(
        "--until-steady",
        metavar="METRIC",
        help=f"The last group of jobs ends once this is steady: {', '.join(METRICS)}.",
    ),
]
Round = Annotated[
    str | None,
    typer.Option(
        "--round", metavar="TIME", help=f"Length of a round of --until-steady; default: {ROUND}."
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="TIME",
        help=f"When a job without an end ends with --until-steady; default: {LIMIT}.",
    ),
]


def steady(metric: str | None, round_time: str | None, limit: str | None) -> Steady | None:
    """What `--until-steady` says; raises RequestError."""
    if metric is None:
        for option, text in (("--round", round_time), ("--limit", limit)):
            if text is not None:
                raise RequestError(f"{option} {text}: counts with --until-steady only")
        return None
    from drivelab.lab.steady import Steady
    from drivelab.procedures.pts.steady_state import WINDOW_ROUNDS

    arguments.one_of("--until-steady", metric, METRICS)
    every, most = (ROUND if round_time is None else round_time), (LIMIT if limit is None else limit)
    # Under the names that the options have here.
    every_ns, limit_ns = _time_ns("--round", every), _time_ns("--limit", most)
    if limit_ns < WINDOW_ROUNDS * every_ns:
        raise RequestError(
            f'--round "{every}", --limit "{most}": allowed: a limit of at least {WINDOW_ROUNDS} '
            "rounds"
        )
    return Steady(cast("Metric", metric), every=every, limit=most)


def _time_ns(option: str, text: str) -> int:
    """A time above 0; raises RequestError."""
    try:
        found = units.time_ns(text)
    except ValueError as error:
        raise RequestError(f'{option} "{text}": expected {error}') from None
    if found < 1:
        raise RequestError(f'{option} "{text}": allowed: 1 ns or more')
    return found


def words(metric: str | None, round_time: str | None, limit: str | None) -> list[str]:
    """The options as words of a command line."""
    return printing.option_words(
        {"--until-steady": metric, "--round": round_time, "--limit": limit}
    )
