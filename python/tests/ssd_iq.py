"""docs/against-ssd-iq.md: skewed writes, cold data and the first half hour after a fill, modelled
beside what SSD-iq measured [SSDIQ].

`make ssd-iq` measures and writes the tables into the page and their picture beside it: one die of
each drive with a quarter of its blocks, rates times as many dies, times four times as long. No rate
here was fitted but one: WD's at full speed, to the first two minutes of its uniform run. `--only
MODEL` measures one drive anew, the rest are as they are kept (`modelled.py`).
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import marked
import modern
from modelled import Modelled as Kept
from modelled import arguments

import drivelab as dl
from drivelab.charts import Chart, Line, Scale, Text, diagonal, steady_colours
from drivelab.figures.text import deviation, markdown

DOCS = Path(__file__).resolve().parents[2] / "docs"
DOCUMENT = DOCS / "against-ssd-iq.md"
PICTURE = DOCS / "ssd-iq" / "ratios.png"
KEPT = Path(__file__).with_name("kept") / "ssd-iq.json"
SECTION = "<!-- {name}: measured by `make ssd-iq` -->\n"
SCALE = 4
"""Each die has so many times fewer blocks: ratios of rates hardly change by it."""
WINDOW = (0.60, 0.99)
"""What of a run the mean is taken of."""
MINUTE_S = 60 // SCALE
BUFFER_BYTES = 2**21
"""Of such a die. A zipf has fewer pages in it, on which more of the writes fall; so as many of them
are coalesced as in a drive's 16 MiB, by the formula of the page: the 16 MiB would be a gigabyte."""
INFORMED = {
    ("wd-datacenter-960gb", "60 % cold"),
    ("wd-datacenter-960gb", "zipf 1.0"),
    ("solidigm-p5520-1920gb", "zipf 1.0"),
}
"""What the victims of a drive were chosen by, and whether buffers coalesce."""
STREAMS = ("micron-7450-max-800gb", "micron-7450-pro-960gb", "skhynix-pe8110-960gb")
"""By whose ratios it was chosen that copies have blocks of their own, in all drives."""
SAID_OF_STREAMS = dict.fromkeys(STREAMS, ", streams informed")
REMARKS = {"wd-datacenter-960gb": ", full speed fitted"}
"""On what follows a fill: tPROG of a drive was fitted to how fast that begins."""
FULL_SPEED = 0.9
"""What is left of a fill's rate where the spare area is used up."""
TRANSIENT = 40
"""Minutes that are looked at for the trough and what follows it."""
GIB_PER_MIB = 2**-10
TOLERANCE = 0.1


@dataclass(frozen=True)
class Writes:
    """A workload: a column of the tables, and how its offsets are drawn."""

    name: str
    distribution: str
    capacities: float
    """User capacities that are written."""


Run = tuple[str, Writes]
"""A model, and what is written to it."""

UNIFORM = Writes("uniform", "random", 5)
ZIPF = [
    Writes(f"zipf {z}", f"zipf_true:{z}", capacities)
    for z, capacities in ((0.2, 5), (0.4, 5), (0.6, 5), (0.8, 5), (1.0, 6))
]
HOT = [
    Writes(f"{w}/{100 - w}", f"zoned_scattered:{w}/{100 - w}:{100 - w}/{w}", capacities)
    for w, capacities in ((60, 5), (70, 5), (90, 7), (95, 8))
]
COLD = [
    Writes(f"{c} % cold", f"zoned_scattered:0/{c}:100/{100 - c}", capacities)
    for c, capacities in ((20, 7), (40, 7), (60, 7), (80, 7), (90, 5))
]
RATIOS = [*ZIPF, *HOT, *COLD]


@dataclass(frozen=True)
class Measured:
    """What SSD-iq measured of a drive, in MiB/s; None: not published, or kept back."""

    model: str
    zipf: Sequence[float | None]
    hot: Sequence[float | None]
    cold: Sequence[float | None]
    full_gib: float | None
    trough: float | None
    overshoot: float | None

    @property
    def ratios(self) -> Sequence[float | None]:
        """Rates of `RATIOS`."""
        return [*self.zipf, *self.hot, *self.cold]

    @property
    def uniform(self) -> float:
        """The rate of uniform writes."""
        return next(drive.mib_per_s for drive in modern.DRIVES if drive.model == self.model)


UNKNOWN = (None,) * len(HOT)
DRIVES = (
    Measured(
        "micron-7450-max-800gb",
        (618.1, 601.9, 575.5, 558.2, None), (613.1, 585.1, 522.2, 422.0),
        (585.6, 586.0, None, 1063.6, 1346.7),
        337.0, 441.5, 682.8,
    ),
    Measured(
        "micron-7450-pro-960gb",
        (365.6, 356.7, 342.9, None, 394.1), UNKNOWN, (355.9, 332.5, 320.5, 313.6, 1003.7),
        190.0, 221.7, None,
    ),
    Measured(
        "skhynix-pe8110-960gb",
        (327.9, 323.5, None, 307.2, 447.9), (None, None, None, 286.8),
        (319.6, 306.0, 298.2, 313.2, None),
        117.0, None, 388.8,
    ),
    Measured(
        "samsung-pm9a3-960gb",
        (279.0, 279.0, 278.0, 258.6, None), UNKNOWN, (None, 273.5, 183.1, 260.7, 576.8),
        None, 148.2, 363.1,
    ),
    Measured(
        "solidigm-p5520-1920gb",
        (None, 447.3, 431.8, 441.1, 555.5), UNKNOWN, (506.2, 544.8, 634.0, None, 655.8),
        377.0, 323.6, 594.1,
    ),
    Measured(
        "wd-datacenter-960gb",
        (183.7, None, 182.3, 195.6, 335.1), UNKNOWN, (186.1, None, 272.0, 356.7, 432.5),
        122.0, 108.7, 236.4,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Modelled:
    """Random writes of a filled drive."""

    mib_per_s: float
    """Mean of the window."""
    full_gib: float | None
    """Written at the full rate, before cleaning holds writes up; None: it never does by much."""
    trough: float
    """The slowest minute after that, MiB/s."""
    overshoot: float
    """The fastest minute after that one."""


def modelled(model: str, writes: Writes) -> Modelled:
    """A small version of one die, filled in sequence and then written at random."""
    drive, dies = modern.part_of(model, f"1/{SCALE}", {"write_buffer.size_bytes": BUFFER_BYTES})
    size = drive.capacity_bytes // 2**20 * 2**20
    fill = drive.run(dl.Job(rw="write", bs="512k", size=size), keep=True, progress=False)
    job = dl.Job(
        rw="randwrite", bs="4k", iodepth=modern.DEPTH // dies, norandommap=True,
        random_distribution=writes.distribution,
        size=size, io_size=int(writes.capacities * size) // 4096 * 4096,
    )  # fmt: skip
    seconds = fill.drive.run(job, progress=False).series["mib_per_s"].to_list()
    rates = [dies * rate for rate in seconds]
    first, last = (int(share * len(rates)) for share in WINDOW)
    slow = next((i for i, rate in enumerate(rates) if rate < FULL_SPEED * rates[1]), None)
    print(model, writes.name, statistics.mean(rates[first:last]), file=sys.stderr, flush=True)
    starts = range(0, min(len(rates), TRANSIENT * MINUTE_S) - MINUTE_S, MINUTE_S)
    minutes = [statistics.mean(rates[start : start + MINUTE_S]) for start in starts]
    trough = min(minutes)
    return Modelled(
        mib_per_s=statistics.mean(rates[first:last]),
        full_gib=None if slow is None else SCALE * sum(rates[:slow]) * GIB_PER_MIB,
        trough=trough,
        overshoot=max(minutes[minutes.index(trough) :]),
    )


@dataclass(frozen=True)
class Pair:
    """A figure beside what the model gives."""

    name: str
    measured: float
    modelled: float
    informed: bool = False
    """Something of the model was chosen by it: no prediction."""
    remark: str = ""

    @property
    def off(self) -> float:
        return self.modelled / self.measured - 1


def ratios(drive: Measured, found: dict[str, Modelled]) -> list[Pair | None]:
    """Rates of zipfs and of cold data to that of uniform writes; None where nothing is known."""
    known = zip(RATIOS, drive.ratios, strict=True)
    base = found[UNIFORM.name].mib_per_s
    return [
        None
        if rate is None
        else Pair(
            writes.name,
            rate / drive.uniform,
            found[writes.name].mib_per_s / base,
            informed=drive.model in STREAMS or (drive.model, writes.name) in INFORMED,
            remark=", informed" * ((drive.model, writes.name) in INFORMED),
        )
        for writes, rate in known
    ]


def transients(drive: Measured, found: dict[str, Modelled]) -> list[Pair | None]:
    """What was written at full speed (GiB), the trough and the overshoot (MiB/s)."""
    now = found[UNIFORM.name]
    return [
        None if then is None or value is None else Pair(name, then, value)
        for name, then, value in (
            ("written at full speed, GiB", drive.full_gib, now.full_gib),
            ("trough, MiB/s", drive.trough, now.trough),
            ("overshoot, MiB/s", drive.overshoot, now.overshoot),
        )
    ]


def _cell(pair: Pair | None, digits: int) -> str:
    if pair is None:
        return ""
    remark = deviation(pair.modelled, pair.measured) + pair.remark
    return f"{pair.measured:.{digits}f} / {pair.modelled:.{digits}f} ({remark})"


def table(
    names: Sequence[str],
    rows: dict[str, Sequence[Pair | None]],
    digits: int,
    remarks: Mapping[str, str] | None = None,
) -> str:
    """A row for each drive of which something is known: measured / modelled (deviation), and the
    median and worst of all, and of all that nothing was chosen by; remarks stand behind the drives'
    names."""
    lines = [
        [f"`{model}`{(remarks or {}).get(model, '')}", *(_cell(pair, digits) for pair in row)]
        for model, row in rows.items()
        if any(row)
    ]
    known = [pair for row in rows.values() for pair in row if pair]
    predicted = [pair for pair in known if not pair.informed]
    said = [_how_far(known, "predictions" if len(predicted) == len(known) else "figures")]
    if 0 < len(predicted) < len(known):
        said.append(_how_far(predicted, "predictions among them"))
    return f"{markdown(['drive', *names], lines, names)}\n{' '.join(said)}\n"


def _how_far(pairs: Sequence[Pair], what: str) -> str:
    """How far figures are off."""
    known = sorted(pairs, key=lambda pair: abs(pair.off))
    middle = statistics.median(abs(pair.off) for pair in known)
    within = sum(abs(pair.off) <= TOLERANCE for pair in known)
    return (
        f"Of {len(known)} {what} the median is off by {100 * middle:.1f} %, "
        f"the worst by {100 * known[-1].off:+.0f} %; {within} are within {100 * TOLERANCE:.0f} %."
    )


def picture(rows: dict[str, Sequence[Pair | None]]) -> Chart:
    """Every ratio, modelled on measured."""
    parts = []
    colours = steady_colours(list(rows))
    for colour, (model, row) in zip(colours, rows.items(), strict=True):
        known = [pair for pair in row if pair]
        words = [f"{model}, {pair.name}" for pair in known]
        x, y = [pair.measured for pair in known], [pair.modelled for pair in known]
        parts.append(Line(model, colour, x, y, words=words))
    return diagonal(
        Text("Rates of skewed writes and beside cold data, as ratios to uniform writes",
             "both axes logarithmic; the band is ±10 %"),
        parts, Scale("Measured", kind="log"), Scale("Modelled", kind="log"), (0.5, 3.2),
        tolerance_ratio=TOLERANCE, height_px=420,
    )  # fmt: skip


def wanted(drive: Measured) -> list[Writes]:
    """Workloads of a drive for which there is a figure."""
    figures = zip(RATIOS, drive.ratios, strict=True)
    return [UNIFORM, *(writes for writes, rate in figures if rate is not None)]


def collected(
    kept: Kept, running: Mapping[Run, Future[Modelled]]
) -> dict[str, dict[str, Modelled]]:
    """What all drives gave, by model and workload: runs that were begun, and what is kept."""
    return {
        drive.model: {
            writes.name: kept.of(
                drive.model,
                writes.name,
                Modelled,
                lambda run=(drive.model, writes): running[run].result(),
            )
            for writes in wanted(drive)
        }
        for drive in DRIVES
    }


def parts(found: dict[str, dict[str, Modelled]]) -> tuple[dict[str, str], Chart]:
    """The tables of the page and its picture."""
    of_ratios = {drive.model: ratios(drive, found[drive.model]) for drive in DRIVES}
    ends = list(accumulate(map(len, (ZIPF, HOT, COLD)), initial=0))
    tables = {
        name: table(
            [writes.name for writes in RATIOS[start:end]],
            {model: row[start:end] for model, row in of_ratios.items()},
            2,
            SAID_OF_STREAMS,
        )
        for name, (start, end) in zip(("zipf", "hot", "cold"), pairwise(ends), strict=True)
    }
    tables |= {
        "transients": table(
            ["written at full speed, GiB", "trough, MiB/s", "overshoot, MiB/s"],
            {drive.model: transients(drive, found[drive.model]) for drive in DRIVES},
            0,
            REMARKS,
        ),
    }
    return tables, picture(of_ratios)


def main() -> int:
    """Writes the tables into the page, and the picture."""
    models = [drive.model for drive in DRIVES]
    only = arguments("The tables and the picture of docs/against-ssd-iq.md.", models)
    kept = Kept(KEPT, "make ssd-iq", only)
    with ProcessPoolExecutor() as pool:
        running = {
            (drive.model, writes): pool.submit(modelled, drive.model, writes)
            for drive in DRIVES
            for writes in wanted(drive)
            if kept.asks_for(drive.model, writes.name)
        }
        found = collected(kept, running)
    tables, chart = parts(found)
    marked.write(DOCUMENT, SECTION, tables)
    PICTURE.parent.mkdir(exist_ok=True)
    chart.save(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
