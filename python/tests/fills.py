"""docs/consumer-drives.md: what its models give beside fills of the drives that were published.

`make fills` writes small versions of the drives once, in order, as the reviews did: 1 MiB at queue
depth 1. It finds the phases of each fill, and writes table and picture into the page.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median_high

import marked

from drivelab import model as models
from drivelab.charts import Chart, Line, Scale, Text, lines, steady_colours
from drivelab.figures.text import markdown
from drivelab.procedures import PROCEDURES
from drivelab.procedures.fill import CHANGE
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "consumer-drives.md"
PICTURE = DOCUMENT.with_name("fill-curves.svg")
SCALE = 4
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
            known = median_high(rates[begin:at])
            ahead = rates[at : at + STEADY]
            if at - begin >= STEADY and all(abs(rate / known - 1) > CHANGE for rate in ahead):
                found.append(Phase(self.written_gb[at - 1], known))
                begin = at
        found.append(Phase(self.written_gb[-1], median_high(rates[begin:])))
        return found


@cache
def fill(model: str, scale: int = SCALE) -> Fill:
    """A new drive of a model, written once in order by the test `fill`."""
    full_bytes = models.load(model).user_capacity_bytes
    target = EngineTarget(models.load(model, (("scale_divisor", str(scale)),)), 1)
    measured = PROCEDURES["fill"].measure(target, 1, False, TaskProgress(model))
    [table] = measured.found()["tables"]
    times = full_bytes / target.capacity_bytes
    written = tuple(times * row["written_gb"] for row in table["rows"])
    found = Fill(written, tuple(row["mb_per_s"] for row in table["rows"]))
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
    numeric = ("published", "model", "")
    rows = []
    for figure in PUBLISHED:
        found = fill(figure.model)
        value = MEASURES[figure.what](found, found.phases())
        if figure.value is None:
            numbers = ["", f"{value:.0f}", ""]
        else:
            off = f"{100 * (value / figure.value - 1):+z.0f} %"
            numbers = [f"{figure.value:.0f}", f"{value:.0f}", off]
        rows.append([f"`{figure.model}`", figure.what, *numbers, figure.role])
    return markdown(["drive", "figure", *numeric, "value is"], rows, numeric)


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


SECTION = "<!-- {name}: measured by `make fills` -->\n"


def main() -> int:
    """Writes table and picture."""
    marked.write(DOCUMENT, SECTION, {"fills": fills_table()})
    picture().save(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
