"""Data patterns as text: what `--data` takes, and how results and reports name them.

    zeros | repeating | random | compressible:LEFT | duplicate:SHARE | pool:COUNT

LEFT is the percentage that compression leaves, SHARE the percentage of blocks that are copies,
COUNT how many contents those have. The last three may be combined: `compressible:46,duplicate:30`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from drivelab.errors import RequestError, nearest
from drivelab.workload import Compressible, DataPattern, RandomBytes, Repeating, Zeros

NAMED: dict[str, DataPattern] = {
    "zeros": Zeros(),
    "repeating": Repeating(),
    "random": RandomBytes(),
}
"""Patterns without parameters."""

FIELDS = {
    "compressible": "compressed_percent",
    "duplicate": "duplicate_percent",
    "pool": "duplicate_pool",
}
"""Words with a number, and the fields of `Compressible` that they are."""

_LIMITS = {
    "compressible": "what compression leaves, 0 to 100 percent",
    "duplicate": "the share of copies, 0 to 100 percent",
    "pool": "how many contents the copies have, 1 to 65535",
}
FIRST = ("compressible", "duplicate")
"""Those of the words that a text begins with: `pool` stands beside `duplicate` only."""
_ALLOWED = "zeros, repeating, random, compressible:46, duplicate:30, compressible:46,duplicate:30"
_PATTERN: TypeAdapter[DataPattern] = TypeAdapter(DataPattern)


def parse_data_pattern(text: str, option: str = "--data") -> DataPattern:
    """The data pattern of a text; raises RequestError naming option, value and what is allowed.

    >>> parse_data_pattern("compressible:46,duplicate:30")
    Compressible(kind='compressible', compressed_percent=46.0, duplicate_percent=30.0, \
duplicate_pool=1024)
    """
    if not isinstance(text, str):
        raise RequestError(f"{option} = {text!r}: allowed: a text: {_ALLOWED}")
    if text in NAMED:
        return NAMED[text]
    fields: dict[str, Any] = {}
    for word in text.split(","):
        name, _, value = word.strip().partition(":")
        if name not in FIELDS:
            unknown = f" is unknown{nearest(name, [*NAMED, *(FIELDS if fields else FIRST)])}"
            hint = " stands alone, without a number." if name in NAMED else unknown
            raise RequestError(f'{option} "{text}": "{word.strip()}"{hint} Allowed: {_ALLOWED}.')
        if FIELDS[name] in fields:
            raise RequestError(f'{option} "{text}": {name} is there twice; once is allowed')
        fields[FIELDS[name]] = value.removesuffix("%")
        try:
            Compressible(**{FIELDS[name]: fields[FIELDS[name]]})
        except ValidationError:
            raise RequestError(
                f'{option} "{text}": {name} = "{value}"; allowed: {_LIMITS[name]}'
            ) from None
    if "duplicate_pool" in fields and "duplicate_percent" not in fields:
        raise RequestError(f'{option} "{text}": pool needs duplicate:SHARE beside it')
    return Compressible(**fields)


def data_pattern_text(pattern: DataPattern | Mapping[str, Any]) -> str:
    """The shortest text that `parse_data_pattern` takes for a pattern, or for its JSON.

    >>> data_pattern_text({"kind": "compressible", "compressed_percent": 46.0})
    'compressible:46'
    """
    found = _PATTERN.validate_python(pattern)
    if not isinstance(found, Compressible):
        return found.kind
    words = [
        f"{name}:{getattr(found, key):g}" for name, key in FIELDS.items() if key != "duplicate_pool"
    ]
    if found.duplicate_percent == 0:
        return words[0]
    if found.duplicate_pool != Compressible().duplicate_pool:
        words.append(f"pool:{found.duplicate_pool}")
    return ",".join(words if found.compressed_percent != 100 else words[1:])
