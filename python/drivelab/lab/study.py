"""What a sweep measured: one table, and plots of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from drivelab import output
from drivelab.errors import RequestError, nearest
from drivelab.estimates import estimate
from drivelab.lab import sensitivity as sensitivities
from drivelab.lab.axes import MODEL
from drivelab.lab.history import state_label
from drivelab.lab.points import Point, same
from drivelab.lab.result import Result, of_whole
from drivelab.states import State
from drivelab.targets import Report

if TYPE_CHECKING:
    from drivelab.charts import Chart

DIRECTION = "direction"
SHOWN = ("iops", "mib_per_s", "latency_mean_us", "latency_p99_us", "write_amplification")
"""Columns that a study shows of itself, after what was varied; `frame` has all."""
LAST = ("iops", "latency_mean_us", "latency_p99_us", "write_amplification")
"""Columns that `frame` ends with: of a wide table polars prints four of either end."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
ROWS_SHOWN, WIDTH_SHOWN = 20, 160


class Study:
    """The results of a sweep, in the order of its points: the last key of the grid fastest.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    >>> grid = {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 32]}
    >>> job = dl.Job(rw="randread", bs="4k", io_size="4m")
    >>> study = dl.sweep(drive, grid, job=job, state="filled", workers=1)
    >>> study.keys, len(study), study[0].summary["ios"].item()
    (('spare_ratio', 'job.iodepth'), 4, 1024)
    >>> deep = study.where({"spare_ratio": 0.28}).frame()
    >>> deep["job.iodepth"].to_list(), deep["iops"][0] < deep["iops"][1]
    ([1, 32], True)
    """

    def __init__(
        self, points: Sequence[Point], reports: Sequence[Report], keys: tuple[str, ...]
    ) -> None:
        self._points = tuple(points)
        self._reports = tuple(reports)
        self._keys = keys

    @property
    def keys(self) -> tuple[str, ...]:
        """What was varied."""
        return self._keys

    @property
    def notes(self) -> list[str]:
        """What must be known to read the numbers. Of notes that differ in a number only, as of
        many small drives, the one with the largest, and how many there are."""
        alike: dict[str, list[str]] = {}
        for note in dict.fromkeys(note for result in self for note in result.notes):
            alike.setdefault(_NUMBER.sub("#", note), []).append(note)
        found = []
        for notes in alike.values():
            worst = max(notes, key=lambda note: [float(n) for n in _NUMBER.findall(note)])
            more = f" (the largest of {len(notes)} such notes)" if len(notes) > 1 else ""
            found.append(worst + more)
        return found

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, index: int) -> Result:
        """The result of a point, with everything that was measured."""
        try:
            point = self._points[index]
        except IndexError:
            raise IndexError(f"study[{index}]: there are {len(self)} points") from None
        return Result(self._reports[index], point.drive, [point.job])

    def __iter__(self) -> Iterator[Result]:
        return (self[index] for index in range(len(self)))

    def where(self, values: Mapping[str, Any]) -> Study:
        """The points that have these values of what was varied; raises RequestError for others."""
        wanted: dict[str, Any] = {}
        for key, value in values.items():
            value = value.name if isinstance(value, State) else value
            known = {point.values.get(key): point for point in self._points}
            if key not in self._keys:
                hint = nearest(key, self._keys)
                raise RequestError(f'"{key}" was not varied{hint} Varied: {", ".join(self._keys)}')
            alike = [
                one
                for one, point in known.items()
                if one == value or same(key, one, value, point.drive, point.job)
            ]
            if not alike:
                there = ", ".join(map(repr, known))
                raise RequestError(
                    f"where(): {key} = {value!r} was not measured; there are: {there}"
                )
            wanted[key] = value if value in known else alike[0]
        chosen = [
            index
            for index, point in enumerate(self._points)
            if all(point.values[key] == value for key, value in wanted.items())
        ]
        return Study(
            [self._points[index] for index in chosen],
            [self._reports[index] for index in chosen],
            self._keys,
        )

    def frame(self) -> pl.DataFrame:
        """A row for each point (and direction, of jobs that read and write): first what was varied,
        direction and repeat, then seed, model and state, the columns of a result's summary and of
        the drive as a whole; last `iops`, `latency_mean_us`, `latency_p99_us` and
        `write_amplification`, so that both ends of a printed frame are what matters."""
        frames = []
        for point, result in zip(self._points, self, strict=True):
            known = {
                "model": point.drive.name,
                "state": state_label(point.drive.history),
            } | point.values
            varied = [pl.lit(value).alias(key) for key, value in known.items()]
            varied += [pl.lit(point.repeat).alias("repeat")]
            varied += [pl.lit(point.drive.seed, dtype=pl.UInt64).alias("seed")]
            frames.append(result.summary.select(*varied, pl.exclude("job"), *of_whole(result)))
        frame = pl.concat(frames, how="vertical_relaxed")
        first = [*self._keys, DIRECTION, "repeat", "seed", MODEL, "state"]
        return frame.select(*dict.fromkeys(first), pl.exclude(*first, *LAST), *LAST)

    def means(self, metric: str) -> pl.DataFrame:
        """The mean of a column over the repeats, with its 95 % interval (null for one repeat).

        Raises RequestError for a column that isn't there, or not a number.
        """
        frame = self.frame()
        self._check(frame, metric)
        by = [*self._keys, DIRECTION]
        rows: list[dict[str, Any]] = []
        for names, part in frame.group_by(by, maintain_order=True):
            values = [value for value in part[metric].to_list() if value is not None]
            row = dict(zip(by, names, strict=True)) | {"repeats": len(values)}
            found = estimate(values) if len(values) > 1 else None
            alone = values[0] if values else None
            rows.append(
                row
                | {
                    metric: found.mean if found else alone,
                    "low": found.low if found else None,
                    "high": found.high if found else None,
                }
            )
        bounds = dict.fromkeys((metric, "low", "high"), pl.Float64)
        return pl.DataFrame(rows, schema_overrides=bounds)

    def plot(self, x: str, y: str, *, hue: str | None = None) -> Chart:
        """A chart: `y` over `x`, a line for each value of `hue`, with the interval of
        repeats; a panel for each combination of what else was varied.

        Raises RequestError for a column that isn't there, or that nothing is known of, and too
        many panels.
        """
        # Loaded only where something is drawn.
        from drivelab.lab.study_plots import PANELS_MAX, lines

        for key in (x, *([hue] if hue is not None else [])):
            if key not in self._keys and (key, hue) != (DIRECTION, DIRECTION):
                known = ", ".join(self._keys)
                hint = nearest(key, self._keys)
                raise RequestError(f'"{key}" was not varied{hint} Varied: {known}')
        means = self.means(y)
        # What a direction has none of, as reads of write amplification, says nothing of it.
        means = means.filter(pl.col(y).is_not_null().any().over(DIRECTION))
        if means.is_empty():
            raise RequestError(f"plot(): nothing tells the {y} of these points")
        others = [key for key in (*self._keys, DIRECTION) if key not in (x, hue)]
        panels = [key for key in others if means[key].n_unique() > 1]
        if DIRECTION in panels and means.drop(DIRECTION).select(self._keys).is_unique().all():
            # What was varied says it already.
            panels.remove(DIRECTION)
        if panels and means.select(panels).n_unique() > PANELS_MAX:
            raise RequestError(
                f"plot(): {', '.join(panels)} has more than {PANELS_MAX} values, a panel each; "
                "take some of them with where()"
            )
        return lines(means, x, y, hue, panels, self.title)

    def sensitivity(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """How much each metric follows from each thing that was varied: `share` is the part of its
        variance (0 to 1) that lies between the values of `key`, whatever else there is.

        `metrics` are columns of `frame`, by default rates, latencies and write amplification.
        Raises RequestError for one that isn't there.
        """
        frame = self.frame()
        for metric in metrics or ():
            self._check(frame, metric)
        return sensitivities.sensitivity(frame, self._keys, metrics or sensitivities.METRICS)

    def report(self, path: str | Path) -> Path:
        """Writes a page (HTML) that says what moves what: sensitivities, small multiples, parallel
        coordinates, and all points. Raises RequestError for a place that can't be written."""
        # Loaded only where a page is written.
        from drivelab.lab import study_page

        return study_page.write(self, Path(path))

    def to_parquet(self, path: str | Path) -> Path:
        """Writes `frame` to a file that ends in .parquet, which appears whole or not at all."""
        place = output.writable_file(Path(path), "to_parquet()", ".parquet")
        output.publish(place.parent, {place.name: lambda file: self.frame().write_parquet(file)})
        return place

    def to_xarray(self) -> Any:
        """An xarray.Dataset of the metrics, with a dimension for each thing that was varied, and
        for directions and repeats where there are several; NaN where nothing was measured. Points
        that are far from a full grid, as samples are, have one dimension, "point".

        Raises RequestError where xarray isn't installed: it comes with drivelab[xarray].
        """
        # Needed only here, and not by everybody.
        from drivelab.lab.study_arrays import dataset

        return dataset(self.frame(), self._keys, self.title)

    @property
    def title(self) -> str:
        """Drive, state and repeats, for a picture."""
        words = [] if MODEL in self._keys else [self._points[0].drive.model.title]
        if "state" not in self._keys:
            words.append(state_label(self._points[0].drive.history))
        repeats = 1 + max(point.repeat for point in self._points)
        if repeats > 1:
            words.append(f"{repeats} repeats with their 95 % interval")
        return ", ".join(words)

    def _check(self, frame: pl.DataFrame, metric: str) -> None:
        numbers = [
            name
            for name, kind in frame.schema.items()
            if kind.is_numeric() and name not in (*self._keys, "repeat", "seed")
        ]
        if metric not in numbers:
            raise RequestError(
                f'"{metric}" is not measured{nearest(metric, numbers)} There are: '
                f"{', '.join(numbers)}"
            )

    def __repr__(self) -> str:
        frame = self.frame()
        several = [key for key in ("repeat", DIRECTION) if frame[key].n_unique() > 1]
        shown = [*self._keys, *several, *SHOWN]
        with pl.Config(
            tbl_rows=ROWS_SHOWN,
            tbl_cols=len(shown),
            tbl_width_chars=WIDTH_SHOWN,
            tbl_hide_column_data_types=True,
            tbl_hide_dataframe_shape=True,
            tbl_formatting="UTF8_FULL_CONDENSED",
        ):
            return f"<Study of {len(self)} points: {self.title}>\n{frame.select(shown)}"

    def _repr_html_(self) -> str:
        return str(self.frame()._repr_html_())
