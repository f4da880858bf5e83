"""Faults for a drive that is being served: requests to its control socket, from words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from drivelab.errors import RequestError, nearest
from drivelab.fio.units import size_bytes, time_ns
from drivelab.served import control, faults

LIST, CLEAR = "list", "clear"
"""What can be asked besides a kind of fault."""
POWER_CUT = "power-cut"

Request = dict[str, Any]


def of_plan(plan: faults.Plan) -> Request:
    """All faults of a plan, with its seed."""
    return {"command": "fault-plan", "plan": plan.record()}


def of_words(kind: str, words: Sequence[str]) -> Request:
    """LIST, CLEAR, or a kind of fault with words KEY=VALUE, as a plan has them; raises
    RequestError for what no drive could be asked."""
    if kind in (LIST, CLEAR):
        if words:
            raise RequestError(f'"{words[0]}": {kind} takes no more words')
        return {"command": "faults" if kind == LIST else "clear-faults"}
    if kind not in faults.KINDS:
        known = (*faults.KINDS, LIST, CLEAR)
        raise RequestError(
            f'KIND "{kind}" is unknown{nearest(kind, known)} Allowed: {", ".join(known)}.'
        )
    given: dict[str, Any] = {"kind": kind}
    for word in words:
        key, value = _pair(word)
        if key in given:
            raise RequestError(f'"{word}": {key} is given twice')
        given[key] = value
    table = faults.parse(given, "fault")
    if table == {"kind": POWER_CUT}:
        return {"command": POWER_CUT}
    return {"command": "fault", "fault": table}


def send(target: Path, request: Request, plan: faults.Plan | None = None) -> dict[str, Any]:
    """The answer of the drive whose image or socket this is to a request, that of a plan or
    another.

    Raises RequestError for one that isn't being served, and for what it refuses, WorkError if it
    went away; a drive whose power was to be cut may do so.
    """
    try:
        with nullcontext() if plan is None else plan.refusals(target):
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
