"""Plots of the library: the charts of reports, of one result; notebooks show them, scripts save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from drivelab import charts
from drivelab.charts import Chart, Curve, Line, Scale, Text, palette, steady_colours
from drivelab.errors import RequestError, nearest
from drivelab.quantities import number

if TYPE_CHECKING:
    from drivelab.lab.result import Result

PERCENT_MAX = 99.9999
"""Shares up to here are drawn; the longest latency has a place of its own."""
TITLES = {
    "iops": Scale("Requests", "IOPS"),
    "mib_per_s": Scale("Throughput", "MiB/s"),
    "latency_mean_us": Scale("Mean latency", "µs"),
    "latency_max_us": Scale("Longest latency", "µs"),
    "latency_p99_us": Scale("99 % of latencies below", "µs"),
    "write_amplification": Scale("Write amplification"),
    "queue_depth_mean": Scale("Requests in the drive"),
    "free_blocks": Scale("Free blocks"),
    "cleaning_share": Scale("Share of the dies' time that cleaning takes"),
}
"""Columns of `series` in words, as in reports."""


class Plots:
    """Pictures of one result; each is a chart: `save` writes it, a notebook shows it."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def latency(self) -> Chart:
        """How many requests take how long: shares on an axis of nines, latencies on a log axis."""
        streams = _streams(self._result.latency)
        curves = []
        for (name, part), token in zip(streams, _colours(streams), strict=True):
            shares = [(100 * share, us) for share, us in part.select("share", "latency_us").rows()]
            # The shortest stands at 0 %.
            told = [(0.0, shares[0][1])]
            told += [(percent, us) for percent, us in shares if percent <= PERCENT_MAX]
            curves.append(Curve(name, token, told, part["latency_us"].max()))  # type: ignore[arg-type]
        return charts.latencies(Text("Latency percentiles"), curves)

    def series(self, column: str = "iops") -> Chart:
        """A column of `result.series` over time; raises RequestError for one that isn't there, or
        that nothing is known of."""
        series = self._result.series
        times = ("job", "direction", "time_s", "interval_s")
        known = [name for name in series.columns if name not in times]
        if column not in known:
            raise RequestError(
                f'"{column}" is not in series{nearest(column, known)} There are: {", ".join(known)}'
            )
        # What a direction has none of, as reads of write amplification, says nothing of it.
        series = series.filter(pl.col(column).is_not_null().any().over("job", "direction"))
        if series.is_empty():
            raise RequestError(f"series(): nothing tells the {column} of these jobs")
        streams = [(name, _without_stub(whole)) for name, whole in _streams(series)]
        parts = [
            Line(name, token, part["time_s"].to_list(), part[column].to_list())
            for (name, part), token in zip(streams, _colours(streams), strict=True)
        ]
        upright = TITLES.get(column, Scale(column))
        text = Text(f"{upright.title} over time")
        return charts.lines(text, parts, Scale("Time", "s"), upright, from_zero=True)

    def heat(self) -> Chart:
        """Latencies over time, darker where there are more requests; of a run with `log=True`.

        Raises RequestError without a log, or if it is empty.
        """
        requests = self._result.requests
        if requests.is_empty():
            raise RequestError("heat(): the log has no request")
        return charts.density(
            Text("Latencies over time"),
            requests["completed_ns"].to_numpy() / 1e9,
            requests["latency_ns"].to_numpy() / 1e3,
        )

    def parts(self) -> Chart:
        """Where the mean latency of each job and direction was spent."""
        table = self._result.parts
        names = [name for name, _ in _streams(table)]
        return charts.stacks(
            Text("Where the mean latency was spent"),
            [
                Line(part, f"${part}", names, table.filter(part=part)["mean_us"].to_list())
                for part in palette.PARTS
            ],
            Scale("Mean latency", "µs"),
        )

    def tails(self) -> Chart:
        """What the slowest requests waited for, beside all of them: parts of their mean latency.

        Raises RequestError where nothing tells: no request, or a drive that doesn't know.
        """
        slow, whole = self._result.tails, self._result.parts
        total = self._result.summary.select("job", "direction", "ios")
        # Those that took about as long as the shortest of a tail are in it, too.
        own = slow.join(total, on=["job", "direction"], maintain_order="left").with_columns(
            share_of_requests=pl.max_horizontal(
                "share_of_requests", pl.col("requests") / pl.col("ios")
            )
        )
        every = whole.with_columns(share_of_requests=pl.lit(1.0)).select(*_PARTS_OF_TAILS)
        told = pl.concat([every, own.select(*_PARTS_OF_TAILS)])
        streams, bars = _streams(told), {}
        for stream, table in streams:
            before = f"{stream}, " if len(streams) > 1 else ""
            for (share,), part in table.group_by(["share_of_requests"], maintain_order=True):
                spent = dict(part.select("part", "mean_us").rows())
                if sum(spent.values()) > 0:
                    tail = "all" if share == 1.0 else f"slowest {100 * share:.2g} %"
                    bars[before + tail] = spent
        if slow.is_empty() or not bars:
            raise RequestError("tails(): nothing tells what the slowest requests waited for")
        lines = [
            Line(
                part,
                f"${part}",
                list(bars),
                [100 * spent[part] / sum(spent.values()) for spent in bars.values()],
                words=[f"{number(spent[part])} µs" for spent in bars.values()],
            )
            for part in palette.PARTS
        ]
        shares = Scale("Share of their mean latency", "%")
        return charts.stacks(Text("What the slowest requests waited for"), lines, shares)


_PARTS_OF_TAILS = ("job", "direction", "share_of_requests", "part", "mean_us")


def _streams(table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """A table for each job and direction, with their names."""
    groups = table.group_by(["job", "direction"], maintain_order=True)
    return [(f"{job}, {direction}", part) for (job, direction), part in groups]


def _colours(streams: list[tuple[str, pl.DataFrame]]) -> list[str]:
    return steady_colours([name for name, _ in streams])


def _without_stub(series: pl.DataFrame) -> pl.DataFrame:
    """All intervals but a last one of less than half a length: its rates are of a few requests."""
    lengths = series["interval_s"].to_list()
    is_stub = len(lengths) > 1 and lengths[-1] < 0.5 * lengths[0]
    return series.head(-1) if is_stub else series
