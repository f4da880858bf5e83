"""Figures that follow from several measurements: arithmetic over named inputs."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from drivelab.figures import tables
from drivelab.figures.published import Figure, figures_by_id
from drivelab.figures.readings import (
    QUANTITIES,
    VALUE,
    Property,
    Reading,
    reading_of,
    settled,
)

Input = Reading | Property

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max}


def evaluate(text: str, values: Mapping[str, float]) -> float | None:
    """Value of a formula of + - * / min max over names; None where it divides by 0.

    >>> evaluate("100 * (1 - used / new)", {"used": 3.0, "new": 4.0})
    25.0
    """
    try:
        found = _value(ast.parse(text, mode="eval").body, values)
    except ZeroDivisionError:
        return None
    return found if math.isfinite(found) else None


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, values) for argument in arguments))
        case _:
            raise ValueError(f"not arithmetic: {ast.unparse(node)}")


def input_of(text: str) -> Input:
    """What a formula's input stands for: a figure, a measurement or a given value."""
    parts = [part.strip() for part in text.split("/")]
    match parts:
        case [figure_id]:
            reading = reading_of(figures_by_id()[figure_id])
            if reading is None:
                raise ValueError(f"{figure_id} is not repeated by one measurement")
            return reading
        case [model, key]:
            return Property(model, key)
        case [model, test_id, state, name] if name in QUANTITIES or name.startswith(VALUE):
            return settled(Reading(model, test_id, state, name))
    raise ValueError(f"not an input: {text}")


def inputs_of(figure: Figure) -> dict[str, Input]:
    """What a figure's modelled value is computed from, by name; empty if nothing repeats it."""
    formula = tables.formulas().get(figure.id)
    if formula is not None:
        return {name: input_of(text) for name, text in formula.inputs.items()}
    reading = reading_of(figure)
    return {} if reading is None else {"measured": reading}


def formula_of(figure: Figure) -> str:
    """How the modelled value follows from the inputs."""
    formula = tables.formulas().get(figure.id)
    return "measured" if formula is None else formula.text
