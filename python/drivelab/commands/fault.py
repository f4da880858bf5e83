"""`fault`: faults of a drive that is being served, by command or from a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.served import fault_request, faults
from drivelab.text import faults as faults_text


def fault(
    target: arguments.ImageOrSocket,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"{', '.join(faults.KINDS)}; or list, or clear (the default: list).",
        ),
    ] = fault_request.LIST,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE...",
            help="When and where, as in a plan: at_operation, at_command, probability, count, "
            "offset_bytes, length_bytes, block, duration_ns, ...; sizes as 4k, times as 5ms.",
        ),
    ] = None,
    plan_file: Annotated[
        Path | None,
        typer.Option(
            "--plan", metavar="PLAN.toml", help="All faults of a plan file, with its seed."
        ),
    ] = None,
    json: arguments.Json = False,
) -> None:
    """Inject a fault into a drive that is being served; list or clear those that wait."""
    plan = None
    if plan_file is not None:
        if kind != fault_request.LIST or words:
            raise RequestError(f'--plan "{plan_file}" and "{kind}": give one of them')
        plan = faults.read_plan(plan_file, "--plan")
        request = fault_request.of_plan(plan)
    else:
        request = fault_request.of_words(kind, words or [])
    answer = fault_request.send(target, request, plan)
    if json:
        printing.document(answer)
        return
    for line in faults_text.lines(target, request, answer):
        printing.plain(f"{line}\n")
