"""A drive that is watched: it lives in a thread of its own, works at a chosen speed, does what it
is told, and shows itself whenever its viewer is ready for another frame.

A viewer who is slow gets fewer frames: one is made when the last one was taken, and shows what is
true then. What is kept for a viewer doesn't grow.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from drivelab import _engine
from drivelab.errors import RequestError, WorkError
from drivelab.lab.job import Job
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S, derive_seed
from drivelab.targets import EngineTarget
from drivelab.targets.engine import engine_errors
from drivelab.targets.going import FOR_EVER_NS, EngineRun
from drivelab.targets.kept import KeptTarget
from drivelab.web import watch_choice, watch_power
from drivelab.web.watch_choice import Choice
from drivelab.web.watch_frames import Frames
from drivelab.web.watch_preparing import prepared
from drivelab.web.watch_viewer import Send, Viewed

FRAME_S = 1 / 30
"""Between two frames at least."""
NUMBERS_S = 0.1
"""Between two frames at least that have numbers beside the blocks: to count them takes as long."""
SPAN_S = 1.0
"""Over which numbers count that are read; where a drive stands still, until then."""
FIRST_SPAN_S = 0.3
"""The first of another workload: who asked for it waits."""
FRAMES_SHARE = 0.1
"""Of the drive's thread that frames may take: one that is dear, as of a drive that merges, which
counts valid pages one by one, comes more rarely."""
SLICE_S = 1 / 60
"""Of real time that the engine works before it looks for commands."""
UNSEEN_S = 10.0
"""A drive whose viewer takes no frame for so long stands still until it does."""
SPEEDS = (1e-6, 1000.0)
"""Seconds of the drive per second of the viewer: least and most. None is as fast as it goes."""
IDLE_SPEED = 100.0
"""How fast time passes without a workload, where no speed is asked for."""
COMMANDS_MAX = 64
"""That wait: more are refused."""
_FIRST_RATE = 1e6
_GROWTH = 4.0
_KINDS = ("play", "pause", "step", "speed", "workload", "trim", "erase", "cut", "on")
_NEED_POWER = ("block", "step", "trim", "erase", "cut")
NO_POWER_CUT = (
    "this drive keeps nothing that a recovery would read, which takes memory and time; one that is "
    'begun with power = "cuts" does'
)
NO_POWER = "the power is off"


class Watched(Viewed):
    """A drive under watch, and at work."""

    def __init__(
        self,
        choice: Choice,
        send: Send,
        workload: str = "random-writes",
        speed: object = 1.0,
    ) -> None:
        """Raises RequestError for a workload or a speed that can't be."""
        super().__init__(send, "watched drive")
        self._choice = choice
        self._workload = workload
        self._jobs = watch_choice.workload(workload, choice.fill_percent)
        self._preparing = TaskProgress("prepare")
        self._commands: queue.Queue[dict[str, Any]] = queue.Queue(COMMANDS_MAX)
        self._taken_at = time.perf_counter()
        self._speed = _speed(speed)
        self._paused = False

    def close(self) -> None:
        """Ends the drive, soon: what prepares it, too."""
        self._preparing.cancel()
        super().close()

    def obey(self, asked: Mapping[str, Any]) -> None:
        """Takes a command; raises RequestError for one that can't be, and then nothing happens."""
        command = self._checked(asked)
        try:
            self._commands.put_nowait(command)
        except queue.Full:
            raise RequestError(f"{COMMANDS_MAX} commands wait already: try again") from None
        self._wake.set()

    def _checked(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        kind = asked.get("do")
        if kind == "block":
            return {"do": kind} | watch_choice.place(asked)
        kind = watch_choice.one_of("do", kind, _KINDS)
        if kind == "speed":
            watch_choice.known(asked, ("do", "speed"))
            return {"do": kind, "speed": _speed(asked.get("speed"))}
        if kind == "step":
            watch_choice.known(asked, ("do", "seconds"))
            seconds = watch_choice.number("seconds", asked.get("seconds"), 1e-6, 10.0)
            return {"do": kind, "seconds": seconds}
        if kind == "workload":
            watch_choice.known(asked, ("do", "name"))
            name = asked.get("name")
            jobs = watch_choice.workload(name, self._choice.fill_percent)
            return {"do": kind, "name": name, "jobs": jobs}
        if kind == "trim":
            return self._checked_trim(asked)
        watch_choice.known(asked, ("do",))
        if kind in ("cut", "on") and self._choice.power == watch_choice.STEADY:
            raise RequestError(f"{kind}: {NO_POWER_CUT}")
        return {"do": kind}

    def _checked_trim(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        watch_choice.known(asked, ("do", "from_percent", "to_percent"))
        if not self._choice.drive.model.takes_trim:
            raise RequestError(f"trim: {self._choice.drive.name} takes no TRIM: it has no effect")
        first = watch_choice.number("from_percent", asked.get("from_percent", 0), 0, 100)
        last = watch_choice.number("to_percent", asked.get("to_percent", 100), 0, 100)
        if first >= last:
            raise RequestError(f"to_percent = {last:g}: allowed: more than {first:g}")
        job = Job(rw="trim", bs="32m", offset=f"{first:g}%", size=f"{last - first:g}%")
        return {"do": "trim", "job": job}

    def _live(self) -> None:
        try:
            target = self._prepared()
            if target is not None:
                _Stage(self, target).play()
        except (RequestError, WorkError) as error:
            self._fail(str(error))
        except BaseException:
            self._send({"failed": "the drive has ended by a defect; its server's output says more"})
            raise
        finally:
            self._closed.set()

    def _prepared(self) -> EngineTarget | None:
        """The drive in its state; tells the viewer how far that is. None if nobody waits."""
        done = threading.Event()
        made: list[EngineTarget] = []
        failures: list[Exception] = []

        def work() -> None:
            try:
                made.append(prepared(self._choice, self._preparing))
            except (RequestError, WorkError) as error:
                failures.append(error)
            finally:
                done.set()

        threading.Thread(target=work, name="preparing a drive", daemon=True).start()
        while not done.wait(0.1):
            if not self._closed.is_set():
                self._send({"preparing": round(self._preparing.fraction, 3)})
        if self._closed.is_set():
            return None
        if failures:
            raise failures[0]
        return made[0]


def _speed(asked: object) -> float | None:
    """Of a page; None is as fast as it goes. Raises RequestError."""
    return None if asked is None else watch_choice.number("speed", asked, *SPEEDS)


class _Stage:
    """The drive at work, in its thread."""

    def __init__(self, watched: Watched, target: EngineTarget) -> None:
        self._watched = watched
        self._target = target
        self._frames = Frames(target)
        self._run: EngineRun | None = None
        self._begun = 0
        self._cut: watch_power.Cut | None = None
        """The power is off since then."""
        self._step_ns = 0
        self._rate = _FIRST_RATE
        """Nanoseconds of the drive that the engine does in a second, as it seems now."""
        self._real_s = time.perf_counter()
        self._frame_at = self._numbers_at = self._span_at = 0.0
        self._achieved = 0.0

    def play(self) -> None:
        """Goes on until the drive is closed."""
        own = self._watched
        self._begin(own._jobs)
        own._send({"watching": own._choice.record(), "layout": self._frames.layout()})
        while not own._closed.is_set():
            self._obey()
            worked = self._advance()
            own.now_ns = self._target.now_ns
            self._show()
            if not worked:
                own._wake.wait(0.05)
            own._wake.clear()

    def _begin(self, jobs: Sequence[Job]) -> None:
        """Ends what runs, and begins another workload."""
        if self._run is not None:
            self._run.stop()
            self._run.advance(FOR_EVER_NS, TaskProgress("end"))
            self._frames.latencies.end(self._run)
            self._run = None
        if jobs:
            drive = self._watched._choice.drive
            seed = derive_seed(drive.seed, drive.name, "watch", str(self._begun))
            parts = [
                job.on_drive(self._target.capacity_bytes, seed, place).job
                for place, job in enumerate(jobs)
            ]
            self._run = EngineRun(self._target, parts, log=False, copy=False)
        self._begun += 1
        self._rate = _FIRST_RATE
        self._frames.begin_span(self._run)
        self._span_at = time.perf_counter() + FIRST_SPAN_S

    def _obey(self) -> None:
        own = self._watched
        while True:
            try:
                command = own._commands.get_nowait()
            except queue.Empty:
                return
            kind = command["do"]
            if self._cut is not None and kind in _NEED_POWER:
                own._send({"error": f"{kind}: {NO_POWER}"})
                continue
            told = self._do(command)
            if kind != "block":
                own._send({"did": kind, **self._standing(), **(told or {})})

    def _do(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """Carries a command out; what there is to tell of it."""
        own, kind = self._watched, command["do"]
        if kind == "block":
            own._send(self._block(command))
        elif kind in ("play", "pause"):
            own._paused = kind == "pause"
        elif kind == "step":
            own._paused = True
            if self._cut is None:
                self._step_ns = round(command["seconds"] * NS_PER_S)
        elif kind == "speed":
            own._speed = command["speed"]
        elif kind == "workload":
            own._workload, own._jobs = command["name"], command["jobs"]
            if self._cut is None:
                self._begin(own._jobs)
        elif kind == "trim":
            self._begin(())
            part = command["job"].on_drive(self._target.capacity_bytes, 0, 0).job
            self._target.run([part], TaskProgress("trim"))
            self._begin(own._jobs)
        elif kind == "erase":
            self._begin(())
            self._target.secure_erase()
            self._begin(own._jobs)
        elif kind == "cut":
            return self._lose_power()
        elif kind == "on":
            return self._restore_power()
        return None

    def _lose_power(self) -> dict[str, Any]:
        """The power fails: commands that are under way are never answered."""
        assert isinstance(self._target, KeptTarget)
        # A step that was asked for and not begun ends with the power, too.
        self._run, self._step_ns = None, 0
        self._cut = watch_power.cut(self._target)
        return {"cut": self._cut.record()}

    def _restore_power(self) -> dict[str, Any]:
        """The power comes back; the drive's clock and counters begin anew."""
        if self._cut is None:
            return {}
        assert isinstance(self._target, KeptTarget)
        recovery = watch_power.restored(self._target, self._cut)
        self._cut = None
        self._frames, self._numbers_at = Frames(self._target), 0.0
        self._begin(self._watched._jobs)
        return {"recovery": recovery}

    def _standing(self) -> dict[str, Any]:
        own = self._watched
        return {
            "paused": own._paused,
            "speed": own._speed,
            "workload": own._workload,
            "achieved": self._achieved,
            "is_on": self._cut is None,
        }

    def _block(self, place: dict[str, Any]) -> dict[str, Any]:
        """The pages of a block: the answer to a click."""
        named = {key: place[key] for key in ("member", "die", "block")}
        try:
            with engine_errors():
                pages = _engine.block_pages(self._target.engine, **named)
        except RequestError as error:
            return {"error": str(error)}
        columns = {"states": pages["state"].tolist(), "units": pages["lpn"].tolist()}
        return {"block": named | columns}

    def _advance(self) -> bool:
        """Lets the drive work for a slice of real time; whether there was anything to do."""
        own = self._watched
        now_s = time.perf_counter()
        passed_s = min(now_s - self._real_s, 2 * SLICE_S)
        self._real_s = now_s
        if self._step_ns:
            whole_ns, self._step_ns = self._step_ns, 0
            self._go(whole_ns)
            return True
        unseen = now_s - own._taken_at > UNSEEN_S and not own._wanted.is_set()
        if own._paused or unseen or self._cut is not None:
            return False
        speed = own._speed
        if speed is None and self._run is None:
            speed = IDLE_SPEED
        due_ns = None if speed is None else round(speed * passed_s * NS_PER_S)
        until_s = self._frame_at - now_s if own._wanted.is_set() else SLICE_S
        slice_s = min(SLICE_S, max(SLICE_S / 8, until_s))
        limit_ns = max(1, round(self._rate * slice_s))
        self._go(limit_ns if due_ns is None else max(1, min(due_ns, limit_ns)))
        left_s = slice_s - (time.perf_counter() - now_s)
        if due_ns is not None and due_ns < limit_ns and left_s > 0:
            own._wake.wait(left_s)
        return True

    def _go(self, duration_ns: int) -> None:
        begun_s, until_ns = time.perf_counter(), self._target.now_ns + duration_ns
        if self._run is None:
            self._target.idle(duration_ns)
        else:
            ended = self._run.advance(until_ns, TaskProgress("watch"))
            if ended:
                self._begin(self._watched._jobs)
        seconds = max(time.perf_counter() - begun_s, 1e-6)
        found = duration_ns / seconds
        self._rate = min(found, self._rate * _GROWTH)
        smooth = 0.1
        self._achieved += smooth * (duration_ns / NS_PER_S / max(seconds, SLICE_S) - self._achieved)

    def _show(self) -> None:
        own, now_s = self._watched, time.perf_counter()
        if not own._wanted.is_set() or now_s < self._frame_at:
            return
        own._wanted.clear()
        own._taken_at = now_s
        begun_s = time.thread_time()
        is_anew = own._anew.is_set()
        if is_anew:
            own._anew.clear()
            self._frames.begin_anew()
            own._send({"watching": own._choice.record(), "layout": self._frames.layout()})
        has_numbers = is_anew or now_s >= self._numbers_at
        stands = own._paused or self._cut is not None
        has_span = has_numbers and (is_anew or stands or now_s >= self._span_at)
        if has_numbers:
            self._numbers_at = now_s + NUMBERS_S
        if has_span:
            self._span_at = now_s + SPAN_S
        own._send(self._frames.frame(self._run, self._standing(), has_numbers, has_span))
        cost_s = time.thread_time() - begun_s
        due_s = max(self._frame_at + FRAME_S, now_s + FRAME_S / 2)
        self._frame_at = max(due_s, now_s + cost_s / FRAMES_SHARE)
