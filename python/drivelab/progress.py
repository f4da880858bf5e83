"""How far the work is, and how it is stopped: read by the terminal, written by worker threads."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    FIRST_EXCEPTION,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from drivelab import interruption
from drivelab.quantities import time_text

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")


class StageProgress(Protocol):
    """The engine's view of one call: `_engine.Progress`."""

    @property
    def fraction(self) -> float:
        """0 to 1."""

    def cancel(self) -> None:
        """Makes the call end soon."""


class TaskProgress:
    """Progress of a task made of several engine calls, each a share of the whole."""

    def __init__(self, label: str, weight: float = 1.0, *, is_test: bool = False) -> None:
        self.label = label
        self.weight = weight
        self.is_test = is_test
        """Whether it is counted where tests are; what prepares them isn't."""
        self.started = False
        self._done = 0.0
        self._share = 0.0
        self._stage: StageProgress | None = None
        self._cancelled = False
        self._parts: list[tuple[TaskProgress, float]] = []
        self._lock = threading.Lock()

    @property
    def fraction(self) -> float:
        """Share of the task that is done, 0 to 1."""
        stage = self._stage
        running = stage.fraction * self._share if stage is not None else 0.0
        parts = sum(part.fraction * share for part, share in self._parts)
        return min(1.0, self._done + running + parts)

    def follow(self, part: TaskProgress, share: float) -> None:
        """Counts another progress as `share` (0 to 1) of this one; cancelling reaches it too."""
        with self._lock:
            self.started = True
            self._parts.append((part, share))
            if self._cancelled:
                part.cancel()

    @contextmanager
    def stage(self, share: float, engine: StageProgress) -> Iterator[None]:
        """One engine call that is `share` (0 to 1) of the task."""
        with self._lock:
            self.started = True
            self._stage, self._share = engine, share
            if self._cancelled:
                engine.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._stage = None
                self._done += share

    def add(self, share: float) -> None:
        """A part of the task that is nobody's call here is done: 0 to 1 of the whole."""
        with self._lock:
            self.started = True
            self._done += share

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked the task to end."""
        return self._cancelled

    def finish(self) -> None:
        """Marks the whole task as done."""
        self._done = 1.0

    def cancel(self) -> None:
        """Makes the running and every later engine call of the task end soon."""
        with self._lock:
            self._cancelled = True
            for part, _ in self._parts:
                part.cancel()
            if self._stage is not None:
                self._stage.cancel()


class NotebookLine:
    """A line below a notebook's cell that says how far the work is, in place of a bar.

    Work that is done in a moment shows none.
    """

    def __init__(self, display: Any) -> None:
        self._display = display
        """IPython's `display`."""
        self._handle: Any = None
        self._next_s = NOTEBOOK_FIRST_S

    def show(self, text: str, seconds: float) -> None:
        """Writes the line anew, a few times a second."""
        if seconds < self._next_s:
            return
        self._next_s = seconds + NOTEBOOK_LINE_S
        self._write(text)

    def end(self, seconds: float) -> None:
        """Says how long it took, unless that was a moment: who waited is told, whoever else ran."""
        if self._handle is not None or seconds >= NOTEBOOK_FIRST_S:
            self._write(f"took {time_text(seconds)}")

    def _write(self, text: str) -> None:
        content = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def notebook_display() -> Any:
    """IPython's `display` in the kernel of a notebook; None elsewhere, as in IPython's terminal."""
    # Nobody's program imports IPython for this: in a kernel it is there already.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is None or getattr(shell, "kernel", None) is None:
        return None
    return ipython.display.display


NOTEBOOK_FIRST_S, NOTEBOOK_LINE_S = 0.5, 0.3
"""When a notebook shows how far work is for the first time, and how often from then on."""
FIRST_LINE_S, LINE_S = 20.0, 60.0
"""When a log hears of work for the first time, and how often from then on."""


Heard = Callable[[float, Sequence[str]], None]
"""Is told some times a second what share is done, 0 to 1, and in words what is under way."""


class Bar:
    """One bar with the remaining time on standard error, for all tasks together.

    What isn't a terminal gets a line now and then, of work that takes longer; a notebook one that
    changes in its place.
    """

    def __init__(self, total_weight: float, shown: bool = True, heard: Heard | None = None) -> None:
        self._heard = heard
        self._total = max(total_weight, 1e-9)
        self._watch = Stopwatch()
        display = notebook_display() if shown else None
        self._notebook = None if display is None else NotebookLine(display)
        self._terminal = _terminal_bar() if shown else None
        is_log = shown and self._terminal is None and display is None
        self._line_s = FIRST_LINE_S if is_log else float("inf")

    def __enter__(self) -> Bar:
        if self._terminal is not None:
            self._terminal.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal is not None:
            self._terminal.stop()
        if self._notebook is not None:
            self._notebook.end(self._watch.seconds())

    def show(self, tasks: list[TaskProgress]) -> None:
        """Redraws from the state of all tasks."""
        # Tasks that share the whole between them are all done at its end.
        done = min(1.0, sum(task.fraction * task.weight for task in tasks) / self._total)
        running = [task.label for task in tasks if task.started and task.fraction < 1]
        counted = _tests_text(tasks)
        words = [*([counted] if counted else []), *running[:2]]
        if self._terminal is not None:
            (bar,) = self._terminal.task_ids
            self._terminal.update(bar, completed=done, description=" | ".join(words))
        if self._heard is not None:
            self._heard(done, words)
        seconds = self._watch.seconds()
        if self._notebook is not None:
            words = [_line(done, seconds, counted).removeprefix("drivelab: "), *running[:2]]
            self._notebook.show(" | ".join(words), seconds)
        if seconds >= self._line_s:
            self._line_s = seconds + LINE_S
            # In one piece: functions of one's own print on other threads.
            sys.stderr.write(f"{_line(done, seconds, counted)}\n")
            sys.stderr.flush()


def _terminal_bar() -> Progress | None:
    """The bar on standard error, with the remaining time; None if that is no terminal."""
    # Takes a while to load, which processes that show nothing don't need.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        return None
    bar = Progress(
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", style="dim"),
        console=console,
        transient=True,
        refresh_per_second=5,
        # A review's parts differ in speed: the remaining time looks back over most of it.
        speed_estimate_period=600,
    )
    bar.add_task("", total=1.0)
    return bar


def _tests_text(tasks: Sequence[TaskProgress]) -> str:
    """How many tests are done; nothing where there are none."""
    tests = [task for task in tasks if task.is_test]
    done = sum(task.fraction >= 1 for task in tests)
    return f"{done} of {len(tests)} tests" if tests else ""


def _line(done: float, seconds: float, counted: str) -> str:
    """How far the work is, for a log.

    >>> _line(0.25, 60.0, "3 of 12 tests")
    'drivelab: 25 % done, 3 of 12 tests; about 3 min left'
    """
    left = f"; {time_text(seconds * (1 - done) / done)} left" if done > 0.01 else ""
    return f"drivelab: {100 * done:.0f} % done{counted and ', ' + counted}{left}"


@contextmanager
def patience(label: str, after_s: float = 2.0) -> Iterator[None]:
    """Shows on a terminal that work of unknown length is under way, once it takes so long."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr)
    shown = Progress(
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        TextColumn("{task.description}", style="dim"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    shown.add_task(label, total=None)
    timer = threading.Timer(after_s, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        shown.stop()


class Crew:
    """Worker threads, watched, and stopped together on Ctrl-C or the first failure."""

    def __init__(self, workers: int, bar: Bar) -> None:
        self._pool = ThreadPoolExecutor(max_workers=workers)
        self._bar = bar
        self.tasks: list[TaskProgress] = []
        self._running: set[Future[object]] = set()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for task in self.tasks:
                task.cancel()
        self._pool.shutdown(wait=True, cancel_futures=kind is not None)

    def submit(self, task: TaskProgress, work: Callable[[TaskProgress], T]) -> Future[T]:
        """Queues work; it is handed its own progress."""

        def run() -> T:
            result = work(task)
            task.finish()
            return result

        if task not in self.tasks:
            self.tasks.append(task)
        future = self._pool.submit(run)
        self._running.add(future)  # type: ignore[arg-type]
        return future

    def finished(self, futures: Collection[Future[T]]) -> set[Future[T]]:
        """Waits until at least one of these is done, or failed; the bar goes on meanwhile."""
        while True:
            done, _ = wait(futures, timeout=0.2, return_when=FIRST_COMPLETED)
            interruption.check()
            self._bar.show(self.tasks)
            if done or not futures:
                self._running -= done
                return done

    def wait(self, *futures: Future[T]) -> list[T]:
        """Results of these futures, in order; raises the first failure of any task at once."""
        while not all(future.done() for future in futures):
            finished, _ = wait(self._running, timeout=0.2, return_when=FIRST_EXCEPTION)
            interruption.check()
            for future in finished:
                self._running.discard(future)
                future.result()
            self._bar.show(self.tasks)
        return [future.result() for future in futures]


def run_alone(label: str, work: Callable[[TaskProgress], T], shown: bool = True) -> T:
    """Runs one task in a thread of its own with a bar, so that Ctrl-C is answered at once."""
    task = TaskProgress(label)
    with Bar(task.weight, shown) as bar, Crew(1, bar) as crew:
        return crew.wait(crew.submit(task, work))[0]


class Stopwatch:
    """Wall-clock seconds since it was made; for fields named `wall_...` only."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Seconds so far, to the millisecond."""
        return round(time.perf_counter() - self._start, 3)
