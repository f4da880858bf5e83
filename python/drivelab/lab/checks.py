"""What callers hand over, whatever type checkers would say: scripts are not always checked."""

from __future__ import annotations

from drivelab.errors import RequestError
from drivelab.fio import units


def plain(value: object) -> object:
    """One of numpy's numbers as Python's, which files can hold; anything else as it is."""
    item = getattr(value, "item", None)
    return value if item is None else item()


def whole(key: str, value: object, least: int, most: int) -> int:
    """A whole number; raises RequestError."""
    # A truth value is a number to Python, and a slip to others. numpy's whole numbers count, too.
    index = None if isinstance(value, bool) else getattr(value, "__index__", None)
    number = None if index is None else int(index())
    if number is None or not least <= number <= most:
        raise RequestError(f"{key} = {value!r}: allowed: whole numbers from {least} to {most}")
    return number


def time_ns(key: str, value: object) -> int:
    """A time as text with its unit, or as a number of seconds, in ns; raises RequestError."""
    found = plain(value)
    known = isinstance(found, str | int | float) and not isinstance(found, bool)
    try:
        return units.time_ns(str(found) if known else "")
    except ValueError as error:
        raise RequestError(f"{key} = {value!r}: allowed: {error}") from None


def text(key: str, value: object) -> str:
    """A text that isn't empty; raises RequestError."""
    if not isinstance(value, str) or not value:
        raise RequestError(f"{key} = {value!r}: allowed: a text, and not an empty one")
    return value


def instance(key: str, value: object, kind: type, hint: str = "") -> None:
    """Raises RequestError for a value of another class."""
    if not isinstance(value, kind):
        raise RequestError(f"{key} = {value!r}: allowed: a drivelab.{kind.__name__}{hint}")
