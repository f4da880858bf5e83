"""Names that several have, told apart."""

from __future__ import annotations

from collections.abc import Sequence


def told_apart(names: Sequence[str]) -> list[str]:
    """The same names, of which the second of a kind and those after it get a number.

    >>> told_apart(["a", "a", "b", "a #2"])
    ['a', 'a #3', 'b', 'a #2']
    """
    found: list[str] = []
    for own in names:
        name, number = own, 1
        while name in found or (number > 1 and name in names):
            number += 1
            name = f"{own} #{number}"
        found.append(name)
    return found
