"""drivelab: a solid-state drive in software, and the laboratory that tests it.

>>> import drivelab as dl
>>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64").prepare("filled")
>>> result = drive.run(dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="64m"))
>>> result.summary.columns[:4]
['job', 'direction', 'ios', 'bytes']

Names are loaded when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drivelab.errors import RequestError as RequestError
    from drivelab.errors import WorkError as WorkError
    from drivelab.lab.bench import Bench as Bench
    from drivelab.lab.catalogue import models as models
    from drivelab.lab.datasheet import Datasheet as Datasheet
    from drivelab.lab.differences import Differences as Differences
    from drivelab.lab.differences import compare as compare
    from drivelab.lab.drive import Drive as Drive
    from drivelab.lab.figure_variations import FigureVariations as FigureVariations
    from drivelab.lab.figure_variations import vary_figure as vary_figure
    from drivelab.lab.inside import Inside as Inside
    from drivelab.lab.job import Job as Job
    from drivelab.lab.own import state as state
    from drivelab.lab.own import test as test
    from drivelab.lab.reading import Stored as Stored
    from drivelab.lab.reading import read as read
    from drivelab.lab.result import Result as Result
    from drivelab.lab.samples import samples as samples
    from drivelab.lab.session import Session as Session
    from drivelab.lab.snapshot import load as load
    from drivelab.lab.steady import Steady as Steady
    from drivelab.lab.steps import Step as Step
    from drivelab.lab.steps import Steps as Steps
    from drivelab.lab.study import Study as Study
    from drivelab.lab.sweep import sweep as sweep
    from drivelab.lab.trace import Trace as Trace
    from drivelab.lab.varying import Variations as Variations
    from drivelab.lab.varying import vary as vary
    from drivelab.procedures.measured import Chart as Chart
    from drivelab.procedures.measured import Column as Column
    from drivelab.procedures.measured import Table as Table
    from drivelab.procedures.measured import Value as Value

_HOMES = {
    "Bench": "drivelab.lab.bench",
    "Chart": "drivelab.procedures.measured",
    "Column": "drivelab.procedures.measured",
    "Datasheet": "drivelab.lab.datasheet",
    "Differences": "drivelab.lab.differences",
    "Drive": "drivelab.lab.drive",
    "FigureVariations": "drivelab.lab.figure_variations",
    "Inside": "drivelab.lab.inside",
    "Job": "drivelab.lab.job",
    "RequestError": "drivelab.errors",
    "Result": "drivelab.lab.result",
    "Session": "drivelab.lab.session",
    "Steady": "drivelab.lab.steady",
    "Step": "drivelab.lab.steps",
    "Steps": "drivelab.lab.steps",
    "Stored": "drivelab.lab.reading",
    "Study": "drivelab.lab.study",
    "Table": "drivelab.procedures.measured",
    "Trace": "drivelab.lab.trace",
    "Value": "drivelab.procedures.measured",
    "Variations": "drivelab.lab.varying",
    "WorkError": "drivelab.errors",
    "compare": "drivelab.lab.differences",
    "load": "drivelab.lab.snapshot",
    "models": "drivelab.lab.catalogue",
    "read": "drivelab.lab.reading",
    "samples": "drivelab.lab.samples",
    "state": "drivelab.lab.own",
    "sweep": "drivelab.lab.sweep",
    "test": "drivelab.lab.own",
    "vary": "drivelab.lab.varying",
    "vary_figure": "drivelab.lab.figure_variations",
}
"""Public names, and where each is made."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
