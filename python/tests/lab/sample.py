"""A sweep of four points, of a small drive, and a state of one's own.

Workers read this file, for the state: it imports nothing else of the tests.
"""

from __future__ import annotations

from typing import Any

import drivelab as dl

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
JOB = dl.Job(rw="randwrite", bs="4k", iodepth=4, io_size="256m")
GRID = {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 32]}


def swept(**options: Any) -> dl.Study:
    given: dict[str, Any] = {"grid": GRID, "job": JOB, "state": "filled", "progress": False}
    return dl.sweep(DRIVE, **(given | options))


@dl.state(after="new", name="half-written")
def half_written(bench: dl.Bench) -> None:
    """Half of its bytes, written once."""
    bench.run(dl.Job(rw="write", bs="128k", size="50%"))
