"""docs/consumer-drives.md: what its models give beside fills of the drives that were published.

`make fills` writes small versions of the drives once, in order, as the reviews did: 1 MiB at queue
depth 1. It finds the phases of each fill, and writes tables and pictures into the page; and a table
of random requests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median, median_high

import consumer_random
import consumer_spans
import marked
from published_fills import OTHERS, PICTURES, PUBLISHED, ROLES, Published, Version

from drivelab import model as models
from drivelab.charts import Chart, Line, Scale, Text, lines, steady_colours
from drivelab.figures.text import deviation, markdown
from drivelab.procedures import PROCEDURES
from drivelab.procedures.fill import CHANGE, PIECES, cache_pieces
from drivelab.procedures.fill import Fill as FillProcedure
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "consumer-drives.md"
PICTURE_FILES = tuple(DOCUMENT.with_name(f"{name}.svg") for name in PICTURES)
FINE = 5
"""Pieces that are looked at together behind the cache, where rates go up and down."""
STEADY = 3
"""Of these, a phase lasts at least so many."""


@dataclass(frozen=True)
class Phase:
    """A stretch of a fill with about one rate; GB are those of the drive of full size."""

    end_gb: float
    mb_per_s: float


@dataclass(frozen=True)
class Fill:
    """A fill of a drive, in pieces."""

    written_gb: tuple[float, ...]
    mb_per_s: tuple[float, ...]
    """Rate of each piece, which ends there."""

    @property
    def cached(self) -> int:
        """Pieces that the SLC cache takes at first; all, if there is none or it has no end."""
        return cache_pieces(self.mb_per_s) or len(self.mb_per_s)

    def mean(self, pieces: slice = slice(None)) -> float:
        """Bytes over time of some pieces."""
        starts = (0.0, *self.written_gb)
        sizes = [end - start for start, end in zip(starts, self.written_gb, strict=False)]
        seconds = [size / rate for size, rate in zip(sizes, self.mb_per_s, strict=True)]
        return sum(sizes[pieces]) / sum(seconds[pieces])

    def mean_after(self, gb: float) -> float:
        """Of what is written from there on."""
        return self.mean(slice(sum(end <= gb for end in self.written_gb), None))

    def coarse(self) -> Fill:
        """The same in fewer pieces."""
        ends = range(FINE, len(self.mb_per_s) + 1, FINE)
        rates = tuple(self.mean(slice(end - FINE, end)) for end in ends)
        return Fill(tuple(self.written_gb[end - 1] for end in ends), rates)

    def phases(self) -> list[Phase]:
        """Behind the cache: where the rate changes, and its median between."""
        behind = Fill(self.written_gb[self.cached :], self.mb_per_s[self.cached :]).coarse()
        found: list[Phase] = []
        begin = 0
        rates = behind.mb_per_s
        for at in range(STEADY, len(rates) - STEADY + 1):
            known = median_high(rates[begin:at])
            ahead = rates[at : at + STEADY]
            if at - begin >= STEADY and all(abs(rate / known - 1) > CHANGE for rate in ahead):
                found.append(Phase(behind.written_gb[at - 1], known))
                begin = at
        found.append(Phase(behind.written_gb[-1], median_high(rates[begin:])))
        return found

    def again(self) -> float:
        """What is written at the cache's rate behind its first end, GB."""
        least = (1 - CHANGE) * median(self.mb_per_s[: self.cached])
        step = self.written_gb[1] - self.written_gb[0]
        return step * sum(rate >= least for rate in self.mb_per_s[self.cached :])


def fill(version: Version) -> Fill:
    """A new drive of a model, written once in order by the test `fill`."""
    return _fill(version.filled)


@cache
def _fill(version: Version) -> Fill:
    full_bytes = models.load(version.model, version.changes).user_capacity_bytes
    scale = ("scale_divisor", str(version.scale))
    target = EngineTarget(models.load(version.model, (*version.changes, scale)), 1)
    procedure = PROCEDURES["fill"]
    assert isinstance(procedure, FillProcedure)
    procedure = replace(procedure, pieces=FINE * PIECES, host_ns=version.host_ns)
    measured = procedure.measure(target, 1, False, TaskProgress(version.model))
    [table] = measured.found()["tables"]
    times = full_bytes / target.capacity_bytes
    written = tuple(times * row["written_gb"] for row in table["rows"])
    found = Fill(written, tuple(row["mb_per_s"] for row in table["rows"]))
    first = Phase(written[found.cached - 1], median(found.mb_per_s[: found.cached]))
    later = found.phases() if found.cached < len(written) else []
    print(
        version.model, version.changes, found.mean(), [first, *later], file=sys.stderr, flush=True
    )
    return found


MEASURES: dict[str, Callable[[Fill], float]] = {
    "SLC phase, MB/s": lambda found: median(found.mb_per_s[: found.cached]),
    "SLC phase ends, GB": lambda found: found.written_gb[found.cached - 1],
    "second phase, MB/s": lambda found: found.phases()[0].mb_per_s,
    "second phase ends, GB": lambda found: found.phases()[0].end_gb,
    "third phase, MB/s": lambda found: found.phases()[1].mb_per_s,
    "last phase, MB/s": lambda found: found.mean_after(found.phases()[0].end_gb),
    "behind the cache, MB/s": lambda found: found.mean(slice(found.cached, None)),
    "mean, MB/s": lambda found: found.mean(),
    "in the cache again, GB": lambda found: found.again(),
}


def table(published: Sequence[Published]) -> str:
    """Every published figure of a fill beside the model's."""
    numeric = ("published", "model", "")
    rows = []
    for figure in published:
        value = MEASURES[figure.what](fill(figure.version))
        if figure.value is None:
            numbers = ["", f"{value:.0f}", ""]
        else:
            off = deviation(value, figure.value)
            numbers = [f"{figure.value:.0f}", f"{value:.0f}", off]
        name = figure.version.what or f"`{figure.version.model}`"
        rows.append([name, figure.what, *numbers, figure.role, references(figure)])
    return markdown(["drive", "figure", *numeric, "value is", "source"], rows, numeric)


def references(figure: Published) -> str:
    """What a figure is printed in; of another size of a drive its cache's source, too."""
    cache_source = figure.version.source
    return f"{figure.reference}; cache {cache_source}" if cache_source else figure.reference


def off_by(figure: Published) -> float | None:
    """By how many percent the model is off; None: nothing is published."""
    if figure.value is None:
        return None
    return abs(100 * (MEASURES[figure.what](fill(figure.version)) / figure.value - 1))


def summary() -> str:
    """How far the models are off, by what their values are."""
    rows = []
    for what, unit in (("ends of phases", "GB"), ("rates and means", "MB/s")):
        for role in ROLES:
            found = [
                off
                for figure in (*PUBLISHED, *OTHERS)
                if figure.what.endswith(unit) and figure.role.startswith(role)
                for off in [off_by(figure)]
                if off is not None
            ]
            if found:
                within = sum(off <= LIMITS[unit] for off in found)
                numbers = (f"{median(found):.0f} %", f"{max(found):.0f} %")
                rows.append([what, role, f"{len(found)}", f"{within}", *numbers])
    numeric = ("figures", "within", "median", "worst")
    return markdown(["of", "value is", *numeric], rows, numeric)


def picture(what: str, versions: Sequence[Version]) -> Chart:
    """Fills in one picture: rate, logarithmic, against the share of the drive written."""
    names = [version.model for version in versions]
    parts = []
    for version, colour in zip(versions, steady_colours(names), strict=True):
        found = fill(version).coarse()
        shares = [100 * gb / found.written_gb[-1] for gb in found.written_gb]
        parts.append(Line(version.model, colour, shares, list(found.mb_per_s)))
    return lines(
        Text(f"Fills of new drives {what}, as modelled",
             "written once in order, 1 MiB at queue depth 1"),
        parts, Scale("Written", "% of the drive"), Scale("Rate", "MB/s", kind="log"),
        height_px=380,
    )  # fmt: skip


LIMITS = {"GB": 5, "MB/s": 10}
"""Percent that figures of reviews are worth."""
SECTION = "<!-- {name}: measured by `make fills` -->\n"


def main() -> int:
    """Writes tables and pictures."""
    tables = {"fills": table(PUBLISHED), "other-fills": table(OTHERS), "off": summary()}
    tables |= {"random": consumer_random.table(), "random-off": consumer_random.summary()}
    marked.write(DOCUMENT, SECTION, tables | {"spans": consumer_spans.table()})
    for path, (what, versions) in zip(PICTURE_FILES, PICTURES.values(), strict=True):
        picture(what, versions).save(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
