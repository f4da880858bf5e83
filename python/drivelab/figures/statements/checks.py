"""The vocabulary of statements: what a check asks of measured values, and what breaks it."""

from __future__ import annotations

import ast
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.figures.statements.rows import Check
from drivelab.quantities import number

Values = Callable[[str, str], float | None]
"""The value of a measured name on a model, or None."""

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "log": math.log}
_OF_LIST: dict[str, Callable[[Sequence[float]], float]] = {
    "largest": max,
    "smallest": min,
    "median": statistics.median,
    "mean": statistics.fmean,
}
_BOUNDS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "above": (operator.gt, "above"),
    "below": (operator.lt, "below"),
    "least": (operator.ge, "at least"),
    "most": (operator.le, "at most"),
}


class Missing(Exception):  # noqa: N818
    """A value that wasn't measured, or is no number: a division by 0, a test without result."""


@dataclass(frozen=True)
class Found:
    """What a check found: a value for each drive, pair or place, and what is wrong with them."""

    text: str
    values: tuple[tuple[str, float], ...]
    broken: tuple[str, ...]
    missing: tuple[str, ...]


def found(check: Check, values: Values, aliases: Mapping[str, str]) -> Found:
    """Looks whether a check holds. Drives without a value are named, and the rest is judged."""
    return _KINDS[check.kind](check, values, aliases)


def names_in(check: Check, aliases: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The measured names of a check's expression, each with the models it is wanted of."""
    wanted: dict[str, list[str]] = {}

    def visit(node: ast.AST) -> None:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=alias)]) if alias in aliases:
                wanted.setdefault(name, []).append(aliases[alias])
            case ast.Call(args=arguments):
                for argument in arguments:
                    visit(argument)
            case ast.Name(id=name):
                wanted.setdefault(name, []).extend(check.models)
            case _:
                for child in ast.iter_child_nodes(node):
                    visit(child)

    visit(ast.parse(check.expression, mode="eval"))
    return {name: tuple(models) for name, models in wanted.items()}


def _evaluate(
    text: str, of: Callable[[str, str | None], float], listed: Callable[[str], Sequence[float]]
) -> float:
    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as constant):
                return float(constant)
            case ast.Name(id=name):
                return of(name, None)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=listed_name)]) if (
                name in _OF_LIST
            ):
                return _OF_LIST[name](listed(listed_name))
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(value, arguments))
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=alias)]):
                return of(name, alias)
            case _:
                raise ValueError(f"not arithmetic: {ast.unparse(node)}")

    try:
        result = value(ast.parse(text, mode="eval").body)
    except (ZeroDivisionError, ValueError) as error:
        if isinstance(error, ValueError) and "not arithmetic" in str(error):
            raise
        raise Missing(text) from None
    if not math.isfinite(result):
        raise Missing(text)
    return result


def _on(check: Check, values: Values, model: str) -> float:
    """The check's expression on one drive."""

    def of(name: str, _: str | None) -> float:
        found_value = values(name, model)
        if found_value is None:
            raise Missing(f"{name} of {model}")
        return found_value

    def nothing(name: str) -> Sequence[float]:
        raise ValueError(f"not arithmetic on one drive: {name}")

    return _evaluate(check.expression, of, nothing)


def _known(check: Check, values: Values) -> tuple[dict[str, float], tuple[str, ...]]:
    """The expression on every drive that has it, and the drives that haven't."""
    known, missing = {}, []
    for model in check.models:
        try:
            known[model] = _on(check, values, model)
        except Missing:
            missing.append(model)
    return known, tuple(missing)


def _bounds_text(bounds: Mapping[str, float]) -> str:
    return " and ".join(f"{_BOUNDS[key][1]} {number(limit)}" for key, limit in bounds.items())


def _out_of_bounds(check: Check, label: str, value: float) -> Iterator[str]:
    for key, limit in check.bounds.items():
        holds, words = _BOUNDS[key]
        if not holds(value, limit):
            yield f"{label}: {number(value)} is not {words} {number(limit)}"


def _each(check: Check, values: Values, _: Mapping[str, str]) -> Found:
    known, missing = _known(check, values)
    broken = [line for name, value in known.items() for line in _out_of_bounds(check, name, value)]
    text = f"{check.expression}: {_bounds_text(check.bounds)} on each"
    return Found(text, tuple(known.items()), tuple(broken), missing)


def _ratio(check: Check, values: Values, _: Mapping[str, str]) -> Found:
    known, missing = _known(check, values)
    over, under = check.of
    pairs = {
        f"{a} / {b}": known[a] / known[b]
        for a in over
        for b in under
        if a in known and b in known and known[b]
    }
    broken = [line for name, value in pairs.items() for line in _out_of_bounds(check, name, value)]
    text = f"{check.expression}, one drive / the other: {_bounds_text(check.bounds)}"
    return Found(text, tuple(pairs.items()), tuple(broken), missing)


def _order(check: Check, values: Values, _: Mapping[str, str]) -> Found:
    known, missing = _known(check, values)
    places = [[model for model in place if model in known] for place in check.of]
    broken = [
        f"{better} ({number(known[better])}) is not ahead of {worse} ({number(known[worse])})"
        for ahead, behind in itertools.pairwise([place for place in places if place])
        for better in ahead
        for worse in behind
        if (known[better] >= known[worse] if check.lowest_first else known[better] <= known[worse])
    ]
    text = f"{check.expression}: {'lowest' if check.lowest_first else 'highest'} first"
    return Found(text, tuple(known.items()), tuple(broken), missing)


def _within(check: Check, values: Values, _: Mapping[str, str]) -> Found:
    known, missing = _known(check, values)
    wanted = len(check.models) if check.count is None else check.count
    text = f"{check.expression}: {wanted} within {number(check.percent)} % of their {check.around}"
    if not known:
        return Found(text, (), (), missing)
    numbers = list(known.values())
    middle = numbers[0] if check.around == "first" else _OF_LIST[check.around](numbers)
    apart = [
        f"{model}: {number(value)} is not within {number(check.percent)} % of {number(middle)}"
        for model, value in known.items()
        if abs(value - middle) > check.percent / 100 * abs(middle)
    ]
    close = len(known) - len(apart)
    enough = check.count is not None and close >= check.count
    return Found(text, tuple(known.items()), () if enough else tuple(apart), missing)


def _value(check: Check, values: Values, aliases: Mapping[str, str]) -> Found:
    missing: list[str] = []

    def of(name: str, alias: str | None) -> float:
        if alias is None:
            raise ValueError(f"not arithmetic: {name} of which drive?")
        found_value = values(name, aliases[alias])
        if found_value is None:
            missing.append(aliases[alias])
            raise Missing(name)
        return found_value

    def listed(name: str) -> Sequence[float]:
        known = [value for model in check.models if (value := values(name, model)) is not None]
        missing.extend(model for model in check.models if values(name, model) is None)
        if not known:
            raise Missing(name)
        return known

    text = f"{check.expression}: {_bounds_text(check.bounds)}"
    try:
        value = _evaluate(check.expression, of, listed)
    except Missing:
        return Found(text, (), (), tuple(missing))
    broken = tuple(_out_of_bounds(check, check.expression, value))
    return Found(text, ((check.expression, value),), broken, tuple(missing))


_KINDS: dict[str, Callable[[Check, Values, Mapping[str, str]], Found]] = {
    "each": _each,
    "ratio": _ratio,
    "order": _order,
    "within": _within,
    "value": _value,
}

Record = dict[str, Any]


def record(item: Found) -> Record:
    """A check as in the document of `--json`."""
    return {
        "check": item.text,
        "holds": None if not item.values else not item.broken,
        "values": [{"of": name, "value": value} for name, value in item.values],
        "broken": list(item.broken),
    }
