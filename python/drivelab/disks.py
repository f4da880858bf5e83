"""Which drives are hard disks, of models and of records of them."""

from __future__ import annotations

from collections.abc import Iterable


def are_of_disks(family: str | None, keys: Iterable[str]) -> bool:
    """Whether a model of this family that states these keys is a hard disk, or an array of nothing
    else: such a drive has no flash, and one state whatever was written before."""
    if family == "raid-0":
        return not any("flash" in key.split(".") for key in keys)
    return family == "hard-disk"
