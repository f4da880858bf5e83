"""From fio's options to the engine's jobs.

To support another option: one entry in `_READERS`. What can't matter in a model is in `options.py`;
everything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from drivelab.errors import RequestError, nearest
from drivelab.fio import buffers, logs, steady, units
from drivelab.fio.options import ALIASES, IGNORED, INSTEAD, MODES
from drivelab.fio.sections import Option, Section, read_sections
from drivelab.quantities import NS_PER_MS, derive_seed
from drivelab.workload import (
    RANDOM_BYTES,
    BlockSize,
    DataPattern,
    Distribution,
    Job,
    Normal,
    Pareto,
    ParetoTrue,
    Zipf,
    ZipfTrue,
    Zone,
    Zoned,
)


@dataclass(frozen=True)
class FioJob:
    """A job as fio names it, and as the engine runs it."""

    name: str
    options: dict[str, str]
    group: int
    job: Job
    number: int
    """Its place in the file, from 1 on: in the names of its logs."""
    logs: logs.Logs | None
    steady: steady.SteadyState | None
    reported_together: bool
    """Whether fio reports it with the other jobs of its group (`group_reporting`)."""


@dataclass(frozen=True)
class Workload:
    """A job file for a drive: groups run one after another, jobs of a group together."""

    groups: tuple[tuple[FioJob, ...], ...]
    global_options: dict[str, str]
    ignored: dict[str, str] = field(default_factory=dict)
    """Options without effect, each with the reason."""

    @property
    def jobs(self) -> list[FioJob]:
        """All jobs in order."""
        return [job for group in self.groups for job in group]


def read_workload(
    path: Path,
    capacity_bytes: int,
    seed: int,
    environment: Mapping[str, str] | None = None,
    data: DataPattern = RANDOM_BYTES,
) -> Workload:
    """Reads a job file for a drive of this size; raises RequestError naming job and option.

    Jobs that say nothing about their buffers write `data`; fio's own default is random.
    """
    file = read_sections(path, environment)
    groups: list[list[FioJob]] = [[]]
    ignored: dict[str, str] = {}
    for section in file.sections:
        reader = _SectionReader(section, capacity_bytes, data)
        ignored |= reader.ignored
        if reader.stonewall and groups[-1]:
            groups.append([])
        for clone in range(reader.clones):
            index = sum(map(len, groups))
            groups[-1].append(reader.fio_job(seed, index, clone, len(groups) - 1))
    return Workload(
        tuple(tuple(group) for group in groups), _as_written(file.global_options), ignored
    )


def job_of_options(
    section: Section, capacity_bytes: int, seed: int, index: int, data: DataPattern
) -> FioJob:
    """One job from options that stand in no file, for a drive of this size; raises RequestError.

    `index` is its place among the jobs of a run. What makes several jobs or groups of one
    (`numjobs`, `stonewall`) is refused, and what belongs to a run (logs, `steadystate`).
    """
    for option in section.own:
        name = ALIASES.get(option.name, option.name)
        if instead := _OF_FILES.get(name):
            raise RequestError(
                f'{option.origin}: job "{section.name}": {option.name}={option.value} is not '
                f"possible; allowed: {instead}"
            )
    return _SectionReader(section, capacity_bytes, data).fio_job(seed, index)


_OF_FILES = {
    **dict.fromkeys(("numjobs", "stonewall"), "several jobs in one run, or one run after another"),
    **dict.fromkeys(logs.OPTIONS, "run(..., log=True), whose result has every request"),
    **dict.fromkeys(steady.OPTIONS, "run(..., until=Steady('iops'))"),
}
"""Options that mean something in job files only, each with what scripts have in its place."""


def option_names() -> list[str]:
    """Names of all options that mean something here."""
    return [*_READERS, *IGNORED, *ALIASES]


def _as_written(options: Sequence[Option]) -> dict[str, str]:
    return {option.name: option.value for option in options}


class _SectionReader:
    """The options of one job."""

    def __init__(self, section: Section, capacity_bytes: int, data: DataPattern) -> None:
        self.section = section
        self.capacity_bytes = capacity_bytes
        self._data = data
        self._options: dict[str, Option] = {}
        for option in (*section.inherited, *section.own):
            self._options[ALIASES.get(option.name, option.name)] = option
        for name, option in self._options.items():
            if name not in _READERS and name not in IGNORED:
                raise self._unknown(option)
        bases = {"1024": 1024, "1000": 1000}
        self.kb_base = self.value("kb_base", lambda text: _one_of(text, bases), 1024)
        self.name = self.value("name", str, section.name)
        self.seed = self.value("randseed", units.whole_number, 0)
        self.clones = self.value("numjobs", lambda text: units.whole_number(text, 1), 1)
        self.stonewall = self.value("stonewall", units.flag, False)
        self.ignored = {name: IGNORED[name] for name in self._options if IGNORED.get(name)}

    def _unknown(self, option: Option) -> RequestError:
        known = option_names()
        hint = (
            f"; {INSTEAD[option.name]}" if option.name in INSTEAD else nearest(option.name, known)
        )
        return RequestError(
            f'{option.origin}: job "{self.section.name}": option "{option.name}" is not '
            f"supported{hint}"
        )

    def wrong(self, name: str, allowed: str) -> RequestError:
        """The error for a value that is not allowed."""
        option = self._options[name]
        return RequestError(
            f'{option.origin}: job "{self.section.name}": {option.name}={option.value} is not '
            f"possible; allowed: {allowed}"
        )

    def value(self, name: str, read: Callable[[str], Any], default: Any) -> Any:
        """The value of an option, or the default."""
        if name not in self._options:
            return default
        try:
            return read(self._options[name].value)
        except ValueError as error:
            raise self.wrong(name, str(error)) from None

    def has(self, name: str) -> bool:
        """Whether the option is given."""
        return name in self._options

    def size(self, text: str) -> int:
        """A size in bytes, in this job's notation."""
        return units.size_bytes(text, self.kb_base)

    def fio_job(self, seed: int, index: int, clone: int = 0, group: int = 0) -> FioJob:
        """The job at this place of a run, with a seed of its own."""
        own = derive_seed(seed, str(self.seed), self.section.name, str(index), str(clone))
        job = self.job(own)
        return FioJob(
            self.name,
            _as_written(self.section.own),
            group,
            job,
            index + 1,
            logs.wanted(self),
            steady.wanted(self, job.rw),
            self.value("group_reporting", units.flag, False),
        )

    def job(self, seed: int) -> Job:
        """The engine's job."""
        fields: dict[str, Any] = {"name": self.name, "seed": seed, "rw": "read"}
        for name, reader in _READERS.items():
            if name in self._options:
                try:
                    fields |= reader(self, self._options[name].value)
                except ValueError as error:
                    raise self.wrong(name, str(error)) from None
        fields = self._with_defaults(fields)
        self._check_region(fields)
        fields["data"] = self._pattern(fields)
        try:
            return Job(**fields)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"]))
            raise RequestError(
                f'{self.section.origin}: job "{self.section.name}": {key}: {first["input"]}: '
                f"{first['msg']}"
            ) from None

    def _with_defaults(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Adds what fio derives from other options."""
        mixed = fields["rw"] in ("rw", "randrw")
        random = fields["rw"].startswith("rand")
        for name in ("rate", "rate_iops"):
            if mixed and self.has(name):
                raise self.wrong(name, "only jobs that read, write or trim, not mixed ones")
        for name in ("random_distribution", "percentage_random"):
            if not random and self.has(name):
                raise self.wrong(name, "only jobs with a random rw")
        if fields.get("time_based") and not fields.get("runtime_ns"):
            raise self.wrong("time_based", "0, or 1 together with a runtime")
        one_size = all(
            len(fields.get(key) or (None,)) == 1
            for key in ("block_sizes", "write_block_sizes", "trim_block_sizes")
        )
        # As in fio, each block is hit once before any is again, unless told otherwise; with mixed
        # block sizes or an uneven distribution there is no such order.
        possible = random and one_size and "distribution" not in fields
        fields["random_map"] = possible and fields.get("random_map", True)
        offset = fields.get("offset_bytes", 0)
        fields.setdefault("span_bytes", max(self.capacity_bytes - offset, 0))
        return fields

    def _pattern(self, fields: dict[str, Any]) -> DataPattern:
        """What the job writes."""
        if not buffers.is_said(self):
            return self._data
        sizes = [size.bytes for size in fields.get("write_block_sizes", _DEFAULT_SIZES)]
        given = buffers.Buffers(
            min(sizes), max(sizes), min(fields.get("queue_depth", 1), buffers.POOL_MAX)
        )
        return buffers.data_pattern(self, given, fields["span_bytes"])

    def _check_region(self, fields: dict[str, Any]) -> None:
        offset, span = fields.get("offset_bytes", 0), fields["span_bytes"]
        if offset + span > self.capacity_bytes or span == 0:
            raise RequestError(
                f'{self.section.origin}: job "{self.section.name}": offset={offset} and '
                f"size={span} (bytes) leave the drive; allowed: together 512 to "
                f"{self.capacity_bytes} bytes"
            )


def _one_of(text: str, choices: Mapping[str, Any]) -> Any:
    if text not in choices:
        raise ValueError(f"{', '.join(choices)}{nearest(text, choices)}")
    return choices[text]


def _per_direction(text: str) -> list[str]:
    """The comma-separated values for reads, writes and trims; empty: not given."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise ValueError("at most three values: reads, writes, trims")
    return parts


_SIZE_KEYS = ("block_sizes", "write_block_sizes", "trim_block_sizes")
_DEFAULT_SIZES = (BlockSize(bytes=4096),)


def _sizes(text: str, read: Callable[[str], tuple[BlockSize, ...]]) -> dict[str, Any]:
    """Block sizes by direction: as fio, a missing last value repeats the one before it, and an
    empty one is the default of 4k."""
    parts = _per_direction(text)
    given: list[str | None] = [part or None for part in parts]
    while len(given) < 3:
        given.append(given[-1])
    return {
        key: read(part) if part is not None else _DEFAULT_SIZES
        for key, part in zip(_SIZE_KEYS, given, strict=True)
    }


def _bs(reader: _SectionReader, text: str) -> dict[str, Any]:
    return _sizes(text, lambda part: (_block(reader, part, 1.0),))


def _block(reader: _SectionReader, text: str, weight: float) -> BlockSize:
    size = reader.size(text)
    if size < 512 or size % 512:
        raise ValueError("multiples of 512 bytes")
    return BlockSize(bytes=size, weight=weight)


def _bssplit(reader: _SectionReader, text: str) -> dict[str, Any]:
    return _sizes(text, lambda part: _split_sizes(reader, part))


def _blockalign(reader: _SectionReader, text: str) -> dict[str, Any]:
    """One alignment for reads, writes and trims; the engine has no other."""
    sizes = {reader.size(part) for part in _per_direction(text)}
    if len(sizes) > 1:
        raise ValueError("one alignment, the same for reads, writes and trims")
    return {"align_bytes": sizes.pop()}


def _split_sizes(reader: _SectionReader, text: str) -> tuple[BlockSize, ...]:
    """`size/percent:size/percent`; what has no percentage shares the rest evenly."""
    pairs = [entry.partition("/") for entry in text.split(":")]
    given = [units.percent(share) if share else None for _, _, share in pairs]
    total = sum(share for share in given if share is not None)
    missing = given.count(None)
    if total > 100 or (not missing and round(total) != 100):
        raise ValueError(f"percentages that add up to 100, not {total:g}")
    rest = (100 - total) / missing if missing else 0.0
    sizes = [
        (size, rest if share is None else share)
        for (size, _, _), share in zip(pairs, given, strict=True)
    ]
    return tuple(_block(reader, size, share) for size, share in sizes if share > 0)


def _distribution(reader: _SectionReader, text: str) -> dict[str, Any]:
    kind, _, rest = text.partition(":")
    if kind == "random":
        return {}
    allowed = (
        "random, zipf:THETA[:CENTER], pareto:H[:CENTER], normal:DEVIATION, zoned:ACCESS/SIZE:..., "
        "zoned_abs:..., and beyond fio zipf_true:THETA, pareto_true:H"
    )
    try:
        found = _uneven(reader, kind, rest)
    except ValueError:
        raise ValueError(allowed) from None
    if found is None:
        raise ValueError(allowed)
    return {"distribution": found}


def _uneven(reader: _SectionReader, kind: str, text: str) -> Distribution | None:
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
            pairs = [entry.split("/") for entry in text.split(":")]
            return Zoned(
                zones=tuple(
                    Zone(access_percent=units.percent(access), size_percent=units.percent(size))
                    for access, size in pairs
                )
            )
        case "zoned_abs":
            region = reader.value("size", lambda t: _region(reader, t), reader.capacity_bytes)
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


def _centered(text: str) -> tuple[float, float | None]:
    """A distribution's parameter and, behind a colon, its center; -1 is fio's word for none."""
    value, given, center = text.partition(":")
    return float(value), float(center) if given and float(center) != -1 else None


def _region(reader: _SectionReader, text: str) -> int:
    return units.size_or_percent(text, reader.capacity_bytes, reader.kb_base)


def _io_size(reader: _SectionReader, text: str) -> dict[str, Any]:
    span = reader.value("size", lambda t: _region(reader, t), reader.capacity_bytes)
    return {"io_bytes": units.size_or_percent(text, span, reader.kb_base)}


def _rate(key: str, read: Callable[[_SectionReader, str], int]) -> Any:
    def reader_of(reader: _SectionReader, text: str) -> dict[str, Any]:
        mode = reader.value("rw", lambda t: _one_of(t, MODES), "read").removeprefix("rand")
        index = {"read": 0, "write": 1, "trim": 2}.get(mode, 0)
        parts = _per_direction(text)
        part = parts[index] if index < len(parts) else parts[-1]
        return {key: read(reader, part)} if part else {}

    return reader_of


def _percentiles(reader: _SectionReader, text: str) -> dict[str, Any]:
    allowed = "1 to 20 different percentages above 0, separated by colons"
    values = tuple(units.percent(part) for part in text.split(":"))
    if not 1 <= len(values) <= 20 or len(set(values)) < len(values) or min(values) <= 0:
        raise ValueError(allowed)
    return {"percentiles": values}


def _count(key: str, minimum: int) -> Any:
    return lambda reader, text: {key: units.whole_number(text, minimum)}


def _flushes(reader: _SectionReader) -> int:
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


def _runtime(reader: _SectionReader, text: str) -> dict[str, Any]:
    """0 is no limit, as in fio."""
    return {"runtime_ns": units.time_ns(text) or None}


WRITE_HINTS = {"none": 1, "short": 2, "medium": 3, "long": 4, "extreme": 5}
"""Lifetimes that a write may be given, with Linux's numbers of them; 0, not set, is no option."""

_Reader = Callable[[_SectionReader, str], dict[str, Any]]
_READERS: dict[str, _Reader] = {
    "rw": lambda reader, text: {"rw": _one_of(text, MODES)},
    "rwmixread": lambda reader, text: {"read_percent": units.percent(text)},
    "rwmixwrite": lambda reader, text: {"read_percent": 100 - units.percent(text)},
    "bs": _bs,
    "bssplit": _bssplit,
    "blockalign": _blockalign,
    "size": lambda reader, text: {"span_bytes": _region(reader, text)},
    "offset": lambda reader, text: {"offset_bytes": _region(reader, text)},
    "io_size": _io_size,
    "iodepth": _count("queue_depth", 1),
    "runtime": _runtime,
    "time_based": lambda reader, text: {"time_based": units.flag(text)},
    "ramp_time": _time("ramp_ns"),
    "startdelay": _time("start_ns"),
    "loops": _count("loops", 1),
    "randseed": lambda reader, text: {},
    "norandommap": lambda reader, text: {"random_map": not units.flag(text)},
    "random_distribution": _distribution,
    "percentage_random": lambda reader, text: {"random_percent": units.percent(text)},
    "rate": _rate("rate_bytes_per_s", lambda reader, text: reader.size(text)),
    "rate_iops": _rate("rate_iops", lambda reader, text: units.whole_number(text, 1)),
    "thinktime": _time("thinktime_ns", "us"),
    "thinktime_blocks": _count("thinktime_blocks", 1),
    "fsync": lambda reader, text: {"flush_every_writes": _flushes(reader)},
    "fdatasync": lambda reader, text: {"flush_every_writes": _flushes(reader)},
    "write_hint": lambda reader, text: {"write_hint": _one_of(text, WRITE_HINTS)},
    "percentile_list": _percentiles,
    "log_avg_msec": lambda reader, text: {
        "series_interval_ns": units.whole_number(text, 1) * NS_PER_MS
    },
}
"""Options that are read, each with the function that turns its text into fields of a job."""
