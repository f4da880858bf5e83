"""Tests of a review that failed, or were left out because their state did: the rest goes on.

They are `failed[]` of results.json: what can be told of them without the error itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from drivelab.errors import RequestError, WorkError

if TYPE_CHECKING:  # Commands that print failures of others load nothing of the laboratory.
    from drivelab.procedures import Procedure
    from drivelab.states import State

Record = dict[str, Any]
TEST, STATE = "test", "state"


@dataclass(frozen=True)
class Reason:
    """Why a test has no result, in words: an error itself would hold the drives of its frames."""

    cause: str
    """TEST or STATE."""
    text: str
    is_request: bool
    """Whether it was a request that was wrong."""

    @classmethod
    def of(cls, cause: str, name: str, error: RequestError | WorkError) -> Reason:
        """What ended a test or a state of this name."""
        said, head = " ".join(str(error).split()), f'{cause} "{name}"'
        # Functions of one's own name themselves, with their file.
        text = said if said.startswith(head) else f"{head}: {said}"
        return cls(cause, text, isinstance(error, RequestError))


class StateError(WorkError):
    """The state of a test couldn't be brought about."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


@dataclass(frozen=True)
class Failure:
    """A test of a drive in a state that has no result."""

    model: str
    state: State
    test: Procedure
    reason: Reason

    def with_seed(self, seed: int) -> Failure:
        """The same, told as that of one repeat of several."""
        return replace(self, reason=replace(self.reason, text=seeded(self.reason.text, seed)))

    def record(self) -> Record:
        """As in results.json."""
        return {
            "model": self.model,
            "state": self.state.name,
            "id": self.test.id,
            "title": self.test.title,
            "group": self.test.group,
            "cause": self.reason.cause,
            "reason": self.reason.text,
        }


def seeded(reason: str, seed: int) -> str:
    """A reason with the seed of the repeat that it ended."""
    return f"{reason} (seed {seed})"


def sentences(failed: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each reason of a drive, from the records of what failed."""
    together: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for record in failed:
        key = record["model"], record["cause"], record["reason"]
        together.setdefault(key, []).append(record)
    lines = []
    for (model, cause, reason), records in together.items():
        states = ", ".join(dict.fromkeys(record["state"] for record in records))
        tests = ", ".join(dict.fromkeys(record["id"] for record in records))
        what = f"failed in {states}" if cause == TEST else f"left out in {states}: {tests}"
        lines.append(f"{model}: {what}: {reason}")
    return lines


Judge = Callable[[Sequence[Record], Sequence[Failure]], None]
"""Is told of a review's records of tests and of its failures, and may end it."""


def check_some_left(tests: Sequence[Record], failures: Sequence[Failure]) -> None:
    """Raises what a review ends with that has no result at all, if that is because of failures."""
    if failures and not tests:
        wrong = all(failure.reason.is_request for failure in failures)
        text = "\n".join(sentences(failure.record() for failure in failures))
        raise (RequestError if wrong else WorkError)(text)


def check_none(results: Mapping[str, Any]) -> None:
    """Raises WorkError at the end of a review, with its results written, if tests have none."""
    failed, finished = len(results.get("failed", ())), len(results["tests"])
    if failed:
        raise WorkError(
            f"{failed} of {failed + finished} tests have no result, as told above; the others are "
            "kept"
        )
