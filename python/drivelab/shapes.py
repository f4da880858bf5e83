"""What a document has at least: keys, and what kind of thing each of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

WORDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


@dataclass(frozen=True)
class Fields:
    """An object. A key that ends in "?" may be missing or null; None holds anything, also null."""

    keys: dict[str, Any]


@dataclass(frozen=True)
class ListOf:
    """A list of things of one shape; None: of anything."""

    item: Any = None


def fault(value: object, shape: Any, place: str) -> str | None:
    """The first thing that is wrong with a value, in words; None if nothing is.

    >>> fault({"tests": [{"id": 3}]}, Fields({"tests": ListOf(Fields({"id": str}))}), "")
    'tests[0].id is not a text'
    """
    return next(_faults(value, shape, place), None)


def _faults(value: object, shape: Any, place: str) -> Iterator[str]:
    if shape is None:
        return
    kind = {Fields: dict, ListOf: list}.get(type(shape), shape)
    if not _is(value, kind):
        yield f"{place or 'it'} is not {WORDS[kind]}"
        return
    if isinstance(shape, ListOf):
        assert isinstance(value, list)
        for index, item in enumerate(value):
            yield from _faults(item, shape.item, f"{place}[{index}]")
    if isinstance(shape, Fields):
        assert isinstance(value, dict)
        missing = [key for key in shape.keys if not key.endswith("?") and key not in value]
        if missing:
            yield f"{place or 'it'} lacks {', '.join(missing)}"
            return
        for key, inner in shape.keys.items():
            name = key.removesuffix("?")
            if not key.endswith("?") or value.get(name) is not None:
                yield from _faults(value[name], inner, f"{place}.{name}".removeprefix("."))


def _is(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
