"""What was measured, as the page finds it: the runs of a database by drive and by kind of run.

Results of one drive are taken together as far as nothing but the tests tells their runs apart: the
same parameters, seed, length, span and engine. So a test that was missing joins the others when it
has been run. Of a test that is there twice the newest counts.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from drivelab import database, stored
from drivelab.comparison import Source
from drivelab.comparison.runs import as_review
from drivelab.report import quantities as q
from drivelab.web.order import SCALE_MAX

Record = dict[str, Any]
DOCUMENTS_MAX = 24
"""Runs whose documents are kept in memory: some megabytes each."""
RUN_MARK = "~"
"""Between the name of a drive and the number of a run."""
LENGTHS = ("whole", "quick", "unabridged")
"""Of tests."""
ID = rf"({'|'.join(LENGTHS)})(?:-([1-9]\d{{0,3}}))?(?:-first-([1-9]\d{{0,15}}))?"
"""Of a kind, in addresses."""


@dataclass(frozen=True)
class Kind:
    """What may be compared with what: how long tests were, on how much of a drive of what scale."""

    length: str
    """One of LENGTHS."""
    scale: int
    """1 for full size."""
    span_bytes: int | None
    """The first bytes, which were used; None for all."""

    @classmethod
    def of(cls, text: str) -> Kind | None:
        """The kind of an address; None of what is none.

        >>> Kind.of("quick-64"), Kind.of("quik")
        (Kind(length='quick', scale=64, span_bytes=None), None)
        """
        found = re.fullmatch(ID, text, re.ASCII)
        if found is None:
            return None
        length, scale, span_bytes = found.groups()
        if int(scale or 1) > SCALE_MAX:
            return None
        return cls(length, int(scale or 1), None if span_bytes is None else int(span_bytes))

    @property
    def id(self) -> str:
        """As in addresses: "quick", "whole-64", "quick-64-first-1073741824"."""
        size = "" if self.scale == 1 else f"-{self.scale}"
        span = "" if self.span_bytes is None else f"-first-{self.span_bytes}"
        return self.length + size + span

    @property
    def title(self) -> str:
        """In words."""
        words = {"whole": "Whole tests", "quick": "Quick, 10 s a test"}
        size = "" if self.scale == 1 else f", drives of 1/{self.scale}"
        span = "" if self.span_bytes is None else f", on the first {q.size(self.span_bytes)}"
        return words.get(self.length, "Unabridged tests") + size + span

    @property
    def option(self) -> str:
        """What on the command line makes tests of this kind that no page starts; else empty."""
        parts = ["--unabridged"] if self.length == "unabridged" else []
        parts += [] if self.span_bytes is None else [f"--span {self.span_bytes}"]
        return " ".join(parts)


@dataclass(frozen=True)
class Holding:
    """Everything that there is of one drive with one past: runs that go together."""

    model: str
    title: str
    hash: str
    kind: Kind
    seed: int
    engine: str
    runs: tuple[int, ...]
    """Of a test that is there twice the last one counts: the newest, or the one that was asked
    for."""
    changed: bool
    """Whether parameters were set otherwise than in its model's file."""
    tests: tuple[tuple[str, str], ...]
    """As (test, state)."""
    alone: bool = False
    """Whether its numbers are means of repeats, which go together with no other run."""


class Library:
    """The runs of one database; read again when its file has changed."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.turn = threading.RLock()
        """Held by whatever opens the file: DuckDB doesn't open one file to read and to write in one
        process at the same time."""
        self._read_at: tuple[int, int, int] | None = None
        self._rows: list[Record] = []
        self._document = lru_cache(DOCUMENTS_MAX)(self._load)

    @property
    def stamp(self) -> tuple[int, int, int] | None:
        """Changes with the file; None if there is none."""
        try:
            found = self.results.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def rows(self) -> list[Record]:
        """Every drive of every run, as `database.tests` has them; the oldest run first.

        Raises RequestError for a file that is none of drivelab.
        """
        with self.turn:
            stamp = self.stamp
            if stamp != self._read_at:
                self._rows = [] if stamp is None else database.tests(self.results, "FILE")
                self._document.cache_clear()
                self._read_at = stamp
            return self._rows

    def holdings(self) -> tuple[Holding, ...]:
        """All, the newest first."""
        return tuple(_held(self.rows()))

    def find(self, key: str, kind: Kind | None) -> Holding | None:
        """The newest of a drive: "MODEL", or "MODEL~RUN" for a run of it, with what those that go
        with it have beside; None if there is none.

        One whose parameters were changed is what a model's name means only if there is no other.
        """
        name, mark, number = key.partition(RUN_MARK)
        for item in sorted(self.holdings(), key=lambda item: item.changed):
            if item.model != name or (mark and number not in map(str, item.runs)):
                continue
            if mark:
                others = (run for run in item.runs if run != int(number))
                return replace(item, runs=(*others, int(number)))
            if kind is None or item.kind == kind:
                return item
        return None

    def counted(self, holding: Holding) -> list[tuple[int, Record]]:
        """Its runs that something is shown of, with their documents; the last one counts first."""
        with self.turn:
            documents = [(run, self._document(run)) for run in holding.runs]
        return _that_count(documents, holding.model)

    def source(self, holding: Holding) -> Source:
        """Its results as one document."""
        counted = self.counted(holding)
        named = ", ".join(str(run) for run, _ in counted)
        words = f"{self.results.name}, run{'s' if len(counted) > 1 else ''} {named}"
        merged = _merged([document for _, document in counted], holding.model)
        return Source(words, merged, (holding.model,))

    def _load(self, run: int) -> Record:
        return as_review(stored.read(self.results, run, "FILE"))


def _held(rows: Sequence[Record]) -> Iterator[Holding]:
    """Holdings of a database's models; the newest first."""
    found: dict[tuple[Any, ...], Holding] = {}
    for row in rows:
        length = "quick" if row["quick"] else "unabridged" if row["unabridged"] else "whole"
        kind = Kind(length, int(row["scale"] or 1), row["span_bytes"])
        alone = row["run_id"] if row["alone"] else None
        key = (row["model"], row["hash"], kind, row["seed"], row["engine_version"], alone)
        before = found.pop(key, None)
        tests = tuple((test["test"], test["state"]) for test in row["tests"])
        found[key] = Holding(
            model=row["model"],
            title=row["title"],
            hash=row["hash"],
            kind=kind,
            seed=row["seed"],
            engine=row["engine_version"],
            runs=(*(before.runs if before else ()), row["run_id"]),
            changed=row["changed"],
            tests=tuple(dict.fromkeys((*(before.tests if before else ()), *tests))),
            alone=alone is not None,
        )
    yield from reversed(found.values())


def _that_count(documents: Sequence[tuple[int, Record]], model: str) -> list[tuple[int, Record]]:
    """The last of these runs, and those before it that have a test which none behind them has."""
    counted: list[tuple[int, Record]] = []
    seen: set[tuple[str, str]] = set()
    for run, document in reversed(documents):
        own = {(test["id"], test["state"]) for test in document["tests"] if test["model"] == model}
        if not counted or own - seen:
            counted.append((run, document))
        seen |= own
    return counted[::-1]


def _merged(parts: Sequence[Mapping[str, Any]], model: str) -> Record:
    """One document of several, of one drive; of what is there twice the later one."""
    newest = parts[-1]
    return {
        **newest,
        "models": [item for item in newest["models"] if item["name"] == model],
        "tests": _latest(parts, "tests", ("id", "state"), model),
        "states": _latest(parts, "states", ("state",), model),
        "figures": _latest(parts, "figures", ("id",), model),
        "failed": _latest([newest], "failed", ("id", "state"), model),
    }


def _latest(
    parts: Sequence[Mapping[str, Any]], name: str, keys: Sequence[str], model: str
) -> list[Record]:
    found: dict[tuple[Any, ...], Record] = {}
    for part in parts:
        for item in part.get(name) or ():
            if item["model"] == model:
                found[tuple(item[key] for key in keys)] = item
    return list(found.values())
