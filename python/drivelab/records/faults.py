"""What is wrong with a record in one clear line: the key, its value, and what is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

ALLOWED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a pair",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "finite_number": "a finite number",
    "too_long": "a pair",
}
"""By pydantic's kinds of errors."""
VALUE_LENGTH = 40


def fault(document: Any, kind: type[BaseModel]) -> str | None:
    """The first thing that is wrong with a document, in words; None if nothing is.

    Keys that the definition doesn't have are nobody's: they are passed over.
    """
    try:
        kind.model_validate(document, extra="ignore")
    except ValidationError as error:
        return in_words(document, error)
    return None


def in_words(document: Any, error: ValidationError) -> str:
    """The first of the errors that were found in a document.

    >>> from drivelab.records.run import Repeats
    >>> fault({"count": "2", "seeds": []}, Repeats)
    'count is "2"; allowed: a whole number'
    """
    found = [
        (_owner(document, item["loc"]), item)
        for item in error.errors(include_url=False, include_context=True)
    ]
    (place, key), first = found[0]
    if first["type"] == "missing" and key.startswith("["):
        return f"{place} is {_shown(first['input'])}; allowed: a pair"
    if first["type"] == "missing":
        # All that one object lacks is said at once.
        keys = [key for (where, key), item in found if where == place and item["type"] == "missing"]
        return f"{place or 'it'} lacks {', '.join(keys)}"
    path = _joined(place, key)
    if first["type"] == "extra_forbidden":
        return f"{path} is no key of results.json"
    if first["type"] == "union_tag_not_found":
        return f"{path} lacks {str(first['ctx']['discriminator']).strip(chr(39))}"
    if first["type"] == "union_tag_invalid":
        path = f"{path}.{str(first['ctx']['discriminator']).strip(chr(39))}"
        return f'{path} is "{first["ctx"]["tag"]}"; allowed: {first["ctx"]["expected_tags"]}'
    return f"{path} is {_shown(first['input'])}; allowed: {_allowed(first)}"


def _allowed(error: Mapping[str, Any]) -> str:
    kind, more = error["type"], error.get("ctx", {})
    if kind == "greater_than_equal":
        return f"from {more['ge']:g} on"
    if kind == "less_than_equal":
        return f"up to {more['le']:g}"
    if kind == "literal_error":
        return str(more["expected"]).replace("'", '"')
    return ALLOWED.get(kind) or str(error["msg"])


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= VALUE_LENGTH else f"{text[: VALUE_LENGTH - 3]}..."


def _owner(document: Any, location: tuple[str | int, ...]) -> tuple[str, str]:
    """Path of the object or list that is at fault, and the key within it."""
    place, parts = document, []
    *path, last = location or ("",)
    for part in path:
        if isinstance(place, Mapping) and part not in place:
            continue  # Which kind of record pydantic tried: no key of the document.
        if isinstance(place, Mapping | list):
            place = place[part]  # type: ignore[index]
            parts.append(part)
    return _path(parts), f"[{last}]" if isinstance(last, int) else str(last)


def _path(parts: list[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.removeprefix(".")


def _joined(place: str, key: str) -> str:
    if key.startswith("["):
        return place + key
    return f"{place}.{key}".strip(".")
