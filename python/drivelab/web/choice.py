"""What an address of Compare asks for, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from drivelab import procedures, states
from drivelab.comparison.selection import Selection
from drivelab.comparison.sides import SIDES_MAX
from drivelab.errors import RequestError, nearest
from drivelab.web.library import LENGTHS, RUN_MARK, Kind
from drivelab.web.order import SCALE_MAX

Record = Mapping[str, Any]
PARTS = ("drive", "kind", "test", "state", "force")
SHOWN_LETTERS_MAX = 80
KINDS = (
    f"{', '.join(LENGTHS)}, and behind it -64 (drives of 1/64; {SCALE_MAX} at most), -first-BYTES"
)


@dataclass(frozen=True)
class Choice:
    """What an address asks for."""

    drives: tuple[str, ...]
    kind: str | None
    selection: Selection
    forced: bool

    @classmethod
    def of(cls, request: Request, more: Sequence[str] = ()) -> Choice:
        """Raises RequestError for too many drives, and parts of an address that nobody knows;
        `more` are known beside those of every comparison."""
        given = request.query_params
        for key in given:
            if key not in (*PARTS, *more):
                raise _unknown("part of the address", key, PARTS, ", ".join(PARTS))
        drives = tuple(given.getlist("drive"))
        for name in dict.fromkeys(drives):
            if drives.count(name) > 1:
                raise RequestError(f'drive "{name}": is there twice; allowed: each drive once')
        if len(drives) > SIDES_MAX:
            raise RequestError(f"{len(drives)} drives; allowed: {SIDES_MAX}")
        force = given.get("force", "0")
        if force not in ("0", "1"):
            raise _unknown("force", force, (), "1, which compares what should not be compared")
        tests = tuple(map(procedures.group_name, given.getlist("test")))
        selection = Selection(tests, tuple(given.getlist("state")))
        return cls(drives, given.get("kind"), selection, force == "1")

    def check_drives(self, names: Iterable[str], known: Iterable[str]) -> None:
        """Raises RequestError for a drive that nobody knows."""
        found = set(known)
        for name in names:
            if name not in found:
                raise _unknown("drive", name, found, "those of `drivelab list`")

    def check_runs(self, held: Collection[tuple[str, int]]) -> None:
        """Raises RequestError for a run that isn't of its drive; `held` are those that are."""
        for key in self.drives:
            name, mark, number = key.partition(RUN_MARK)
            if not mark:
                continue
            runs = sorted(run for model, run in held if model == name)
            if number not in map(str, runs):
                allowed = f"{name}{RUN_MARK}RUN, with a run that has results of the drive: "
                raise _unknown("drive", key, (), allowed + (", ".join(map(str, runs)) or "none"))

    def check_kind(self, known: Mapping[str, str]) -> None:
        """Raises RequestError for what is no kind, and for one of which none of the drives has
        results, though they have some; `known` are titles by their names."""
        if self.kind is not None and Kind.of(self.kind) is None:
            raise _unknown("kind", self.kind, known or LENGTHS, KINDS)
        if self.kind is not None and known and self.kind not in known:
            told = "; ".join(f"{name} ({title})" for name, title in known.items())
            hint = nearest(self.kind[:SHOWN_LETTERS_MAX], known)
            raise RequestError(
                f'kind "{self.kind[:SHOWN_LETTERS_MAX]}": these drives have no such results{hint} '
                f"Allowed: {told}."
            )

    def check_states(self, held: Iterable[str]) -> None:
        """Raises RequestError for a state that nobody knows; `held` are those of results."""
        known = dict.fromkeys((*states.STATES, *held))
        for name in self.selection.states:
            if name not in known:
                raise _unknown("state", name, known, ", ".join(known))

    def check_tests(self, held: Callable[[], Iterable[Record]]) -> None:
        """Raises RequestError for a test or a group that nobody knows; `held` gives records of
        those that there are results of, which is asked only for what doesn't come along."""
        groups = [procedures.group_name(group) for group in procedures.GROUPS]
        known = [procedures.ALL, *groups, *procedures.PROCEDURES]
        if set(self.selection.tests) <= set(known):
            return
        records = list(held())
        own = (str(record["group"]) for record in records)
        groups = list(dict.fromkeys([*groups, *map(procedures.group_name, own)]))
        ids = (procedures.group_name(str(record["id"])) for record in records)
        known = [*known, *groups, *ids]
        for name in self.selection.tests:
            if name not in known:
                more = "`drivelab list --tests` lists tests"
                allowed = f"{procedures.ALL}; groups {', '.join(groups)}; {more}"
                raise _unknown("test", name, known, allowed)


def _unknown(key: str, value: str, known: Iterable[str], allowed: str) -> RequestError:
    hint = nearest(value[:SHOWN_LETTERS_MAX], known)
    return RequestError(f'{key} "{value[:SHOWN_LETTERS_MAX]}" is unknown{hint} Allowed: {allowed}.')
