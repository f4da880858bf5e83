"""Tests and states of one's own: functions that become what a review runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any, TypeVar

from drivelab import asides, plugins
from drivelab.errors import RequestError, WorkError, nearest
from drivelab.lab import checks
from drivelab.lab.bench import Bench
from drivelab.procedures.measured import Chart, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.progress import TaskProgress
from drivelab.states import REST_TEXT, SECURE_ERASE, STATES, State, steps
from drivelab.targets import Target
from drivelab.traits import COLOURS, Colour, Origin, StateTraits, TestTraits

Finding = Value | Table | Chart | str
"""What a test of one's own brings: numbers, tables, charts of these, notes."""
TestFunction = Callable[[Bench], Finding | Iterable[Finding]]
StateFunction = Callable[[Bench], None]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class OwnTest(Procedure):
    """A test that is a function."""

    function: TestFunction

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes: nobody knows."""
        return 1.0

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Calls the function with a drive that is in the wanted state; raises WorkError, and
        RequestError if the function does."""
        what = f'test "{self.id}"'
        assert self.origin is not None
        bench = Bench(target, seed, quick, progress)
        # What a generator does, it does when it is read.
        found = _called(what, self.origin, lambda: _whole(self.function(bench)))
        try:
            measured = _measured(found)
            measured.found()
        except ValueError as error:
            raise WorkError(f"{what} ({self.origin.place}): {error}") from None
        return measured


@dataclass(frozen=True)
class OwnStep:
    """The step of a state that is a function; then the drive rests, as after every state."""

    name: str
    function: StateFunction
    origin: Origin

    @property
    def module(self) -> str:
        """Where the function is, for processes that look for it."""
        return self.function.__module__

    def __call__(self, target: Target, seed: int, progress: TaskProgress) -> None:
        """Calls the function with a drive in the state before; raises WorkError, and RequestError
        if the function does."""
        bench = Bench(target, seed, False, progress)
        _called(f'state "{self.name}"', self.origin, lambda: self.function(bench))
        steps.settle(target, progress)


@checks.keywords
@checks.in_parentheses('@dl.test(group="...")')
def test(
    *,
    group: str,
    name: str | None = None,
    title: str | None = None,
    states: Iterable[str | State] = ("new", "used"),
    default: bool = False,
    shown: bool = False,
) -> Callable[[TestFunction], OwnTest]:
    """Makes a test of a function, for `drivelab review --plugin FILE.py`, or of a package.

    >>> @test(group="mine", states=["filled"])
    ... def small_reads(bench):
    ...     "Reads of 1 KiB at eight places at once."
    ...     done = bench.run(Job(rw="randread", bs="1k", iodepth=8, runtime="10s"))
    ...     return Value("iops", "Reads", done.summary["iops"].item(), "IOPS", "higher")
    >>> small_reads.id
    'small-reads'

    The function gets a `Bench` and returns what it found: a `Value` or several, `Table`s, `Chart`s
    of their columns, and notes as text. `name` is by default that of the function, `title` the
    first line of its docstring. `states` are those that it is run in unless others are asked for.
    `default`: a review runs it without being asked for it. `shown`: the rankings of many drives
    show it at once. Raises RequestError for what can't be.
    """

    if title is not None:
        checks.text("title", title)
    checks.switch("default", default)
    checks.switch("shown", shown)

    def decorate(function: TestFunction) -> OwnTest:
        own = _name("test", name, function)
        return OwnTest(
            id=own,
            title=title or _docstring("test", own, function).splitlines()[0].rstrip("."),
            group=_group(group),
            states=tuple(
                item.name if isinstance(item, State) else item for item in _listed(states)
            ),
            default_for=("flash", "disk") if default else (),
            traits=TestTraits(open=shown),
            origin=_origin(function),
            function=function,
        )

    return decorate


@checks.keywords
@checks.in_parentheses("@dl.state()")
def state(
    *,
    after: str | State | None = None,
    name: str | None = None,
    order: float | None = None,
    colour: Colour = "other",
    restored_by: str = "",
    trims: bool = False,
) -> Callable[[StateFunction], State]:
    """Makes a state of a function that brings a drive there.

    >>> @state(after="used", restored_by="Ten minutes of rest")
    ... def rested(bench):
    ...     "Ten minutes without commands."
    ...     bench.idle("10m")
    >>> rested.description[:45]
    'used, then ten minutes without commands, flus'

    `after` is the state that the function finds the drive in; None: a new one. The docstring says
    what it does. At its end come a flush and 60 s of rest, as in every state. `order` is its place
    in reports (`drivelab list --states --json`), by default right behind `after`. `restored_by`:
    what gives back speed that `after` had lost, as findings begin. `trims`: it is a TRIM, and
    nothing on drives that ignore those. Raises RequestError for what can't be.
    """
    parent = _parent(after)
    if restored_by and parent is None:
        raise RequestError(f"restored_by = {restored_by!r}: needs after=..., which it restores")
    if colour not in COLOURS:
        raise RequestError(f"colour = {colour!r}: allowed: {', '.join(COLOURS)}")
    place = _place(order, parent)

    def decorate(function: StateFunction) -> State:
        own, origin = _name("state", name, function), _origin(function)
        text = " ".join(_docstring("state", own, function).split("\n\n")[0].split()).rstrip(".")
        before = SECURE_ERASE if parent is None else parent.name
        traits = StateTraits(order=place, colour=colour)
        if parent is not None and restored_by:
            traits = replace(traits, restores=parent.name, by=restored_by)
        return State(
            own,
            f"{before}, then {_lower(text)}, {REST_TEXT}",
            OwnStep(own, function, origin),
            1.0,
            parent,
            traits,
            origin,
            trims,
        )

    return decorate


def _place(order: float | None, parent: State | None) -> float:
    if order is None:
        return 1.0 if parent is None else float(parent.traits.order + 1)
    place: Any = checks.plain(order)
    known = isinstance(place, int | float) and not isinstance(place, bool)
    if not known or not math.isfinite(place):
        raise RequestError(f"order = {order!r}: allowed: finite numbers")
    return float(place)


def _parent(after: str | State | None) -> State | None:
    if after is None or isinstance(after, State):
        return after
    if checks.text("after", after) not in STATES:
        hint = nearest(str(after), STATES)
        raise RequestError(f'after = "{after}": unknown{hint} Give one of your own as it is.')
    return STATES[after]


def _name(word: str, name: str | None, function: Callable[..., object]) -> str:
    own = function.__name__.replace("_", "-") if name is None else checks.text("name", name)
    letters = own.replace("-", "")
    if not (letters.isascii() and letters.isalnum() and own == own.lower()):
        raise RequestError(f'{word} "{own}": allowed in names: lower-case letters, digits, dashes')
    return own


def _group(group: str) -> str:
    words = checks.text("group", group).strip()
    if "," in words or not words:
        raise RequestError(f"group = {group!r}: allowed: words such as {'my tests'!r}")
    return words.lower()


def _listed(states: object) -> list[str | State]:
    several = list(states) if isinstance(states, Iterable) else []
    found: list[str | State] = [states] if isinstance(states, str) else several
    if not found or not all(isinstance(item, str | State) for item in found):
        raise RequestError(f"states = {states!r}: allowed: names of states, or states of your own")
    return found


def _docstring(word: str, own: str, function: Callable[..., object]) -> str:
    text = (function.__doc__ or "").strip()
    if not text:
        raise RequestError(f'{word} "{own}": needs a docstring that says what it does')
    return text


def _lower(text: str) -> str:
    """A sentence as a part of one; a name in capitals stays one."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _origin(function: Callable[..., object]) -> Origin:
    """The distribution that a function's module is part of, or its file."""
    file = function.__code__.co_filename if hasattr(function, "__code__") else "?"
    package = function.__module__.partition(".")[0]
    owner = packages_distributions().get(package, [None])[0] if package != "__main__" else None
    place = Path(file).name if owner is None else f"{owner} {version(owner)}"
    return plugins.origin_of(file, place)


def _called(what: str, origin: Origin, work: Callable[[], T]) -> T:
    """Calls a function of somebody else's; what goes wrong in it becomes one line.

    Whoever asked for the test didn't write what it asks for: a job that can't be is a defect of its
    file, as any other. Only what the function refuses itself is the request's.
    """
    try:
        with asides.aside():
            return work()
    except WorkError:
        raise
    except (Exception, SystemExit) as error:
        file = Path(origin.file).name
        place = origin.place if origin.place == file else f"{origin.place}, {file}"
        refused = isinstance(error, RequestError) and plugins.raised_in(error, origin.file)
        text = f"{what} ({place}): {plugins.failure_text(error, origin.file)}"
        raise (RequestError if refused else WorkError)(text) from error


def _whole(found: object) -> object:
    return list(found) if isinstance(found, Iterator) else found


def _measured(found: object) -> Measured:
    items = [found] if isinstance(found, Finding) else found
    if isinstance(items, Mapping) or not isinstance(items, Iterable):
        raise ValueError(
            f"it returned {checks.shown(found)}; allowed: values, tables, charts, notes"
        )
    values: list[Value] = []
    tables: list[Table] = []
    charts: list[Chart] = []
    notes: list[str] = []
    for item in items:
        if isinstance(item, Value):
            if item.name in [value.name for value in values]:
                raise ValueError(f'value "{item.name}": there are two of this name')
            values.append(item)
        elif isinstance(item, Table):
            if item.name in [table.name for table in tables]:
                raise ValueError(f'table "{item.name}": there are two of this name')
            tables.append(item)
        elif isinstance(item, Chart):
            charts.append(item)
        elif isinstance(item, str):
            if not checks.is_written(item):
                raise ValueError(f"it returned {checks.shown(item)}, which is no text of Unicode")
            notes.append(item)
        else:
            raise ValueError(
                f"it returned {checks.shown(item)}; allowed: values, tables, charts, notes"
            )
    for chart in charts:
        if chart.table not in [table.name for table in tables]:
            raise ValueError(
                f'chart "{chart.title}": there is no table of this name: {chart.table}'
            )
    return Measured(
        values=tuple(values), tables=tuple(tables), charts=tuple(charts), notes=tuple(notes)
    )
