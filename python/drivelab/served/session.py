"""A session of serving in words: how the drive found itself, what it did, whether it kept up."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from drivelab import counters
from drivelab.quantities import NS_PER_MS, bytes_text, number
from drivelab.served import address, clock, smart
from drivelab.served.server import Request

LATE_NS = 1_000_000
"""One answer in a hundred later than this: longer than a busy system lets a server wait."""


def begun(request: Request, facts: Mapping[str, Any], was_clean: bool) -> list[str]:
    """That clients can come: what is served, how the drive found itself, and what they can do."""
    read_only = ", read-only" if request.read_only else ""
    lines = [
        f"{request.image}: {facts.get('title') or facts.get('model')}, "
        f"{bytes_text(facts['user_capacity_bytes'])}{read_only}",
        f"clock: {clock.words(request.clock)}",
        *mounted(facts, was_clean),
    ]
    if request.control is not None:
        command = shlex.join(["drivelab", "smart", str(request.image)])
        lines.append(f"control: {request.control} ({command})")
    if request.faults is not None:
        lines.append(f"faults: {len(request.faults.faults)}, seed {request.faults.seed}")
    if (place := request.address) is not None:
        if place.is_open:
            lines.append(
                f"warning: {place.text}: whoever reaches this address can use the drive; NBD asks "
                "for no password here"
            )
        uri = str(facts["uri"])
        lines += ["", *address.commands(uri, read_only=request.read_only), ""]
    return [*lines, "Ctrl-C stops it: commands are finished, everything is in flash"]


def mounted(facts: Mapping[str, Any], was_clean: bool) -> list[str]:
    """How the drive found itself."""
    if was_clean:
        return []
    took = number((facts.get("mount_ns") or 0) / NS_PER_MS, 3)
    return [f"power was cut before: the drive has rebuilt its map, in {took} ms of its own time"]


def lines(found: Mapping[str, Any], request: Request) -> list[str]:
    """What `server.serve` gave back of a session, in a few lines."""
    return [*_summary(found), *_lateness(found, request), *_recorded(found, request)]


def _summary(found: Mapping[str, Any]) -> list[str]:
    """What the drive did."""
    reasons = {
        "stopped": "stopped: everything is in flash",
        "power-cut": "power cut: nothing more was written; what was not flushed may be lost",
    }
    before, after = (_numbers(found.get(when) or {}) for when in ("before", "after"))
    used = counters.spent(before, after)
    lines = [reasons.get(str(found.get("reason")), str(found.get("reason")))]
    requests = (found.get("statistics") or {}).get("requests") or {}
    done = {kind.replace("_", "-"): told for kind, told in requests.items() if told["count"]}
    counts = ", ".join(f"{told['count']} {kind}" for kind, told in done.items()) or "none"
    failed = sum(told["errors"] for told in done.values())
    seconds = number(found["wall_s"], 3)
    lines.append(
        f"requests: {counts}" + (f"; {failed} of them failed" if failed else "") + f"; {seconds} s"
    )
    for kind, told in done.items():
        if told["latency_ns"]["mean"] is None:
            continue  # None was done.
        mean, most = (told["latency_ns"][key] / NS_PER_MS for key in ("mean", "max"))
        lines.append(f"{kind} latency: mean {number(mean, 3)} ms, longest {number(most, 3)} ms")
    if "host_write_bytes" in used:
        programmed = counters.program_bytes(used)
        lines.append(
            f"host wrote {bytes_text(int(used['host_write_bytes']))}, read "
            f"{bytes_text(int(used.get('host_read_bytes', 0)))}; flash programmed "
            f"{'-' if programmed is None else bytes_text(programmed)}; write amplification "
            f"{number(smart.amplification(used), 3)}"
        )
    return lines


def _numbers(facts: Mapping[str, Any]) -> dict[str, float]:
    """What can be counted of a drive's facts."""
    return {
        key: value
        for key, value in facts.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def _lateness(found: Mapping[str, Any], request: Request) -> list[str]:
    """That the machine couldn't keep up with the drive, if it couldn't."""
    late = found.get("late_ns") or {}
    if (late.get("p99") or 0) < LATE_NS:
        return []
    mean, worst, most = (number(late[key] / NS_PER_MS, 3) for key in ("mean", "p99", "max"))
    return [
        f"the clock fell behind: answers were {mean} ms late on the mean, one in a hundred "
        f"{worst} ms or more, {most} ms at most (of the drive's time): this machine couldn't keep "
        f"up with --clock {request.clock}, and clients saw a slower drive than the model"
    ]


def _recorded(found: Mapping[str, Any], request: Request) -> list[str]:
    """What became of the trace."""
    told = found.get("recorded")
    if told is None or request.record is None:
        return []
    if "error" in told:
        return [f"{request.record}: the trace is cut off: {told['error']}"]
    return [f"{request.record}: {told['requests']} requests"]
