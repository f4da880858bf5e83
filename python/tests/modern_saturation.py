"""docs/modern-drives.md, "At saturation": a light queue beside six full ones, model and drive.

SSD-iq measured one lightly loaded queue, 10,000 commands a second of which half are reads, beside
six queues of depth 64 with writes and one read in a hundred. Here the same jobs run on a small
version with as many dies and blocks, but short ones: shares and waits are those of the drive, and
an erase takes as much less as the block has fewer word lines.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from modelled import Modelled

import drivelab as dl
from drivelab.figures.text import deviation

DIVISOR = 16
"""Word lines of a block that are left of as many: fewer would leave a part of the last one of each
victim's copies empty too often."""
WRITTEN = 3.0
"""User capacities that are written at random before."""
FULL_QUEUES = 6
RATE = 5000
"""Reads a second of the light queue, and writes."""
TIMES = {"runtime": "4s", "time_based": True, "ramp_time": "1s"}
RANDOM = {"bs": "4k", "norandommap": True, **TIMES}


@dataclass(frozen=True)
class Load:
    """What the light queue saw: microseconds, but the full queues' mean write in milliseconds."""

    writes_per_s: float
    read_us: Mapping[float, float]
    write_us: Mapping[float, float]
    write_mean_ms: float
    full_write_mean_ms: float
    delayed: float


def _values(model: str) -> Mapping[str, Any]:
    """What makes a model small."""
    whole = dl.Drive(model)
    value = whole.model.value
    return {
        "flash.pages_per_block": value("flash.pages_per_block") // DIVISOR,
        "flash.erase_ns": value("flash.erase_ns") // DIVISOR,
        "user_capacity_bytes": whole.capacity_bytes // DIVISOR // 2**20 * 2**20,
    }


@cache
def prepared(model: str) -> tuple[dl.Drive, float]:
    """A small version in its steady state, and its writes a second."""
    drive = dl.Drive(model, _values(model))
    size = drive.capacity_bytes
    drive = drive.run(dl.Job(rw="write", bs="512k", size=size), keep=True, progress=False).drive
    found = None
    for seed, share in enumerate((WRITTEN - 0.3, 0.3)):
        io_size = int(share * size) // 4096 * 4096
        writes = {"rw": "randwrite", "bs": "4k", "iodepth": 512, "norandommap": True}
        job = dl.Job(**writes, size=size, io_size=io_size, randseed=seed)
        found = drive.run(job, keep=True, progress=False)
        drive = found.drive
    return drive, found.summary["iops"].item()


def _jobs(model: str, others: float | None) -> list[dl.Job]:
    """The light queue, and six that are full, or write so often a second together."""
    # As large a part of what the drive can do as in the measurement.
    rate = round(RATE * prepared(model)[1] / MEASURED[model].writes_per_s)
    light = {**RANDOM, "iodepth": 32, "rate_iops": rate, "nvme_queue": 0}
    jobs = [
        dl.Job(name="light-reads", rw="randread", **light),
        dl.Job(name="light-writes", rw="randwrite", startdelay="100us", **light),
    ]
    for number in range(1, FULL_QUEUES + 1):
        common = {**RANDOM, "name": f"full-{number}", "iodepth": 64, "nvme_queue": number}
        if others is None:
            jobs.append(dl.Job(rw="randrw", rwmixread=1, **common))
        else:
            each = max(1, round((others - rate) / FULL_QUEUES))
            start = f"{17 * number}us"
            jobs.append(dl.Job(rw="randwrite", rate_iops=each, startdelay=start, **common))
    return jobs


@cache
def load(model: str, utilisation: float | None) -> Load:
    """The light queue beside others that write so much of what is written at saturation; None: that
    are full."""
    drive, _ = prepared(model)
    others = None
    if utilisation is not None:
        others = utilisation * load(model, None).writes_per_s
    found = drive.run(*_jobs(model, others), progress=False)
    rows = {(row["job"], row["direction"]): row for row in found.summary.to_dicts()}
    writes = [row for (_, direction), row in rows.items() if direction == "write"]
    full = [row["latency_mean_us"] for row in writes if row["job"].startswith("full")]
    latency = found.latency

    def quantiles(job: str) -> dict[float, float]:
        of_job = latency.filter(latency["job"] == job)
        return {
            share: of_job.filter(of_job["share"] >= share)["latency_us"].min()
            for share in (0.03, 0.5, 0.99, 0.999)
        }

    reads = quantiles("light-reads")
    # What comes behind the slowest kind of page has waited. (Some reads find the write buffer.)
    value = drive.model.value
    first, last = (value(f"flash.{kind}_ns") for kind in ("read", "read_upper"))
    slowest = abs(first - (first if last is None else last)) / 1000
    of_reads = latency.filter(latency["job"] == "light-reads")
    at_once = of_reads.filter(of_reads["latency_us"] <= reads[0.03] + slowest + GAP_US)["share"]
    measured = Load(
        sum(row["iops"] for row in writes),
        reads,
        quantiles("light-writes"),
        rows["light-writes", "write"]["latency_mean_us"] / 1000,
        statistics.fmean(full) / 1000,
        1 - (at_once.max() or 0),
    )
    print(model, utilisation, measured, file=sys.stderr, flush=True)
    return measured


GAP_US = 8.0
"""Half of the gap between reads that waited for nothing and those that suspended something."""


@dataclass(frozen=True)
class Saturated:
    """What was measured at saturation: ms, and us of reads."""

    writes_per_s: int
    light_ms: float
    full_ms: float
    write_p99_us: float
    read_p50_us: float
    read_p99_us: float
    how: str
    """What of the model was chosen for it, or taken over."""


MEASURED = {
    "micron-7450-max-800gb": Saturated(117066, 3.30, 3.42, 3351, 144, 488, "p99 of writes fitted"),
    "micron-7450-pro-960gb": Saturated(67941, 5.69, 6.09, 5768, 173, 495, "as fitted for the MAX"),
    "skhynix-pe8110-960gb": Saturated(79504, 5.18, 5.11, 6903, 4791, 6066, "one line informed"),
    "samsung-pm9a3-960gb": Saturated(76518, 3.36, 5.34, 4032, 899, 2204, "light write fitted"),
    "solidigm-p5520-1920gb": Saturated(119196, 2.41, 3.36, 7032, 426, 2184, "room informed"),
    "wd-datacenter-960gb": Saturated(47021, 8.98, 8.91, 11855, 8716, 11587, "one line informed"),
}


@dataclass(frozen=True)
class Reads:
    """What was measured of reads at a share of the writes at saturation; None: not known."""

    model: str
    utilisation: float
    delayed: float | None
    p50_us: float | None
    p99_us: float | None
    p999_us: float | None
    stalls: bool = False
    """Writes stopped and went on: percentiles that no model has."""


READS = (
    Reads("micron-7450-max-800gb", 0.085, 0.088, 65, 161, 388),
    Reads("micron-7450-max-800gb", 0.254, 0.244, 74, 318, 442),
    Reads("micron-7450-max-800gb", 0.508, 0.485, 87, 4016, 4665, stalls=True),
    Reads("micron-7450-pro-960gb", 0.146, 0.129, 65, 232.5, 427),
    Reads("micron-7450-pro-960gb", 0.729, 0.703, 110, 4790, 5428, stalls=True),
    Reads("skhynix-pe8110-960gb", 0.125, 0.129, 56, 315, 457),
    Reads("skhynix-pe8110-960gb", 0.499, 0.461, 71, 411, 535.5),
    Reads("skhynix-pe8110-960gb", 0.872, 0.779, 156, 447.5, 602),
    Reads("samsung-pm9a3-960gb", 0.130, 0.129, 64, 237, 393),
    Reads("samsung-pm9a3-960gb", 0.777, 0.771, 107, 388, 544.5),
    Reads("samsung-pm9a3-960gb", 0.906, 0.871, 114, 381, 601.5),
    Reads("solidigm-p5520-1920gb", 0.083, 0.125, 70, 255.5, 410),
    Reads("solidigm-p5520-1920gb", 0.831, None, 140, 464.5, 613),
    Reads("wd-datacenter-960gb", 0.210, 0.269, 84, 362, 565),
    Reads("wd-datacenter-960gb", 0.631, 0.688, None, None, None),
    Reads("wd-datacenter-960gb", 0.842, 0.843, None, None, None),
)
FITTED: Mapping[tuple[str, float], tuple[float, ...]] = {
    ("micron-7450-max-800gb", 0.085): (0.5, 0.99, 0.999),
    ("micron-7450-pro-960gb", 0.146): (0.5, 0.999),
    ("micron-7450-pro-960gb", 0.729): (0.5,),
    ("skhynix-pe8110-960gb", 0.125): (0.5, 0.99, 0.999),
    ("skhynix-pe8110-960gb", 0.872): (0.5,),
    ("samsung-pm9a3-960gb", 0.130): (0.5, 0.999),
    ("samsung-pm9a3-960gb", 0.777): (0.5,),
    ("samsung-pm9a3-960gb", 0.906): (0.5,),
    ("solidigm-p5520-1920gb", 0.083): (0.5, 0.999),
    ("solidigm-p5520-1920gb", 0.831): (0.5,),
    ("wd-datacenter-960gb", 0.210): (0.5,),
}
"""Quantiles that follow from what was fitted to the same runs, by drive and utilisation: p50 at the
lightest load is a step (tR), and a step and `flash.program_suspend_ns`, which was fitted to the
mean wait, where most reads are delayed; p99 is `flash.finish_within_ns`, p99.9
`flash.erase_suspend_ns`."""


@dataclass(frozen=True)
class Writes:
    """What was measured of writes into the buffer at a share of the writes at saturation."""

    model: str
    utilisation: float
    p50_us: float
    p99_us: float
    is_fitted: bool = False
    """Whether the host's part was fitted to this p50."""
    stalls: bool = False
    """Writes stopped and went on: percentiles that no model has."""


WRITES = (
    Writes("micron-7450-max-800gb", 0.085, 9, 14, is_fitted=True),
    Writes("micron-7450-max-800gb", 0.508, 10, 10656, stalls=True),
    Writes("micron-7450-pro-960gb", 0.146, 9, 313),
    Writes("micron-7450-pro-960gb", 0.729, 1290, 12548, stalls=True),
    Writes("skhynix-pe8110-960gb", 0.125, 10, 12),
    Writes("skhynix-pe8110-960gb", 0.872, 10, 24),
    Writes("samsung-pm9a3-960gb", 0.130, 11, 14),
    Writes("samsung-pm9a3-960gb", 0.777, 14, 81),
    Writes("samsung-pm9a3-960gb", 0.906, 23, 307),
    Writes("solidigm-p5520-1920gb", 0.083, 8, 26, is_fitted=True),
    Writes("solidigm-p5520-1920gb", 0.831, 9, 74),
    Writes("wd-datacenter-960gb", 0.210, 13, 16, is_fitted=True),
)


def _load(kept: Modelled, model: str, utilisation: float | None) -> Load:
    what = "saturation" if utilisation is None else f"{utilisation:.3f} of saturation"
    return kept.of(model, what, Load, lambda: load(model, utilisation))


def saturation_rows(kept: Modelled) -> list[list[str]]:
    """A light queue and six full ones."""
    rows = []
    for name, drive in MEASURED.items():
        found = _load(kept, name, None)
        rows.append(
            [
                f"`{name}`",
                f"{drive.writes_per_s / 1000:.0f}",
                f"{found.writes_per_s / 1000:.0f}",
                f"{drive.light_ms:.2f} / {drive.full_ms:.2f}",
                f"{found.write_mean_ms:.2f} / {found.full_write_mean_ms:.2f}",
                f"{drive.light_ms * drive.writes_per_s / 1000:.0f}",
                f"{found.write_mean_ms * found.writes_per_s / 1000:.0f}",
                f"{drive.write_p99_us / drive.light_ms / 1000:.2f}",
                f"{found.write_us[0.99] / found.write_mean_ms / 1000:.2f}",
                f"{drive.read_p50_us:.0f}, {drive.read_p99_us:.0f}",
                f"{found.read_us[0.5]:.0f}, {found.read_us[0.99]:.0f}",
                drive.how,
            ]
        )
    return rows


SATURATION_HEADS = (
    "drive",
    "1000 writes/s",
    "model",
    "write, light / full queue, ms",
    "model",
    "light queue: writes done meanwhile",
    "model",
    "p99 / mean of writes",
    "model",
    "reads p50, p99, us",
    "model",
    "what was chosen",
)


def reads_rows(kept: Modelled) -> list[list[str]]:
    """Reads of the light queue below saturation."""
    rows = []
    for drive in READS:
        found = _load(kept, drive.model, drive.utilisation)
        fitted = FITTED.get((drive.model, drive.utilisation), ())
        row = [f"`{drive.model}`", f"{drive.utilisation:.3f}"]
        row.append("" if drive.delayed is None else f"{drive.delayed:.3f}")
        row.append(f"{found.delayed:.3f}")
        for share, measured in zip(
            (0.5, 0.99, 0.999), (drive.p50_us, drive.p99_us, drive.p999_us), strict=True
        ):
            row += ["" if measured is None else f"{measured:.0f}"]
            cell = f"{found.read_us[share]:.0f}"
            if measured is not None and not (drive.stalls and share > 0.5):
                cell += f" ({deviation(found.read_us[share], measured)})"
            row.append(cell + (", fitted" if share in fitted else ""))
        rows.append(row)
    return [*rows, *_errors(kept)]


READS_HEADS = (
    "drive",
    "share of saturation",
    "reads delayed",
    "model",
    "p50, us",
    "model",
    "p99",
    "model",
    "p99.9",
    "model",
)


WRITES_HEADS = ("drive", "share of saturation", "p50, us", "model", "p99, us", "model")


def writes_rows(kept: Modelled) -> list[list[str]]:
    """Writes of the light queue below saturation."""
    rows = []
    for drive in WRITES:
        found = _load(kept, drive.model, drive.utilisation).write_us
        row = [f"`{drive.model}`", f"{drive.utilisation:.3f}"]
        for share, measured in ((0.5, drive.p50_us), (0.99, drive.p99_us)):
            cell = f"{found[share]:.1f}"
            if not drive.stalls:
                cell += f" ({deviation(found[share], measured)})"
            is_fitted = drive.is_fitted and share == 0.5
            row += [f"{measured:.0f}", cell + (", fitted" if is_fitted else "")]
        rows.append(row)
    return rows


def _errors(kept: Modelled) -> list[list[str]]:
    """Median and worst of the predictions."""
    found = {drive: _load(kept, drive.model, drive.utilisation) for drive in READS}
    shares = [
        abs(found[drive].delayed - drive.delayed) for drive in READS if drive.delayed is not None
    ]

    def of(share: float, measured: str) -> list[float]:
        return [
            100 * abs(found[drive].read_us[share] / value - 1)
            for drive in READS
            if share not in FITTED.get((drive.model, drive.utilisation), ())
            if (value := getattr(drive, measured)) and not (drive.stalls and share > 0.5)
        ]

    parts = [of(0.5, "p50_us"), of(0.99, "p99_us"), of(0.999, "p999_us")]
    rows = []
    for name, pick in (("median", statistics.median), ("worst", max)):
        row = [f"{name}, predicted", "", "", f"{pick(shares):.3f}"]
        for part in parts:
            row += ["", f"{pick(part):.0f} %"]
        rows.append(row)
    return rows
