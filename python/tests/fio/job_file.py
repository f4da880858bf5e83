"""Job files as a test writes them."""

from __future__ import annotations

from pathlib import Path

from drivelab.fio.jobs import FioJob, Workload, read_workload
from drivelab.quantities import GIB

CAPACITY = 8 * GIB


def read(folder: Path, text: str, **environment: str) -> Workload:
    path = folder / "job.fio"
    path.write_text(text, encoding="utf-8")
    return read_workload(path, CAPACITY, 1, environment)


def only(folder: Path, text: str) -> FioJob:
    [job] = read(folder, text).jobs
    return job
