"""`--span`: tests, jobs and replays that keep to the first bytes of a drive.

States are brought about on the whole drive all the same: a used drive is used everywhere.
"""

from __future__ import annotations

from drivelab.errors import RequestError
from drivelab.fio import units
from drivelab.quantities import SECTOR_BYTES, bytes_text


def checked(span: str | int | None, option: str = "--span") -> int | None:
    """Bytes of a span as text ("2g") or number; raises RequestError for what can't be one."""
    if span is None:
        return None
    allowed = f"multiples of {SECTOR_BYTES} bytes from {SECTOR_BYTES} on, e.g. 2g"
    if isinstance(span, bool) or not isinstance(span, str | int):
        raise RequestError(f"{option} = {span!r}: allowed: {allowed}")
    try:
        found = units.size_bytes(span) if isinstance(span, str) else span
    except ValueError as error:
        raise RequestError(f'{option} "{span}": expected {error}') from None
    if found <= 0 or found % SECTOR_BYTES:
        raise RequestError(f'{option} "{span}": allowed: {allowed}')
    return found


def bounded(capacity_bytes: int, span_bytes: int | None) -> int:
    """What of a drive of this size is used."""
    return capacity_bytes if span_bytes is None else min(capacity_bytes, span_bytes)


def check_fits(
    name: str, capacity_bytes: int, span_bytes: int | None, option: str = "--span"
) -> None:
    """Raises RequestError for a span that is larger than the drive."""
    if span_bytes is not None and span_bytes > capacity_bytes:
        raise RequestError(
            f"{option} {span_bytes}: {name} has {capacity_bytes} bytes "
            f"({bytes_text(capacity_bytes)}); allowed: up to that"
        )
