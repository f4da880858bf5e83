from __future__ import annotations

import ast

import pytest

from drivelab.figures import tables
from drivelab.figures.formulas import evaluate, input_of, inputs_of
from drivelab.figures.published import figures_by_id
from drivelab.figures.readings import Property, Reading


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a / b", 0.25),
        ("100 * (1 - a / b)", 75.0),
        ("min(a, b) + max(a, b)", 5.0),
        ("a / (b - 4)", None),
    ],
)
def test_formulas_are_arithmetic(text: str, expected: float | None) -> None:
    assert evaluate(text, {"a": 1.0, "b": 4.0}) == expected


@pytest.mark.parametrize("text", ["__import__('os')", "a.real", "a ** b", "'x'", "abs(a)", "a < b"])
def test_nothing_but_arithmetic_is_evaluated(text: str) -> None:
    with pytest.raises(ValueError, match="not arithmetic"):
        evaluate(text, {"a": 1.0, "b": 4.0})


def test_inputs_are_figures_measurements_or_given_values() -> None:
    assert input_of("AN-005") == Reading(
        "wd-velociraptor-300gb", "sequential-read-2m", "new", "mib_per_s"
    )
    assert input_of("m / access-time / used / mean_ms") == Reading(
        "m", "access-time", "used", "mean_ms"
    )
    assert input_of("m / price_usd_per_gb") == Property("m", "price_usd_per_gb")
    for wrong in ("m / access-time / used / speed", "a / b / c", "AN-228"):
        with pytest.raises(ValueError, match=r"not an input|not repeated"):
            input_of(wrong)


@pytest.mark.parametrize("figure_id", tables.formulas())
def test_every_formula_uses_all_its_inputs_and_no_others(figure_id: str) -> None:
    formula = tables.formulas()[figure_id]
    names = {n.id for n in ast.walk(ast.parse(formula.text)) if isinstance(n, ast.Name)}
    assert names - {"min", "max"} == set(formula.inputs)
    assert set(inputs_of(figures_by_id()[figure_id])) == set(formula.inputs)
    evaluate(formula.text, dict.fromkeys(formula.inputs, 1.0))
