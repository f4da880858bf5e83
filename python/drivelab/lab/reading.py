"""Results that were written earlier, as tables: of a review, a run, a replay, or a study."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from drivelab import stored
from drivelab.database import REPLAY, REVIEW, Recorded, Row
from drivelab.database.layout import Table
from drivelab.database.tables import TABLES
from drivelab.errors import RequestError, nearest
from drivelab.lab import store as stores
from drivelab.lab.columns import SUMMARY
from drivelab.lab.history import only_state
from drivelab.lab.result import Result
from drivelab.lab.study import SHOWN

if TYPE_CHECKING:
    from drivelab.charts import Chart
    from drivelab.text.layout import Part

STUDY = "study"
SHOWN_TABLES = 30
Item = TypeVar("Item")


class Named(dict[str, Item]):
    """Things by their names, of which a wrong one is told as all wrong requests are."""

    def __init__(self, what: str, items: Mapping[str, Item]) -> None:
        super().__init__(items)
        self._what = what

    def __missing__(self, name: str) -> Item:
        raise RequestError(
            f'{self._what} "{name}" isn\'t there{nearest(str(name), self)} '
            f"There are: {', '.join(self) or 'none'}."
        )


class Stored:
    """What a file holds, as polars frames with the unit in the column's name.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    >>> job = dl.Job(rw="randread", bs="4k", io_size="1m")
    >>> study = dl.sweep(drive, {"job.iodepth": [1, 32]}, job=job, store="study", workers=1)
    >>> stored = dl.read("study")
    >>> stored.kind, stored.points.select("job.iodepth", "ios").rows()
    ('study', [(1, 256), (32, 256)])

    `tables` has all of them by the names of docs/results.md; `models`, `tests`, `measurements`,
    `series`, `percentiles`, `values` and `figures` are those that are asked for most. Of a study
    there is one, `points`. What isn't known is null. Printed, it is what the command printed that
    measured it: `print(dl.read("review/"))`.
    """

    def __init__(
        self, source: str, kind: str, tables: Mapping[str, pl.DataFrame], run: Recorded | None
    ) -> None:
        self.source = source
        """Where it was read from."""
        self.kind = kind
        """"review", "run", "replay" or "study"."""
        self.tables = Named(f'"{source}": table', tables)
        self._run = run

    @property
    def run(self) -> Recorded:
        """What was recorded, as it was written; raises RequestError for a study."""
        if self._run is None:
            raise RequestError(f'"{self.source}": a study is points, and no run; see points')
        return self._run

    @property
    def plots(self) -> dict[str, Chart]:
        """Everything that a review's page draws, by id; raises RequestError for all else."""
        if self.kind != REVIEW:
            raise RequestError(f'"{self.source}": a {self.kind} has no page of its own; see tables')
        # Loaded only where something is drawn.
        from drivelab import report

        return Named(f'"{self.source}": plot', report.every_plot(dict(self.run.document)))

    @property
    def models(self) -> pl.DataFrame:
        """The drives."""
        return self._table("models")

    @property
    def tests(self) -> pl.DataFrame:
        """A row for each test in each state, and for a run or a replay one."""
        return self._table("tests")

    @property
    def measurements(self) -> pl.DataFrame:
        """A row for each job and direction; of a review, for each test of one stream."""
        return self._table("measurements")

    @property
    def series(self) -> pl.DataFrame:
        """Over time."""
        return self._table("series")

    @property
    def percentiles(self) -> pl.DataFrame:
        """Of latencies."""
        return self._table("percentiles")

    @property
    def values(self) -> pl.DataFrame:
        """The headline values of tests that are more than one stream of requests."""
        return self._table("test_values")

    @property
    def figures(self) -> pl.DataFrame:
        """Published values beside those that were measured."""
        return self._table("figures")

    @property
    def points(self) -> pl.DataFrame:
        """Of a study a row for each point and direction."""
        return self._table("points")

    def _table(self, name: str) -> pl.DataFrame:
        """One of those that are asked for most; with its columns, too, if nothing is in it."""
        if name in self.tables or name not in TABLES:
            return self.tables.get(name, pl.DataFrame())
        return _frame(TABLES[name], ())

    def _contents(self) -> pl.DataFrame:
        rows = [
            {"table": name, "rows": frame.height, "columns": ", ".join(frame.columns)}
            for name, frame in self.tables.items()
        ]
        return pl.DataFrame(
            rows, schema={"table": pl.String, "rows": pl.Int64, "columns": pl.String}
        )

    def _parts(self) -> Iterable[Part]:
        """What the command prints that made it."""
        # Loaded only where something is printed.
        from drivelab.text import replay, review, run, study

        if self._run is None:
            points = self.points
            # A model's hash follows from what else is varied of it.
            known = [key for key in points.columns if key not in (*SUMMARY, "model_hash")]
            varied = [key for key in known if points[key].n_unique() > 1]
            return study.parts(points.to_dicts(), varied, SHOWN)
        document = self._run.document
        if self.kind == REPLAY:
            return replay.parts(document, _scale(self._run))
        return review.parts(document) if self.kind == REVIEW else run.parts(document)

    def __str__(self) -> str:
        from drivelab.text import terminal

        return terminal.as_text(self._parts())

    def __repr__(self) -> str:
        with pl.Config(
            tbl_rows=SHOWN_TABLES,
            tbl_width_chars=120,
            fmt_str_lengths=80,
            tbl_hide_column_data_types=True,
            tbl_hide_dataframe_shape=True,
            tbl_formatting="UTF8_FULL_CONDENSED",
        ):
            return f"<{self.kind} of {self.source}>\n{self._contents()}"

    def _repr_html_(self) -> str:
        return str(self._contents()._repr_html_())


def read(path: str | Path) -> Stored:
    """Results from results.json, the folder of a review, "FILE.duckdb" or "FILE.duckdb:RUN", or the
    store of a study.

    >>> read("review/").measurements["mib_per_s"].max()        # doctest: +SKIP
    255.1

    Raises RequestError for anything else, and for a database of several runs without a number.
    """
    text = str(path)
    place, run_id = stored.split(text)
    if run_id is None and stores.is_store(place):
        return Stored(text, STUDY, {"points": _points(place)}, None)
    if not stored.is_stored(text):
        raise RequestError(
            f'read("{text}"): allowed: results.json, the folder of a review, FILE.duckdb:RUN, or '
            "the store of a study"
        )
    run = stored.read(place, run_id, "read()")
    tables = {name: _frame(TABLES[name], rows) for name, rows in run.rows().items()}
    return Stored(text, run.kind, tables, run)


TYPES: Mapping[str, type[pl.DataType]] = {
    "VARCHAR": pl.String,
    "DOUBLE": pl.Float64,
    "INTEGER": pl.Int32,
    "UINTEGER": pl.UInt32,
    "UBIGINT": pl.UInt64,
    "BOOLEAN": pl.Boolean,
}
"""Of columns, by their types in the database."""


def _frame(table: Table, rows: Sequence[Row]) -> pl.DataFrame:
    """Rows as a table, with all of its columns; what a row doesn't have is null in it."""
    columns = {column.name: [row.get(column.name) for row in rows] for column in table.columns}
    schema = {column.name: TYPES[column.kind] for column in table.columns}
    return pl.DataFrame(columns, schema=schema, strict=False)


def _points(place: Path) -> pl.DataFrame:
    """Each point of a store: drive, what was done to it, job, and what its result says."""
    frames = []
    for row in stores.rows(place):
        history = json.loads(row["history"])
        known = {
            "model": row["model"],
            "model_hash": row["model_hash"],
            "state": only_state(history),
        }
        known |= json.loads(row["parameters"])
        options = json.loads(row["job"]).get("options", {})
        known |= {f"job.{key}": value for key, value in options.items()}
        columns = [pl.lit(_number(value)).alias(key) for key, value in known.items()]
        columns.append(pl.lit(row["seed"], dtype=pl.UInt64).alias("seed"))
        result = Result(json.loads(row["report"]), None, ())
        frames.append(result.summary.select(*columns, pl.all()))
    return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()


def _scale(run: Recorded) -> int:
    """N of the small version, 1/N of its drive, that was measured; 1 of the drive itself."""
    stated = {item["key"]: item["value"] for item in run.models[0]["parameters"]}
    return int(stated.get("scale_divisor") or 1)


def _number(value: Any) -> Any:
    """A number that is written as text, as parameters are; everything else as it is."""
    if isinstance(value, str):
        for kind in (int, float):
            with contextlib.suppress(ValueError):
                return kind(value)
    return value
