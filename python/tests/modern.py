"""docs/modern-drives.md: what its models give beside what was measured on the drives.

`make modern` measures as SSD-iq measured the drives: a sequential fill of what is used of the
drive, then random writes of four kilobytes until five times as much was written; rate and write
amplification of the last two fifths. It measures one die, with its share of the
capacity and of the commands inside, and takes the rate times as much. It writes the tables into
the page. `--only MODEL` measures one drive anew, the rest are as they are kept (`modelled.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import marked
import modern_before as before
import modern_binding as binding
import modern_open_zones as open_zones
import modern_reads as reads
import modern_saturation as saturation
import modern_zones as zones
from modelled import Modelled, arguments

import drivelab as dl
from drivelab.figures.text import deviation, markdown

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "modern-drives.md"
KEPT = Path(__file__).with_name("kept") / "modern.json"
DIES = 1
"""Dies that are left of a drive. Each is cleaned by itself, so one of full size says what all do;
with fewer blocks, one more or less would count."""
DEPTH = 512
"""Commands inside of a whole drive."""
WRITTEN = 5.0
"""User capacities (or ranges) that are written at random."""
SETTLED = 0.6
"""The share of them after which it is measured."""


@dataclass(frozen=True)
class Steady:
    """A drive filled and written at random until it is steady."""

    fill_mib_per_s: float
    fill_amplification: float
    mib_per_s: float
    amplification: float


def part_of(
    model: str, scale: str | None = None, changes: Mapping[str, int | str] | None = None
) -> tuple[dl.Drive, int]:
    """A few dies of a model with their share of the capacity and what else is said of them, and how
    many times as many it has."""
    whole = dl.Drive(model)
    channels = whole.model.value("flash.channel_count")
    share = channels * whole.model.value("flash.dies_per_channel") // DIES
    few = {
        "flash.channel_count": 1,
        "flash.dies_per_channel": DIES,
        "user_capacity_bytes": whole.capacity_bytes // share // 2**15 * 2**15,
        **(changes or {}),
    }
    return dl.Drive(model, few, scale=scale), share


@cache
def steady(model: str, used: float = 1.0, written: float = WRITTEN) -> Steady:
    """One die of a model of which a share is used."""
    drive, share = part_of(model)
    size = int(drive.capacity_bytes * used) // 2**20 * 2**20
    fill = drive.run(dl.Job(rw="write", bs="512k", size=size), keep=True, progress=False)
    parts = [part * written for part in (SETTLED, 1 - SETTLED)]
    ends = []
    for number, part in enumerate(parts):
        start = ends[-1] if ends else fill
        io_size = int(part * size) // 4096 * 4096
        # A seed of its own: what draws the same pages again leaves those cold that weren't drawn.
        writes = {"rw": "randwrite", "bs": "4k", "iodepth": DEPTH // share, "norandommap": True}
        job = dl.Job(**writes, size=size, io_size=io_size, randseed=number)
        ends.append(start.drive.run(job, keep=True, progress=False))
    summaries = [result.summary for result in (fill, ends[-1])]
    rates = [share * summary["mib_per_s"].item() for summary in summaries]
    amplification = [summary["write_amplification"].item() for summary in summaries]
    print(model, used, rates, amplification, file=sys.stderr, flush=True)
    return Steady(rates[0], amplification[0], rates[1], amplification[1])


@dataclass(frozen=True)
class Measured:
    """What SSD-iq measured of a drive; `None`: it has no counter."""

    model: str
    fill_mib_per_s: float
    mib_per_s: float
    fill_amplification: float | None
    amplification: float | None


DRIVES = (
    Measured("micron-7450-max-800gb", 1390.8, 622.7, 1.0315, 1.891),
    Measured("micron-7450-pro-960gb", 1395.3, 368.2, None, None),
    Measured("skhynix-pe8110-960gb", 1723.6, 326.4, None, None),
    Measured("samsung-pm9a3-960gb", 1438.9, 279.0, None, None),
    Measured("solidigm-p5520-1920gb", 1928.3, 507.3, 1.069, 3.521),
    Measured("wd-datacenter-960gb", 1030.0, 183.8, None, None),
)
RANGES = (
    (372.6, 1.110, 1216.8),
    (447.1, 1.173, 1112.7),
    (596.2, 1.410, 877.2),
    (745.2, 1.891, 622.7),
)
"""Of the 7450 MAX: range in GiB, write amplification, MiB/s."""
BLIND = "kioxia-cm7-r-3840gb"


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _off(model: float, drive: float | None) -> str:
    return "" if drive is None else f"({deviation(model, drive, digits=1)})"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown(heads, rows, heads[1:])


def _steady(kept: Modelled, model: str, used: float = 1.0) -> Steady:
    return kept.of(model, f"steady, {used:.4f} used", Steady, lambda: steady(model, used))


def steady_table(kept: Modelled) -> str:
    """Rates and write amplification of whole drives."""
    rows = []
    for drive in DRIVES:
        now = _steady(kept, drive.model)
        rows.append(
            [
                f"`{drive.model}`",
                _cell(drive.fill_mib_per_s, 0),
                _cell(now.fill_mib_per_s, 0),
                _cell(drive.mib_per_s, 0),
                f"{_cell(now.mib_per_s, 0)} {_off(now.mib_per_s, drive.mib_per_s)}",
                _cell(drive.amplification, 2),
                f"{now.amplification:.2f} {_off(now.amplification, drive.amplification)}".rstrip(),
            ]
        )
    blind = _steady(kept, BLIND)
    rows.append(
        [
            f"`{BLIND}`",
            "not seen",
            _cell(blind.fill_mib_per_s, 0),
            "not seen",
            _cell(blind.mib_per_s, 0),
            "",
            _cell(blind.amplification, 2),
        ]
    )
    drives = ["fill, MiB/s", "model", "random writes, MiB/s", "model", "WA", "model"]
    heads = ["drive", *drives]
    return _table(heads, rows)


def ranges_table(kept: Modelled) -> str:
    """The 7450 MAX, of which only a range is written."""
    rows = []
    whole = RANGES[-1][0]
    for gib, amplification, mib_per_s in RANGES:
        found = _steady(kept, "micron-7450-max-800gb", gib / whole)
        rows.append(
            [
                f"{gib:.0f} GiB",
                f"{amplification:.3f}",
                f"{found.amplification:.3f} {_off(found.amplification, amplification)}",
                f"{mib_per_s:.0f}",
                f"{found.mib_per_s:.0f} {_off(found.mib_per_s, mib_per_s)}",
            ]
        )
    return _table(["range", "WA", "model", "MiB/s", "model"], rows)


def zones_table(kept: Modelled) -> str:
    """Zones written whole in random order."""
    rows, off = zones.rows(kept, part_of)
    return f"{_table(zones.HEADS, rows)}\n{zones.said(kept, part_of, off)}"


def open_zones_table(kept: Modelled) -> str:
    """Zones of which several are written at the same time, trimmed before and not."""
    rows, off = open_zones.rows(kept, part_of)
    return f"{_table(open_zones.HEADS, rows)}\n{open_zones.said(kept, part_of, off)}"


def before_table(kept: Modelled) -> str:
    """Random writes of the P5520, new and filled."""
    rows, off = before.rows(kept, part_of)
    return f"{markdown(before.HEADS, rows, before.HEADS[2:])}\n{before.said(off)}"


def steps_table(kept: Modelled) -> str:
    """Reads at queue depth 1, by the kind of page."""
    return _table(reads.HEADS, reads.rows(kept))


def saturation_table(kept: Modelled) -> str:
    """A light queue beside six full ones."""
    return _table(saturation.SATURATION_HEADS, saturation.saturation_rows(kept))


def reads_table(kept: Modelled) -> str:
    """Reads beside writes below saturation."""
    return _table(saturation.READS_HEADS, saturation.reads_rows(kept))


def writes_table(kept: Modelled) -> str:
    """Buffered writes beside others below saturation."""
    return _table(saturation.WRITES_HEADS, saturation.writes_rows(kept))


def binding_table(kept: Modelled) -> str:
    """What binds what, of the numbers that were chosen."""

    def measured(model: str) -> list[binding.Moved]:
        drive, share = part_of(model)
        print(model, "what binds it", file=sys.stderr, flush=True)
        return binding.measured(drive, share, DEPTH)

    rows = [
        binding.row(
            drive.model,
            kept.of(
                drive.model,
                "what the chosen numbers move",
                list[binding.Moved],
                partial(measured, drive.model),
            ),
        )
        for drive in DRIVES
    ]
    return markdown(binding.HEADS, rows, ())


TABLES = {
    "steady": steady_table,
    "ranges": ranges_table,
    "zones": zones_table,
    "open-zones": open_zones_table,
    "before": before_table,
    "steps": steps_table,
    "saturation": saturation_table,
    "reads": reads_table,
    "writes": writes_table,
    "binding": binding_table,
}
SECTION = "<!-- {name}: measured by `make modern` -->\n"


def main() -> int:
    """Writes the tables into the page."""
    models = [*(drive.model for drive in DRIVES), BLIND]
    kept = Modelled(KEPT, "make modern", arguments("The tables of docs/modern-drives.md.", models))
    marked.write(DOCUMENT, SECTION, {name: table(kept) for name, table in TABLES.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
