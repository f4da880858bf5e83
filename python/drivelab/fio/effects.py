"""What options of a job have no effect on which drive: for the drive at hand, beside `IGNORED`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from drivelab.fio.jobs import Workload
from drivelab.model import Model
from drivelab.workload import Job

HINT = "write_hint"
PLACEMENT = ("fdp_pli", "plids")
"""What gives a hint in place of it, and its other name."""


def on_drive(workload: Workload, model: Model) -> Workload:
    """The workload, with what of it has no effect on this drive."""
    own: dict[str, str] = {}
    for job in workload.jobs:
        hint = _hint_option(workload.global_options | job.options)
        for option, reason in without_effect(model, [job.job]).items():
            own[hint if option == HINT else option] = reason
    return replace(workload, ignored=workload.ignored | own)


def _hint_option(options: Mapping[str, str]) -> str:
    """The option that gives a job's writes their hint, as it is written there."""
    return next((name for name in (HINT, *PLACEMENT) if name in options), HINT)


def told(ignored: Mapping[str, str]) -> list[str]:
    """Options without effect, each with its reason, as they are told."""
    return [f"option {option} has no effect: {reason}" for option, reason in ignored.items()]


def without_effect(model: Model, jobs: Iterable[Job]) -> dict[str, str]:
    """Options of these jobs that change nothing on this drive, each with the reason."""
    found: dict[str, str] = {}
    for job in jobs:
        if job.rw in ("trim", "randtrim") and not model.takes_trim:
            found["rw"] = f"{model.name} ignores TRIM: {job.rw} frees nothing"
        if (
            job.queue_class != "medium"
            and model.value("nvme.arbitration") != "weighted-round-robin"
        ):
            found["nvme_queue_class"] = f"{model.name} fetches from its queues in turn"
        if job.write_hint:
            by_hint = [p for p in ("", "member.") if model.value(f"{p}ftl.placement") == "hint"]
            streams = [model.value(f"{place}ftl.hint_streams") for place in by_hint]
            if not streams:
                found[HINT] = f"{model.name} places no data by hints (ftl.placement)"
            elif job.write_hint >= streams[0]:
                found[HINT] = (
                    f"{job.write_hint} counts as none: {model.name} has streams for hints below "
                    f"{streams[0]} (ftl.hint_streams)"
                )
    return found
