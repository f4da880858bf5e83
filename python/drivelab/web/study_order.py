"""An order of a page for a study: one job on many variants of a drive, kept as a file."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from drivelab import _engine
from drivelab import model as models
from drivelab.errors import RequestError
from drivelab.lab.axes import varied
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.points import points
from drivelab.lab.sweep import sweep
from drivelab.lab.varying import vary
from drivelab.progress import Heard
from drivelab.states import STATES
from drivelab.web.folder import Folder
from drivelab.web.order import SCALE_MAX, VALUE, Name, Setting, check_memory, check_names

Record = dict[str, Any]
POINTS_MAX = 64
"""Of a sweep."""
ID_LETTERS = 16
JOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "random-writes": (
        "Random writes, 4 KiB, 32 at once: 128 MiB",
        {"rw": "randwrite", "bs": "4k", "iodepth": 32, "io_size": "128m"},
    ),
    "random-writes-over": (
        "Random writes, 4 KiB, 32 at once: as much as the drive holds",
        {"rw": "randwrite", "bs": "4k", "iodepth": 32, "io_size": "100%", "norandommap": True},
    ),
    "random-reads": (
        "Random reads, 4 KiB, one at a time: 16 MiB",
        {"rw": "randread", "bs": "4k", "iodepth": 1, "io_size": "16m"},
    ),
    "random-reads-32": (
        "Random reads, 4 KiB, 32 at once: 64 MiB",
        {"rw": "randread", "bs": "4k", "iodepth": 32, "io_size": "64m"},
    ),
    "sequential-writes": (
        "Sequential writes, 128 KiB: 256 MiB",
        {"rw": "write", "bs": "128k", "iodepth": 4, "io_size": "256m"},
    ),
    "sequential-writes-over": (
        "Sequential writes, 128 KiB: the whole drive",
        {"rw": "write", "bs": "128k", "iodepth": 4, "io_size": "100%"},
    ),
    "sequential-reads": (
        "Sequential reads, 128 KiB: 256 MiB",
        {"rw": "read", "bs": "128k", "iodepth": 4, "io_size": "256m"},
    ),
}
"""Jobs by name: a title, and fio's options. The short ones measure the state that they begin in.
What a drive keeps up, and where its SLC cache ends, only those show that write as much as it holds.
"""
JOB_KEYS = ("job.iodepth", "job.bs")
"""Options of the job that a sweep may vary."""
DRIVE_KEYS = ("spare_ratio",)
"""What a drive takes beside the parameters of its model, which follow from it."""
NOT_VARIED = ("name", "title", "family", "base", "flash.part", "scale_divisor")
"""Parameters that say which drive it is, or name files, or are chosen beside the sweep."""
VALUES_MAX = 16
"""Of a parameter in a sweep."""
Value = Annotated[str, StringConstraints(pattern=f"^{VALUE}$")]


class Axis(BaseModel):
    """What a sweep varies, and the values."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    key: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.]{1,80}$")]
    values: Annotated[list[Value], Field(max_length=64)]


class StudyOrder(BaseModel):
    """A job on small versions of a drive, whose parameters are varied."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Literal["sensitivity", "sweep"]
    model: Name
    settings: Annotated[list[Setting], Field(max_length=32)] = []
    job: Name = "random-writes"
    state: Name = "used"
    axes: Annotated[list[Axis], Field(max_length=2)] = []
    """Of a sweep one or two; of a sensitivity none: it varies every number of the model."""
    scale: Annotated[int, Field(ge=1, le=SCALE_MAX)] = 64
    seed: Annotated[int, Field(ge=0, le=2**53 - 1)] = 1

    @property
    def id(self) -> str:
        """The name of what it gives: equal orders to one engine give the same."""
        text = json.dumps([self.model_dump(), _engine.engine_version()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:ID_LETTERS]

    def check(self, _: Folder) -> None:
        """Raises RequestError for what can't be measured."""
        check_names([self.model])
        if self.state not in STATES:
            raise RequestError(f'state "{self.state}" is unknown; allowed: {", ".join(STATES)}')
        if self.job not in JOBS:
            raise RequestError(f'job "{self.job}" is unknown; allowed: {", ".join(JOBS)}')
        check_memory([self.drive().model])
        if self.kind == "sensitivity":
            if self.axes:
                raise RequestError("axes: a sensitivity varies every number of the model")
            return
        if not self.axes:
            raise RequestError("axes: a sweep varies one parameter or two")
        more = (*JOB_KEYS, *DRIVE_KEYS)
        parameters = [item["key"] for item in self.drive().model.parameters]
        for axis in self.axes:
            if not 1 <= len(axis.values) <= VALUES_MAX:
                raise RequestError(
                    f"{axis.key}: {len(axis.values)} values; allowed: 1 to {VALUES_MAX}"
                )
            if axis.key not in (*more, *parameters) or axis.key in NOT_VARIED:
                allowed = f"parameters of the model, {', '.join(more)}"
                raise RequestError(f'axes: "{axis.key}": allowed: {allowed}')
        if len(self.grid()) < len(self.axes):
            raise RequestError(f'axes: "{self.axes[0].key}" is there twice')
        # Before as many drives are made.
        count = math.prod(len(axis.values) for axis in self.axes)
        if count > POINTS_MAX:
            raise RequestError(f"{count} points; allowed: {POINTS_MAX}")
        found = points(self.drive(), varied(self.grid(), None), self.workload(), self.state, 1)
        check_memory([point.drive.model for point in found])

    def drive(self) -> Drive:
        """The drive as it is."""
        scale = None if self.scale == 1 else f"1/{self.scale}"
        settings = dict(models.split_overrides(self.settings))
        return Drive(self.model, settings, scale=scale, seed=self.seed)

    def workload(self) -> Job:
        """The job."""
        return Job(name=self.job, **JOBS[self.job][1])

    def grid(self) -> dict[str, object]:
        """What is varied."""
        return {axis.key: [_plain(text) for text in axis.values] for axis in self.axes}

    @property
    def title(self) -> str:
        """A line that says what is measured."""
        what = ", ".join(axis.key for axis in self.axes) or "every parameter by 10 %"
        return f"{self.model}: {JOBS[self.job][0]}, varying {what}"

    def command_line(self) -> str:
        """What a script does to get the same."""
        scale = "" if self.scale == 1 else f', scale="1/{self.scale}"'
        settings = dict(models.split_overrides(self.settings))
        changed = f", {settings}" if settings else ""
        drive = f'dl.Drive("{self.model}"{changed}{scale}, seed={self.seed})'
        options = ", ".join(f"{key}={value!r}" for key, value in JOBS[self.job][1].items())
        job = f'dl.Job(name="{self.job}", {options})'
        if self.kind == "sensitivity":
            return f'dl.vary({drive}, {job}, state="{self.state}")'
        return f'dl.sweep({drive}, {self.grid()}, job={job}, state="{self.state}")'

    def measure(self, results: Path, heard: Heard) -> str:
        """Measures it, and keeps what was found; its name."""
        found: Record = {
            "order": self.model_dump(),
            "title": self.title,
            "script": self.command_line(),
        }
        if self.kind == "sensitivity":
            study = vary(self.drive(), self.workload(), state=self.state, progress=heard)
            found |= {
                "rows": study.frame().to_dicts(),
                "left_out": [vars(item) for item in study.left_out],
            }
        else:
            grid = sweep(
                self.drive(), self.grid(), job=self.workload(), state=self.state, progress=heard
            )
            found |= {"rows": grid.frame().to_dicts(), "keys": list(grid.keys), "notes": grid.notes}
        Folder(results).keep_study(self.id, found)
        return self.id


def _plain(text: str) -> int | float | str:
    """A value as a script would write it: numbers have an order, and are drawn on a scale."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
