"""What follows from a model's parameters by arithmetic alone: the limits that a data sheet states.

Nothing here is simulated, and nothing waits for anything else: each line is what one part of a
drive could do if the others were ideal, in bytes of flash or of the link, or what a lone request
takes. What a drive does for long is never more than the least of them, unless it compresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from drivelab.model import CELL_BITS, Model
from drivelab.quantities import GB, KIB, MB, NS_PER_S, NS_PER_US, number
from drivelab.theory import fifo_write_amplification

READ_BYTES = 4 * KIB
PageKind = Literal["read", "read_middle", "read_upper", "read_top", "slc_read"]


@dataclass(frozen=True)
class Fact:
    """One line of a data sheet."""

    key: str
    """As in JSON; its unit is part of it."""
    title: str
    value: float | None
    """None: no limit."""
    unit: str
    why: str
    """What it follows from."""

    @property
    def text(self) -> str:
        """Value and unit as people read them."""
        return "no limit" if self.value is None else f"{number(self.value)} {self.unit}".rstrip()


def facts(model: Model) -> list[Fact]:
    """The data sheet of a drive of flash; empty of hard disks and arrays, which have none of it."""
    if absence(model) is not None:
        return []
    flash = _Flash(model)
    return [
        *_writes(flash, model),
        *_shared(flash, model),
        *_firmware(model),
        *_reads(model),
        *_cache(model),
        *_cleaning(model),
    ]


def absence(model: Model) -> str | None:
    """Why a drive has no data sheet; None for one that has."""
    if model.is_disk:
        return "a hard disk has no flash, but seeks and rotation"
    if model.value("flash.page_bytes") is None:
        return "an array has no flash of its own, but its members do"
    return None


def records(model: Model) -> dict[str, Any]:
    """The same as JSON has it: null and the reason where there is none."""
    reason = absence(model)
    sheet = None if reason else [asdict(fact) for fact in facts(model)]
    return {"datasheet": sheet, "datasheet_absence": reason}


def read_us(model: Model, kind: PageKind = "read") -> float:
    """What a lone read of 4 KiB takes whose page is of a kind, in us.

    Firmware and the host's part, the command on the bus, tR, the data and their share of the
    out-of-band bytes on the bus, error correction, and the data on the link.
    """
    sense_ns = model.value(f"flash.{kind}_ns")
    if sense_ns is None:
        sense_ns = model.value("flash.read_ns")
    coded = READ_BYTES * (
        1 + _number(model, "flash.oob_bytes") / _number(model, "flash.page_bytes")
    )
    # Channels in lockstep bring a part of it each.
    coded /= max(1, _number(model, "flash.lockstep_channels"))
    bus_ns = _number(model, "flash.command_ns") + _ns(coded, model, "flash.bus_bytes_per_s")
    frames = -(-READ_BYTES // max(1, int(_number(model, "link.frame_bytes") or READ_BYTES)))
    link_ns = (
        _number(model, "link.command_overhead_ns")
        + frames * _number(model, "link.frame_overhead_ns")
        + _ns(READ_BYTES, model, "link.bytes_per_s")
    )
    firmware_ns = sum(
        _number(model, f"controller.{part}_ns") for part in ("pipeline", "read_firmware", "decode")
    )
    return float(firmware_ns + sense_ns + bus_ns + link_ns) / NS_PER_US


class _Flash:
    """What the flash of a drive does at once."""

    def __init__(self, model: Model) -> None:
        def value(key: str) -> int:
            return int(_number(model, f"flash.{key}"))

        self.lockstep = max(1, value("lockstep_channels"))
        self.channels = value("channel_count")
        self.dies = self.channels * value("dies_per_channel") // self.lockstep
        self.planes = value("planes_per_die") if model.value("flash.two_plane") else 1
        self.bits = CELL_BITS[str(model.value("flash.cell"))]
        self.one_shot = bool(model.value("flash.one_shot"))
        self.pages_bytes = self.planes * value("page_bytes")
        self.coded = 1 + value("oob_bytes") / value("page_bytes")
        self.bus_bytes_per_s = value("bus_bytes_per_s")
        self.command_ns = value("command_ns")

    def die_bytes_per_s(self, bits: int, program_ns: float) -> float:
        """Of programs one after the other, each with the bytes of so many pages of every plane."""
        coded = bits * self.pages_bytes * self.coded
        # A bus without a rate is one without a limit.
        on_bus_ns = coded / self.bus_bytes_per_s * NS_PER_S if self.bus_bytes_per_s else 0.0
        busy_ns = self.command_ns + on_bus_ns + program_ns
        return bits * self.pages_bytes * self.lockstep / busy_ns * NS_PER_S


def _writes(flash: _Flash, model: Model) -> list[Fact]:
    modes = [("native", "", flash.bits if flash.one_shot else 1, "flash.program_ns")]
    if _number(model, "slc_cache.max_bytes"):
        modes.append(("slc", ", SLC mode", 1, "flash.slc_program_ns"))
    found = []
    for key, mode, bits, program in modes:
        die = flash.die_bytes_per_s(bits, _number(model, program))
        size_kib = bits * flash.pages_bytes * flash.lockstep / KIB
        each = f"{size_kib:g} KiB on the bus, then {_number(model, program) / NS_PER_US:g} us"
        if model.family == "compressed-map":
            each += "; bytes of flash, of which data that compress take fewer"
        together = f" on {flash.lockstep} channels in lockstep" if flash.lockstep > 1 else ""
        found += [
            Fact(f"{key}_die_mb_per_s", f"Programs of a die{mode}", die / MB, "MB/s", each),
            Fact(
                f"{key}_program_mb_per_s",
                f"Programs of all dies{mode}",
                flash.dies * die / MB,
                "MB/s",
                f"{flash.dies} dies{together}",
            ),
        ]
    stripe = _number(model, "ftl.parity_stripe_pages")
    if stripe or model.value("ftl.die_parity"):
        one_in = stripe or flash.dies
        why = f"one page in {one_in:g}; what remains of the rates above is for data"
        found.append(Fact("parity_percent", "Parity over dies", 100 / one_in, "%", why))
    return found


def _shared(flash: _Flash, model: Model) -> list[Fact]:
    """What all dies share."""
    bus, why = None, "flash.bus_bytes_per_s = 0: they take no time"
    if flash.bus_bytes_per_s:
        bus = flash.channels * flash.bus_bytes_per_s / flash.coded / MB
        why = f"{flash.channels} of {flash.bus_bytes_per_s / MB:g} MB/s, less out-of-band bytes"
    found = [Fact("bus_mb_per_s", "Buses to the flash", bus, "MB/s", why)]
    for way in ("read", "write"):
        path = _number(model, f"controller.{way}_path_bytes_per_s")
        if path:
            title = f"{way.capitalize()} path"
            found.append(
                Fact(f"{way}_path_mb_per_s", title, path / MB, "MB/s", "of the controller")
            )
    link = _number(model, "link.bytes_per_s")
    frame = _number(model, "link.frame_bytes")
    frame_ns = _number(model, "link.frame_overhead_ns") + (frame / link * NS_PER_S if link else 0)
    if not frame_ns:
        why = "link.bytes_per_s = 0: it takes no time"
        found.append(Fact("link_mb_per_s", "Link", None, "MB/s", why))
    elif frame:
        ways = "each direction" if model.value("link.full_duplex") else "one direction at a time"
        rate = frame / frame_ns * NS_PER_S / MB
        found.append(Fact("link_mb_per_s", "Link", rate, "MB/s", f"its frames; {ways}"))
    return found


def _firmware(model: Model) -> list[Fact]:
    cores = max(1, int(_number(model, "controller.firmware_cores")))
    found = []
    for key, title in (("read", "Reads a second"), ("write", "Writes a second")):
        each_ns = _number(model, f"controller.{key}_firmware_ns")
        if each_ns:
            rate = cores * NS_PER_S / each_ns
            why = f"{cores} core{'s' if cores > 1 else ''}, {each_ns / NS_PER_US:g} us each"
            found.append(Fact(f"firmware_{key}_iops", f"Firmware: {title.lower()}", rate, "", why))
    return found


def _reads(model: Model) -> list[Fact]:
    if model.family != "page-map":
        # What is merged or compressed lies where no formula says.
        return []
    kinds: tuple[tuple[PageKind, str], ...] = (
        ("read", "lower page"),
        ("read_middle", "middle page"),
        ("read_upper", "upper page"),
        ("read_top", "top page"),
        ("slc_read", "SLC mode"),
    )
    has_cache = bool(_number(model, "slc_cache.max_bytes"))
    known = [
        pair
        for pair in kinds
        if model.value(f"flash.{pair[0]}_ns") and (has_cache or pair[0] != "slc_read")
    ]
    why = "firmware, tR, bus, error correction, link; nothing waits"
    if any(_number(model, f"ftl.{key}") for key in ("map_cache_bytes", "host_memory_bytes")):
        why += "; where its map is at hand"
    if len(known) == 1:
        return [Fact("read_4k_us", "A lone read of 4 KiB", read_us(model), "us", why)]
    return [
        Fact(f"{kind}_4k_us", f"A lone read of 4 KiB, {page}", read_us(model, kind), "us", why)
        for kind, page in known
    ]


def _cache(model: Model) -> list[Fact]:
    derived = model.description["derived"]
    if not derived.get("slc_cache_bytes"):
        return []
    whole, static = derived["slc_cache_bytes"], derived["slc_static_bytes"]
    asked = _number(model, "slc_cache.max_bytes")
    bits = CELL_BITS[str(model.value("flash.cell"))]
    why = f"{static / GB:.4g} GB of them always; a byte takes {bits} of native flash"
    if whole < 0.99 * asked:
        why += f"; all that the flash has room for, of {number(asked / GB)} GB"
    return [Fact("slc_cache_gb", "SLC cache, empty drive", whole / GB, "GB", why)]


def _cleaning(model: Model) -> list[Fact]:
    spare = model.effective_spare_ratio
    if model.family != "page-map" or not spare or spare <= 0:
        return []
    why = f"spare area of {100 * spare:.1f} %, blocks cleaned in the order of writing"
    amplification = fifo_write_amplification(spare)
    stripe = _number(model, "ftl.parity_stripe_pages")
    if stripe:
        amplification /= 1 - 1 / stripe
        why += "; with parity"
    title = "Write amplification, random writes"
    return [Fact("fifo_write_amplification", title, amplification, "", why)]


def _number(model: Model, key: str) -> float:
    """A parameter; 0 where the model has none, which stands for "no limit" or "no time"."""
    return float(model.value(key) or 0)


def _ns(byte_count: float, model: Model, rate: str) -> float:
    """Time of bytes at a rate; none where it doesn't limit."""
    bytes_per_s = _number(model, rate)
    return byte_count / bytes_per_s * NS_PER_S if bytes_per_s else 0.0


def rows(found: Sequence[Fact]) -> list[tuple[str, str, str]]:
    """Lines of a table: what, how much, why."""
    return [(fact.title, fact.text, fact.why) for fact in found]
