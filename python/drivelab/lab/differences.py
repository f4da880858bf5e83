"""Results side by side, as a table of what differs and by how much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from drivelab._engine import engine_version
from drivelab.comparison import Comparison, Source
from drivelab.comparison import compare as compared
from drivelab.comparison.pairing import Metric, Pair
from drivelab.comparison.runs import as_review
from drivelab.errors import RequestError
from drivelab.fio.flushes import FLUSHES
from drivelab.lab import checks
from drivelab.lab.history import state_label
from drivelab.lab.reading import Stored, read
from drivelab.lab.result import Result
from drivelab.latencies import tells
from drivelab.names import told_apart
from drivelab.results import COMPOUND, model_result


class Differences:
    """What a comparison found. The first drive is what the others are measured by. Printed, it is
    what `drivelab compare` prints.

    >>> import drivelab as dl
    >>> job = dl.Job(rw="randread", bs="4k", io_size="4m")
    >>> drives = [
    ...     dl.Drive("intel-x25-m-g1-80gb", {"flash.read_ns": read_ns}, scale="1/128")
    ...     for read_ns in (50_000, 100_000)
    ... ]
    >>> found = dl.compare(*(drive.prepare("filled").run(job) for drive in drives))
    >>> found.drives["drive"].to_list()
    ['A', 'B']
    >>> found.frame().filter(metric="iops").select("drive", "differs", "is_better").row(0)
    ('B', True, False)
    """

    def __init__(self, found: Comparison) -> None:
        self._found = found

    @property
    def drives(self) -> pl.DataFrame:
        """The drives that are compared, by their letters."""
        rows = [
            (side.letter, side.label, side.model.name, side.source) for side in self._found.sides
        ]
        return pl.DataFrame(rows, schema=["drive", "label", "model", "source"], orient="row")

    @property
    def findings(self) -> list[str]:
        """What is worth a sentence."""
        return [f"{item.sentence} ({item.figure})" for item in self._found.findings]

    @property
    def notes(self) -> list[str]:
        """What must be known to read the numbers, and what wasn't compared."""
        left_out = [f"{item.title}, {item.state}: {item.reason}" for item in self._found.left_out]
        return [*(problem.sentence for problem in self._found.problems), *left_out]

    def frame(self) -> pl.DataFrame:
        """A row for each test, state, number and drive but the first; tests whose main numbers
        differ most come first.

        `first` and `value` are the numbers of the first drive and of this one, in `unit`, with
        `first_plus_minus` and `plus_minus`: half of the 95 % interval, of repeats. `percent` is the
        difference, and `percent_low` to `percent_high` its bounds where both intervals are at their
        ends. `better` says whether more ("higher") or less is; `is_better` whether this drive is,
        null where nothing is better or they don't `differ`: by less than 2 %, or than repeats do.
        """
        rows = [
            self._row(pair, metric, index)
            for pair in self._found.pairs
            for metric in pair.metrics
            for index in range(1, len(self._found.sides))
            if metric.values[0] is not None and metric.values[index] is not None
        ]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def _row(self, pair: Pair, metric: Metric, index: int) -> dict[str, Any]:
        ratio = metric.ratio(index)
        spread = metric.plus_minus or (None,) * len(metric.values)
        low, high = _bounds(metric, index)
        return {
            "test": pair.id,
            "state": pair.state,
            "metric": metric.name,
            "unit": metric.unit,
            "drive": self._found.sides[index].letter,
            "first": metric.values[0],
            "value": metric.values[index],
            "percent": _percent(ratio),
            "percent_low": _percent(low),
            "percent_high": _percent(high),
            "first_plus_minus": spread[0],
            "plus_minus": spread[index],
            "differs": metric.told_apart(index),
            "better": metric.better,
            "is_better": metric.is_better(index),
        }

    def __str__(self) -> str:
        """What `drivelab compare` prints, and the notes."""
        # Loaded only where something is printed.
        from drivelab.text import comparison, terminal
        from drivelab.text.layout import Line

        notes = (Line(f"note: {note}") for note in self.notes)
        return terminal.as_text([*comparison.parts(self._found, "frame()"), *notes])

    def __repr__(self) -> str:
        drives = "; ".join(f"{side.letter}: {side.label}" for side in self._found.sides)
        shown = self.frame().select("test", "state", "metric", "drive", "first", "value", "percent")
        findings = "".join(f"\n{sentence}" for sentence in self.findings)
        notes = "".join(f"\nnote: {note}" for note in self.notes)
        with pl.Config(tbl_rows=20, tbl_width_chars=140, tbl_hide_column_data_types=True):
            return f"<Differences of {drives}>\n{shown}{findings}{notes}"

    def _repr_html_(self) -> str:
        return str(self.frame()._repr_html_())


_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("test", "state", "metric", "unit", "drive"), pl.String),
    **dict.fromkeys(("first", "value", "percent", "percent_low", "percent_high"), pl.Float64),
    **dict.fromkeys(("first_plus_minus", "plus_minus"), pl.Float64),
    "differs": pl.Boolean,
    "better": pl.String,
    "is_better": pl.Boolean,
}


@checks.keywords
def compare(*results: Stored | Result | str | Path, force: bool = False) -> Differences:
    """Puts two or more results side by side: what `read` takes or gives, or results of runs.

    >>> compare("one/results.json", "other.duckdb:3").frame()        # doctest: +SKIP

    Of results of several drives each is one of the sides. What can't be compared fairly is left out
    and named in `notes`, unless `force` is set. Raises RequestError for fewer than two drives, or
    more than six, and if nothing of them may be compared.
    """
    names = [_name(item, number) for number, item in enumerate(results, start=1)]
    sources = [_source(item, name) for item, name in zip(results, names, strict=True)]
    call = f"drivelab.compare({', '.join(names)})"
    return Differences(compared(sources, call, force=force, forcing="force=True"))


def _name(item: object, number: int) -> str:
    if isinstance(item, Stored):
        return item.source
    return str(item) if isinstance(item, str | Path) else f"result {number}"


def _source(item: Stored | Result | str | Path, name: str) -> Source:
    if isinstance(item, Result):
        return Source(name, _as_review(item))
    if isinstance(item, str | Path):
        item = read(item)
    if not isinstance(item, Stored):
        raise RequestError(
            f"compare(): {item!r} is no result; allowed are paths, what read() gives, and results "
            "of runs"
        )
    return Source(name, as_review(item.run))


def _as_review(result: Result) -> dict[str, Any]:
    """A run of a script as the document of a review: each job and direction is a test."""
    drive = result.before
    state = state_label(drive.history)
    # By the names of the summary, in which jobs of one name are told apart.
    names = told_apart([job.name for job in result.jobs])
    options = {name: str(job.record()) for name, job in zip(names, result.jobs, strict=True)}
    tests = [
        {
            "id": f"run {row['job']} {row['direction']}",
            "title": f"{row['job']}, {row['direction']}",
            "group": "run",
            "model": drive.name,
            "state": state,
            "kind": COMPOUND,
            "values": [
                {
                    "name": name,
                    "title": title,
                    "unit": unit,
                    "better": better,
                    "value": row[name] if name != P99 or tells(row["ios"], 99) else None,
                }
                for name, title, unit, better in _VALUES
                if row["direction"] != FLUSHES or name not in OF_BYTES
            ],
            "tables": [],
            "charts": [],
            "data": None,
            "options": options[row["job"]],
        }
        for row in result.summary.iter_rows(named=True)
    ]
    own = {"engine_version": engine_version(), "seed": drive.seed, "quick": False}
    return {
        "drivelab": own | {"command_line": "drivelab.compare"},
        "models": [model_result(drive.model)],
        "tests": tests,
        "states": [{"model": drive.name, "state": state}],
        "figures": [],
    }


P99 = "latency_p99_us"
_VALUES = (
    ("mib_per_s", "throughput", "MiB/s", "higher"),
    ("iops", "requests per second", "IOPS", "higher"),
    ("latency_mean_us", "mean latency", "us", "lower"),
    (P99, "99 % of latencies under", "us", "lower"),
    ("latency_max_us", "longest latency", "us", "lower"),
    ("write_amplification", "write amplification", "", "lower"),
)
"""Of a summary's columns, those that are compared."""
OF_BYTES = ("mib_per_s", "write_amplification")
"""Those of what moves bytes, as flushes don't."""


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * (ratio - 1)


def _bounds(metric: Metric, index: int) -> tuple[float | None, float | None]:
    """The smallest and the largest ratio that the intervals of both drives allow."""
    if not metric.plus_minus or metric.ratio(index) is None:
        return None, None
    base, value = metric.values[0], metric.values[index]
    off, apart = metric.plus_minus[0] or 0.0, metric.plus_minus[index] or 0.0
    assert base is not None
    assert value is not None
    if base <= off:
        return None, None
    return (value - apart) / (base + off), (value + apart) / (base - off)
