"""Older results.json in the form of today's: what they don't know is null."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin

from drivelab.records import SCHEMA
from drivelab.records.kinds import kinds, record_of
from drivelab.records.review import Review

Document = dict[str, Any]


def upgraded(document: Mapping[str, Any]) -> Document:
    """A document of a readable schema as one of SCHEMA.

    Of what is wrong with it nothing is mended: whoever reads it checks it afterwards.
    """
    found = dict(document)
    schema = found["drivelab"]["schema"]
    for step in range(schema, SCHEMA):
        found = UPGRADES[step](found)
    if schema != SCHEMA:
        found["drivelab"] = found["drivelab"] | {"schema": SCHEMA}
        found = with_nulls(found, Review)
    return found


def _from_2(document: Document) -> Document:
    """Schema 3 counts every drive of a compound test, and no programs of a drive without flash.

    Until then a test on copies or variants said that nothing was done, for nothing was done to the
    drive that it got; and hard disks had 0 programs.
    """
    disks = [
        model.get("name")
        for model in _dicts(document, "models")
        if model.get("family") == "hard-disk"
    ]

    def of_drive(record: Document) -> Document:
        flash = ("flash_program_bytes", "erases", "program_bytes", "write_amplification")
        without = [key for key in flash if key in record and record.get("model") in disks]
        return record | dict.fromkeys(without)

    def of_test(record: Document) -> Document:
        if record.get("duration_s") == 0:
            traffic = ("host_write_bytes", "flash_program_bytes", "erases")
            unknown = ("duration_s", *traffic, "energy_j", "mean_power_w")
            record = record | dict.fromkeys(unknown) | {"counters": {}}
        return of_drive(record)

    return document | {
        "tests": _each(document, "tests", of_test),
        "states": _each(document, "states", of_drive),
    }


def _dicts(document: Document, key: str) -> list[Document]:
    found = document.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _each(document: Document, key: str, change: Callable[[Document], Document]) -> Any:
    """A list of records, each changed; what is no record stays, to be refused later on."""
    found = document.get(key)
    if not isinstance(found, list):
        return found
    return [change(item) if isinstance(item, dict) else item for item in found]


def _from_3(document: Document) -> Document:
    """Schema 4 has histograms, tails and more series; 3 got `unabridged` on its way."""
    return document | {"drivelab": {"unabridged": False, **document["drivelab"]}}


def _from_4(document: Document) -> Document:
    """Schema 5 says more of real drives, and which part of drives was used; older ones used all."""
    return document


UPGRADES: Mapping[int, Callable[[Document], Document]] = {2: _from_2, 3: _from_3, 4: _from_4}
"""By the schema that they take."""
READABLE = (*UPGRADES, SCHEMA)


def with_nulls(value: Any, kind: Any) -> Any:
    """A value with null in place of fields that it lacks, where null is allowed."""
    if isinstance(value, list):
        [item] = [get_args(k)[0] for k in kinds(kind) if get_origin(k) is list] or [Any]
        return [with_nulls(part, item) for part in value]
    if not isinstance(value, dict):
        return value
    record = record_of(value, kind)
    if record is None:
        return value
    found = dict(value)
    for name, field in record.model_fields.items():
        key = field.alias or name
        if key in found:
            found[key] = with_nulls(found[key], field.annotation)
        elif field.is_required() and type(None) in kinds(field.annotation):
            found[key] = None
    return found
