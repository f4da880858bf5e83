"""Options of a job, each with the function that turns its text into fields of the engine's job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from drivelab.errors import RequestError, nearest
from drivelab.fio import block_sizes, regions, units
from drivelab.fio.options import MODES
from drivelab.fio.regions import Section
from drivelab.quantities import NS_PER_MS
from drivelab.workload import (
    HINT_MAX,
    Distribution,
    Normal,
    Pareto,
    ParetoTrue,
    QueueClass,
    RateProcess,
    Zipf,
    ZipfTrue,
    Zone,
    Zoned,
    ZonedScattered,
)

QUEUE_DEPTH_MAX = 65536
RATE_IOPS_MAX = 10**9
NVME_QUEUE_MAX = 65535
THETA_MAX = 20
ZONES_MAX = 256
"""What the engine takes; it refuses more in words of its own."""
SUM_ERROR = 1e-6
"""Percentages that add up to 100 but for rounding."""
ANY_CAPACITY_BYTES = 2**62
"""Of a drive that nobody knows yet: what depends on its size is asked when there is one."""


def one_of(text: str, choices: Mapping[str, Any]) -> Any:
    """What a word stands for; raises ValueError for one that stands for nothing."""
    if text not in choices:
        raise ValueError(f"{', '.join(choices)}{nearest(text, choices)}")
    return choices[text]


def _distribution(reader: Section, text: str) -> dict[str, Any]:
    kind, _, rest = text.partition(":")
    if kind == "random":
        return {}
    allowed = (
        "random, zipf:THETA[:CENTER], pareto:H[:CENTER], normal:DEVIATION, zoned:ACCESS/SIZE:..., "
        "zoned_abs:..., and beyond fio zipf_true:THETA, pareto_true:H, "
        "zoned_scattered:ACCESS/SIZE:..."
    )
    try:
        found = _uneven(reader, kind, rest)
    except ValueError:
        raise ValueError(allowed) from None
    if found is None:
        raise ValueError(allowed)
    _check_distribution(found, in_bytes=kind == "zoned_abs")
    if kind == "zoned_abs":
        _check_zone_sizes(reader, rest)
    return {"distribution": found}


def _check_zone_sizes(reader: Section, text: str) -> None:
    """Raises ValueError for zones in bytes that aren't together the job's size, if it is known."""
    said = any(reader.value(name, lambda t: "%" not in t, False) for name in regions.SIZES)
    if reader.capacity_bytes == ANY_CAPACITY_BYTES and not said:
        return
    span = regions.span_bytes(reader)
    total = sum(reader.size(entry.split("/")[1]) for entry in text.split(":"))
    if abs(total - span) > SUM_ERROR / 100 * span:
        raise ValueError(f"sizes that add up to the job's size of {span} bytes, not {total}")


def _check_distribution(found: Distribution, *, in_bytes: bool) -> None:
    """Raises ValueError for numbers that no such distribution has: in fio's words, not in ours."""
    match found:
        case Zipf(theta=theta) if not 0 < theta <= THETA_MAX or abs(theta - 1) <= 1e-9:
            raise ValueError(
                f"THETA above 0 and up to {THETA_MAX}, and not 1, for which fio has no zipf "
                "(zipf_true has)"
            )
        case ZipfTrue(theta=theta) if not 0 < theta <= THETA_MAX:
            raise ValueError(f"THETA above 0 and up to {THETA_MAX}")
        case Pareto(h=h) | ParetoTrue(h=h) if not 0 < h < 1:
            raise ValueError("H above 0 and below 1")
        case Normal(deviation_percent=deviation) if not 0 < deviation <= 100:
            raise ValueError("DEVIATION above 0 and up to 100")
        case Zoned(zones=zones) | ZonedScattered(zones=zones):
            if len(zones) > ZONES_MAX or any(zone.size_percent <= 0 for zone in zones):
                raise ValueError(f"up to {ZONES_MAX} zones, each with a SIZE above 0")
            access = ("ACCESS", [zone.access_percent for zone in zones])
            size = ("SIZE", [zone.size_percent for zone in zones])
            for word, shares in (access,) if in_bytes else (access, size):
                if abs(sum(shares) - 100) > SUM_ERROR:
                    raise ValueError(
                        f"percentages of {word} that add up to 100, not {sum(shares):g}"
                    )
    center = getattr(found, "center", None)
    if center is not None and not 0 <= center <= 1:
        raise ValueError("CENTER from 0 to 1, or -1 for none")


def _uneven(reader: Section, kind: str, text: str) -> Distribution | None:
    match kind:
        case "zipf":
            theta, center = _centered(text)
            return Zipf(theta=theta, center=center)
        case "zipf_true":
            return ZipfTrue(theta=float(text))
        case "pareto":
            h, center = _centered(text)
            return Pareto(h=h, center=center)
        case "pareto_true":
            return ParetoTrue(h=float(text))
        case "normal":
            return Normal(deviation_percent=float(text))
        case "zoned":
            return Zoned(zones=_zones(text))
        case "zoned_scattered":
            return ZonedScattered(zones=_zones(text))
        case "zoned_abs":
            # A size of 0 is told as that.
            region = regions.span_bytes(reader) or 1
            pairs = [entry.split("/") for entry in text.split(":")]
            return Zoned(
                zones=tuple(
                    Zone(
                        access_percent=units.percent(access),
                        size_percent=100 * reader.size(size) / region,
                    )
                    for access, size in pairs
                )
            )
    return None


def _zones(text: str) -> tuple[Zone, ...]:
    """Zones as ACCESS/SIZE, both in percent."""
    pairs = [entry.split("/") for entry in text.split(":")]
    return tuple(
        Zone(access_percent=units.percent(access), size_percent=units.percent(size))
        for access, size in pairs
    )


def _centered(text: str) -> tuple[float, float | None]:
    """A distribution's parameter and, behind a colon, its center; -1 is fio's word for none."""
    value, given, center = text.partition(":")
    return float(value), float(center) if given and float(center) != -1 else None


def _number_ios(reader: Section, text: str) -> dict[str, Any]:
    """Of every loop, as in fio; 0 is no limit."""
    loops = reader.value("loops", lambda t: units.whole_number(t, 1), 1)
    return {"io_requests": units.whole_number(text) * loops or None}


def _flush_at_end(reader: Section, text: str) -> dict[str, Any]:
    """fio syncs a file that was written once its job is done: for either of two options."""
    switches = ("end_fsync", "fsync_on_close")
    wanted = any(reader.value(name, units.flag, False) for name in switches)
    mode = reader.value("rw", lambda t: one_of(t, MODES), "read")
    return {"flush_at_end": wanted and mode.removeprefix("rand") in ("write", "rw")}


def _placement(reader: Section, text: str) -> dict[str, Any]:
    """The placement identifier of a job's writes, where it says that they have one."""
    given = reader.value("fdp", units.flag, False) or reader.value(
        "dataplacement", lambda t: one_of(t, PLACEMENTS), False
    )
    if not given:
        if reader.has("fdp_pli"):
            reader.ignored["fdp_pli"] = "writes have a placement identifier with fdp=1 only"
        return {}
    if reader.has("write_hint"):
        raise ValueError("a placement identifier or a write_hint, not both")
    if not reader.has("fdp_pli"):
        raise ValueError("together with fdp_pli, the placement identifier of the job's writes")
    allowed = f"one placement identifier a job, from 0 to {HINT_MAX}"
    try:
        hint = reader.value("fdp_pli", lambda t: units.whole_number(t, 0, HINT_MAX), 0)
    except RequestError:
        raise ValueError(allowed) from None
    return {"write_hint": hint}


def _rate_bytes(reader: Section, text: str) -> int:
    if reader.has("rate_iops"):
        raise ValueError("rate or rate_iops, not both: fio has one limit a job")
    rate = reader.size(text)
    if rate < 1:
        raise ValueError("from one byte a second on; without a rate nothing limits it")
    return rate


def _rate(key: str, read: Callable[[Section, str], int]) -> Any:
    def reader_of(reader: Section, text: str) -> dict[str, Any]:
        mode = reader.value("rw", lambda t: one_of(t, MODES), "read").removeprefix("rand")
        index = {"read": 0, "write": 1, "trim": 2}.get(mode, 0)
        parts = block_sizes.per_direction(text)
        part = parts[index] if index < len(parts) else parts[-1]
        return {key: read(reader, part)} if part else {}

    return reader_of


def _rate_iops(reader: Section, text: str) -> dict[str, Any]:
    """fio counts bytes: of blocks of several sizes so many as if all were of the smallest."""

    def limit(reader: Section, text: str) -> int:
        if text == "0":
            raise ValueError("from one request a second on; without a rate nothing limits it")
        return units.whole_number(text, 1, RATE_IOPS_MAX)

    found: dict[str, Any] = _rate("rate_iops", limit)(reader, text)
    if not found or not any(map(reader.has, ("bssplit", "bsrange"))):
        return found
    if reader.value("rate_process", lambda t: one_of(t, RATE_PROCESSES), "linear") != "linear":
        return found
    return {"rate_bytes_per_s": found["rate_iops"] * block_sizes.smallest(reader)}


def _rate_process(reader: Section, text: str) -> dict[str, Any]:
    process = one_of(text, RATE_PROCESSES)
    if process != "linear" and not (reader.has("rate") or reader.has("rate_iops")):
        raise ValueError(f"{process} together with rate or rate_iops")
    return {"rate_process": process}


def _percentiles(reader: Section, text: str) -> dict[str, Any]:
    allowed = "1 to 20 different percentages above 0, separated by colons"
    values = tuple(units.percent(part) for part in text.split(":"))
    if not 1 <= len(values) <= 20 or len(set(values)) < len(values) or min(values) <= 0:
        raise ValueError(allowed)
    return {"percentiles": values}


def _count(key: str, minimum: int, maximum: int | None = None) -> Any:
    return lambda reader, text: {key: units.whole_number(text, minimum, maximum)}


def _flushes(reader: Section) -> int:
    """Writes between two flushes: a drive is told the same by fsync and by fdatasync.

    0 is never, so one of the two may be that.
    """
    counts = [
        int(reader.value(name, units.whole_number, 0))
        for name in ("fsync", "fdatasync")
        if reader.has(name)
    ]
    if len(counts) > 1 and all(counts):
        raise ValueError("fsync or fdatasync, not both: each is a flush of the drive")
    return max(counts)


def _time(key: str, unit: str = "s") -> Any:
    return lambda reader, text: {key: units.time_ns(text, unit)}


def _start(reader: Section, text: str) -> dict[str, Any]:
    if "-" in text:
        raise ValueError("one time, not two to draw from")
    return {"start_ns": units.time_ns(text)}


def _mode(reader: Section, text: str) -> dict[str, Any]:
    if ":" in text:
        allowed = "a mode alone: steps of sequences and repeats of random places aren't supported"
        raise ValueError(allowed)
    return {"rw": one_of(text, MODES)}


def _runtime(reader: Section, text: str) -> dict[str, Any]:
    """0 is no limit, as in fio."""
    return {"runtime_ns": units.time_ns(text) or None}


WRITE_HINTS = {"none": 1, "short": 2, "medium": 3, "long": 4, "extreme": 5}
"""Lifetimes that a write may be given, with Linux's numbers of them; 0, not set, is no option."""

RATE_PROCESSES = {name: name for name in get_args(RateProcess)}
"""How requests under a rate follow each other."""
SYNC = {"0": False, "none": False, "1": True, "sync": True, "dsync": True}
"""Whether every write is one with FUA: so Linux writes what is opened with O_SYNC or O_DSYNC."""
PLACEMENTS = {"none": False, "fdp": True, "streams": True}
"""Whether writes come with a placement identifier."""
QUEUE_CLASSES = {name: name for name in get_args(QueueClass)}
"""Classes of a submission queue."""

Reader = Callable[[Section, str], dict[str, Any]]
READERS: dict[str, Reader] = {
    "rw": _mode,
    "rwmixread": lambda reader, text: {"read_percent": units.percent(text)},
    "rwmixwrite": lambda reader, text: {"read_percent": 100 - units.percent(text)},
    "bs": block_sizes.bs,
    "bsrange": block_sizes.bsrange,
    # Where both are given, fio draws from this.
    "bssplit": block_sizes.bssplit,
    "blockalign": block_sizes.blockalign,
    **regions.READERS,
    "number_ios": _number_ios,
    "iodepth": _count("queue_depth", 1, QUEUE_DEPTH_MAX),
    "runtime": _runtime,
    "time_based": lambda reader, text: {"time_based": units.flag(text)},
    "ramp_time": _time("ramp_ns"),
    "startdelay": _start,
    "loops": _count("loops", 1),
    "randseed": lambda reader, text: {},
    "norandommap": lambda reader, text: {"random_map": not units.flag(text)},
    "random_distribution": _distribution,
    "percentage_random": lambda reader, text: {"random_percent": units.percent(text)},
    "rate": _rate("rate_bytes_per_s", _rate_bytes),
    "rate_iops": _rate_iops,
    "rate_process": _rate_process,
    "thinktime": _time("thinktime_ns", "us"),
    "thinktime_blocks": _count("thinktime_blocks", 1),
    "fsync": lambda reader, text: {"flush_every_writes": _flushes(reader)},
    "fdatasync": lambda reader, text: {"flush_every_writes": _flushes(reader)},
    "end_fsync": _flush_at_end,
    "fsync_on_close": _flush_at_end,
    "sync": lambda reader, text: {"fua": one_of(text, SYNC)},
    "write_hint": lambda reader, text: {"write_hint": one_of(text, WRITE_HINTS)},
    "fdp": _placement,
    "dataplacement": _placement,
    "fdp_pli": _placement,
    "nvme_queue": _count("queue", 0, NVME_QUEUE_MAX),
    "nvme_queue_class": lambda reader, text: {"queue_class": one_of(text, QUEUE_CLASSES)},
    "percentile_list": _percentiles,
    "log_avg_msec": lambda reader, text: {
        "series_interval_ns": units.whole_number(text, 1) * NS_PER_MS
    },
}
"""Options that are read, each with the function that turns its text into fields of a job."""
SWITCHES = ("time_based", "norandommap", "end_fsync", "fsync_on_close", "sync", "fdp")
"""Those of them that are on or off."""
