"""What callers hand over, whatever type checkers would say: scripts are not always checked."""

from __future__ import annotations

from drivelab.errors import RequestError


def whole(key: str, value: object, least: int, most: int) -> int:
    """A whole number; raises RequestError."""
    # A truth value is a number to Python, and a slip to everybody else.
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise RequestError(f"{key} = {value!r}: allowed: whole numbers from {least} to {most}")
    return value


def text(key: str, value: object) -> str:
    """A text that isn't empty; raises RequestError."""
    if not isinstance(value, str) or not value:
        raise RequestError(f"{key} = {value!r}: allowed: a text, and not an empty one")
    return value


def instance(key: str, value: object, kind: type) -> None:
    """Raises RequestError for a value of another class."""
    if not isinstance(value, kind):
        raise RequestError(f"{key} = {value!r}: allowed: a drivelab.{kind.__name__}")
