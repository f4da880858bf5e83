"""What is wrong with a record in one clear line: the key, its value, and what is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from drivelab.records.record import MISFIT, Record

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


def fault(document: Any, kind: type[Record]) -> str | None:
    """The first thing that is wrong with a document, in words; None if nothing is."""
    try:
        kind.read(document)
    except ValidationError as error:
        return in_words(document, error)
    return None


def in_words(document: Any, error: ValidationError) -> str:
    """The first of the errors that were found in a document.

    >>> from drivelab.records.run import Repeats
    >>> fault({"count": "2", "seeds": []}, Repeats)
    'count is "2"; allowed: a whole number'
    """
    found = [(_place(document, item), item) for item in error.errors(include_url=False)]
    (place, key), first = found[0]
    same = [item for at, item in found if at == (place, key)]
    if first["type"] == "missing":
        if key.startswith("["):
            return f"{place} is {_shown(first['input'])}; allowed: a pair"
        # All that one object lacks is said at once.
        keys = [key for (at, key), item in found if at == place and item["type"] == "missing"]
        return f"{place or 'it'} lacks {', '.join(keys)}"
    path = place + key if key.startswith("[") else f"{place}.{key}".strip(".")
    if first["type"] == MISFIT:
        return f"{path}.{first['msg']}".removeprefix(".")
    if first["type"] == "extra_forbidden":
        return f"{path} is no key of results.json"
    if first["type"] == "union_tag_not_found":
        return f"{path} lacks {_tag(first)}"
    if first["type"] == "union_tag_invalid":
        return f'{path}.{_tag(first)} is "{first["ctx"]["tag"]}"; allowed: {_allowed(first)}'
    allowed = " or ".join(dict.fromkeys(map(_allowed, same)))
    return f"{path} is {_shown(first['input'])}; allowed: {allowed}"


def _tag(error: Mapping[str, Any]) -> str:
    """The key that tells kinds of records apart."""
    return str(error["ctx"]["discriminator"]).strip("'")


def _allowed(error: Mapping[str, Any]) -> str:
    kind, more = error["type"], error.get("ctx", {})
    if kind == "greater_than_equal":
        return f"from {more['ge']:g} on"
    if kind == "less_than_equal":
        # Whole numbers to the last digit.
        return f"up to {more['le'] if isinstance(more['le'], int) else format(more['le'], 'g')}"
    if kind == "union_tag_invalid":
        return str(more["expected_tags"]).replace("'", '"')
    if kind == "literal_error":
        return str(more["expected"]).replace("'", '"')
    return ALLOWED.get(kind) or str(error["msg"])


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= VALUE_LENGTH else f"{text[: VALUE_LENGTH - 3]}..."


def _place(document: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    """Path of the object or list that is at fault, and the key within it.

    Names of the types that pydantic tried are parts of its path, too, but no keys of the document.
    """
    place, parts = document, []
    for part in error["loc"]:
        is_last_missing = error["type"] == "missing" and part == error["loc"][-1]
        if (isinstance(place, Mapping) and part in place) or (
            isinstance(place, list) and isinstance(part, int) and part < len(place)
        ):
            place = place[part]
        elif not is_last_missing:
            continue
        parts.append(part)
    texts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts]
    *path, key = texts or [""]
    return "".join(path).removeprefix("."), key.removeprefix(".")
