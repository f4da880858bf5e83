"""Varies the parameters that were chosen for published performance, and sees which figures move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from drivelab import figures, model, model_layers, output, results, review, sources
from drivelab.errors import RequestError
from drivelab.figures import bindings, constants, reach
from drivelab.figures.bindings import FACTORS, NOISE_SEEDS, WIDER_FACTORS, Moves, Row
from drivelab.figures.constants import CONSTANTS, Constant
from drivelab.figures.plan import measurements
from drivelab.figures.readings import Reading

MEMBER_FAMILY = "member.family"
OF_MEMBERS = "members of an array are of the family that their model says"
Record = dict[str, Any]
Say = Callable[[str], None]
Values = Mapping[str, float]
"""Modelled values by figure."""
Key = tuple[str, str, str]
Tests = dict[Key, Record]
"""Records of tests by model, test and state."""


@dataclass(frozen=True)
class Scope:
    """Figures that follow from measurements of one model, and those measurements."""

    figures: tuple[str, ...]
    readings: frozenset[Reading]

    @classmethod
    def of(cls, name: str) -> Scope:
        """Everything that the model's parameters may reach."""
        found: list[str] = []
        readings: set[Reading] = set()
        for figure in reach.reached_by(name):
            found.append(figure.id)
            readings.update(reach.readings_of(figure))
        return cls(tuple(found), frozenset(readings))

    def own(self, name: str) -> frozenset[Reading]:
        """The readings of the model itself."""
        return frozenset(reading for reading in self.readings if reading.model == name)


def names() -> list[str]:
    """Models that any figure follows from."""
    return [name for name in model_layers.known_names() if Scope.of(name).figures]


def is_stale(name: str) -> bool:
    """Whether what is known of a model was found on another form of it, or of its figures."""
    scope, row = Scope.of(name), bindings.stored().get(name)
    return (
        row is None
        or row.hash != model.load(name).hash
        or row.constants != constants.digest(scope.own(name))
        or set(row.figures) != set(scope.figures)
        or row.is_coarse
    )


def vary(name: str, seed: int, workers: int, say: Say) -> Row:
    """Varies everything of one model that was chosen for published performance."""
    scope, plain = Scope.of(name), model.load(name)
    bench = _Bench(name, scope, seed, workers)
    say(f"{name}: {NOISE_SEEDS} other seeds")
    before = bench.values()
    noise = bench.noise(before)
    moves: dict[str, dict[str, Moves]] = {}
    not_varied: dict[str, str] = {}
    wider, switched = [], []
    own = scope.own(name)
    for parameter in plain.parameters:
        key = str(parameter["key"])
        if parameter["role"] not in sources.DEPENDENT or not sources.acts(key):
            continue
        if _is_zero(parameter["value"]) or key == MEMBER_FAMILY:
            not_varied[key] = OF_MEMBERS if key == MEMBER_FAMILY else "it is 0"
            continue
        reached = frozenset(reading for reading in own if reach.reaches(key, reading))
        if not reached:
            continue
        say(f"{name}: {key}")
        if _is_number(parameter["value"]):
            found, factors = _with_steps(bench, parameter, before, reached, noise)
            wider += [key] if found is not None and factors == WIDER_FACTORS else []
        else:
            found = _with_words(bench, parameter, before, reached, noise)
            switched += [key] if found is not None else []
        if found is None:
            not_varied[key] = bench.refusal
        else:
            moves[key] = found
    for constant in CONSTANTS:
        reached = frozenset(filter(constant.reaches, own))
        if reached and constant.role in sources.DEPENDENT:
            say(f"{name}: {constant.key}")
            run = partial(bench.with_constant, constant)
            found = _moves(run, before, reached, noise, both=constant.role == "fitted")
            moves[constant.key] = found or {}
    return Row(
        hash=plain.hash,
        constants=constants.digest(own),
        figures=scope.figures,
        not_varied=not_varied,
        wider=tuple(wider),
        switched=tuple(switched),
        noise={figure: ratio for figure, ratio in noise.items() if ratio},
        moves={key: found for key, found in moves.items() if found},
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_zero(value: object) -> bool:
    """Whether it is a number of which there is no tenth."""
    return _is_number(value) and value == 0


Run = Callable[[float, frozenset[Reading]], Values | None]
"""Modelled values with something multiplied by a factor, as far as these readings are measured."""


Noise = Mapping[str, float]
"""How far other seeds move figures, as ratios."""


def _with_words(
    bench: _Bench,
    parameter: Record,
    before: Values,
    reached: frozenset[Reading],
    noise: Noise,
) -> dict[str, Moves] | None:
    """Figures that a word or a switch binds, with the largest move that any other value makes.
    None: the model takes no other."""
    value = parameter["value"]
    others = {str(not value).lower()} if isinstance(value, bool) else _words(parameter) - {value}
    all_changes = [
        _changes(before, found)
        for other in sorted(others)
        if (found := bench.with_text(parameter, other, reached)) is not None
    ]
    if not all_changes:
        return None
    largest = {
        name: max((changes.get(name, 0.0) for changes in all_changes), key=abs) for name in before
    }
    return _binding({name: Moves(move, None) for name, move in largest.items()}, noise)


def _words(parameter: Record) -> set[str]:
    """All that a parameter of words may be."""
    return set(str(parameter["allowed"]).removeprefix("one of ").split(", "))


def _binding(found: Mapping[str, Moves], noise: Noise) -> dict[str, Moves]:
    """Of moves, those that bind."""
    return {
        name: moves
        for name, moves in found.items()
        if moves.binds(bindings.threshold_ratio(noise.get(name, 0.0)))
    }


def _with_steps(
    bench: _Bench,
    parameter: Record,
    before: Values,
    reached: frozenset[Reading],
    noise: Noise,
) -> tuple[dict[str, Moves] | None, tuple[float, float]]:
    """Figures that a parameter binds, and the factors that it takes: a tenth away; or, refused
    both ways, the next that a power of two or a divisor takes. None: it takes none."""
    run = partial(bench.with_value, parameter)
    both = parameter["role"] == "fitted"
    found = _moves(run, before, reached, noise, both=both)
    if found is not None:
        return found, FACTORS
    return _moves(run, before, reached, noise, both=both, factors=WIDER_FACTORS), WIDER_FACTORS


def _moves(
    run: Run,
    before: Values,
    reached: frozenset[Reading],
    noise: Noise,
    *,
    both: bool,
    factors: tuple[float, float] = FACTORS,
) -> dict[str, Moves] | None:
    """Figures that a parameter binds; None if it takes neither value. What the lower value moves
    isn't measured with the higher one again, unless `both` are asked for: how a fit would shift
    takes both."""
    lower, higher = factors
    lower_values = run(lower, reached)
    down = _changes(before, lower_values)
    moved = {name: Moves(move, None, factors) for name, move in down.items()}
    done = set() if both else set(_binding(moved, noise))
    left = {r for name in before.keys() - done for r in _readings(name) if r in reached}
    higher_values = run(higher, frozenset(left)) if left else None
    if lower_values is None and higher_values is None:
        return None
    up = _changes(before, higher_values)
    found = {
        name: Moves(down.get(name), None if name in done else up.get(name), factors)
        for name in before
    }
    return _binding(found, noise)


def _changes(before: Values, after: Values | None) -> dict[str, float]:
    """By how much figures moved, as ratios."""
    return {
        name: after[name] / value - 1
        for name, value in before.items()
        if after is not None and name in after and value
    }


def _readings(figure_id: str) -> list[Reading]:
    return reach.readings_of(figures.figures_by_id()[figure_id])


class _Bench:
    """Measures what a scope's figures follow from, again and again, always with the same seed."""

    def __init__(self, name: str, scope: Scope, seed: int, workers: int) -> None:
        self._name = name
        self._scope = scope
        self._seed = seed
        self._workers = workers
        loaded = [model.load(one) for one in sorted({r.model for r in scope.readings})]
        self._models = [results.model_result(one) for one in loaded]
        self._plain = self._measured((), scope.readings)
        self.refusal = ""
        """Why the last value that couldn't be had was refused."""

    def values(self, varied: Tests | None = None) -> Values:
        """Modelled values of the scope's figures; `varied` measurements count before plain ones."""
        measured = figures.Measured(self._models, (self._plain | (varied or {})).values())
        return figures.modelled_values(measured, self._scope.figures)

    def noise(self, before: Values) -> Noise:
        """How far other seeds move the figures: the largest of some."""
        moved = [
            _changes(before, self.values(self._measured((), self._scope.readings, seed)))
            for seed in range(self._seed + 1, self._seed + 1 + NOISE_SEEDS)
        ]
        return {
            name: max((abs(changes[name]) for changes in moved if name in changes), default=0.0)
            for name in before
        }

    def with_value(
        self, parameter: Record, factor: float, readings: frozenset[Reading]
    ) -> Values | None:
        """The values with a parameter multiplied by a factor; None if the model refuses it."""
        value = constants.scaled(parameter["value"], factor)
        if value == parameter["value"]:
            self.refusal = f"no other value than {value:g} is near"
            return None
        return self.with_text(parameter, str(value), readings)

    def with_text(
        self, parameter: Record, value: str, readings: frozenset[Reading]
    ) -> Values | None:
        """The values with a parameter of another value; None if the model refuses it."""
        try:
            return self.values(self._measured([(parameter["key"], value)], readings))
        except RequestError as error:
            self.refusal = str(error)
            return None

    def with_constant(
        self, constant: Constant, factor: float, readings: frozenset[Reading]
    ) -> Values:
        """The values with a constant of tests or states multiplied by a factor."""
        with constant.varied(factor):
            return self.values(self._measured((), readings))

    def _measured(
        self, overrides: model.Overrides, readings: Iterable[Reading], seed: int | None = None
    ) -> Tests:
        """Measurements, each short or long as it is for the plain model."""
        wanted = {(r.model, r.test_id, r.state) for r in readings}
        tests = {}
        for quick in (True, False):
            part = [key for key in wanted if (key not in self._long) is quick]
            names = sorted({name for name, _, _ in part})
            if not part:
                continue
            loaded = [model.load(one, overrides if one == self._name else ()) for one in names]
            plan = review.Plan(
                models=loaded,
                measurements={
                    one: measurements((test, state) for name, test, state in part if name == one)
                    for one in names
                },
                command_line="",
                seed=self._seed if seed is None else seed,
                quick=quick,
                workers=self._workers,
            )
            for record in review.run(plan, shown=False)["tests"]:
                tests[record["model"], record["id"], record["state"]] = record
        return tests

    @cached_property
    def _long(self) -> frozenset[Key]:
        """Measurements that something rare is read from."""
        return frozenset(
            (r.model, r.test_id, r.state) for r in self._scope.readings if reach.is_long(r)
        )


def renew(name: str, seed: int, workers: int, say: Say) -> None:
    """Makes the row of a model anew in the table, and leaves out those of models that went."""
    there = set(names())
    rows = {one: row for one, row in bindings.stored().items() if one in there}
    rows[name] = vary(name, seed, workers, say)
    place = bindings.path()
    output.publish(place.parent, {place.name: partial(_write, bindings.rendered(rows))})
    bindings.stored.cache_clear()


def renew_stale(drive: str | None, seed: int, workers: int, say: Say) -> None:
    """Renews the rows of a drive's model, or of all that changed since, one by one, so that little
    is lost on the way; raises RequestError for a drive that no figure follows from."""
    known = names()
    if drive is not None and drive not in known:
        raise RequestError(
            f'--drive "{drive}": no published figure follows from it; allowed: {", ".join(known)}'
        )
    chosen = [name for name in known if is_stale(name)] if drive is None else [drive]
    for name in chosen:
        renew(name, seed, workers, say)
        say(f"{name}: written to {bindings.TABLE}")
    if not chosen:
        say(f"{bindings.TABLE} is about the models as they are: nothing to do")


def _write(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
