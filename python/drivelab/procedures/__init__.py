"""The tests of the laboratory, one file each. To add one: a file with PROCEDURES, named here.

The order is that of reports: by group, then as named here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Literal

from drivelab.errors import RequestError, nearest
from drivelab.procedures.procedure import GROUPS, Procedure

__all__ = ["GROUPS", "PROCEDURES", "Procedure", "group_name", "groups_of", "select"]

_MODULES = (
    *("sequential_2mb", "sequential_128k", "random_4k", "access_time", "hdtach", "fill", "as_ssd"),
    *("resiliency", "atto", "alignment", "compressibility", "read_span", "paced_writes"),
    *("slc_cache", "burst_endurance", "consistency", "saturation"),
    *("spare_area", "fill_level", "partition", "zone_size", "skew"),
    *("interleaved_zones", "endurance", "retention", "storage_bench", "applications"),
    *("loading", "power", "power_states", "disk_mark", "iometer", "pts"),
)
PROCEDURES: dict[str, Procedure]
"""Every test by its identity, in the order of reports; loaded when it is asked for, because most
commands need none."""


@cache
def _procedures() -> dict[str, Procedure]:
    files = [import_module(f"{__name__}.{name}") for name in _MODULES]
    known: list[Procedure] = [procedure for file in files for procedure in file.PROCEDURES]
    return {
        procedure.id: procedure
        for group in GROUPS
        for procedure in known
        if procedure.group == group
    }


def __getattr__(name: str) -> dict[str, Procedure]:
    if name == "PROCEDURES":
        return _procedures()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


ALL = "all"
"""Selects every test."""


def groups_of(known: Mapping[str, Procedure]) -> list[str]:
    """The groups of these tests, in the order of reports."""
    return list(dict.fromkeys([*GROUPS, *(test.group for test in known.values())]))


def select(
    names: Sequence[str],
    *,
    disk: bool = False,
    known: Mapping[str, Procedure] | None = None,
) -> list[Procedure]:
    """The tests of these names or groups, in the order of reports; the default ones for no names.

    `disk`: of a hard disk. `known`: what there is to choose from, usually all tests. Raises
    RequestError for an unknown name, or for a test asked for by name that means nothing on such a
    drive.
    """
    known = _procedures() if known is None else known
    groups = {group_name(group): group for group in groups_of(known)}
    for name in names:
        if name not in known and name != ALL and name not in groups:
            raise RequestError(
                f'--tests "{name}" is unknown{nearest(name, [*known, *groups])} '
                f"Allowed: {ALL}; groups {', '.join(groups)}; `drivelab list --tests` lists tests."
            )
    drive: Literal["flash", "disk"] = "disk" if disk else "flash"
    for name in names:
        if name in known and drive not in known[name].kinds:
            what = "hard disks" if disk else "flash drives"
            raise RequestError(f'--tests "{name}" means nothing on {what}')
    wanted = {name for name in names if name in known}
    wanted_groups = {groups[name] for name in names if name in groups}
    return [
        test
        for test in known.values()
        if drive in test.kinds
        and (
            ALL in names or test.id in wanted or test.group in wanted_groups
            if names
            else drive in test.default_for
        )
    ]


def group_name(group: str) -> str:
    """A group as one types it: "storage-bench"."""
    return group.replace(" ", "-")
