"""fio's own logs, `NAME_lat.1.log` and the like: what a job's options ask for.

What is in them: `log_files.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from drivelab.fio import buffers, units
from drivelab.quantities import NS_PER_MS

FILES = {
    "write_lat_log": ("lat", "clat", "slat"),
    "write_bw_log": ("bw",),
    "write_iops_log": ("iops",),
}
"""Options that ask for logs, and the kinds of log that each writes: no `slat` of a model."""

OPTIONS = (*FILES, "per_job_logs", "log_offset", "log_max_value")
"""Options that are read here; `log_avg_msec` counts for the drive's report, too."""


class Section(buffers.Section, Protocol):
    """What is needed of a job's options."""

    name: str


@dataclass(frozen=True)
class Logs:
    """The logs that a job writes."""

    names: Mapping[str, str]
    """What file names begin with, by kind of log."""
    every_ns: int | None
    """Length of an interval; None: a row for each request."""
    longest: bool
    """Whether an interval's latency is the longest, and not the mean."""
    offsets: bool
    per_job: bool
    """Whether each job has files of its own, with its number in their names."""

    def path(self, kind: str, number: int) -> Path:
        """The file of a kind of log; `number` is the job's in the whole file, from 1 on."""
        place = f".{number}" if self.per_job else ""
        return Path(f"{self.names[kind]}_{kind}{place}.log")


def wanted(section: Section) -> Logs | None:
    """The logs that a job's options ask for; raises ValueError, and errors of the section."""
    names = {
        kind: section.value(option, str, "") or section.name
        for option, kinds in FILES.items()
        if section.has(option)
        for kind in kinds
    }
    if not names:
        return None
    interval_ms = section.value("log_avg_msec", units.whole_number, None)
    return Logs(
        names,
        None if interval_ms is None else interval_ms * NS_PER_MS,
        section.value("log_max_value", units.flag, False),
        section.value("log_offset", units.flag, False),
        section.value("per_job_logs", units.flag, True),
    )
