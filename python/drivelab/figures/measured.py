"""What is known of the models that figures are held against: what was measured of them, what their
parameters were fitted to, and what binds their figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drivelab import sources
from drivelab.counters import map_read_bytes, reads_map, unmapped_note
from drivelab.figures import bindings, constants
from drivelab.figures.bindings import Binding, Bindings, Moves, Row
from drivelab.figures.constants import CONSTANTS
from drivelab.figures.formulas import Input, inputs_of
from drivelab.figures.owners import readings_for
from drivelab.figures.published import figures_by_id
from drivelab.figures.readings import Property, Reading
from drivelab.figures.text import BOUND_MOST
from drivelab.quantities import GB


class Measured:
    """What is known of the models: their records, and their tests' records, of results.json."""

    def __init__(
        self,
        models: Sequence[Mapping[str, Any]],
        tests: Iterable[Mapping[str, Any]],
        rows: Mapping[str, Row] | None = None,
    ) -> None:
        """`rows` say what binds figures; those that come with drivelab, unless others are given."""
        self.models = {str(model["name"]): model for model in models}
        self._tests = {(test["model"], test["id"], test["state"]): test for test in tests}
        hashes = {name: str(model.get("hash")) for name, model in self.models.items()}
        known = bindings.stored() if rows is None else rows
        self.bindings = Bindings(known, hashes, _digests(hashes))
        self.fitted_ids = {name: _fitted_ids(model) for name, model in self.models.items()}
        self._fitted_aspects = {
            item.aspect
            for name, ids in self.fitted_ids.items()
            for figure_id in ids
            if (figure := figures_by_id().get(figure_id)) is not None
            for item in inputs_of(figure).values()
            if isinstance(item, Reading) and item.model == name
        } | _aspects_of_constants()

    def value(self, item: Input) -> float | None:
        """The modelled value of an input, if it was measured."""
        if isinstance(item, Property):
            model = self.models.get(item.model)
            return None if model is None else _property(model, item.key)
        test = self._tests.get((item.model, item.test_id, item.state))
        return None if test is None else item.value(test)

    def remark(self, item: Input | None) -> str:
        """What must be said of a measurement: that its reads took no data from flash."""
        if not isinstance(item, Reading):
            return ""
        test = self._tests.get((item.model, item.test_id, item.state), {})
        map_bytes = map_read_bytes(test.get("counters") or {})
        return unmapped_note(test.get("unmapped_read_share"), map_bytes) or ""

    def reads_no_flash(self, item: Reading) -> bool:
        """Whether a stream of reads found most of what it read unmapped, by a map in memory."""
        test = self._tests.get((item.model, item.test_id, item.state), {})
        is_read = test.get("direction") == "read"
        if reads_map(test.get("counters") or {}, test.get("host_read_bytes")):
            return False
        return is_read and (test.get("unmapped_read_share") or 0.0) >= 0.5

    def tested(self, item: Input) -> bool:
        """Whether the very measurement was made, whatever it found."""
        return isinstance(item, Property) or (item.model, item.test_id, item.state) in self._tests

    def fitted(self, item: Input) -> bool:
        """Whether a parameter was fitted to what this measures, or to what follows from it."""
        return isinstance(item, Property) or item.aspect in self._fitted_aspects

    def source(self, binding: Binding) -> str:
        """Source of a parameter, or of a constant of tests or states."""
        for constant in CONSTANTS:
            if constant.key == binding.key:
                return constant.source
        rows = self.models[binding.model]["parameters"]
        return next((str(row["source"]) for row in rows if row["key"] == binding.key), "")

    def bound_by(self, figure_id: str) -> list[Binding]:
        """What binds a figure and was chosen for a published performance, the strongest first. What
        was fitted to the very figure is among those that tables name, however little it moves it.
        """
        found = self.bindings.of(figure_id)
        bound = [b for b in found if sources.role_of(self.source(b)) in sources.DEPENDENT]
        fits, keys = self._fits(figure_id), {b.key for b in bound}
        bound += [fit for fit in fits if fit.key not in keys]
        own = [b for b in bound if b.key in {fit.key for fit in fits}][:BOUND_MOST]
        others = [b for b in bound if b not in own][: BOUND_MOST - len(own)]
        named = [b for b in bound if b in own or b in others]
        return named + [b for b in bound if b not in named]

    def _fits(self, figure_id: str) -> list[Binding]:
        """What names this figure as what it was fitted to, of the models that the figure is of."""
        names = sorted({item.model for item in inputs_of(figures_by_id()[figure_id]).values()})
        stated = [
            (name, str(item["key"]), item.get("source"))
            for name in names
            if name in self.models
            for item in self.models[name]["parameters"]
            if sources.acts(str(item["key"]))
        ]
        stated += [(names[0], item.key, item.source) for item in CONSTANTS if names]
        unknown = Moves(None, None)
        return [
            Binding(name, key, unknown)
            for name, key, source in stated
            if figure_id in sources.targets_of(source)
        ]

    def missing(self, items: Iterable[Input]) -> list[str]:
        """Models that are asked for, but not there."""
        return list(dict.fromkeys(i.model for i in items if i.model not in self.models))

    def ran(self, item: Input) -> bool:
        """Whether the test of a reading ran, on this model or any other."""
        return isinstance(item, Property) or any(
            test_id == item.test_id for _, test_id, _ in self._tests
        )


def _aspects_of_constants() -> set[object]:
    """Measurements that constants of tests were fitted to; a mean of drives fixes none of them."""
    named = (name for constant in CONSTANTS for name in sources.targets_of(constant.source))
    found = [list(inputs_of(figures_by_id()[name]).values()) for name in named]
    return {items[0].aspect for items in found if len(items) == 1 and isinstance(items[0], Reading)}


def _digests(names: Iterable[str]) -> dict[str, str]:
    """Digests of the constants that reach any figure of these models."""
    readings = readings_for()
    return {
        name: constants.digest(frozenset(item for item in readings if item.model == name))
        for name in names
    }


def _fitted_ids(model: Mapping[str, Any]) -> frozenset[str]:
    """Figures and orderings that any parameter was fitted to."""
    stated = (parameter.get("source") for parameter in model["parameters"])
    return frozenset(name for source in stated for name in sources.targets_of(source))


def is_small(model: Mapping[str, Any]) -> bool:
    """Whether it is a small version of a drive, of which nothing was published."""
    return (_property(model, "scale_divisor") or 1) != 1


def _property(model: Mapping[str, Any], key: str) -> float | None:
    values = {item["key"]: item.get("value") for item in model["parameters"]}
    if key == "price_usd_per_gb":
        price = values.get("price_usd")
        return None if price is None else float(price) / (model["user_capacity_bytes"] / GB)
    found = values.get(key)
    return None if found is None else float(found)
