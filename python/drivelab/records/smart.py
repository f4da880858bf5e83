"""What a real drive says of itself by SMART, before and after it was measured."""

from __future__ import annotations

from drivelab.records.record import Amount, Count, Record


class Reading(Record):
    """What smartctl read at one time; null is what this drive doesn't report, never 0."""

    passed: bool | None
    """The drive's own verdict: false where it expects to fail"""
    temperature_c: float | None
    """Degrees Celsius"""
    temperature_limit_c: float | None
    """Up to which the maker allows it to work"""
    too_hot: bool | None
    """Whether its temperature is beyond a threshold of its own right now (NVMe)"""
    hot_minutes: Count | None
    """Minutes of its life beyond its thresholds of temperature (NVMe)"""
    percentage_used: Amount | None
    """Of the endurance that the maker states; may pass 100"""
    available_spare_percent: Amount | None
    """Spare blocks that are left (NVMe)"""
    power_on_hours: Count | None
    """Of its life"""
    host_write_bytes: Count | None
    """That hosts wrote in its life"""
    media_write_bytes: Count | None
    """That it programmed into flash in its life"""


class Readings(Record):
    """Before and after a test, its state made already."""

    before: Reading | None
    """Null where nothing could be read"""
    after: Reading | None
    """The same"""


class Smart(Record):
    """SMART of the drive at or under a place, before and after all that was measured."""

    device: str | None
    """Which device was asked; null where there is none"""
    program: str | None
    """With its version; null where it isn't installed"""
    remark: str | None
    """Why nothing was read, or nothing more after `before`; null where every reading came"""
    before: Reading | None
    """Before anything was written"""
    after: Reading | None
    """After the last test"""
