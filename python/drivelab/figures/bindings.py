"""What binds a figure: parameters that move it when they are varied, found out by experiment.

`drivelab figures --bindings` varies every value that was chosen for a published performance
(specified, fitted, informed) by a tenth, down and up, gives words and switches every other value,
and keeps what moved in tables/bindings.toml, a generated file. Here it is read;
drivelab/variation.py makes it.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

STEP_RATIO = 0.1
"""By how much a parameter is varied, down and up; whole numbers by a step at least."""
THRESHOLD_RATIO = 0.001
"""A parameter binds a figure that one of the variations moves by so much, a hundredth of the step,
and by as much as another seed does."""
CERTAIN_RATIO = 0.01
"""What moves a figure by so much binds it, whatever other seeds do."""
NOISE_SEEDS = 3
"""How many other seeds are asked how far they move a figure."""
FACTORS = (1 - STEP_RATIO, 1 + STEP_RATIO)
WIDER_FACTORS = (0.5, 2.0)
"""For what takes no value a tenth away: a power of two, or what must divide something."""
FIT_ELASTICITY = 0.1
"""A figure is one that a parameter could have been fitted to if it goes with so much of it."""
TABLE = "bindings.toml"


@dataclass(frozen=True)
class Moves:
    """How far a figure moves, as ratios, with a parameter a tenth lower and a tenth higher.

    None: the variation is not possible (a limit of the parameter's), leaves no value, or was not
    needed: what the lower value moves is bound, whatever the higher one does. Of a word or a
    switch the first is the largest move that any other value makes.
    """

    down: float | None
    up: float | None
    factors: tuple[float, float] = FACTORS

    @property
    def largest(self) -> float:
        """The move of most weight, with its sign."""
        return max(
            (move for move in (self.down, self.up) if move is not None), key=abs, default=0.0
        )

    def binds(self, threshold_ratio: float) -> bool:
        """Whether the parameter binds a figure of this threshold."""
        return abs(self.largest) >= threshold_ratio

    @property
    def elasticity(self) -> float | None:
        """Change of the figure's logarithm for one of the parameter's, between the variations."""
        if self.down is None or self.up is None or min(self.down, self.up) <= -1:
            return None
        steps = math.log(self.factors[1]) - math.log(self.factors[0])
        return (math.log1p(self.up) - math.log1p(self.down)) / steps


@dataclass(frozen=True)
class Row:
    """What was found of one model."""

    hash: str
    """Of the model that was varied; a model of another hash may be bound by something else."""
    constants: str
    """Digest of the constants that reach its figures."""
    figures: tuple[str, ...]
    """Everything that was looked at."""
    not_varied: Mapping[str, str] = field(default_factory=dict)
    """Parameters that couldn't be varied, with the reason."""
    wider: tuple[str, ...] = ()
    """Parameters that take no value a tenth away and were halved and doubled instead."""
    switched: tuple[str, ...] = ()
    """Words and switches, which got every other value that the model takes."""
    noise: Mapping[str, float] = field(default_factory=dict)
    """How far other seeds move a figure, as ratios; those that they don't move are left out."""
    kept_from_ratio: float = THRESHOLD_RATIO
    """The least move that was kept: more than the threshold in rows of a time when that was so."""
    moves: Mapping[str, Mapping[str, Moves]] = field(default_factory=dict)
    """By parameter, then by figure; only those that bind."""

    @property
    def is_coarse(self) -> bool:
        """Whether smaller moves are still to be found."""
        return self.kept_from_ratio > THRESHOLD_RATIO

    def threshold_ratio(self, figure_id: str) -> float:
        """The least move that binds a figure."""
        return threshold_ratio(self.noise.get(figure_id, 0.0))


def threshold_ratio(noise_ratio: float) -> float:
    """The least move that binds a figure which other seeds move so far.

    >>> threshold_ratio(0.0), threshold_ratio(0.004), threshold_ratio(0.3)
    (0.001, 0.004, 0.01)
    """
    return min(CERTAIN_RATIO, max(THRESHOLD_RATIO, noise_ratio))


@dataclass(frozen=True)
class Binding:
    """A parameter that binds a figure."""

    model: str
    key: str
    moves: Moves


@cache
def stored() -> Mapping[str, Row]:
    """The rows of the table that comes with drivelab, by model."""
    return parsed(path().read_text(encoding="utf-8")) if path().is_file() else {}


def path() -> Path:
    """The table."""
    return Path(str(resources.files("drivelab.figures.tables").joinpath(TABLE)))


def parsed(text: str) -> dict[str, Row]:
    """The rows of a table's text."""
    return {model: _row(found) for model, found in tomllib.loads(text).items()}


def _row(found: Mapping[str, Any]) -> Row:
    wider = tuple(found.get("wider", ()))
    moves: dict[str, dict[str, Moves]] = {}
    for key, pairs in found.get("binds", {}).items():
        factors = WIDER_FACTORS if key in wider else FACTORS
        moves[key] = {
            figure: Moves(_ratio(down), _ratio(up), factors) for figure, (down, up) in pairs.items()
        }
    return Row(
        hash=found["hash"],
        constants=found["constants"],
        figures=tuple(found["figures"]),
        not_varied=found.get("not_varied", {}),
        wider=wider,
        switched=tuple(found.get("switched", ())),
        kept_from_ratio=found.get("kept_from", THRESHOLD_RATIO * 100) / 100,
        noise={name: percent / 100 for name, percent in found.get("noise", {}).items()},
        moves=moves,
    )


def _ratio(percent: float | str) -> float | None:
    return None if isinstance(percent, str) else percent / 100


HEAD = f"""\
# Generated by `drivelab figures --bindings`; don't edit.
#
# What binds the figures of each model: every specified, fitted and informed number was varied by
# {STEP_RATIO:.0%} (whole ones by a step at least), down and up. Under "binds", for each,
# the figures that moved by {THRESHOLD_RATIO:.1%} or more and by as much as another seed moves them
# ("noise", in percent, of {NOISE_SEEDS}), or by {CERTAIN_RATIO:.0%} in any case: percent moved with
# the lower value and with the higher one; "-": not needed, or not possible. What takes no value a
# tenth away, and is listed under "wider", was halved and doubled; words and switches, listed under
# "switched", got every other value, and what stands is the largest move; "not_varied" says what
# wasn't varied, and why. "kept_from": smaller moves, in percent, weren't kept, and are to be found.
# "hash" and "constants" say which model it was, and which constants of states and tests.
"""


def rendered(rows: Mapping[str, Row]) -> str:
    """The text of a table, sorted."""
    return HEAD + "".join(_section(model, row) for model, row in sorted(rows.items()))


def _section(model: str, row: Row) -> str:
    lines = [
        f'\n["{model}"]',
        f'hash = "{row.hash}"',
        f'constants = "{row.constants}"',
        *_list("figures", row.figures),
        *(_list("wider", row.wider) if row.wider else ()),
        *(_list("switched", row.switched) if row.switched else ()),
    ]
    if row.is_coarse:
        lines.append(f"kept_from = {_percent(row.kept_from_ratio)}")
    if row.noise:
        lines.append(f"[{_quoted(model)}.noise]")
        lines += [f"{figure} = {_percent(ratio)}" for figure, ratio in sorted(row.noise.items())]
    if row.not_varied:
        lines.append(f"[{_quoted(model)}.not_varied]")
        lines += [f"{_quoted(k)} = {_quoted(why)}" for k, why in sorted(row.not_varied.items())]
    for key, found in sorted(row.moves.items()):
        lines.append(f"[{_quoted(model)}.binds.{_quoted(key)}]")
        lines += [
            f"{figure} = [{_percent(m.down)}, {_percent(m.up)}]"
            for figure, m in sorted(found.items())
        ]
    return "\n".join(lines) + "\n"


def _list(name: str, values: Sequence[str]) -> Iterator[str]:
    yield f"{name} = ["
    yield from (f"    {_quoted(value)}," for value in sorted(values))
    yield "]"


def _quoted(text: str) -> str:
    # A text of JSON is one of TOML.
    return json.dumps(text, ensure_ascii=False)


def _percent(ratio: float | None) -> str:
    return '"-"' if ratio is None else f"{ratio * 100:.2f}"


class Bindings:
    """What is known of the models that are compared; `hashes` are theirs, by name, `digests` those
    of the constants of states and tests that reach their figures."""

    def __init__(
        self, rows: Mapping[str, Row], hashes: Mapping[str, str], digests: Mapping[str, str]
    ) -> None:
        self._rows = {name: row for name, row in rows.items() if name in hashes}
        self._stale = {
            name
            for name, row in self._rows.items()
            if (row.hash, row.constants) != (hashes[name], digests[name])
        }

    def of(self, figure_id: str) -> list[Binding]:
        """What binds a figure, the strongest first."""
        found = [
            Binding(name, key, moves[figure_id])
            for name, row in self._rows.items()
            for key, moves in row.moves.items()
            if figure_id in moves and moves[figure_id].binds(row.threshold_ratio(figure_id))
        ]
        return sorted(found, key=lambda b: (-abs(b.moves.largest), b.model, b.key))

    def known(self, figure_id: str, models: Sequence[str]) -> bool:
        """Whether the figure was looked at for all of these models."""
        rows = [self._rows.get(model) for model in models]
        return bool(rows) and all(row is not None and figure_id in row.figures for row in rows)

    def stale(self, models: Sequence[str]) -> bool:
        """Whether what is known of one of these models was found on another form of it, or with
        other constants of states and tests."""
        return not self._stale.isdisjoint(models)


def left_out(
    errors: Mapping[str, float], moves: Mapping[str, Moves], figure_id: str, same: Sequence[str]
) -> float | None:
    """Error that a figure would have if the parameter had been fitted to the others it binds.

    `errors` are modelled / published - 1; `same` are figures of the same measurement, which
    are left out with it. Computed in logarithms, in which moves are taken as proportional; None
    if nothing is left to fit to.
    """
    own = moves[figure_id].elasticity
    others = [
        (math.log1p(errors[name]), slope)
        for name, found in moves.items()
        if name != figure_id
        and name not in same
        and name in errors
        and (slope := found.elasticity) is not None
        and abs(slope) >= FIT_ELASTICITY
    ]
    if own is None or not others or figure_id not in errors:
        return None
    shift = -math.fsum(e * s for e, s in others) / math.fsum(s * s for _, s in others)
    return math.expm1(math.log1p(errors[figure_id]) + own * shift)
