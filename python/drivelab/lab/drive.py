"""A drive as scripts hold it: a model, a seed, and what has been done to it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _engine, states
from drivelab import model as models
from drivelab.errors import RequestError
from drivelab.fio import units
from drivelab.lab import checks
from drivelab.lab.job import Job
from drivelab.lab.trace import Trace
from drivelab.names import told_apart
from drivelab.progress import TaskProgress, run_alone
from drivelab.quantities import NS_PER_S, bytes_text, derive_seed
from drivelab.targets import EngineTarget, Report

if TYPE_CHECKING:
    from drivelab.lab.result import Result

Step = dict[str, Any]
"""Something that was done to a drive: {"state": NAME}, {"jobs": [record of a job, ...]} or
{"idle_ns": TIME}."""


class Drive:
    """A simulated drive. It never changes: `prepare` and `run` give new drives.

    >>> drive = Drive("intel-x25-m-g1-80gb", {"spare_ratio": 0.28}, scale="1/64")
    >>> used = drive.prepare("used")
    >>> result = used.run(Job(rw="randwrite", bs="4k", iodepth=32, io_size="64m"))
    >>> result.summary["iops"].item() > 0
    True

    `model` is a name, NAME@FIRMWARE, or the path of a TOML file; `parameters` are what `--set`
    takes; `scale` makes a small version that behaves as the drive does
    when as large a share of it is written. The same model, seed and
    history give the same results to the bit, as on the command line. A drive can be pickled: what
    was done to it is done again where it is needed. Raises RequestError for a model or a parameter
    that can't be.
    """

    def __init__(
        self,
        model: str | Path,
        parameters: Mapping[str, object] | None = None,
        *,
        seed: int = 1,
        scale: str | None = None,
    ) -> None:
        overrides = [(key, _text(key, value)) for key, value in (parameters or {}).items()]
        if scale is not None:
            divisor = models.scale_divisor(checks.text("scale", scale), "scale")
            overrides.append(("scale_divisor", divisor))
        self._model = models.load(str(model), overrides)
        self._seed = checks.whole("seed", seed, 0, 2**63 - 1)
        self._history: tuple[Step, ...] = ()
        self._target: EngineTarget | None = None
        self._prepared: dict[str, Drive] = {}
        # Threads that need one drive, as those of a cluster's worker, make it once.
        self._making = threading.Lock()

    @property
    def model(self) -> models.Model:
        """What the drive is one of: its parameters with their sources, and what follows."""
        return self._model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def seed(self) -> int:
        """What random choices of drive and jobs follow from."""
        return self._seed

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can address."""
        return self._model.user_capacity_bytes

    @property
    def history(self) -> tuple[Step, ...]:
        """What was done to the drive since it was made, oldest first, as JSON has it."""
        return self._history

    @property
    def key(self) -> str:
        """64 hexadecimal digits over model, seed, history and engine: equal keys, equal drives."""
        engine_version = _engine.engine_version()
        return drive_key(self._model.hash, self._seed, self._history, engine_version)

    @property
    def now_s(self) -> float:
        """The drive's own time in seconds, from 0 when it was made."""
        return self.make().now_ns / NS_PER_S

    @property
    def counters(self) -> dict[str, float]:
        """What the drive has counted since it was made, by name with unit."""
        return self.make().counters()

    def with_parameters(self, parameters: Mapping[str, object]) -> Drive:
        """A new drive of the model with more parameters changed; nothing was done to it yet."""
        overrides = [(key, _text(key, value)) for key, value in parameters.items()]
        found = self._like(())
        found._model = self._model.with_overrides(overrides)
        return found

    def with_model(self, model: str | Path) -> Drive:
        """A new drive of another model with the same parameters changed; nothing was done to it."""
        found = self._like(())
        found._model = models.load(str(model), self._model.overrides)
        return found

    def with_seed(self, seed: int) -> Drive:
        """A new drive of the model with another seed; nothing was done to it yet."""
        found = self._like(())
        found._seed = checks.whole("seed", seed, 0, 2**63 - 1)
        return found

    def prepare(self, state: str, *, progress: bool = True) -> Drive:
        """The drive after secure erase and the steps of a state: "new", "filled", "used", ...

        A state is prepared once for a drive and kept as long as the drive. `progress`: a bar on a
        terminal. Raises RequestError for an unknown state.
        """
        found = self.in_state(state)
        if state not in self._prepared:
            found._target = run_alone(
                f"{self.name}: preparing {state}", found._replayed, shown=progress
            )
            self._prepared[state] = found
        return self._prepared[state]

    def in_state(self, state: str) -> Drive:
        """As `prepare`, but only a plan: the work is done when somebody needs the drive."""
        name = checks.text("state", state)
        return self._like(({"state": states.find(name, "state").name},))

    def run(self, *jobs: Job | Trace, keep: bool = False, progress: bool = True) -> Result:
        """Runs jobs that start together, or a trace, on a copy: this drive stays as it is.

        `keep`: the result holds the drive as the jobs left it (`result.drive`). Raises RequestError
        for a job that can't be on this drive.
        """
        # Tables take a while to load, which processes that only measure don't need.
        from drivelab.lab.result import Result

        if not jobs:
            raise RequestError("run(): needs at least one job, e.g. Job(rw='randread', bs='4k')")
        traces = [job for job in jobs if isinstance(job, Trace)]
        if traces and (len(jobs) > 1 or keep):
            raise RequestError("run(): a trace runs alone, and the drive after it can't be kept")
        for job in jobs:
            if job not in traces:
                checks.instance("job", job, Job, "; several as run(one, another)")
        target = self.make().clone()
        work = partial(_run, target, jobs, self)
        report = run_alone(f"{self.name}: {jobs[0].name}", work, shown=progress)
        after: Drive | None = None
        if keep:
            after = self._like((*self._history, {"jobs": [job.record() for job in jobs]}))
            after._target = target
        return Result(report, self, jobs, after)

    def idle(self, time: str | float) -> Drive:
        """The drive after a time without commands: "60s", "5m", or seconds.

        Raises RequestError for what is no time.
        """
        try:
            duration_ns = units.time_ns(_text("time", time))
        except ValueError as error:
            raise RequestError(f"time = {time!r}: allowed: {error}") from None
        found = self._like((*self._history, {"idle_ns": duration_ns}))
        found._target = self.make().clone()
        found._target.idle(duration_ns)
        return found

    def _like(self, history: tuple[Step, ...]) -> Drive:
        found = object.__new__(Drive)
        found._model, found._seed, found._history = self._model, self._seed, history
        found._target, found._prepared, found._making = None, {}, threading.Lock()
        return found

    def make(self) -> EngineTarget:
        """The engine's drive; what was done to it is done again if it isn't here."""
        with self._making:
            if self._target is None:
                self._target = run_alone(f"{self.name}: as it was", self._replayed, shown=False)
            return self._target

    def _replayed(self, progress: TaskProgress) -> EngineTarget:
        # As reviews and `drivelab run` derive them.
        seeds = partial(derive_seed, self._seed, self.name)
        target = EngineTarget(self._model, seeds("drive"))
        for step in self._history:
            part = TaskProgress("step")
            progress.follow(part, 1 / len(self._history))
            if "state" in step:
                states.find(step["state"]).prepare(target, seeds, part)
            elif "idle_ns" in step:
                target.idle(step["idle_ns"])
            else:
                jobs = [Job.of_record(record) for record in step["jobs"]]
                _run_jobs(target, jobs, self._seed, part)
        return target

    def __sizeof__(self) -> int:
        """Bytes of memory, the engine's drive included where it is made: what a scheduler of
        a cluster weighs before it moves work elsewhere."""
        made = 0 if self._target is None else self._model.memory_bytes
        return object.__sizeof__(self) + made

    def __getstate__(self) -> dict[str, Any]:
        known = {"request": self._model.request, "overrides": list(self._model.overrides)}
        return known | {"seed": self._seed, "history": self._history, "hash": self._model.hash}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._model = models.load(state["request"], state["overrides"])
        if self._model.hash != state["hash"]:
            raise RequestError(
                f'model "{state["request"]}": it has changed since this drive was stored'
            )
        self._seed, self._history = state["seed"], state["history"]
        self._target, self._prepared, self._making = None, {}, threading.Lock()

    def __repr__(self) -> str:
        words = [repr(self.name)]
        if self._model.overrides:
            words.append(repr(dict(self._model.overrides)))
        words.append(f"seed={self._seed}")
        done = [step.get("state", next(iter(step)).removesuffix("_ns")) for step in self._history]
        after = f" after {', '.join(done)}" if done else ""
        return f"<Drive {', '.join(words)}: {bytes_text(self.capacity_bytes)}{after}>"


def drive_key(model_hash: str, seed: int, history: Sequence[Step], engine_version: str) -> str:
    """The key of a drive, from all that it follows from."""
    known = [model_hash, seed, history, engine_version]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def measured(drive: Drive, jobs: Sequence[Job | Trace]) -> Report:
    """The report of jobs on a copy of a drive, as `Drive.run` has it, without more around it."""
    return _run(drive.make().clone(), jobs, drive, TaskProgress("run"))


def _run(
    target: EngineTarget, jobs: Sequence[Job | Trace], drive: Drive, progress: TaskProgress
) -> Report:
    if isinstance(jobs[0], Trace):
        state = drive.history[-1].get("state", "run") if drive.history else "new"
        return jobs[0].replayed(target, drive.seed, state, progress)
    own = [job for job in jobs if isinstance(job, Job)]
    return _run_jobs(target, own, drive.seed, progress)


def _run_jobs(
    target: EngineTarget, jobs: Sequence[Job], seed: int, progress: TaskProgress
) -> Report:
    found = [job.on_drive(target.capacity_bytes, seed, index) for index, job in enumerate(jobs)]
    report = target.run([job.job for job in found], progress)
    # Jobs of one name, as those without one are, are told apart in tables.
    for name, record in zip(told_apart([job.name for job in jobs]), report["jobs"], strict=True):
        record["name"] = name
    return report


def _text(key: str, value: object) -> str:
    """A parameter's value as `--set` takes it."""
    value = checks.plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(key, item) for item in value)}]"
    raise RequestError(f"{key} = {value!r}: a parameter is a number, a text or a list of them")
