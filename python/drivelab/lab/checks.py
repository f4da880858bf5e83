"""What callers hand over, whatever type checkers would say: scripts are not always checked."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import ParamSpec, TypeVar

from drivelab.errors import RequestError, nearest
from drivelab.fio import units

P = ParamSpec("P")
T = TypeVar("T")


def keywords(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, which refuses a keyword that it hasn't got as the command line refuses an
    option: with what was meant. Python's own error names neither that nor what there is."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    known = [each.name for each in parameters if each.kind in kinds and each.name != "self"]
    what = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **named: P.kwargs) -> T:
        for key in named:
            if key not in known:
                raise RequestError(
                    f"{what}(): {key}= is unknown{nearest(key, known)} There are: "
                    f"{', '.join(known)}"
                )
        return function(*args, **named)

    return checked


def undecorated(key: str, value: object, decorator: str) -> None:
    """Raises RequestError for a function that lacks what makes a test or a state of it."""
    if inspect.isfunction(value):
        raise RequestError(f"{key} = {value.__name__}: a function alone; it lacks {decorator}", key)


def in_parentheses(example: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Makes a function that gives a decorator refuse to be the decorator itself, and to be called
    without a keyword that it needs; `example` is how it is written."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        parameters = inspect.signature(function).parameters.values()
        needed = [each.name for each in parameters if each.default is inspect.Parameter.empty]

        @functools.wraps(function)
        def checked(*args: P.args, **named: P.kwargs) -> T:
            if args:
                given = getattr(args[0], "__name__", None) or shown(args[0])
                raise RequestError(f"{function.__name__}({given}): written as {example}")
            for key in needed:
                if key not in named:
                    raise RequestError(f"{key}= is missing: written as {example}", key)
            return function(*args, **named)

        return checked

    return decorate


def plain(value: object) -> object:
    """One of numpy's numbers as Python's, which files can hold; anything else as it is."""
    single = getattr(value, "shape", None) == ()
    return value.item() if single and hasattr(value, "item") else value


def whole(key: str, value: object, least: int, most: int) -> int:
    """A whole number; raises RequestError."""
    # A truth value is a number to Python, and a slip to others. numpy's whole numbers count, too.
    index = None if isinstance(value, bool) else getattr(value, "__index__", None)
    number = None if index is None else int(index())
    if number is None or not least <= number <= most:
        raise RequestError(f"{key} = {value!r}: allowed: whole numbers from {least} to {most}", key)
    return number


def time_ns(key: str, value: object, least: int = 0) -> int:
    """A time as text with its unit, or as a number of seconds, in ns; raises RequestError."""
    found = plain(value)
    if isinstance(found, float):
        found = seconds_text(found)
    known = isinstance(found, str | int) and not isinstance(found, bool)
    try:
        time = units.time_ns(str(found) if known else "")
    except ValueError as error:
        raise RequestError(f"{key} = {value!r}: allowed: {error}", key) from None
    if time < least:
        raise RequestError(f"{key} = {value!r}: allowed: {least} ns or more", key)
    return time


def number_text(value: float) -> str:
    """A number as fio's files have it, which know no exponents.

    >>> number_text(2e-05), number_text(0.1 + 0.2), number_text(4096.0)
    ('0.00002', '0.3', '4096')
    """
    return f"{Decimal(f'{value:.15g}'):f}"


def seconds_text(value: float) -> str:
    """Seconds as fio's files have them, rounded to ns unless nothing would be left.

    >>> seconds_text(1 / 3), seconds_text(2e-05), seconds_text(1e-12)
    ('0.333333333', '0.00002', '0.000000000001')
    """
    exact = Decimal(repr(value))
    rounded = Decimal(f"{exact:.9f}")
    return f"{(rounded if rounded else exact).normalize():f}"


def switch(key: str, value: object) -> bool:
    """A truth value; raises RequestError."""
    found = plain(value)
    if not isinstance(found, bool):
        raise RequestError(f"{key} = {value!r}: allowed: True, False", key)
    return found


def text(key: str, value: object) -> str:
    """A text that isn't empty; raises RequestError."""
    if not isinstance(value, str) or not value:
        raise RequestError(f"{key} = {value!r}: allowed: a text, and not an empty one", key)
    return value


def is_written(value: str) -> bool:
    """Whether files can hold a text: half of a pair of surrogates is none."""
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def is_finite(value: object) -> bool:
    """Whether something is a number that files can hold, and databases as one of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


SHOWN_MAX = 60
"""Letters of a value that a message shows."""


def shown(value: object) -> str:
    """A value in one line of a message, however long or odd it is.

    >>> shown([1, 2]), shown(10**5000), len(shown("a" * 100))
    ('[1, 2]', 'a int', 60)
    """
    try:
        found = " ".join(repr(value).split())
    except Exception:  # Numbers of thousands of digits, and what somebody else's class raises.
        return f"a {type(value).__name__}"
    return found if len(found) <= SHOWN_MAX else f"{found[: SHOWN_MAX - 3]}..."


def choice(key: str, value: object, known: Collection[str], what: str = "") -> None:
    """Raises RequestError for what is none of the known words; `what` begins its message."""
    if not isinstance(value, str) or value not in known:
        hint = nearest(value, known).rstrip(".") if isinstance(value, str) else ""
        allowed = ", ".join(known)
        raise RequestError(f"{what}{key} = {shown(value)}: allowed: {allowed}{hint}", key)


def texts(key: str, value: object) -> tuple[str, ...]:
    """Texts, one after another; raises RequestError, also for a single one."""
    if isinstance(value, str):
        raise RequestError(f'{key} = "{value}": allowed: a list, as ["{value}"]', key)
    found = tuple(value) if isinstance(value, Iterable) else None
    if found is None or not all(isinstance(item, str) for item in found):
        raise RequestError(f"{key} = {value!r}: allowed: a list of texts", key)
    return found


def share(key: str, value: object) -> float:
    """A part of something, neither none nor all of it; raises RequestError."""
    found = plain(value)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < 1:
        raise RequestError(f"{key} = {value!r}: allowed: a number above 0 and below 1", key)
    return float(found)


def instance(key: str, value: object, kind: type, hint: str = "") -> None:
    """Raises RequestError for a value of another class."""
    if not isinstance(value, kind):
        raise RequestError(f"{key} = {value!r}: allowed: a drivelab.{kind.__name__}{hint}", key)
