"""The tests of the laboratory, one file each. To add one: a file with PROCEDURES, named here."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.errors import RequestError, nearest
from drivelab.procedures import access_time, random_4k, random_4k_qd32, sequential_2mb
from drivelab.procedures.procedure import Procedure

__all__ = ["PROCEDURES", "Procedure", "select"]

PROCEDURES: dict[str, Procedure] = {
    procedure.id: procedure
    for module in (sequential_2mb, random_4k, random_4k_qd32, access_time)
    for procedure in module.PROCEDURES
}
"""Every test by its identity, in the order of reports."""


def select(names: Sequence[str]) -> list[Procedure]:
    """The tests of these names, in the order of reports; all of them for no names.

    Raises RequestError for an unknown name.
    """
    for name in names:
        if name not in PROCEDURES:
            raise RequestError(
                f'--tests "{name}" is unknown{nearest(name, PROCEDURES)} '
                f"Allowed: {', '.join(PROCEDURES)}."
            )
    return [test for test in PROCEDURES.values() if not names or test.id in names]
