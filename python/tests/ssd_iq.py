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
from ssd_iq_measured import (
    COLD,
    DRIVES,
    HOT,
    MAX,
    P5520,
    PE8110,
    PRO,
    RATIOS,
    UNIFORM,
    WD,
    ZIPF,
    Measured,
    Writes,
)

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
"""Of such a die. A zipf has fewer pages in it, on which more of the writes fall: 16 MiB, as the
drives have, would be a gigabyte beside it and drop 43 % of zipf 1.0's writes, where a drive drops
32 %. Of the powers of two this one comes nearest to what writes cost a drive, by the formula of the
page; it drops 28 %."""
INFORMED = {
    (WD, "60 % cold"),
    *((model, "zipf 1.0") for model in (PRO, PE8110, P5520, WD)),
}
"""What the victims of a drive were chosen by, and whether buffers coalesce."""
STREAMS = (MAX, PRO, PE8110)
"""By whose ratios it was chosen that copies have blocks of their own, in all drives."""
SAID_OF_STREAMS = dict.fromkeys(STREAMS, ", streams informed")
REMARKS = {MAX: ", blocks in view", PRO: ", blocks in view", WD: ", full speed fitted"}
"""On what follows a fill: blocks of a part were fitted with the length of full speed in view, which
their spare area is; tPROG of a drive was fitted to how fast it begins."""
FULL_SPEED = 0.9
"""What is left of a fill's rate where the spare area is used up."""
TRANSIENT = 40
"""Minutes that are looked at for the trough and what follows it."""
GIB_PER_MIB = 2**-10
TOLERANCE = 0.1


Changes = Mapping[str, int | str]
"""Parameters of a model that are others."""
Run = tuple[str, Writes, str]
"""A model, what is written to it, and which of `VARIANTS` it is; empty: as the model is."""

VARIANTS: Mapping[str, Changes] = {
    "one stream, greedy": {"ftl.placement": "one-stream"},
    "one stream, fifo": {"ftl.placement": "one-stream", "ftl.victim_selection": "fifo"},
    "one stream, best of 10": {"ftl.placement": "one-stream", "ftl.victim_selection": "d-choices"},
}
"""What else the streams and victims of a drive might be."""
TELLING = {
    MAX: ("zipf 0.8", "90/10", "95/5", "80 % cold"),
    PRO: ("40 % cold", "60 % cold", "80 % cold", "90 % cold"),
}
"""Ratios that tell them apart."""


@dataclass(frozen=True)
class Transient:
    """What follows a fill where it is written over uniformly."""

    full_gib: float
    """Written at the full rate, before cleaning holds writes up."""
    trough: float
    """The slowest minute after that, MiB/s."""
    overshoot: float
    """The fastest minute after that one, MiB/s."""


@dataclass(frozen=True)
class Modelled:
    """Random writes of a filled drive."""

    mib_per_s: float
    """Mean of the window."""
    transient: Transient | None
    """None: writes aren't uniform, or their rate never falls."""


def modelled(model: str, writes: Writes, variant: str = "") -> Modelled:
    """A small version of one die, filled in sequence and then written at random."""
    changes = {"write_buffer.size_bytes": BUFFER_BYTES, **VARIANTS.get(variant, {})}
    drive, dies = modern.part_of(model, f"1/{SCALE}", changes)
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
    mean = statistics.mean(rates[first:last])
    print(model, writes.name, variant, mean, file=sys.stderr, flush=True)
    is_uniform = writes.distribution == UNIFORM.distribution
    return Modelled(mean, _transient(rates) if is_uniform else None)


def _transient(rates: Sequence[float]) -> Transient | None:
    """What follows a fill, by the rate of each second in MiB/s."""
    slow = next((i for i, rate in enumerate(rates) if rate < FULL_SPEED * rates[1]), None)
    if slow is None:
        return None
    starts = range(0, min(len(rates), TRANSIENT * MINUTE_S) - MINUTE_S, MINUTE_S)
    minutes = [statistics.mean(rates[start : start + MINUTE_S]) for start in starts]
    after = minutes[slow // MINUTE_S :]
    trough = min(after)
    return Transient(
        full_gib=SCALE * sum(rates[:slow]) * GIB_PER_MIB,
        trough=trough,
        overshoot=max(after[after.index(trough) :]),
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
    """What its cell says behind the deviation."""

    @property
    def off(self) -> float:
        return self.modelled / self.measured - 1


def ratios(drive: Measured, found: dict[str, Modelled]) -> list[Pair | None]:
    """Rates of zipfs and of cold data to that of uniform writes; None where nothing is known."""
    base = found[UNIFORM.name].mib_per_s
    pairs: list[Pair | None] = []
    for writes, rate in zip(RATIOS, drive.ratios, strict=True):
        if rate is None:
            pairs.append(None)
            continue
        chosen_by = (drive.model, writes.name) in INFORMED
        pairs.append(
            Pair(
                writes.name,
                rate / drive.uniform,
                found[writes.name].mib_per_s / base,
                # Cold data of all drives was in view when their streams were chosen first.
                informed=chosen_by or drive.model in STREAMS or writes in COLD,
                remark=", informed" if chosen_by else "",
            )
        )
    return pairs


def transients(drive: Measured, found: dict[str, Modelled]) -> list[Pair | None]:
    """What was written at full speed (GiB), the trough and the overshoot (MiB/s)."""
    now = found[UNIFORM.name].transient
    if now is None:
        raise SystemExit(f"{drive.model}: random writes after a fill never become slower")
    return [
        None if then is None else Pair(name, then, value, informed=informed)
        for name, then, value, informed in (
            ("written at full speed, GiB", drive.full_gib, now.full_gib, drive.model in (MAX, PRO)),
            ("trough, MiB/s", drive.trough, now.trough, False),
            ("overshoot, MiB/s", drive.overshoot, now.overshoot, False),
        )
    ]


def streams(found: dict[str, dict[str, Modelled]]) -> str:
    """Ratios to uniform writes with other streams and victims, beside those of the models and of
    the drives."""
    rows = []
    for drive in (each for each in DRIVES if each.model in TELLING):
        measured = zip(RATIOS, drive.ratios, strict=True)
        known = {writes.name: rate for writes, rate in measured if rate is not None}
        of_model = found[drive.model]
        for name in TELLING[drive.model]:
            given = [
                of_model[_kept_as(name, variant)].mib_per_s
                / of_model[_kept_as(UNIFORM.name, variant)].mib_per_s
                for variant in (*VARIANTS, "")
            ]
            cells = [known[name] / drive.uniform, *given]
            rows.append([f"`{drive.model}`, {name}", *(f"{cell:.2f}" for cell in cells)])
    heads = ["measured", *VARIANTS, "as the model is"]
    return markdown(["drive and writes", *heads], rows, heads)


def _kept_as(writes: str, variant: str) -> str:
    """The name of a run among those of its model."""
    return f"{writes}, {variant}" if variant else writes


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


def wanted(drive: Measured) -> list[Run]:
    """Runs of a drive: whatever there is a figure of, and with what else its streams might be."""
    figures = zip(RATIOS, drive.ratios, strict=True)
    written = [UNIFORM, *(writes for writes, rate in figures if rate is not None)]
    telling = (UNIFORM.name, *TELLING.get(drive.model, ()))
    varied = [
        (drive.model, writes, variant)
        for variant in (VARIANTS if drive.model in TELLING else ())
        for writes in written
        if writes.name in telling
    ]
    return [*((drive.model, writes, "") for writes in written), *varied]


def collected(
    kept: Kept, running: Mapping[Run, Future[Modelled]]
) -> dict[str, dict[str, Modelled]]:
    """What all drives gave, by model and run: runs that were begun, and what is kept."""

    def one(run: Run) -> tuple[str, Modelled]:
        model, writes, variant = run
        name = _kept_as(writes.name, variant)
        return name, kept.of(model, name, Modelled, lambda: running[run].result())

    return {drive.model: dict(map(one, wanted(drive))) for drive in DRIVES}


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
        "streams": streams(found),
    }
    return tables, picture(of_ratios)


def main() -> int:
    """Writes the tables into the page, and the picture."""
    models = [drive.model for drive in DRIVES]
    only = arguments("The tables and the picture of docs/against-ssd-iq.md.", models)
    kept = Kept(KEPT, "make ssd-iq", only)
    with ProcessPoolExecutor() as pool:
        running = {
            run: pool.submit(modelled, *run)
            for drive in DRIVES
            for run in wanted(drive)
            if kept.asks_for(drive.model, _kept_as(run[1].name, run[2]))
        }
        found = collected(kept, running)
    tables, chart = parts(found)
    marked.write(DOCUMENT, SECTION, tables)
    PICTURE.parent.mkdir(exist_ok=True)
    chart.save(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
