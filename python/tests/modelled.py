"""What models gave when pages were made, unrounded: the rows of the others stay when one model is
measured anew.

`--only MODEL` of a command that makes a page measures what it has of that model, and takes
everything else from here; `--only missing` measures what isn't here yet.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")

MISSING = "missing"
"""In place of a model: what isn't kept of any."""


class Modelled:
    """The values of a page, by model and what was measured of it."""

    def __init__(self, path: Path, command: str, only: str | None) -> None:
        self._path, self._command, self._only = path, command, only
        self._kept: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._kept = json.loads(path.read_text("utf-8"))
        self._measured: set[tuple[str, str]] = set()

    def of(self, model: str, what: str, kind: type[T], measure: Callable[[], T]) -> T:
        """A value: measured once, or as it is kept where another model's are asked for.

        Raises SystemExit with a message where nothing is kept of it."""
        is_kept = what in self._kept.get(model, {})
        fresh = self.asks_for(model, what) and (model, what) not in self._measured
        form = TypeAdapter(kind)
        if fresh:
            self._kept.setdefault(model, {})[what] = form.dump_python(measure(), mode="json")
            self._measured.add((model, what))
            self._write()
        elif not is_kept:
            raise SystemExit(f"{model}: {what}: nothing is kept in {self._path}: {self._command}")
        return form.validate_python(self._kept[model][what])

    def asks_for(self, model: str, what: str) -> bool:
        """Whether a value of a model is to be measured."""
        is_kept = what in self._kept.get(model, {})
        return self._only in (None, model) or (self._only == MISSING and not is_kept)

    def _write(self) -> None:
        text = json.dumps(self._kept, indent=1, sort_keys=True)
        self._path.write_text(text + "\n", "utf-8")


def arguments(what: str, models: Sequence[str]) -> str | None:
    """The model of `--only`, or `MISSING`; None: all of them."""
    parser = argparse.ArgumentParser(description=what)
    choices = (*models, MISSING)
    parser.add_argument("--only", choices=choices, metavar="MODEL", help=", ".join(choices))
    only: str | None = parser.parse_args().only
    return only
