"""A trace that goes round: write amplification of every round, and what a year of it does.

A trace of 300 MB doesn't fill a drive of 80 GB, so one round says what a drive does that has room.
Rounds follow each other without a pause. They are steady as random writes of a study are: four in
a row within 2 % of each other, in each of which the drive erased blocks. A drive that doesn't erase
lives on the room that it had, and agrees with itself without being steady.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab import counters, workload
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.preparation import prepared_drive
from drivelab.procedures.steady_writes import EXCURSION, settled
from drivelab.procedures.steady_writes import WINDOW as WINDOW
from drivelab.progress import TaskProgress, run_alone
from drivelab.quantities import MIB, NS_PER_S, NS_PER_US
from drivelab.replay import DIRECTIONS, Replay, check_conservation
from drivelab.states import State
from drivelab.subject import Subject
from drivelab.targets import EngineTarget, Report, Target
from drivelab.targets.engine import Columns
from drivelab.targets.fio import RealDrive
from drivelab.traces import Trace
from drivelab.workload import Job, Requests

ROUNDS_MAX = 1000
"""Rounds after which a drive that isn't steady is left as it is."""
YEAR_S = 365 * 86_400
STEADY_TEXT = f"{WINDOW} rounds in a row within {EXCURSION * 100:.0f} %, erasing blocks in each"


@dataclass(frozen=True)
class Goal:
    """How long a trace goes round."""

    count: int
    """Rounds at most."""
    until_steady: bool = False
    """They end when they are steady."""


@dataclass(frozen=True)
class Wording:
    """What those who ask for rounds call their options."""

    repeat: str = "--repeat {}"
    until_steady: str = "--until-steady"


def goal(drive: Subject, trace: Trace, how: Replay, wording: Wording) -> Goal:
    """How long a trace goes round; raises RequestError for what never gets steady."""
    repeat, until_steady = how.repeat, how.until_steady
    if until_steady:
        if repeat is not None and repeat < WINDOW:
            raise RequestError(
                f"{wording.repeat.format(repeat)}: with {wording.until_steady} at least {WINDOW}, "
                f"as steady are {STEADY_TEXT}"
            )
        reason = "a real drive doesn't tell" if isinstance(drive, RealDrive) else None
        if drive.is_disk:
            reason = "a hard disk has none"
        elif not (trace.requests.op == workload.WRITE).any():
            reason = f"{trace.name} has no writes"
        if reason is not None:
            raise RequestError(f"{wording.until_steady}: goes by write amplification, and {reason}")
    if repeat is None:
        repeat = ROUNDS_MAX if until_steady else 1
    return Goal(repeat, until_steady)


@dataclass(frozen=True)
class Rounds:
    """What the rounds of a trace measured."""

    reports: list[Report]
    columns: Columns | None
    """Every request of the last round, if they were to be kept."""

    @property
    def last(self) -> Report:
        """The round that a replay is judged by."""
        return self.reports[-1]

    def check(self, requests: Requests) -> None:
        """Raises WorkError for a round that didn't do all of its trace."""
        for report in self.reports:
            check_conservation(requests, report)


def run(
    target: Target,
    job: Job,
    requests: Requests,
    progress: TaskProgress,
    share: float,
    goal: Goal,
    *,
    log: bool = False,
) -> Rounds:
    """As many rounds as the goal says; `log` keeps the requests, of a drive of the engine."""
    count, reports, columns = goal.count, list[Report](), None
    while len(reports) < count and not (goal.until_steady and is_steady(reports)):
        # Which round is the last nobody knows of those that end when they are steady.
        if log and (goal.until_steady or len(reports) == count - 1):
            assert isinstance(target, EngineTarget)
            # Those of two rounds aren't in memory together.
            columns = None
            report, columns = target.run_requests_logged(job, requests, progress, share / count)
        else:
            report = target.run_requests(job, requests, progress, share / count)
        reports.append(report)
    return Rounds(reports, columns)


def measure(
    drive: Subject,
    state: State,
    seed: int,
    job: Job,
    trace: Trace,
    goal: Goal,
    remark: Callable[[str], None],
    *,
    log: bool = False,
) -> Rounds:
    """The rounds of a trace on a drive that is brought into a state for them; `remark` hears what
    `prepared_drive` has to say."""

    def work(progress: TaskProgress) -> Rounds:
        target, share = prepared_drive(drive, state, seed, progress, remark)
        return run(target, job, trace.requests, progress, share, goal, log=log)

    return run_alone(f"{drive.name}: {trace.name}", work)


def is_steady(reports: Sequence[Report]) -> bool:
    """Whether the last rounds agree, of a drive that lives on what it cleans."""
    used = [counters.spent_in(report) for report in reports[-WINDOW:]]
    return all(counters.erase_count(part) for part in used) and settled(
        [counters.write_amplification(part) for part in used]
    )


def record(reports: Sequence[Report]) -> dict[str, Any]:
    """The rounds in the document of a replay: times in s and us, sizes in bytes."""
    return {
        "count": len(reports),
        "steady": is_steady(reports),
        "each": [_round(report) for report in reports],
    }


def document(reports: Sequence[Report], trace: Trace, drive: Subject, goal: Goal) -> dict[str, Any]:
    """What the document of a replay says of rounds, if there were to be several."""
    if goal == Goal(1):
        return {}
    recorded_s = float(trace.record()["duration_s"])
    worn = year(reports, recorded_s, drive) if isinstance(drive, Model) else None
    return {"rounds": record(reports) | {"year": worn}}


def _round(report: Report) -> dict[str, Any]:
    [job] = report["jobs"]
    used = counters.spent_in(report)
    moved = sum(job[direction]["bytes"] for direction in DIRECTIONS[:2])
    seconds = (report["end_ns"] - report["measure_start_ns"]) / NS_PER_S
    return {
        "duration_s": seconds,
        "mib_per_s": moved / MIB / seconds if seconds else None,
        "host_write_bytes": used["host_write_bytes"],
        "flash_write_bytes": counters.program_bytes(used),
        "write_amplification": counters.write_amplification(used),
        "erases": counters.erase_count(used),
        "write_latency_max_us": _longest_us(job["write"]),
    }


def _longest_us(direction: dict[str, Any]) -> float | None:
    latency = direction["latency_ns"]
    return latency["max"] / NS_PER_US if latency and direction["ios"] else None


def year(reports: Sequence[Report], recorded_s: float, model: Model) -> dict[str, Any] | None:
    """What a year of the last rounds does to a drive: bytes, and cycles of an average block.

    The trace took `recorded_s` when it was recorded, and goes on so all the time. None where no
    time was recorded, nothing was written, or there is no flash. `worn_out_after_years` is None
    where endurance isn't known, and where all that was written stayed in the write buffer.
    """
    window = reports[-WINDOW:]
    used = [counters.spent_in(report) for report in window]
    host = sum(part["host_write_bytes"] for part in used) / len(window)
    programmed = [counters.program_bytes(part) for part in used]
    if model.is_disk or not recorded_s or not host or None in programmed:
        return None
    flash = sum(size or 0 for size in programmed) / len(window)
    per_year = YEAR_S / recorded_s
    cycles = flash * per_year / model.raw_capacity_bytes
    endurance = model.endurance_cycles
    return {
        "host_write_bytes": round(host * per_year),
        "flash_write_bytes": round(flash * per_year),
        "cycles": cycles,
        "endurance_cycles": endurance,
        "worn_out_after_years": endurance / cycles if endurance and cycles else None,
    }
