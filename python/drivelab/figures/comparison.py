"""Published against modelled: every figure, how far off its model is, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drivelab import sources, verdicts
from drivelab.figures import bindings, remarks, tables
from drivelab.figures.bindings import Binding, Moves
from drivelab.figures.constants import CONSTANTS
from drivelab.figures.formulas import Input, evaluate, formula_of, inputs_of
from drivelab.figures.measured import Measured, is_small
from drivelab.figures.owners import owner_of
from drivelab.figures.published import Figure, compared, figures_by_id
from drivelab.figures.readings import Reading

ZERO_LIMIT = {"MB/s": 5.0}
"""What a line that a chart draws on its axis, printed as "nearly 0", can't be told from."""

Record = dict[str, Any]


def compare_all(measured: Measured) -> list[Record]:
    """Every measured and derived figure, with its modelled value or why there is none."""
    return _completed([record_of(figure, measured) for figure in compared()], measured)


def compared_ids() -> tuple[str, ...]:
    """Identities of the figures that a model can be held against."""
    return tuple(figure.id for figure in compared())


def modelled_values(measured: Measured, ids: Iterable[str]) -> dict[str, float]:
    """Modelled values of these figures, of those that have one."""
    by_id = figures_by_id()
    found = {i: _modelled(by_id[i], inputs_of(by_id[i]), measured) for i in ids}
    return {figure_id: value for figure_id, value in found.items() if value is not None}


def compare(
    models: Sequence[Mapping[str, Any]], tests: Iterable[Mapping[str, Any]]
) -> list[Record]:
    """Figures about these models, and those about other drives in the same tests.

    `models` and `tests` are records of results.json.
    """
    whole = {model["name"] for model in models if not is_small(model)}
    measured = Measured(
        [model for model in models if model["name"] in whole],
        [test for test in tests if test["model"] in whole],
    )
    records = []
    for figure in compared():
        items = inputs_of(figure).values()
        own = owner_of(figure) in measured.models
        beside = figure.kind == "measured" and any(measured.ran(item) for item in items)
        if own or beside:
            records.append(record_of(figure, measured))
    return _completed(records, measured)


def record_of(figure: Figure, measured: Measured) -> Record:
    """A figure beside its modelled value, as results.json has it."""
    inputs = inputs_of(figure)
    modelled = _modelled(figure, inputs, measured)
    error, satisfied = judge(figure, modelled)
    before, held_before = judge(figure, figure.modelled_before)
    readings = [item for item in inputs.values() if isinstance(item, Reading)]
    owner = owner_of(figure)
    single = readings[0] if len(inputs) == 1 and readings else None
    names = list(dict.fromkeys(item.model for item in readings))
    bound = measured.bound_by(figure.id)
    return {
        "id": figure.id,
        "drive": figure.drive,
        "firmware": figure.firmware,
        "state": figure.state,
        "kind": figure.kind,
        "metric": figure.metric,
        "unit": remarks.unit(figure, single),
        "relation": figure.relation,
        "published": figure.value,
        "published_min": figure.value_min,
        "published_max": figure.value_max,
        "modelled": modelled,
        "error_ratio": error,
        "satisfied": satisfied,
        "role": role_of(figure, inputs, measured, modelled),
        "bound_by": [_bound(binding, measured) for binding in bound],
        "bound_by_stale": measured.bindings.stale(names),
        "left_out": [],
        "blind": figure.blind,
        "modelled_before": figure.modelled_before,
        "error_before_ratio": before,
        "satisfied_before": held_before,
        "model": owner if owner in measured.models else None,
        "model_state": single.state if single is not None else None,
        "test_id": single.test_id if single is not None else None,
        "formula": tables.formulas()[figure.id].text if figure.id in tables.formulas() else None,
        "inputs": _inputs(inputs, measured),
        "reason": "; ".join(
            filter(
                None, (remarks.reason(figure, inputs, measured, modelled), measured.remark(single))
            )
        ),
        "note": remarks.note(figure, single),
        "review": figure.review,
    }


def _modelled(figure: Figure, inputs: Mapping[str, Input], measured: Measured) -> float | None:
    values = {name: measured.value(item) for name, item in inputs.items()}
    known = {name: value for name, value in values.items() if value is not None}
    if not inputs or len(known) < len(inputs):
        return None
    return evaluate(formula_of(figure), known)


def _inputs(inputs: Mapping[str, Input], measured: Measured) -> list[Record]:
    return [
        {
            "name": name,
            "model": item.model,
            "test_id": item.test_id if isinstance(item, Reading) else None,
            "state": item.state if isinstance(item, Reading) else None,
            "quantity": item.quantity if isinstance(item, Reading) else item.key,
            "value": measured.value(item),
        }
        for name, item in inputs.items()
    ]


def judge(figure: Figure, modelled: float | None) -> tuple[float | None, bool | None]:
    """(modelled / published - 1, None) of a value; (distance to the bound, whether it holds).

    A bound or range that holds has no error; one that doesn't is missed by the distance to it.
    "About 0" is a bound, too: no error relative to it can be computed.
    """
    if modelled is None:
        return None, None
    if figure.value == 0 and not figure.bound:
        return None, abs(modelled) <= ZERO_LIMIT[figure.unit]
    if not figure.bound:
        return modelled / figure.value - 1, None
    value = figure.value
    low = figure.value_min if figure.relation == "range" else value
    high = figure.value_max if figure.relation == "range" else value
    assert low is not None
    assert high is not None
    if not verdicts.keeps(figure.relation, modelled, low, high):
        # Of a range the nearer end is missed.
        end = low if modelled <= low and figure.relation not in ("lt", "le") else high
        return (modelled / end - 1 if end else None), False
    return 0.0, True


def _bound(binding: Binding, measured: Measured) -> Record:
    return {
        "model": binding.model,
        "key": binding.key,
        "role": sources.role_of(measured.source(binding)),
        "change_down_ratio": binding.moves.down,
        "change_up_ratio": binding.moves.up,
    }


def role_of(
    figure: Figure, inputs: Mapping[str, Input], measured: Measured, modelled: float | None
) -> str:
    """One of `sources.FIGURE_ROLES`; `none`: nothing is modelled, or comparing means nothing."""
    if modelled is None or remarks.unjudged(figure):
        return "none"
    models = {item.model for item in inputs.values()}
    named = any(figure.id in sources.targets_of(item.source) for item in CONSTANTS) or any(
        figure.id in measured.fitted_ids[name] for name in models
    )
    if named or all(map(measured.fitted, inputs.values())):
        return "fitted"
    if not measured.bindings.known(figure.id, sorted(models)):
        return "not varied"
    bound = {sources.role_of(measured.source(b)) for b in measured.bound_by(figure.id)}
    if "specified" in bound:
        return "restated"
    if "informed" in bound:
        return "informed"
    return "transferred" if bound else "predicted"


def _completed(records: list[Record], measured: Measured) -> list[Record]:
    """With the errors of figures left out of the fits that they decide."""
    errors = {
        record["id"]: record["error_ratio"]
        for record in records
        if record["role"] != "none"
        and record["satisfied"] is None
        and record["error_ratio"] is not None
    }
    moves: dict[tuple[str, str], dict[str, Moves]] = {}
    for record in records:
        for binding in measured.bound_by(record["id"]):
            # What a drive has from another one is one parameter, with one source.
            shared = moves.setdefault((binding.key, measured.source(binding)), {})
            shared[record["id"]] = binding.moves
    aspects = {record["id"]: measurement_of(record["id"]) for record in records}
    for record in records:
        own = record["id"]
        same = [name for name, found in aspects.items() if found == aspects[own]]
        for (key, source), found in moves.items():
            if own in found and not sources.targets_of(source).isdisjoint(same):
                error = bindings.left_out(errors, found, own, same)
                if error is not None:
                    record["left_out"].append({"key": key, "error_ratio": error})
    return records


def measurement_of(figure_id: str) -> object:
    """Equal for figures of one measurement: several figures may say it in other words."""
    items = inputs_of(figures_by_id()[figure_id]).values()
    found = frozenset(item.aspect for item in items if isinstance(item, Reading))
    return found if len(found) == 1 else figure_id


def parameter_counts(measured: Measured, records: Sequence[Mapping[str, Any]]) -> list[Record]:
    """For every compared model: parameters by role, and what they are held against.

    `fitted_to_own` of the fitted ones were fitted to this model's own figures, the others came
    along with a base or a part. `values` are compared figures that are values, not bounds.
    """
    found = []
    for name, model in measured.models.items():
        own = [r for r in records if r["model"] == name and r["role"] != "none"]
        if not own:
            continue
        ids = {record["id"] for record in own}
        fitted = [
            item
            for item in model["parameters"]
            if sources.acts(str(item["key"])) and sources.targets_of(item.get("source")) & ids
        ]
        found.append(
            {
                "model": name,
                "roles": sources.counts(model["parameters"]),
                "fitted_to_own": len(fitted),
                "figures": len(own),
                "values": sum(record["satisfied"] is None for record in own),
            }
        )
    return found
