"""SMART of real drives, through smartctl of smartmontools, which may be missing.

It tells in JSON what a drive reports; nothing of it is needed to measure, so whatever goes wrong
is one remark, and the numbers are null. smartctl's exit status is a mask of bits: the lowest two
say that nothing was read, bit 2 that a part wasn't, the others what the drive thinks of itself.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.quantities import GIB, MIB, SECTOR_BYTES
from drivelab.records.record import COUNT_MAX

Record = dict[str, Any]

WORDS = ("--json=c", "--info", "--health", "--attributes", "--log=devstat")
ASKING_S = 20.0
"""How long a drive may take to answer; one that spins up takes ten."""
DYING_S = 1.0
"""How long one that was killed is waited for."""
NOTHING_READ = 0b11
"""Bits of the exit status: wrong command line, device that can't be opened."""
NVME_UNIT_BYTES = 1000 * SECTOR_BYTES
"""Of `data_units_written`."""
NVME_TEMPERATURE_BIT = 0b10
"""Of `critical_warning`."""
TEMPERATURES_C = (-60, 200)
"""What a drive can have; 0 is what one says that has no sensor."""

HOST_WRITES = {
    "Total_LBAs_Written": SECTOR_BYTES,
    "Total_Host_Sector_Write": SECTOR_BYTES,
    "Host_Writes_32MiB": 32 * MIB,
    "Host_Writes_MiB": MIB,
    "Host_Writes_GiB": GIB,
    "Lifetime_Writes_GiB": GIB,
    "Total_Writes_GiB": GIB,
}
"""Attributes of ATA drives by smartctl's names, and bytes of a unit."""
MEDIA_WRITES = {
    "NAND_Writes_1GiB": GIB,
    "NAND_Writes_32MiB": 32 * MIB,
    "Flash_Writes_GiB": GIB,
    "Total_NAND_Writes_GiB": GIB,
}
"""The same, of what was programmed into flash."""
LIFE_LEFT = ("Media_Wearout_Indicator", "Percent_Lifetime_Remain", "SSD_Life_Left")
"""Attributes whose normalized value is the percentage that is left."""


class RefusedError(Exception):
    """Nothing could be read; the message says why."""


class SmartLog:
    """Readings of the drive at or under a place: before, after, and whenever one is asked for."""

    def __init__(self, device: str | None) -> None:
        self._device = device
        self._program: str | None = None
        self._before: Record | None = None
        self._after: Record | None = None
        self._begun = False
        self.remark: str | None = None
        """Why nothing can be read any more; what was read before stays."""

    def begin(self) -> None:
        """The reading before everything; of several the first counts."""
        if not self._begun:
            self._begun = True
            self._before = self.read()

    def end(self) -> None:
        """The reading after everything; of several the last counts."""
        self._after = self.read()

    def read(self) -> Record | None:
        """What the drive says now; None, with a remark, once it can't be asked."""
        if self.remark is not None:
            return None
        try:
            if self._device is None:
                raise RefusedError("there is no device of this machine at or under it")
            self._program, found = _asked(self._device)
        except RefusedError as error:
            self.remark = f"SMART is not read: {error}"
            return None
        return found

    def record(self) -> Record:
        """As in results.json."""
        return {
            "device": self._device,
            "program": self._program,
            "remark": self.remark,
            "before": self._before,
            "after": self._after,
        }


def _asked(device: str) -> tuple[str, Record]:
    """smartctl's version, and what it says of a device; raises RefusedError."""
    path = shutil.which("smartctl")
    if path is None:
        raise RefusedError("smartctl is not installed (package smartmontools)")
    status, said = _run([path, *WORDS, device])
    try:
        document = json.loads(said.decode(errors="replace"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise RefusedError(f"smartctl {device} gives no JSON (status {status})")
    # Below 0: a signal ended it.
    if status < 0 or status & NOTHING_READ:
        why = _message(document) or "no reason given"
        raise RefusedError(f"smartctl {device}: {why} (status {status})")
    found = reading(document)
    if all(value is None for value in found.values()):
        raise RefusedError(f"smartctl {device} reports nothing that is known")
    return _version(document), found


def _run(words: list[str]) -> tuple[int, bytes]:
    """Exit status and output of a program; raises RefusedError."""
    try:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError as error:
        raise RefusedError(f"smartctl can't be run ({error.strerror})") from None
    try:
        said, _ = process.communicate(timeout=ASKING_S)
    except BaseException as error:
        process.kill()
        # Not for ever: one that hangs in the kernel, at a drive that is gone, never ends.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(DYING_S)
        if isinstance(error, subprocess.TimeoutExpired):
            raise RefusedError(f"smartctl {words[-1]} doesn't end within {ASKING_S:g} s") from None
        raise
    finally:
        assert process.stdout is not None
        process.stdout.close()
    return process.returncode, said


def reading(document: Mapping[str, Any]) -> Record:
    """What smartctl's JSON says, of NVMe and ATA drives; what is missing or odd is None."""
    nvme = _dict(document.get("nvme_smart_health_information_log"))
    # Of a drive that smartctl doesn't know, its names of attributes are guesses by their numbers:
    # 241 is then Total_LBAs_Written, whether the drive counts sectors, 32 MiB or GiB.
    named = document.get("in_smartctl_database") is True
    attributes = dict(_attributes(document)) if named else {}
    statistics = dict(_statistics(document))
    sector = _count(document.get("logical_block_size")) or SECTOR_BYTES
    critical = _count(nvme.get("critical_warning"))
    temperature = _dict(document.get("temperature"))
    passed = _dict(document.get("smart_status")).get("passed")
    return {
        "passed": passed if isinstance(passed, bool) else None,
        "temperature_c": _first(
            _degrees(temperature.get("current")),
            _degrees(nvme.get("temperature")),
            _degrees(statistics.get("Current Temperature")),
        ),
        "temperature_limit_c": _first(
            _degrees(temperature.get("op_limit_max")),
            _degrees(statistics.get("Specified Maximum Operating Temperature")),
        ),
        "too_hot": None if critical is None else bool(critical & NVME_TEMPERATURE_BIT),
        "hot_minutes": _sum(
            _count(nvme.get("warning_temp_time")), _count(nvme.get("critical_comp_time"))
        ),
        "percentage_used": _first(
            _amount(_dict(document.get("endurance_used")).get("current_percent")),
            _amount(nvme.get("percentage_used")),
            _amount(statistics.get("Percentage Used Endurance Indicator")),
            *(_used(attributes.get(name)) for name in LIFE_LEFT),
        ),
        "available_spare_percent": _amount(nvme.get("available_spare")),
        "power_on_hours": _first(
            _count(_dict(document.get("power_on_time")).get("hours")),
            _count(nvme.get("power_on_hours")),
        ),
        "host_write_bytes": _first(
            _bytes(nvme.get("data_units_written"), NVME_UNIT_BYTES),
            _bytes(statistics.get("Logical Sectors Written"), sector),
            *_written(attributes, HOST_WRITES),
        ),
        "media_write_bytes": _first(*_written(attributes, MEDIA_WRITES)),
    }


def _attributes(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Attributes of an ATA drive by name."""
    for row in _list(_dict(document.get("ata_smart_attributes")).get("table")):
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            yield row["name"], row


def _statistics(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Values of an ATA drive's device statistics that it calls valid, by name."""
    for page in _list(_dict(document.get("ata_device_statistics")).get("pages")):
        for row in _list(_dict(page).get("table")):
            name, flags = _dict(row).get("name"), _dict(_dict(row).get("flags"))
            if isinstance(name, str) and flags.get("valid") is True:
                yield name, row.get("value")


def _written(
    attributes: Mapping[str, Mapping[str, Any]], units: Mapping[str, int]
) -> Iterator[int | None]:
    for name, unit in units.items():
        yield _bytes(_dict(_dict(attributes.get(name)).get("raw")).get("value"), unit)


def _used(attribute: object) -> float | None:
    left = _amount(_dict(attribute).get("value"))
    return None if left is None or left > 100 else 100 - left


def _bytes(value: object, unit: int) -> int | None:
    count = _count(value)
    return None if count is None else _count(count * unit)


def _count(value: object) -> int | None:
    """A whole number that a counter can have."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= COUNT_MAX else None  # type: ignore[operator, return-value]


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= 255 else None


def _degrees(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    low, high = TEMPERATURES_C
    return float(value) if low <= value <= high and value != 0 else None


def _sum(*values: int | None) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _message(document: Mapping[str, Any]) -> str:
    """smartctl's own first words about what went wrong, on one line."""
    for item in _list(_dict(document.get("smartctl")).get("messages")):
        words = _dict(item).get("string")
        if isinstance(words, str) and words.strip():
            return " ".join(words.split())
    return ""


def _version(document: Mapping[str, Any]) -> str:
    numbers = _list(_dict(document.get("smartctl")).get("version"))
    return "smartctl " + ".".join(map(str, numbers)) if numbers else "smartctl"
