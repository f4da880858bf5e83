"""`fault`: faults of a drive that is being served, by command or from a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments
from drivelab.commands import printing
from drivelab.errors import RequestError, nearest
from drivelab.fio.units import size_bytes, time_ns
from drivelab.served import control, faults

LIST, CLEAR = "list", "clear"
POWER_CUT = "power-cut"


def fault(
    target: arguments.ImageOrSocket,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"{', '.join(faults.KINDS)}; or list, or clear (the default: list).",
        ),
    ] = LIST,
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
    if plan_file is not None:
        if kind != LIST or words:
            raise RequestError(f'--plan "{plan_file}" and "{kind}": give one of them')
        request = {"command": "fault-plan", "plan": faults.read_plan(plan_file, "--plan").record()}
    elif kind in (LIST, CLEAR):
        if words:
            raise RequestError(f'"{words[0]}": {kind} takes no more words')
        request = {"command": "faults" if kind == LIST else "clear-faults"}
    else:
        request = _request(kind, words or [])
    answer = _ask(target, request)
    if json:
        printing.document(answer)
    else:
        _print(target, request, answer)


def _request(kind: str, words: list[str]) -> dict[str, Any]:
    if kind not in faults.KINDS:
        known = (*faults.KINDS, LIST, CLEAR)
        raise RequestError(
            f'KIND "{kind}" is unknown{nearest(kind, known)} Allowed: {", ".join(known)}.'
        )
    table = faults.parse({"kind": kind, **dict(_pair(word) for word in words)}, "fault")
    if table == {"kind": POWER_CUT}:
        return {"command": POWER_CUT}
    return {"command": "fault", "fault": table}


def _pair(word: str) -> tuple[str, Any]:
    """KEY=VALUE as a plan has it: numbers, sizes with units, times with units, words."""
    key, equals, text = word.partition("=")
    if not equals or not key:
        raise RequestError(f'"{word}": expected KEY=VALUE, e.g. at_operation=100')
    try:
        if key.endswith("_bytes"):
            # Only distances may be negative; the plan's own check says so.
            bare = text.removeprefix("-")
            return key, size_bytes(bare) if bare == text else -size_bytes(bare)
        if key.endswith("_ns"):
            return key, time_ns(text, "ns")
    except ValueError as error:
        raise RequestError(f'{key}="{text}": allowed: {error}') from None
    for number in (int, float):
        try:
            return key, number(text)
        except ValueError:
            continue
    return key, text


def _ask(target: Path, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return control.ask(control.place_of(target), request)
    except control.NotServedError as error:
        raise RequestError(
            f'IMAGE "{target}": is not being served ({error}); faults are for drives at work: '
            f"`drivelab serve {target} --faults PLAN.toml` starts with some"
        ) from None
    except control.WentAwayError:
        if request["command"] == POWER_CUT:
            # A server without power may have no time to answer.
            return {}
        raise


def _print(target: Path, request: dict[str, Any], answer: dict[str, Any]) -> None:
    command = request["command"]
    if command == POWER_CUT:
        printing.plain(f"{target}: power cut\n")
    elif command == "clear-faults":
        printing.plain(f"{target}: no fault waits\n")
    elif command == "fault":
        printing.plain(f"{target}: {_words(request['fault'])}\n")
    elif command == "fault-plan":
        for item in request["plan"]["faults"]:
            printing.plain(f"{target}: {_words(item)}\n")
    else:
        waiting = answer.get("faults") or []
        for item in waiting:
            printing.plain(f"{_words(item)}\n")
        if not waiting:
            printing.plain(f"{target}: no fault waits\n")
        if answer.get("flash_operations") is not None:
            printing.plain(f"flash operations since power-on: {answer['flash_operations']}\n")


def _words(table: dict[str, Any]) -> str:
    pairs = (f"{key}={value}" for key, value in table.items() if key != "kind")
    return " ".join([str(table["kind"]), *pairs])
