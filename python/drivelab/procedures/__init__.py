"""The tests of the laboratory, one file each. To add one: a file with PROCEDURES, named here."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.errors import RequestError, nearest
from drivelab.procedures import (
    access_time,
    as_ssd,
    hdtach,
    power,
    random_4k,
    sequential_2mb,
    sequential_128k,
)
from drivelab.procedures.procedure import Procedure

__all__ = ["PROCEDURES", "Procedure", "select"]

PROCEDURES: dict[str, Procedure] = {
    procedure.id: procedure
    for module in (
        sequential_2mb,
        sequential_128k,
        random_4k,
        access_time,
        hdtach,
        as_ssd,
        power,
    )
    for procedure in module.PROCEDURES
}
"""Every test by its identity, in the order of reports."""


ALL = "all"
"""Selects every test."""


def select(names: Sequence[str], *, disk: bool = False) -> list[Procedure]:
    """The tests of these names, in the order of reports; the default ones for no names.

    `disk`: of a hard disk. Raises RequestError for an unknown name.
    """
    for name in names:
        if name not in PROCEDURES and name != ALL:
            raise RequestError(
                f'--tests "{name}" is unknown{nearest(name, PROCEDURES)} '
                f"Allowed: {ALL}, {', '.join(PROCEDURES)}."
            )
    drive = "disk" if disk else "flash"
    return [
        test
        for test in PROCEDURES.values()
        if (ALL in names or test.id in names if names else drive in test.default_for)
    ]
