"""A recorded trace as scripts replay it: the options of `drivelab replay` as keywords."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from drivelab import paths, traces
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError, nearest
from drivelab.lab import checks
from drivelab.model import Model
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget, Report

if TYPE_CHECKING:
    from drivelab.replay import Replay
    from drivelab.rounds import Goal, Rounds

Pacing = Literal["arrival", "closed", "capped"]
Beyond = Literal["reject", "modulo", "compact"]
QUEUE_DEPTH_MAX = 65536
REPEAT_MAX = 100_000
IDLE_CAP = "25ms"
"""Longest gap between arrivals with `pacing="capped"`, unless another is given."""


class Trace:
    """A recorded trace, to be run on drives: `drive.run(Trace("x.blkparse"))`.

    >>> import drivelab as dl
    >>> from pathlib import Path
    >>> _ = Path("two.trace").write_text("1000 0 0 8 0\\n2000 0 800 16 1\\n")   # MQSim's columns
    >>> trace = dl.Trace("two.trace", pacing="closed", queue_depth=4)
    >>> result = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled").run(trace)
    >>> result.summary["direction"].to_list(), result.summary["bytes"].to_list()
    (['read', 'write'], [8192, 4096])

    `pacing` is "arrival" (at recorded times), "closed" (`queue_depth` requests at once, as fast as
    possible) or "capped" (gaps longer than `idle_cap` are cut, 25ms by default). `out_of_range`
    says what becomes of requests beyond a drive: "reject", "modulo" (wrap) or "compact" (renumber).
    `repeat` rounds follow each other; `until_steady` ends them when write amplification is steady.
    A result is that of the last round, and `rounds` of it tells of all. The rest is what
    `drivelab replay` takes, and so are the results, to the bit. Raises RequestError for a file or
    an option that can't be.
    """

    @checks.keywords
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        pacing: Pacing = "arrival",
        queue_depth: int | None = None,
        idle_cap: str | float | None = None,
        out_of_range: Beyond = "reject",
        format: str | None = None,  # noqa: A002 - the word of the command's option
        time_unit: str | None = None,
        arrival_event: str | None = None,
        device: str | None = None,
        data: str = "random",
        repeat: int | None = None,
        until_steady: bool = False,
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise RequestError(f"path = {path!r}: allowed: the path of a trace")
        self.path = paths.expanded(paths.checked("trace", path)).resolve()
        options: dict[str, Any] = {
            "pacing": pacing,
            "queue_depth": checks.plain(queue_depth),
            "idle_cap": checks.plain(idle_cap),
            "out_of_range": out_of_range,
            "format": format,
            "time_unit": time_unit,
            "arrival_event": arrival_event,
            "device": device,
            "data": data,
            "repeat": checks.plain(repeat),
            "until_steady": checks.switch("until_steady", until_steady),
        }
        self._options = {
            key: value
            for key, value in options.items()
            if value is not None
            and ((key, value) not in _DEFAULTS or (key == "repeat" and until_steady))
        }
        _one_of("pacing", pacing, get_args(Pacing))
        _one_of("out_of_range", out_of_range, traces.BEYOND)
        _one_of("format", format, traces.FORMATS)
        _one_of("time_unit", time_unit, traces.TIME_UNITS)
        _one_of("arrival_event", arrival_event, traces.ARRIVAL_EVENTS)
        for key, needs in (("queue_depth", "closed"), ("idle_cap", "capped")):
            if options[key] is not None and pacing != needs:
                raise RequestError(f'{key} = {options[key]!r}: counts with pacing="{needs}" only')
        if queue_depth is not None:
            checks.whole("queue_depth", queue_depth, 1, QUEUE_DEPTH_MAX)
        if repeat is not None:
            checks.whole("repeat", repeat, 1, REPEAT_MAX)
        self._idle_cap_ns = checks.time_ns("idle_cap", IDLE_CAP if idle_cap is None else idle_cap)
        self._pattern = parse_data_pattern(data, "data")
        self._file = traces.TraceFile(self.path, format, time_unit, arrival_event, device)
        try:
            with self.path.open("rb") as file:
                self._digest = hashlib.file_digest(file, "sha256").hexdigest()
            self._memory_bytes = 0
        except OSError as error:
            raise RequestError(f'trace "{path}": can\'t be read: {error.strerror}') from None

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def notes(self) -> list[str]:
        """What its options change in what was recorded."""
        if self._options.get("pacing") != "capped":
            return []
        from drivelab import replay

        return [f"{replay.cut_text(self._idle_cap_ns)} (idle_cap)"]

    @property
    def options(self) -> dict[str, Any]:
        """What was given that isn't the default."""
        return dict(self._options)

    def with_options(self, **options: Any) -> Trace:
        """The same trace with other options; None takes one away."""
        for key in options:
            if key not in OPTIONS:
                raise RequestError(f'option "{key}" of a trace is unknown{nearest(key, OPTIONS)}')
        given = self._options | options
        return Trace(self.path, **{k: v for k, v in given.items() if v is not None})

    def record(self) -> dict[str, Any]:
        """As JSON has it: what makes one replay another. The file counts by what is in it."""
        return {"trace": self._digest, "options": self.options}

    def check(self, model: Model) -> None:
        """Raises RequestError for a file that is no trace, requests beyond such a drive, or rounds
        that never get steady on it."""
        self._fitted(model, TaskProgress("read"))

    def replayed(
        self,
        target: EngineTarget,
        seed: int,
        state: str,
        progress: TaskProgress,
        log: bool = False,
    ) -> Rounds:
        """Replays it on a drive in a state; seeds are those of `drivelab replay`.

        The report of the last round says of all rounds what the command's JSON does, if there were
        to be several.
        """
        # Results take a while to load, which processes that replay nothing don't need.
        from drivelab import rounds

        reading = TaskProgress("read")
        progress.follow(reading, 0.1)
        trace, goal = self._fitted(target.model, reading)
        job = self._replay().job(seed, target.model.name, state)
        done = rounds.run(target, job, trace.requests, progress, 0.9, goal, log=log)
        done.check(trace.requests)
        done.last["jobs"][0]["name"] = self.name
        done.last.update(rounds.document(done.reports, trace, target.model, goal))
        return done

    def steady(self, report: Report) -> dict[str, Any] | None:
        """Whether its rounds got steady, of the report of the last one, if they were to."""
        if not self._options.get("until_steady"):
            return None
        rounds = report["rounds"]
        return {
            "metric": "write_amplification",
            "reached": rounds["steady"],
            "rounds": rounds["count"],
        }

    def step(self) -> dict[str, Any]:
        """What was done to a drive on which it was replayed, as JSON has it."""
        return {"trace": self.record(), "path": str(self.path)}

    @classmethod
    def of_step(cls, step: Mapping[str, Any]) -> Trace:
        """The trace of such a step; raises RequestError if it isn't there, or is another one."""
        return _again(step["path"], step["trace"]["options"], step["trace"]["trace"])

    @property
    def memory_bytes(self) -> int:
        """What its requests take in memory; 0 before they were read once."""
        return self._memory_bytes

    def _fitted(self, model: Model, progress: TaskProgress) -> tuple[traces.Trace, Goal]:
        """Its requests as they fit a drive, and how long they go round there."""
        from drivelab import rounds

        how = self._replay()
        trace = how.read(model.user_capacity_bytes, progress, "out_of_range")
        self._memory_bytes = trace.memory_bytes
        return trace, rounds.goal(model, trace, how, rounds.Wording("repeat = {}", "until_steady"))

    def _replay(self) -> Replay:
        from drivelab.replay import Replay

        # What wasn't given is as the command has it.
        same = ("pacing", "queue_depth", "out_of_range", "repeat", "until_steady")
        given = {key: self._options[key] for key in same if key in self._options}
        return Replay(self._file, self._idle_cap_ns, data=self._pattern, **given)

    def __repr__(self) -> str:
        words = [repr(str(self.path)), *(f"{k}={v!r}" for k, v in self._options.items())]
        return f"Trace({', '.join(words)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.record() == other.record()

    def __hash__(self) -> int:
        return hash((self._digest, tuple(sorted(self._options.items(), key=str))))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (str(self.path), self._options, self._digest)


OPTIONS = (
    "pacing",
    "queue_depth",
    "idle_cap",
    "out_of_range",
    "format",
    "time_unit",
    "arrival_event",
    "device",
    "data",
    "repeat",
    "until_steady",
)
_DEFAULTS = (
    ("pacing", "arrival"),
    ("out_of_range", "reject"),
    ("data", "random"),
    ("repeat", 1),
    ("until_steady", False),
)
"""What makes a trace no other one when it is given. Of rounds until steady one is too few."""


def _again(path: str, options: Mapping[str, Any], digest: str) -> Trace:
    """The trace in another process, perhaps on another machine."""
    found = Trace(path, **options)
    if found._digest != digest:
        raise RequestError(f'trace "{path}": another file than the one that was checked')
    return found


def _one_of(key: str, value: object, allowed: Sequence[str]) -> None:
    if value is not None and value not in allowed:
        hint = nearest(str(value), allowed)
        raise RequestError(f'{key} = "{value}" is unknown{hint} Allowed: {", ".join(allowed)}')
