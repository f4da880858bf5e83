"""What is reviewed: a model, or a real drive through fio. `find` tells them by their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from drivelab import model as models
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.progress import TaskProgress
from drivelab.states import STATES, State
from drivelab.targets import EngineTarget, Target
from drivelab.targets.fio import PREFIX, RealDrive, Wish, is_real


class Subject(Protocol):
    """What results say about a drive, whatever it is made of."""

    @property
    def name(self) -> str:
        """The name that results go by."""

    @property
    def title(self) -> str:
        """The name that people read."""

    @property
    def hash(self) -> str:
        """64 hexadecimal digits over what is known of it."""

    @property
    def family(self) -> str:
        """A model's mapping scheme, or what kind of drive it is."""

    @property
    def identity(self) -> dict[str, Any]:
        """Family, firmware, price; null where nobody knows."""

    @property
    def is_disk(self) -> bool:
        """Whether it has one state whatever was written before."""

    @property
    def takes_trim(self) -> bool:
        """Whether TRIM has an effect."""

    @property
    def user_capacity_bytes(self) -> int:
        """Bytes that the host can address."""

    @property
    def raw_capacity_bytes(self) -> int | None:
        """Bytes of all flash pages, if they are known."""

    @property
    def memory_bytes(self) -> int:
        """Memory that a drive takes in this process."""

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """Every parameter of a model; none of a real drive."""


def state_on(drive: Subject, state: State) -> State:
    """The state that a drive is in when it is brought into one: a hard disk has one, new."""
    return STATES["new"] if drive.is_disk else state


def state_note(drive: Subject, option: str, states: Iterable[State]) -> str:
    """What becomes of states that a drive hasn't, of those that an option asks for; nothing of
    others."""
    others = [state.name for state in states if state_on(drive, state).name != state.name]
    if not others:
        return ""
    asked = f"{option} {', '.join(others)}"
    disk = "a hard disk"
    if isinstance(drive, RealDrive):
        disk = f"{drive.place.told_by} says that it rotates, and a hard disk"
    return f"{drive.name}: {asked}: {disk} has one state, measured as new"


def find(request: str, overrides: models.Overrides = (), wish: Wish | None = None) -> Subject:
    """The model or real drive of a name; raises RequestError, and WorkError where fio is missing.

    A real drive is checked, not yet touched: see `claimed`.
    """
    if not is_real(request):
        return models.load(request, overrides)
    if overrides:
        key, value = overrides[0]
        said = f"--scale 1/{value}" if key == models.SCALE else f"--set {key}={value}"
        raise RequestError(f"{said}: {request} is a real drive, without parameters")
    return RealDrive(request, wish or Wish())


def check_wish(names: Sequence[str], wish: Wish, plan_only: bool) -> None:
    """Raises RequestError for options of real drives where all names are models, and for a consent
    to the loss of a drive that isn't among them."""
    given = {
        "--size": wish.size,
        "--destroy": wish.destroy,
        "--buffered": wish.buffered,
        "--plan": plan_only,
    }
    used = [option for option, value in given.items() if value]
    real = [name.removeprefix(PREFIX) for name in names if is_real(name)]
    if used and not real:
        raise RequestError(f"{used[0]}: counts for drives fio:... only, not for models")
    for name in wish.destroy:
        if name not in real:
            raise RequestError(
                f'--destroy "{name}": none of the drives has that name; allowed: {", ".join(real)}'
            )


def can_be_copied(subject: Subject) -> bool:
    """Whether tests can start from copies of one prepared drive, at the same time."""
    return isinstance(subject, Model)


@contextmanager
def claimed(subjects: Sequence[Subject]) -> Iterator[None]:
    """Holds real drives while they are measured, and lets go of them whatever happens."""
    with ExitStack() as stack:
        for subject in subjects:
            if isinstance(subject, RealDrive):
                stack.enter_context(subject.claimed())
        yield


def smart_reading(subject: Subject) -> dict[str, Any] | None:
    """What a real drive says of itself now; None where it can't be asked, and of a model."""
    return subject.smart.read() if isinstance(subject, RealDrive) else None


def smart_record(subject: Subject) -> dict[str, Any]:
    """The same as the object `drivelab` of a document has it; nothing for a model."""
    return {"smart": subject.smart.record()} if isinstance(subject, RealDrive) else {}


def smart_remarks(subjects: Sequence[Subject]) -> list[str]:
    """Why real drives told nothing of themselves, those that didn't."""
    real = [subject for subject in subjects if isinstance(subject, RealDrive)]
    found = [(drive.name, drive.smart.remark) for drive in real]
    return [f"{name}: {remark}" for name, remark in found if remark is not None]


def open_target(subject: Subject, seed: int, progress: TaskProgress) -> Target:
    """A new drive of a model, or the real drive; cancelling `progress` ends its waiting."""
    if isinstance(subject, RealDrive):
        return subject.target(progress)
    assert isinstance(subject, Model)
    return EngineTarget(subject, seed)
