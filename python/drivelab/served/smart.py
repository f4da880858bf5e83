"""What a served drive says about itself, in the shape of `smartctl --json`, and for people.

The engine gives facts: counters over the drive's whole life, and its condition. Tools that read
smartctl's JSON find its keys; what smartctl has no key for stands in the object `drivelab`, with
the unit at the end of each name. What the engine doesn't say is null.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import _engine, counters
from drivelab.errors import RequestError
from drivelab.quantities import GIB, NS_PER_S, SECTOR_BYTES, bytes_text, number
from drivelab.served import control, image

Facts = Mapping[str, Any]

SPARE_PERCENT_MIN = 10
"""With no more than this share of its spare blocks a drive counts as failing."""
FAULTS = (
    *("corrected_codewords", "uncorrectable_codewords", "read_retries", "blocks_refreshed"),
    *("latency_spikes", "refused_commands", "failed_commands", "lying_flushes", "ignored_fuas"),
    *("torn_writes", "lost_writes", "misdirected_writes"),
)
"""What else has gone wrong, by plan or by wear: the engine's counters under their own names."""
READ_ONLY = {
    "spare blocks used up": "its spare blocks are used up, the end of its life",
    "no room on a die": "a die has lost more blocks than it can do without, the end of its life",
    "no room for what waits": "no flash that works has room for what waits, the end of its life",
    "fault": "the fault read-only is in effect",
}
"""Why a drive takes nothing new, in the engine's words and in people's."""
KEPT, ONLINE = 0x32, 0x33
"""Flags of attributes, as smartctl has them: old age, and a warning of failure to come."""


@dataclass(frozen=True)
class Attribute:
    """One of the drive's attributes, under the number and name that smartctl knows."""

    id: int
    name: str
    raw: int | None
    value: int = 100
    thresh: int = 0

    def record(self) -> dict[str, Any]:
        """As in smartctl's table."""
        warns = self.thresh > 0
        return {
            "id": self.id,
            "name": self.name,
            "value": self.value,
            "worst": self.value,
            "thresh": self.thresh,
            "when_failed": "now" if warns and self.value <= self.thresh else "",
            "flags": {
                "value": ONLINE if warns else KEPT,
                "string": "PO--CK " if warns else "-O--CK ",
                "prefailure": warns,
                "updated_online": True,
                "performance": False,
                "error_rate": False,
                "event_count": True,
                "auto_keep": True,
            },
            "raw": {"value": self.raw, "string": number(self.raw, 20)},
        }


def read(target: Path) -> dict[str, Any]:
    """What the drive of an image, or of the socket of one that is served, says now.

    Live if it is being served (`served` is in it then), from its image otherwise. Raises
    RequestError for a socket at which nobody serves.
    """
    place = control.place_of(target)
    try:
        return {**control.ask(place, {"command": "smart"}), "served": True}
    except control.NotServedError as error:
        if target.is_socket():
            raise RequestError(f'SOCKET "{target}": nobody serves there ({error})') from None
        return image.smart(target)


def document(facts: Facts, target: str, command_line: list[str]) -> dict[str, Any]:
    """One JSON document: smartctl's keys, and the object `drivelab`."""
    capacity = facts.get("user_capacity_bytes")
    hours, minutes = divmod(_seconds(facts) // 60, 60)
    return {
        "json_format_version": [1, 0],
        "smartctl": {
            "version": [7, 3],
            "argv": command_line,
            "exit_status": 0,
        },
        "device": {"name": target, "info_name": target, "type": "drivelab", "protocol": "NBD"},
        "model_name": facts.get("title") or facts.get("model"),
        "serial_number": facts.get("serial"),
        "firmware_version": facts.get("firmware"),
        "user_capacity": {
            "blocks": None if capacity is None else capacity // SECTOR_BYTES,
            "bytes": capacity,
        },
        "logical_block_size": SECTOR_BYTES,
        "physical_block_size": facts.get("map_unit_bytes") or SECTOR_BYTES,
        "rotation_rate": facts.get("rotation_rate", 0),
        "trim": {"supported": facts.get("trim_supported")},
        "smart_support": {"available": True, "enabled": True},
        "smart_status": {"passed": passed(facts)},
        "ata_smart_attributes": {
            "revision": 1,
            "table": [item.record() for item in attributes(facts)],
        },
        "power_on_time": {"hours": hours, "minutes": minutes},
        "power_cycle_count": facts.get("power_cycles"),
        "drivelab": own(facts),
    }


def own(facts: Facts) -> dict[str, Any]:
    """What smartctl has no keys for; units end the names."""
    programmed = {
        purpose: facts.get(f"program_bytes_{purpose}") for purpose in counters.PROGRAM_PURPOSES
    }
    return {
        "engine_version": _engine.engine_version(),
        "model": facts.get("model"),
        "model_hash": facts.get("model_hash"),
        "seed": facts.get("seed"),
        "image_format": facts.get("image_format"),
        "image_space_bytes": facts.get("image_bytes_on_disk"),
        "served": facts.get("served", False),
        "clean": facts.get("clean"),
        "counters_current": facts.get("counters_current"),
        "read_only": facts.get("read_only"),
        "read_only_reason": facts.get("read_only_reason"),
        "failure": facts.get("failure"),
        "power_on_s": _seconds(facts, exact=True),
        "unsafe_shutdowns": facts.get("unsafe_shutdowns"),
        "host_read_bytes": facts.get("host_read_bytes"),
        "host_write_bytes": facts.get("host_write_bytes"),
        "host_trim_bytes": facts.get("host_trim_bytes"),
        "flash_program_bytes": counters.program_bytes(facts),
        "flash_program_bytes_for": programmed,
        "write_amplification": amplification(facts),
        "erases": counters.erase_count(facts),
        "erase_count": {
            key: facts.get(f"erase_count_{key}") for key in ("min", "mean", "max", "histogram")
        },
        "endurance_erases": facts.get("endurance_erases"),
        "erases_before": facts.get("erases_before"),
        "spare_blocks": facts.get("spare_blocks"),
        "spare_blocks_new": facts.get("spare_blocks_new"),
        "spare_percent": spare_percent(facts),
        "free_blocks": facts.get("free_blocks"),
        "retired_blocks": facts.get("retired_blocks"),
        "read_errors": facts.get("read_errors"),
        "program_failures": facts.get("program_failures"),
        "erase_failures": facts.get("erase_failures"),
        **{key: facts.get(key) for key in FAULTS},
    }


def amplification(facts: Facts) -> float | None:
    """Bytes programmed per byte written, over the drive's life; None before the first write."""
    programmed, written = counters.program_bytes(facts), facts.get("host_write_bytes")
    return programmed / written if written and programmed is not None else None


def spare_percent(facts: Facts) -> float | None:
    """What is left of the spare blocks that the drive had when it was new."""
    left, new = facts.get("spare_blocks"), facts.get("spare_blocks_new")
    return None if left is None or not new else max(0.0, 100 * left / new)


def passed(facts: Facts) -> bool:
    """Whether the drive takes writes, has spare blocks left, and is there for requests at all."""
    spare = spare_percent(facts)
    is_writable = facts.get("read_only") is not True and facts.get("failure") is None
    return is_writable and (spare is None or spare > SPARE_PERCENT_MIN)


def attributes(facts: Facts) -> list[Attribute]:
    """The table of attributes: numbers and names of smartctl's own list; those that are known."""
    spare = spare_percent(facts)
    # Rounded up: no more than 10 % are 10 or less in whole percent, so that `passed` agrees.
    share = 100 if spare is None else math.ceil(spare)
    mean = facts.get("erase_count_mean")
    worn = _worn_percent(facts)
    programmed = counters.program_bytes(facts)
    found = [
        Attribute(5, "Reallocated_Sector_Ct", facts.get("retired_blocks"), share),
        Attribute(9, "Power_On_Hours", _seconds(facts) // 3600),
        Attribute(12, "Power_Cycle_Count", facts.get("power_cycles")),
        Attribute(171, "Program_Fail_Count", facts.get("program_failures")),
        Attribute(172, "Erase_Fail_Count", facts.get("erase_failures")),
        Attribute(174, "Unexpect_Power_Loss_Ct", facts.get("unsafe_shutdowns")),
        Attribute(177, "Wear_Leveling_Count", None if mean is None else int(mean), 100 - worn),
        Attribute(187, "Reported_Uncorrect", facts.get("read_errors")),
        Attribute(
            *(232, "Available_Reservd_Space", facts.get("spare_blocks")),
            *(share, SPARE_PERCENT_MIN),
        ),
        Attribute(241, "Total_LBAs_Written", _over(facts.get("host_write_bytes"), SECTOR_BYTES)),
        Attribute(242, "Total_LBAs_Read", _over(facts.get("host_read_bytes"), SECTOR_BYTES)),
        Attribute(249, "NAND_Writes_1GiB", _over(programmed, GIB)),
    ]
    return [item for item in found if item.raw is not None]


def _worn_percent(facts: Facts) -> int:
    """Share of the rated erases that is used up, those before the drive was new included."""
    mean, endurance = facts.get("erase_count_mean"), facts.get("endurance_erases")
    if not endurance or mean is None:
        return 0
    return min(100, int(100 * (mean + (facts.get("erases_before") or 0)) / endurance))


def lines(facts: Facts) -> Iterator[tuple[str, str]]:
    """What people are shown: what it is, and its value with its unit."""
    told = own(facts)
    yield (
        "drive",
        f"{facts.get('title') or facts.get('model')}, firmware {facts.get('firmware') or '-'}",
    )
    yield "capacity", _bytes(facts.get("user_capacity_bytes"))
    yield "health", "passed" if passed(facts) else "FAILED"
    if told["read_only"]:
        reason = READ_ONLY.get(str(told["read_only_reason"]), "it takes nothing new")
        yield "", f"read-only: {reason}"
    if told["failure"]:
        yield "", f"{told['failure']}: every request fails until the drive is served again"
    yield "condition", _condition(told)
    yield "power-on time", f"{_time(told['power_on_s'])} s (the drive's own)"
    cycles = facts.get("power_cycles")
    yield "power cycles", f"{number(cycles, 20)}, {number(told['unsafe_shutdowns'], 20)} unsafe"
    yield "host wrote", _bytes(told["host_write_bytes"])
    yield "host read", _bytes(told["host_read_bytes"])
    ignored = "" if facts.get("trim_supported") is not False else " (this drive ignores TRIM)"
    yield "host trimmed", _bytes(told["host_trim_bytes"]) + ignored
    purposes = ", ".join(
        f"{purpose} {bytes_text(value)}"
        for purpose, value in told["flash_program_bytes_for"].items()
        if value
    )
    programmed = _bytes(told["flash_program_bytes"])
    yield "flash programmed", f"{programmed} ({purposes})" if purposes else programmed
    yield "write amplification", number(told["write_amplification"], 3)
    counts = told["erase_count"]
    least, mean, most = (number(counts[key], 4) for key in ("min", "mean", "max"))
    rated = f"; rated for {told['endurance_erases']}" if told["endurance_erases"] else ""
    before = f"; {told['erases_before']} before it was new" if told["erases_before"] else ""
    yield "erases of a block", f"{least} least, {mean} mean, {most} most{rated}{before}"
    if told["spare_blocks"] is not None:
        percent = number(told["spare_percent"], 3)
        yield "spare blocks", f"{told['spare_blocks']} of {told['spare_blocks_new']} ({percent} %)"
    failed = ("retired_blocks", "program_failures", "erase_failures", "read_errors")
    for key in (*failed, *FAULTS):
        if told[key]:
            yield key.replace("_", " "), str(told[key])
    yield (
        "image",
        f"format {number(told['image_format'])}, {_bytes(told['image_space_bytes'])} on disk",
    )


def _condition(told: Mapping[str, Any]) -> str:
    if told["served"]:
        return "being served"
    if told["clean"] is None:
        return "-"
    if told["clean"]:
        return "at rest"
    return (
        "power was cut; it recovers when it is served next; traffic, failures, whether it "
        "takes writes and spare blocks of an array as last saved, which happens at every flush "
        "and, while it is asked for anything, every 10 s of its time"
    )


def _seconds(facts: Facts, *, exact: bool = False) -> Any:
    """Power-on time in s: whole ones, or to the nanosecond."""
    nanoseconds = facts.get("power_on_ns") or 0
    return nanoseconds / NS_PER_S if exact else nanoseconds // NS_PER_S


def _time(seconds: float) -> str:
    """Whole ones, and digits that tell little time from none."""
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.3g}"


def _bytes(count: int | None) -> str:
    return "-" if count is None else bytes_text(count)


def _over(count: int | None, unit: int) -> int | None:
    return None if count is None else count // unit
