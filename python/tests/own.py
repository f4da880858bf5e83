"""A file as somebody writes it who adds tests and states, and what a test needs to put it down."""

from __future__ import annotations

from pathlib import Path

OWN = '''
import drivelab as dl

@dl.state(after="new", order=50, colour="passed")
def half_full(bench):
    """Half of its bytes, written once."""
    bench.run(dl.Job(rw="write", bs="128k", size="50%"))

@dl.test(group="mine", states=["new", half_full], default=True, shown=True)
def small_writes(bench):
    """Writes of 4 KiB, some at a time."""
    rows = [
        {"depth": depth, "iops": bench.run(
            dl.Job(rw="randwrite", bs="4k", iodepth=depth, runtime=1, time_based=True)
        ).summary["iops"].item()}
        for depth in (1, 4)
    ]
    columns = [dl.Column("depth", "Depth"), dl.Column("iops", "Rate")]
    return [
        dl.Value("gain", "Gain by depth", rows[1]["iops"] / rows[0]["iops"], "", "higher"),
        dl.Table("depths", "By depth", columns, rows),
        dl.Chart("depths", "By depth", "lines", x="depth", y="iops"),
        f"the drive holds {bench.capacity_bytes} bytes",
    ]
'''


def put(folder: Path, text: str = OWN, name: str = "own.py") -> Path:
    """The file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
