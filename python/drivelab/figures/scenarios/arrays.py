"""Arrays: hard disks in RAID-0, and a smaller partition on a pair of SSDs."""

from __future__ import annotations

from importlib import resources

from drivelab import model as models
from drivelab.figures.scenarios.bench import Bench, Found, scenarios
from drivelab.procedures import PROCEDURES
from drivelab.procedures.flow import flow
from drivelab.procedures.partition import REVIEW_SHARE
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB, derive_seed
from drivelab.states import steps
from drivelab.states.steps import REPEATING
from drivelab.targets import Target

DISK_COUNTS = (2, 4, 8)


def disks_in_raid(bench: Bench) -> Found:
    """Random reads over two, four and eight of the disk in RAID-0, queue depth 3."""
    found: dict[str, float | None] = {}
    disk = bench.model.name
    with resources.as_file(resources.files("drivelab.figures.scenarios")) as folder:
        for count in DISK_COUNTS:
            members = ", ".join(f'"{disk}"' for _ in range(count))
            array = models.load(str(folder / "disks.toml"), [("members", f"[{members}]")])
            test = PROCEDURES["random-read-4k-qd3-drive"]
            drive = bench.other(array, derive_seed(bench.seed, str(count)))
            report = test.measure(drive, bench.seed, False, TaskProgress(test.id)).report
            assert report is not None
            found[f"disks_{count}"] = flow(report, "read")["mib_per_s"]
    return found


def partition_part(bench: Bench) -> Found:
    """A pass after torture on the whole of a drive, and on the review's share of it (60 of 74.5
    GB), and the same pass again. `new`: the pass on the new drive. The drive is whole: its slowest
    zone is no ratio, and an eighth of it would be slower by chance alone."""
    new = bench.target.clone()
    found = {"new": _pass(bench, new)["mean_mb_per_s"]}
    for name, share in (("whole", 1.0), ("part", REVIEW_SHARE)):
        size = int(bench.target.capacity_bytes * share)
        size -= size % MIB
        more = () if share == 1 else (("partition_bytes", str(size)),)
        drive = bench.variant(*more)
        bench.fill(drive)
        bench.torture(drive, steps.Torture().minutes, REPEATING)
        bench.settle(drive)
        first = _pass(bench, drive)
        bench.settle(drive)
        found |= {
            f"{name}_floor": first["floor_mb_per_s"],
            f"{name}_tortured": first["mean_mb_per_s"],
            f"{name}_again": _pass(bench, drive)["mean_mb_per_s"],
        }
    return found


def _pass(bench: Bench, drive: Target) -> dict[str, float]:
    found: dict[str, float] = bench.measured("hdtach-write", drive).more["pass"]
    return found


SCENARIOS = scenarios(
    ("disks-in-raid", "Random reads over hard disks in RAID-0", disks_in_raid),
    ("partition-part", "A pass after torture, whole drive and partition", partition_part),
)
