"""The states in which drives are measured, and how each is brought about.

A state is a step after another state, or after nothing; so states that share a history share the
work. Steps and their constants are in `steps.py`, the image of the used state in `image.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from drivelab.errors import RequestError, WorkError, nearest
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, NS_PER_S, bytes_text
from drivelab.states import image as layout
from drivelab.states import steps
from drivelab.states.image import ImageCopy, mix_text
from drivelab.states.steps import RANDOM, REPEATING, REST_NS, Fill, Torture
from drivelab.targets import Target
from drivelab.traits import NO_STATE_TRAITS, Origin, StateTraits

__all__ = ["STATES", "ImageCopy", "State", "find", "select"]

SECURE_ERASE = "secure erase"
"""What most states begin with, in their descriptions."""

Seeds = Callable[[str], int]
"""The seed of a state's own step, by the state's name."""


@dataclass(frozen=True)
class State:
    """A state: its name, how people describe it, and the step that leads to it."""

    name: str
    description: str
    step: Callable[[Target, int, TaskProgress], None]
    cost: float
    """How long the step takes, roughly in units of one test; for the progress bar."""
    parent: State | None = None
    """The state that the step starts from; None starts from secure erase."""
    traits: StateTraits = NO_STATE_TRAITS
    """What reports know of it."""
    origin: Origin | None = None
    """Where it comes from; None: with drivelab."""
    trims: bool = False
    """Whether the step is a TRIM: without effect, it is another state by name only."""
    sized: Callable[[int], str] | None = None
    """The description for a drive of so many bytes; None: it is the same for all."""

    @property
    def costly(self) -> bool:
        """Whether a prepared drive is kept and copied; otherwise every test prepares its own."""
        return self.cost >= 1

    @property
    def needs_trim(self) -> bool:
        """Whether TRIM is part of its history."""
        return any(state.trims for state in self.lineage)

    @property
    def lineage(self) -> tuple[State, ...]:
        """This state's ancestors, the oldest first, and itself."""
        return (*(self.parent.lineage if self.parent is not None else ()), self)

    def described(self, erase_method: str, capacity_bytes: int) -> str:
        """The description for a drive of this size, erased like this in a target's own words."""
        description = self.sized(capacity_bytes) if self.sized else self.description
        if erase_method.startswith(SECURE_ERASE):
            return description
        if self.step is _erased:
            return erase_method
        return description.replace(SECURE_ERASE, f"new state ({erase_method})", 1)

    @property
    def label(self) -> str | dict[str, str]:
        """Its name; of a state from elsewhere also what makes it another than one of that name."""
        if self.origin is None:
            return self.name
        return {"name": self.name, **self.origin.record()}

    def prepare(self, target: Target, seeds: Seeds, progress: TaskProgress) -> None:
        """Brings a drive in any condition into this state; raises WorkError as `advance`."""
        for state, part in self.walk(progress):
            state.advance(target, seeds, part)

    def walk(self, progress: TaskProgress) -> Iterator[tuple[State, TaskProgress]]:
        """The states on the way here, each with its share of the progress, which is done once the
        next one is asked for."""
        whole = sum(state.cost for state in self.lineage)
        for state in self.lineage:
            part = TaskProgress(state.name)
            progress.follow(part, state.cost / whole)
            yield state, part
            part.finish()

    def advance(self, target: Target, seeds: Seeds, progress: TaskProgress) -> None:
        """Brings a drive in the parent state (in any condition, without a parent) into this one.

        Raises WorkError for a drive whose life ends on the way: what it refused isn't there. What a
        step of one's own leaves is its state, whatever was refused: it may be there for just that.
        """
        if self.parent is None:
            target.secure_erase()
        before = target.counters()
        self.step(target, seeds(self.name), progress)
        after = target.counters()
        if self.origin is None and steps.refused(before, after):
            written = bytes_text(int(after["host_write_bytes"]))
            # Who asked for `filled` never heard of the pass that it begins with.
            others = "" if self.description else ", the pass that others begin with,"
            raise WorkError(
                f'state "{self.name}"{others} isn\'t reached: the drive refused or failed '
                "commands of its preparation, as one that only reads any more when too few blocks "
                f"are left that work; {written} were written since it was made"
            )


def _erased(target: Target, seed: int, progress: TaskProgress) -> None:
    """Nothing to do: secure erase has been done."""


def _settled(target: Target, seed: int, progress: TaskProgress) -> None:
    steps.settle(target, progress)


def _written(data: str) -> State:
    """The pass that other states start from, before anything rests: a state without tests."""

    def step(target: Target, seed: int, progress: TaskProgress) -> None:
        steps.fill(target, seed, progress, 1.0, Fill(data))

    return State(f"written-{data}", "", step, 2.0)


def _copied(target: Target, seed: int, progress: TaskProgress) -> None:
    steps.copy_image(target, seed, progress, 1.0, layout.IMAGE)
    steps.settle(target, progress)


def _trimmed(target: Target, seed: int, progress: TaskProgress) -> None:
    steps.trim(target, seed, progress, 1.0)
    steps.settle(target, progress)


def _tortured(minutes: int, data: str) -> Callable[[Target, int, TaskProgress], None]:
    def step(target: Target, seed: int, progress: TaskProgress) -> None:
        steps.torture(target, seed, progress, 1.0, Torture(data, minutes))
        steps.settle(target, progress)

    return step


def _passed(data: str) -> Callable[[Target, int, TaskProgress], None]:
    def step(target: Target, seed: int, progress: TaskProgress) -> None:
        steps.fill(target, seed, progress, 1.0, Fill(data))
        steps.settle(target, progress)

    return step


def _pass_text(data: str) -> str:
    fill = Fill()
    return (
        f"one sequential pass over all logical blocks with {fill.write_bytes // KIB} KiB writes "
        f"of {data} data"
    )


REST_TEXT = f"flush and {REST_NS // NS_PER_S} s of idle time"
"""What every state ends with, in descriptions."""


def _used_text(image_bytes: int) -> str:
    image = layout.IMAGE
    return (
        f"{SECURE_ERASE}, {_pass_text(REPEATING)}, then the sector-by-sector copy of a file-system "
        f"image of {bytes_text(image_bytes)} (synthetic; ascending extents, by bytes: "
        f"{mix_text(image)}; packed from the start of the drive, {image.density * 100:.0f} % used "
        f"there, with free gaps between extents; writes of at most "
        f"{image.write_bytes // KIB} KiB; {image.data} data), {REST_TEXT}"
    )


def _trimmed_state(name: str, before: State, order: int, words: str = "") -> State:
    """What TRIM makes of a state."""
    return State(
        name,
        f"{before.name}, then TRIM of all logical blocks{words}, {REST_TEXT}",
        _trimmed,
        1.0,
        before,
        # A second TRIM is told by its tests alone.
        StateTraits(order=order, colour="other")
        if before.trims
        else StateTraits(
            order=order, colour="trimmed", restores=before.name, by="TRIM of everything"
        ),
        trims=True,
    )


def _family(name: str, minutes: int, data: str, written: State, order: int) -> tuple[State, ...]:
    """A tortured state, and what TRIM and a sequential pass make of it."""
    torture = Torture(data, minutes)
    tortured = State(
        name,
        f"{SECURE_ERASE}, {_pass_text(data)}, then {torture.write_bytes // KIB} KiB random writes "
        f"of {data} data over all of them at queue depth {torture.queue_depth} for {minutes} "
        f"minutes, {REST_TEXT}",
        _tortured(minutes, data),
        minutes / 5,
        written,
        StateTraits(order=order, colour="tortured"),
    )
    trimmed = _trimmed_state(f"{name}-trimmed", tortured, order + 10)
    twice = _trimmed_state(f"{name}-trimmed-twice", trimmed, order + 20, " again")
    passed = State(
        f"{name}-pass",
        f"{name}, then {_pass_text(data)}, {REST_TEXT}",
        _passed(data),
        2.0,
        tortured,
        StateTraits(order=order + 30, colour="passed", restores=name, by="One sequential pass"),
    )
    return (tortured, trimmed, twice, passed)


_WRITTEN, _WRITTEN_RANDOM = _written(REPEATING), _written(RANDOM)
_NEW = State(
    "new",
    f"{SECURE_ERASE}: no logical block written",
    _erased,
    0.05,
    traits=StateTraits(order=0, colour="new", role="new"),
)
_USED = State(
    "used",
    _used_text(layout.IMAGE.image_bytes),
    _copied,
    2.0,
    _WRITTEN,
    StateTraits(order=300, colour="used", role="used"),
    sized=lambda capacity_bytes: _used_text(layout.IMAGE.bytes_on(capacity_bytes)),
)


def _filled(name: str, data: str, written: State, order: int) -> State:
    """A drive that was written once, in order: as good as new, and with something to read."""
    text = f"{SECURE_ERASE}, {_pass_text(data)}, {REST_TEXT}"
    return State(name, text, _settled, 1.0, written, StateTraits(order=order, role="filled"))


STATES = {
    state.name: state
    for state in (
        _NEW,
        _filled("filled", REPEATING, _WRITTEN, 100),
        _filled("filled-random", RANDOM, _WRITTEN_RANDOM, 200),
        _USED,
        _trimmed_state("used-trimmed", _USED, 310),
        *_family("tortured", 20, REPEATING, _WRITTEN, 400),
        *_family("tortured-random-20min", 20, RANDOM, _WRITTEN_RANDOM, 500),
        *_family("tortured-random", 60, RANDOM, _WRITTEN_RANDOM, 600),
    )
}
"""Every state that tests run in, in the order of reports."""


def find(
    name: str, option: str = "--state", known: Mapping[str, State] = MappingProxyType(STATES)
) -> State:
    """The state of this name among those that are known; raises RequestError."""
    if name not in known:
        raise RequestError(
            f'{option} "{name}" is unknown{nearest(name, known)} Allowed: {", ".join(known)}.'
        )
    return known[name]


def select(
    names: Sequence[str], known: Mapping[str, State] = MappingProxyType(STATES)
) -> list[State]:
    """The states of these names, in the order of reports; raises RequestError."""
    wanted = {find(name, "--states", known).name for name in names}
    return [state for state in known.values() if state.name in wanted]


def parts(states: Sequence[State]) -> list[State]:
    """All states that must be passed through to reach these, parents first, each once."""
    return [*dict.fromkeys(part for state in states for part in state.lineage)]
