"""A drive as scripts hold it: a model, a seed, and what has been done to it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _engine
from drivelab import model as models
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError
from drivelab.lab import checks, making, prepared, running
from drivelab.lab.history import (
    Step,
    check_ages,
    drive_key,
    let_pass,
    overrides_of,
    reference,
    referred,
    state_label,
    wanted_state,
)
from drivelab.lab.job import Job
from drivelab.lab.trace import Trace
from drivelab.model_texts import Texts
from drivelab.progress import TaskProgress, run_alone
from drivelab.quantities import NS_PER_S, bytes_text, derive_seed
from drivelab.states import State
from drivelab.subject import state_on
from drivelab.targets import EngineTarget
from drivelab.targets.going import EngineRun, EngineSession

if TYPE_CHECKING:
    from drivelab.lab.datasheet import Datasheet
    from drivelab.lab.inside import Inside
    from drivelab.lab.result import Result
    from drivelab.lab.session import Session
    from drivelab.lab.steady import Steady
    from drivelab.lab.steps import Steps
    from drivelab.procedures.measured import Measured
    from drivelab.procedures.procedure import Procedure


class Drive:
    """A simulated drive. It never changes: `prepare` and `run` give new drives.

    >>> drive = Drive("intel-x25-m-g1-80gb", {"spare_ratio": 0.28}, scale="1/64")
    >>> used = drive.prepare("used")
    >>> result = used.run(Job(rw="randwrite", bs="4k", iodepth=32, io_size="64m"))
    >>> result.summary["iops"].item() > 0
    True

    `model` is a name, NAME@FIRMWARE, or the path of a TOML file; `parameters` are what `--set`
    takes; `scale` makes a small version that behaves as the drive does when as large a share of it
    is written. The same model, seed and history give the same results to the bit, as on the command
    line. A drive can be pickled: what was done to it is done again where it is needed. Raises
    RequestError for a model or a parameter that can't be.
    """

    @checks.keywords
    def __init__(
        self,
        model: str | Path,
        parameters: Mapping[str, object] | None = None,
        *,
        seed: int = 1,
        scale: str | None = None,
    ) -> None:
        named = checks.text("model", str(model) if isinstance(model, Path) else model)
        overrides = [] if parameters is None else overrides_of(parameters)
        if scale is not None:
            overrides = models.scaled(overrides, scale)
        self._fill(models.load(named, overrides), checks.whole("seed", seed, 0, 2**63 - 1), (), ())

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
        found = self._like(())
        found._model = self._model.with_overrides(overrides_of(parameters))
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

    @checks.keywords
    def prepare(self, state: str | State, *, progress: bool = True) -> Drive:
        """The drive after secure erase and the steps of a state: "new", "filled", "used", ...,
        or a state of one's own. A hard disk has one, "new", whichever is named.

        A state is prepared once for a drive and kept as long as the drive. Drives of this process
        that are equal share it as long as one of them is there, unless the state is one's own. What
        took longer than a second stays on disk, too (`drivelab cache`), for the next program.
        `progress`: a bar on a terminal. Raises RequestError for an unknown state.
        """
        found = self.in_state(state)
        (own,) = found._states
        if own not in self._prepared:
            label = f"{self.name}: preparing {own.name}"
            made = partial(making.made, found, keeping=True)
            work = partial(run_alone, label, made, shown=progress)
            found._target = prepared.shared(found, work)
            self._prepared[own] = found
        return self._prepared[own]

    def in_state(self, state: str | State) -> Drive:
        """As `prepare`, but only a plan: the work is done when somebody needs the drive."""
        state = state_on(self._model, wanted_state(state))
        found = self._like(({"state": state.label},))
        found._states = (state,)
        return found

    @checks.keywords
    def run(
        self,
        *jobs: Job | Trace,
        keep: bool = False,
        log: bool | str | Path = False,
        until: Steady | None = None,
        timeline: bool | str = False,
        progress: bool = True,
    ) -> Result:
        """Runs jobs that start together, or a trace, on a copy: this drive stays as it is.

        `keep`: the result holds the drive as the jobs left it (`result.drive`). `log`: it has every
        request (`result.requests`), about 100 bytes of memory each, or with the name of a Parquet
        file in that file, written while the jobs run; of a trace afterwards, and its last round
        only. `until`: the jobs end once a metric is steady
        (`result.steady`). `timeline`: it has what every die did when (`result.timeline`), of a
        window "2s" or "60s:62s" or from the start of the measurement. Raises RequestError for a job
        that can't be on this drive, WorkError where the file can't be written.
        """
        # Tables take a while to load, which processes that only measure don't need.
        from drivelab.lab.result import Result

        keep, log = checks.switch("keep", keep), running.wanted_log(log)
        if any(isinstance(job, Trace) for job in jobs):
            return self._replay(running.checked_trace(jobs, until, timeline), keep, log, progress)
        own = running.checked_jobs("run", jobs)
        if until is not None:
            own = running.endless_jobs(own, until, self.capacity_bytes)
        window = running.wanted_window(timeline, self._model.is_disk)
        work = partial(running.run_jobs, self.make(), own, self._seed, log, until, window=window)
        done = run_alone(f"{self.name}: {own[0].name}", work, shown=progress)
        after = self._after(done, own, until) if keep else None
        requests = log if isinstance(log, Path) else done.requests
        return Result(done.report, self, own, after, requests, done.steady, done.timeline)

    @checks.keywords
    def steps(self, *jobs: Job, every: str | float = "1s", log: bool = False) -> Steps:
        """Runs jobs on a copy, step by step: `for step in drive.steps(job, every="1s")`.

        `every` is the length of a step in the drive's time. Raises RequestError as `run`.
        """
        from drivelab.lab.result import Result
        from drivelab.lab.steps import Steps

        own = running.checked_jobs("steps", jobs)
        every_ns = checks.time_ns("every", every, 1)
        log = checks.switch("log", log)
        run = running.begin_jobs(self.make(), own, self._seed, log)

        def result(ended: EngineRun, stopped: bool) -> Result:
            done = running.done_jobs(ended, own, log)
            after = None if stopped else self._after(done, own, None)
            return Result(done.report, self, own, after, done.requests)

        return Steps(run, every_ns, result)

    @checks.keywords
    def open(self, *, data: str = "random", fua: bool = False) -> Session:
        """A copy of the drive as a part of one's own program: requests go in as arrays, and what
        is done comes out as a table.

        `data`: what writes contain, as of a Job; `fua`: a write is done only when it is in flash.
        """
        from drivelab.lab.session import Session

        pattern = parse_data_pattern(data, "data").model_dump()
        seed = derive_seed(self._seed, self.name, "session")
        session = EngineSession(self.make(), pattern, seed, checks.switch("fua", fua))
        return Session(session, self._model)

    def datasheet(self) -> Datasheet:
        """What the drive is by its model, whatever was done to it: `print(drive.datasheet())`."""
        from drivelab.lab.datasheet import Datasheet

        return Datasheet(self._model)

    def inside(self) -> Inside:
        """Every block and every die, as they are now: tables."""
        from drivelab.lab.inside import Inside

        return Inside.of(self.make().inside())

    def _replay(self, trace: Trace, keep: bool, log: bool | Path, progress: bool) -> Result:
        """The result of a trace."""
        from drivelab.lab.result import Result

        state = state_label(self._history)
        work = partial(running.run_trace, self.make(), trace, self._seed, state, log)
        done = run_alone(f"{self.name}: {trace.name}", work, shown=progress)
        after = self._later_by(done, trace.step()) if keep else None
        requests = log if isinstance(log, Path) else done.requests
        return Result(done.report, self, [trace], after, requests)

    @checks.keywords
    def measure(
        self,
        test: str | Procedure,
        *,
        quick: bool = False,
        span: str | int | None = None,
        progress: bool = True,
    ) -> Measured:
        """Runs a test on a copy: one of `drivelab list --tests` by name, or one of one's own.

        What it found is in `.values`, `.tables` and `.notes`; of a drive that was only prepared it
        is, to the bit, what a review finds in that state. With a `span` ("2g", or bytes) the test
        keeps to the first bytes of the drive. Raises RequestError for an unknown test or a span
        larger than the drive.
        """
        from drivelab.lab.measuring import measure

        return measure(self, test, quick, span, progress)

    def idle(self, time: str | float) -> Drive:
        """The drive after a time without commands: "60s", "5m", or seconds.

        Raises RequestError for what is no time.
        """
        return self._later("idle_ns", time)

    def age(self, time: str | float) -> Drive:
        """The same without power, as on a shelf; raises RequestError where no bits go wrong."""
        checks.time_ns("time", time)
        check_ages(self._model, time)
        return self._later("age_ns", time)

    def _later(self, step: str, time: str | float) -> Drive:
        found = self._like((*self._history, {step: checks.time_ns("time", time)}))
        found._target = self.make().clone()
        let_pass(found._target, found._history[-1])
        return found

    def _after(self, done: running.DoneJobs, jobs: Sequence[Job], until: Steady | None) -> Drive:
        """The drive as jobs left it."""
        step: Step = {"jobs": [job.record() for job in jobs]}
        if until is not None:
            step["until"] = until.record()
        return self._later_by(done, step)

    def _later_by(self, done: running.DoneJobs, step: Step) -> Drive:
        """The drive as what was run left it."""
        after = self._like((*self._history, step))
        after._target = done.target
        return after

    def save(self, path: str | Path) -> None:
        """Writes the drive to a file, which `drivelab.load` reads, here or elsewhere.

        It holds the recipe, not the bytes: the texts of the model, the seed, everything that was
        done to the drive, and what it looks like inside. A trace that was replayed must be where
        it was when it is loaded. Raises RequestError for a place where nothing can be written, and
        for a state that only this program has.
        """
        from drivelab.lab import snapshot

        snapshot.save(self, Path(path))

    def _like(self, history: tuple[Step, ...]) -> Drive:
        # A drive with a history keeps it, and so the state that begins it.
        return self.of_history(self._model, self._seed, history, self._states if history else ())

    @classmethod
    def of_history(
        cls, model: models.Model, seed: int, history: tuple[Step, ...], begun: tuple[State, ...]
    ) -> Drive:
        """A drive to which all this was done, `begun` with these states; not made yet."""
        found = object.__new__(cls)
        found._fill(model, seed, history, begun)
        return found

    def _fill(
        self, model: models.Model, seed: int, history: tuple[Step, ...], begun: tuple[State, ...]
    ) -> None:
        self._model, self._seed, self._history, self._states = model, seed, history, begun
        self._target: EngineTarget | None = None
        self._prepared: dict[State, Drive] = {}
        # Threads that need one drive, as those of a cluster's worker, make it once.
        self._making = threading.Lock()

    def make(self) -> EngineTarget:
        """The engine's drive; what was done to it is done again if it isn't here."""
        with self._making:
            if self._target is None:
                made = partial(making.made, self)
                work = partial(run_alone, f"{self.name}: as it was", made, shown=False)
                self._target = prepared.shared(self, work)
            return self._target

    def make_with(self, progress: TaskProgress) -> EngineTarget:
        """One of its own if there is none here, as a task that one can watch."""
        with self._making:
            if self._target is None:
                self._target = making.made(self, progress, keeping=True)
            return self._target

    def __sizeof__(self) -> int:
        """Bytes of memory, the engine's drive included where it is made: what a scheduler of
        a cluster weighs before it moves work elsewhere."""
        made = 0 if self._target is None else self._model.memory_bytes
        return object.__sizeof__(self) + made

    def __getstate__(self) -> dict[str, Any]:
        model = self._model
        known: dict[str, Any] = {"request": model.request, "overrides": list(model.overrides)}
        # The file of a model that came with a stored drive needn't be anywhere.
        known["texts"] = model.texts.record() if model.is_stored else None
        known |= {"seed": self._seed, "history": self._history, "hash": model.hash}
        return known | {"states": [reference(state) for state in self._states]}

    @property
    def begun(self) -> tuple[State, ...]:
        """The state that begins the history, if one does."""
        return self._states

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        request, texts = state["request"], state["texts"]
        if texts is None:
            model = models.load(request, state["overrides"])
        else:
            model = models.stored(Texts.of_record(texts), request)
        if model.hash != state["hash"]:
            raise RequestError(f'model "{request}": it has changed since this drive was stored')
        begun = tuple(referred(item) for item in state["states"])
        self._fill(model, state["seed"], state["history"], begun)

    def __repr__(self) -> str:
        words = [repr(self.name)]
        if self._model.overrides:
            words.append(repr(dict(self._model.overrides)))
        words.append(f"seed={self._seed}")
        steps = [next(iter(step)).removesuffix("_ns") for step in self._history]
        done = [*(state.name for state in self._states), *steps[len(self._states) :]]
        after = f" after {', '.join(done)}" if done else ""
        return f"<Drive {', '.join(words)}: {bytes_text(self.capacity_bytes)}{after}>"
