"""Tables that say how published figures are repeated: drives, formulas, orderings, remarks."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


def _read(name: str) -> dict[str, Any]:
    file = resources.files("drivelab.figures.tables").joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _drives() -> dict[str, dict[str, Any]]:
    return _read("drives")


def model_of(drive: str, firmware: str = "") -> str | None:
    """Name of the model that stands for a drive as the reviews name it; None if none is meant to.

    The model need not exist.
    """
    row = _drives().get(drive)
    if row is None:
        return None
    for prefix, name in row.get("firmware", {}).items():
        if firmware.startswith(prefix):
            return str(name)
    return str(row["model"])


@cache
def _pages() -> dict[str, str]:
    return {model: page for page, models in _read("pages").items() for model in models}


def page_of(model: str) -> str | None:
    """The document that has a model's measured figures, where the tables here don't; None: none."""
    return _pages().get(model)


@cache
def one_state_models() -> frozenset[str]:
    """Models whose speed doesn't depend on what was written before: hard disks."""
    return frozenset(row["model"] for row in _drives().values() if row.get("one_state"))


@dataclass(frozen=True)
class Formula:
    """Arithmetic over named inputs; see formulas.toml for what an input may be."""

    text: str
    inputs: dict[str, str]


@cache
def formulas() -> dict[str, Formula]:
    """Formulas by the figure's identity."""
    return {
        figure_id: Formula(row["formula"], {k: v for k, v in row.items() if k != "formula"})
        for figure_id, row in _read("formulas").items()
    }


@cache
def remarks(section: str) -> dict[str, str]:
    """Remarks by the figure's identity: `contradicted`, `beside` and so on."""
    rows: dict[str, str] = _read("remarks").get(section, {})
    return rows


@dataclass(frozen=True)
class Comparison:
    """What an ordering compares; see orderings.toml."""

    tests: tuple[str, ...] = ()
    state: str = "new"
    quantity: str = "mib_per_s"
    groups: tuple[tuple[str, ...], ...] = ()
    close: tuple[str, ...] = ()
    close_ratio: float = 0.1
    lowest_first: bool = False
    """Whether less is better, as of times."""
    remark: str = ""
    reason: str = ""


@cache
def comparisons() -> dict[str, Comparison]:
    """Comparisons by the ordering's identity."""
    return {key: _comparison(row) for key, row in _read("orderings").items()}


def _comparison(row: dict[str, Any]) -> Comparison:
    lists = {key: tuple(row.get(key, ())) for key in ("tests", "close")}
    groups = tuple(tuple(group) for group in row.get("groups", ()))
    return Comparison(**{**row, **lists, "groups": groups})
