"""docs/consumer-drives.md: what its models give beside fills of the drives that were published.

`make fills` writes small versions of the drives once, in order, as the reviews did: 1 MiB at queue
depth 1. It finds the phases of each fill, and writes table and picture into the page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import drivelab as dl
from drivelab.charts import Chart, Line, Scale, Text, lines, steady_colours

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "consumer-drives.md"
PICTURE = DOCUMENT.with_name("fill-curves.svg")
SCALE = 4
PIECES = 200
"""Points of a fill."""
MIB = 2**20
CHANGE = 0.2
"""How much a rate differs from the one before, at least, where a phase ends."""
STEADY = 3
"""Pieces that a phase lasts, at least."""


@dataclass(frozen=True)
class Phase:
    """A stretch of a fill with about one rate; GB are those of the drive of full size."""

    end_gb: float
    mb_per_s: float


@dataclass(frozen=True)
class Fill:
    """A fill of a drive."""

    written_gb: tuple[float, ...]
    mb_per_s: tuple[float, ...]
    """Rate of each piece, which ends there."""

    @property
    def mean_mb_per_s(self) -> float:
        """Of the whole fill."""
        starts = (0.0, *self.written_gb)
        pieces = zip(starts, self.written_gb, self.mb_per_s, strict=False)
        return self.written_gb[-1] / sum((end - start) / rate for start, end, rate in pieces)

    def mean_after(self, gb: float) -> float:
        """Of what is written from there on."""
        starts = (0.0, *self.written_gb)
        pieces = zip(starts, self.written_gb, self.mb_per_s, strict=False)
        later = [(end - start, rate) for start, end, rate in pieces if start >= gb]
        return sum(size for size, _ in later) / sum(size / rate for size, rate in later)

    def phases(self) -> list[Phase]:
        """Where the rate changes, and its median between."""
        found: list[Phase] = []
        begin = 0
        rates = self.mb_per_s
        for at in range(STEADY, len(rates) - STEADY + 1):
            known = median(rates[begin:at])
            ahead = rates[at : at + STEADY]
            if at - begin >= STEADY and all(abs(rate / known - 1) > CHANGE for rate in ahead):
                found.append(Phase(self.written_gb[at - 1], known))
                begin = at
        found.append(Phase(self.written_gb[-1], median(rates[begin:])))
        return found


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return sorted(values)[len(values) // 2]


@cache
def fill(model: str, scale: int = SCALE) -> Fill:
    """A new drive of a model, written once in order."""
    full_bytes = dl.Drive(model).capacity_bytes
    drive = dl.Drive(model, scale=f"1/{scale}")
    capacity = drive.capacity_bytes
    size = capacity // PIECES // MIB * MIB
    written, rates = [], []
    for piece in range(capacity // size):
        job = dl.Job(rw="write", bs="1m", iodepth=1, offset=piece * size, size=size)
        result = drive.run(job, keep=True, progress=False)
        drive = result.drive
        written.append((piece + 1) * size / capacity * full_bytes / 1e9)
        rates.append(result.summary["mib_per_s"].item() * MIB / 1e6)
    found = Fill(tuple(written), tuple(rates))
    print(model, found.mean_mb_per_s, found.phases(), file=sys.stderr, flush=True)
    return found


@dataclass(frozen=True)
class Published:
    """A figure of a fill. `role`: whether the model's value was fitted, specified, or neither."""

    model: str
    what: str
    value: float | None
    """None: nobody here has seen it."""
    role: str
    relation: str = ""


ATOM, P1, QVO = "adata-atom-50-1tb", "crucial-p1-1tb", "samsung-870-qvo-1tb"
T500, S980PRO = "crucial-t500-2tb", "samsung-980-pro-1tb"
UNSEEN = ("hp-fx700-2tb", "wd-blue-sn580-1tb")
BLIND = ("SLC phase, MB/s", "SLC phase ends, GB", "behind the cache, MB/s", "mean, MB/s")
"""Of drives whose fills have not been seen."""

PUBLISHED = (
    Published(ATOM, "SLC phase, MB/s", 4500, "fitted"),
    Published(ATOM, "SLC phase ends, GB", 280, "fitted"),
    Published(ATOM, "second phase, MB/s", 2000, "fitted"),
    Published(ATOM, "second phase ends, GB", 500, "fitted"),
    Published(ATOM, "last phase, MB/s", 500, "fitted"),
    Published(ATOM, "mean, MB/s", 800, "follows from fitted phases"),
    Published(P1, "SLC phase, MB/s", 1600, "fitted"),
    Published(P1, "SLC phase ends, GB", 140, "specified"),
    Published(P1, "second phase, MB/s", 150, "fitted"),
    Published(QVO, "SLC phase, MB/s", 530, "specified"),
    Published(QVO, "SLC phase ends, GB", 42, "specified"),
    Published(QVO, "second phase, MB/s", 112, "predicted"),
    Published(QVO, "mean, MB/s", 116, "predicted"),
    Published(T500, "SLC phase, MB/s", 4000, "fitted"),
    Published(T500, "SLC phase ends, GB", 700, "predicted"),
    Published(T500, "behind the cache, MB/s", 500, "fitted"),
    Published(T500, "mean, MB/s", 639, "follows from fitted phases"),
    Published(S980PRO, "SLC phase, MB/s", 4000, "specified"),
    Published(S980PRO, "SLC phase ends, GB", 113, "specified"),
    Published(S980PRO, "second phase, MB/s", 1500, "fitted"),
    Published(S980PRO, "mean, MB/s", 1900, "predicted"),
    *(Published(model, what, None, "predicted, not seen") for model in UNSEEN for what in BLIND),
)
MODELS = tuple(dict.fromkeys(figure.model for figure in PUBLISHED))
MEASURES = {
    "SLC phase, MB/s": lambda found, phases: phases[0].mb_per_s,
    "SLC phase ends, GB": lambda found, phases: phases[0].end_gb,
    "second phase, MB/s": lambda found, phases: phases[1].mb_per_s,
    "second phase ends, GB": lambda found, phases: phases[1].end_gb,
    "last phase, MB/s": lambda found, phases: found.mean_after(phases[1].end_gb),
    "behind the cache, MB/s": lambda found, phases: found.mean_after(phases[0].end_gb),
    "mean, MB/s": lambda found, phases: found.mean_mb_per_s,
}


def fills_table() -> str:
    """Every published figure of a fill beside the model's."""
    rows = [["drive", "figure", "published", "model", "", "value is"]]
    rows.append(["---", "---", "---:", "---:", "---:", "---"])
    for figure in PUBLISHED:
        found = fill(figure.model)
        value = MEASURES[figure.what](found, found.phases())
        if figure.value is None:
            numbers = ["", f"{value:.0f}", ""]
        else:
            off = f"{100 * (value / figure.value - 1):+.0f} %"
            numbers = [f"{figure.value:.0f}", f"{value:.0f}", off]
        rows.append([f"`{figure.model}`", figure.what, *numbers, figure.role])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def picture() -> Chart:
    """All fills in one picture: rate, logarithmic, against the share of the drive written."""
    parts = []
    for model, colour in zip(MODELS, steady_colours(list(MODELS)), strict=True):
        found = fill(model)
        shares = [100 * gb / found.written_gb[-1] for gb in found.written_gb]
        parts.append(Line(model, colour, shares, list(found.mb_per_s)))
    return lines(
        Text("Fills of new drives with an SLC cache, as modelled",
             "written once in order, 1 MiB at queue depth 1"),
        parts, Scale("Written", "% of the drive"), Scale("Rate", "MB/s", kind="log"),
        height_px=380,
    )  # fmt: skip


SECTION = "<!-- fills: measured by `make fills` -->\n"


def main() -> int:
    """Writes table and picture."""
    text = DOCUMENT.read_text("utf-8")
    section = re.compile(re.escape(SECTION) + r".*?(?=\n\n|\Z)", re.S)
    if not section.search(text):
        print(f"{DOCUMENT.name} has no section of fills", file=sys.stderr)
        return 1
    written = SECTION + fills_table()
    DOCUMENT.write_text(section.sub(lambda _: written, text).rstrip() + "\n", "utf-8")
    picture().save(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
