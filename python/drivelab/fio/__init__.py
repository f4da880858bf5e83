"""fio's job files and fio's JSON, for drives of the engine."""

from __future__ import annotations

from drivelab.fio.jobs import FioJob, Workload, read_workload
from drivelab.fio.output import to_fio_json

__all__ = ["FioJob", "Workload", "read_workload", "to_fio_json"]
