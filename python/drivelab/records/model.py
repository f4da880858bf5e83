"""A drive that was reviewed, with all of its parameters."""

from __future__ import annotations

from pydantic import JsonValue

from drivelab.disks import are_of_disks
from drivelab.records.record import Amount, Count, Record
from drivelab.records.smart import Smart


class Parameter(Record):
    """One parameter of a model."""

    key: str
    """As in the model's file, and for `--set`"""
    value: JsonValue
    """A number, a text, or true or false"""
    unit: str
    """Of the value"""
    source: str | None
    """Where the value comes from"""
    role: str | None
    """Of the source: one of five, see CONTRIBUTING.md"""
    default: bool
    """Whether the model leaves it at its default"""
    help: str
    """What it is"""
    allowed: str | None
    """Which values are"""


class Model(Record):
    """One drive of `models[]`."""

    name: str
    """On the command line"""
    title: str
    """For people"""
    hash: str
    """SHA-256 over every parameter, overrides included"""
    family: str | None
    """Named by its mapping scheme; `hard-disk`, `raid-0`; `real`"""
    released: str | None
    """Year and month"""
    controller_name: str | None
    """With its makers"""
    firmware: str | None
    """Its version"""
    price_usd: Amount | None
    """When it was new; null of small versions, which nobody sold"""
    price_usd_per_gib_flash: Amount | None
    """Per 2^30 bytes of flash"""
    price_usd_per_gib_user: Amount | None
    """Per 2^30 bytes that the host can address"""
    user_capacity_bytes: Count
    """What the host can address"""
    raw_capacity_bytes: Count | None
    """Of flash; null of drives that don't tell"""
    effective_spare_ratio: float | None
    """Spare area over user capacity less what the drive holds back, see
    [small versions](small-versions.md); null of hard disks and real drives"""
    parameters: list[Parameter]
    """All of them, overrides included; none of a real drive"""
    scale_remarks: list[str] | None = None
    """Only of a [small version](small-versions.md): what differs from the drive by more than 5 %"""
    real: dict[str, JsonValue] | None = None
    """Only of a real drive: how it was measured"""
    smart: Smart | None = None
    """Only of a real drive: what it says of itself"""

    @property
    def is_disk(self) -> bool:
        """Whether it is a hard disk, or an array of nothing else: no flash, one state."""
        return are_of_disks(self.family, (item.key for item in self.parameters))

    @property
    def scale(self) -> int:
        """Of a small version what it is a part of: N of 1/N."""
        found = (item.value for item in self.parameters if item.key == "scale_divisor")
        divisor = next(found, None)
        return divisor if isinstance(divisor, int) else 1

    @property
    def spare_ratio(self) -> float | None:
        """Spare area as part of the user capacity; None where there is none, or nobody knows."""
        # Of an array with hard disks no record says what of the user capacity lies on flash.
        has_disk = any("disk" in item.key.split(".") for item in self.parameters)
        if not self.user_capacity_bytes or self.raw_capacity_bytes is None or has_disk:
            return None
        return self.raw_capacity_bytes / self.user_capacity_bytes - 1
