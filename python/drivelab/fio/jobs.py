"""From fio's options to the engine's jobs.

To support another option: one entry in `READERS` (`readers.py`). What can't matter in a model is in
`options.py`; everything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from drivelab.errors import RequestError, nearest
from drivelab.fio import block_sizes, buffers, logs, regions, steady, units
from drivelab.fio.block_sizes import DEFAULT_SIZES
from drivelab.fio.options import ALIASES, IGNORED, INSTEAD, ONLY, OPPOSITES, option_meaning
from drivelab.fio.readers import READERS, one_of
from drivelab.fio.regions import OFFSETS, SIZES
from drivelab.fio.sections import Option, Section, read_sections
from drivelab.quantities import SECTOR_BYTES, derive_seed
from drivelab.workload import RANDOM_BYTES, DataPattern, Job


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
    ignored: dict[str, str]
    """Its options without effect, each with the reason."""


JOBS_MAX = 512
"""Of a file. Each takes 2 MB for its latencies, and time with every other that it runs beside."""


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
        count = sum(map(len, groups)) + reader.clones
        if count > JOBS_MAX:
            raise RequestError(
                f'{path}: job "{section.name}": with it the file has {count} jobs; '
                f"allowed: {JOBS_MAX} in all"
            )
        if reader.stonewall and groups[-1]:
            groups.append([])
        for clone in range(reader.clones):
            index = sum(map(len, groups))
            groups[-1].append(reader.fio_job(seed, index, clone, len(groups) - 1))
        ignored |= reader.ignored
    return Workload(
        tuple(tuple(group) for group in groups), _as_written(file.global_options), ignored
    )


def job_of_options(
    section: Section, capacity_bytes: int, seed: int, index: int, data: DataPattern
) -> FioJob:
    """One job from options that stand in no file, for a drive of this size; raises RequestError.

    `index` is its place among the jobs of a run. What makes several jobs or groups of one
    (`numjobs`, `stonewall`) is refused, and what belongs to a run (logs, `steadystate`). So are two
    options that say the same thing: in a file the later one counts, here none is.
    """
    said: dict[str, Option] = {}
    for option in section.own:
        about = option_meaning(option.name)
        if other := said.get(about):
            raise RequestError(
                f'{option.origin}: job "{section.name}": {other.name}={other.value} and '
                f"{option.name}={option.value}: give one of them"
            )
        said[about] = option
        name = ALIASES.get(option.name, option.name)
        if instead := _OF_FILES.get(name):
            raise RequestError(
                f'{option.origin}: job "{section.name}": {option.name}={option.value} is not '
                f"possible; allowed: {instead}"
            )
    return _SectionReader(section, capacity_bytes, data).fio_job(seed, index)


_OF_FILES = {
    **dict.fromkeys(
        ("numjobs", "stonewall", "offset_increment"),
        "several jobs in one run, or one run after another",
    ),
    **dict.fromkeys(logs.OPTIONS, "run(..., log=True), whose result has every request"),
    **dict.fromkeys(steady.OPTIONS, "run(..., until=Steady('iops'))"),
}
"""Options that mean something in job files only, each with what scripts have in its place."""


def option_names() -> list[str]:
    """Names of all options that mean something here."""
    return [*READERS, *IGNORED, *ALIASES]


def _as_written(options: Sequence[Option]) -> dict[str, str]:
    return {option.name: option.value for option in options}


def _name(text: str) -> str:
    if not text:
        raise ValueError("a name of at least one letter")
    return text


class _SectionReader:
    """The options of one job."""

    def __init__(self, section: Section, capacity_bytes: int, data: DataPattern) -> None:
        self.section = section
        self.capacity_bytes = capacity_bytes
        self._data = data
        self._options: dict[str, Option] = {}
        self.clone = 0
        for option in (*section.inherited, *section.own):
            self._take(option)
        for name, option in self._options.items():
            if name not in READERS and name not in IGNORED:
                raise self._unknown(option)
            values, reason = ONLY.get(name, ((option.value,), ""))
            if option.value not in values:
                raise self.wrong(name, f"{' or '.join(values)}: {reason}")
        bases = {"1024": 1024, "1000": 1000}
        self.kb_base = self.value("kb_base", lambda text: one_of(text, bases), 1024)
        self.name = self.value("name", _name, section.name)
        self.seed = self.value("randseed", units.whole_number, 0)
        self.clones = self.value("numjobs", lambda text: units.whole_number(text, 1, JOBS_MAX), 1)
        self.stonewall = self.value("stonewall", units.flag, False)
        self.ignored = {name: IGNORED[name] for name in self._options if IGNORED.get(name)}

    def _take(self, option: Option) -> None:
        """Of an option that is said again the later counts, and of two that mean one, as in fio."""
        name = ALIASES.get(option.name, option.name)
        for other in (name, OPPOSITES.get(name, name)):
            self._options.pop(other, None)
        self._options[name] = option

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
        self.clone = clone
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
            self.ignored,
        )

    def job(self, seed: int) -> Job:
        """The engine's job."""
        fields: dict[str, Any] = {"name": self.name, "seed": seed, "rw": "read"}
        for name, reader in READERS.items():
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
            if self.has("runtime"):
                raise self.wrong("runtime", "more than 0 together with time_based")
            raise self.wrong("time_based", "0, or 1 together with a runtime")
        # As in fio, each block is hit once before any is again, unless told otherwise; with an
        # uneven distribution, or other places than those of whole blocks, there is no such order.
        possible = (
            random and "distribution" not in fields and block_sizes.is_aligned_to_blocks(fields)
        )
        fields["random_map"] = possible and fields.get("random_map", True)
        fields.setdefault("span_bytes", regions.span_bytes(self))
        return fields

    def _pattern(self, fields: dict[str, Any]) -> DataPattern:
        """What the job writes."""
        if not buffers.is_said(self):
            return self._data
        sizes = [size.bytes for size in fields.get("write_block_sizes", DEFAULT_SIZES)]
        given = buffers.Buffers(
            min(sizes), max(sizes), min(fields.get("queue_depth", 1), buffers.POOL_MAX)
        )
        return buffers.data_pattern(self, given, fields["span_bytes"])

    def _check_region(self, fields: dict[str, Any]) -> None:
        # What is asked for, and not what whole blocks make of it.
        offset, span = fields.get("offset_bytes", 0), regions.asked_bytes(self)
        if span == 0:
            raise self._empty_region()
        if offset + span > self.capacity_bytes:
            beyond = offset >= self.capacity_bytes
            given = self._given((*OFFSETS, *SIZES) if beyond else (*SIZES, *OFFSETS))
            places = [self._options[name].origin for name in given]
            raise RequestError(
                f'{[*places, self.section.origin][0]}: job "{self.section.name}": offset={offset} '
                f"and size={span} (bytes) leave the drive; allowed: together 512 to "
                f"{self.capacity_bytes} bytes"
            )
        for names, value in ((OFFSETS, offset), (SIZES, span)):
            if value % SECTOR_BYTES and (given := self._given(names)):
                raise self.wrong(given[-1], f"multiples of {SECTOR_BYTES} bytes")
        self._check_blocks(fields, fields["span_bytes"])

    def _empty_region(self) -> RequestError:
        """The error for a region without a byte: of a size of 0, or behind the drive's last."""
        if given := self._given(SIZES):
            return self.wrong(given[-1], f"{SECTOR_BYTES} bytes or more")
        last = self.capacity_bytes - SECTOR_BYTES
        clones = f", times {self.clone} for this clone" if self.clone else ""
        name = self._given(OFFSETS)[-1]
        return self.wrong(name, f"up to {last} bytes{clones}, which leaves a sector of the drive")

    def _given(self, names: Sequence[str]) -> list[str]:
        """Those of these options that the job has."""
        return [name for name in names if self.has(name)]

    def _check_blocks(self, fields: dict[str, Any], span: int) -> None:
        """Raises RequestError for a block that doesn't fit into the region."""
        keys = {"read": (0,), "write": (1,), "trim": (2,), "rw": (0, 1)}
        lists = ("block_sizes", "write_block_sizes", "trim_block_sizes")
        for index in keys[fields["rw"].removeprefix("rand")]:
            largest = max(size.bytes for size in fields.get(lists[index], DEFAULT_SIZES))
            if largest > span:
                if given := self._given(("bs", "bsrange", "bssplit")):
                    raise self.wrong(given[-1], f"blocks up to its region of {span} bytes")
                if sizes := self._given(SIZES):
                    raise self.wrong(sizes[-1], f"from {largest} bytes on, which is one block")
                last = self.capacity_bytes - largest
                if self.has("offset") and last >= 0:
                    raise self.wrong(
                        "offset", f"up to {last} bytes, which leaves one block of {largest}"
                    )
                raise RequestError(
                    f'{self.section.origin}: job "{self.section.name}": a drive of '
                    f"{self.capacity_bytes} bytes is smaller than one block of {largest}; allowed: "
                    "a smaller bs"
                )
