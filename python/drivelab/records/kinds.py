"""The types that a field's annotation allows."""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin


def kinds(annotation: Any) -> list[Any]:
    """The parts of a union, without what is said about them.

    >>> kinds(Annotated[int, "bytes"] | list[str] | None)
    [<class 'int'>, list[str], <class 'NoneType'>]
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        return kinds(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for part in get_args(annotation) for kind in kinds(part)]
    return [annotation]
