"""What a run measured, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from drivelab import counters, results
from drivelab.errors import RequestError
from drivelab.fio import effects
from drivelab.fio.flushes import FLUSHES
from drivelab.fio.output import DIRECTIONS, FLASH_KEYS, flash_of_jobs, traffic_record
from drivelab.lab.columns import (
    LATENCY,
    OF_DRIVE,
    OF_DRIVE_OVER_TIME,
    OF_WHOLE,
    PARTS,
    ROUNDS,
    SERIES,
    SUMMARY,
    TAILS,
    TIMES,
)
from drivelab.lab.history import drawn_before
from drivelab.lab.job import Job
from drivelab.lab.request_file import read_table, stamp
from drivelab.lab.trace import Trace
from drivelab.quantities import MIB, NS_PER_S, NS_PER_US, mib
from drivelab.targets import Report

if TYPE_CHECKING:
    from drivelab.lab.drive import Drive
    from drivelab.lab.plots import Plots
    from drivelab.lab.timeline import Timeline


class Result:
    """A run of one or more jobs. Tables are polars frames with the unit in the column's name;
    `.to_pandas()` of a frame gives that of pandas, where it is installed.

    What isn't known is null: never 0, never NaN.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled")
    >>> result = drive.run(dl.Job(rw="randrw", bs="4k", io_size="4m"), log=True, keep=True)
    >>> result.summary["direction"].to_list(), result.summary["ios"].sum()
    (['read', 'write'], 1024)
    >>> result.requests.height, result.requests["latency_ns"].min() > 0
    (1024, True)
    >>> result.drive.now_s > drive.now_s
    True
    """

    def __init__(
        self,
        report: Report,
        before: Drive | None,
        jobs: Sequence[Job | Trace],
        after: Drive | None = None,
        requests: pl.DataFrame | Path | None = None,
        steady: Mapping[str, Any] | None = None,
        timeline: Timeline | None = None,
    ) -> None:
        self._timeline = timeline
        self._requests = requests
        self._written = stamp(requests) if isinstance(requests, Path) else None
        self._steady = steady
        self._report = report
        self._before = before
        self._jobs = tuple(jobs)
        self._after = after

    @property
    def report(self) -> Report:
        """Everything that the engine measured, in ns and bytes; see docs/results.md."""
        return self._report

    @property
    def jobs(self) -> tuple[Job | Trace, ...]:
        """What was run."""
        return self._jobs

    @property
    def drive(self) -> Drive:
        """The drive as the jobs left it; raises RequestError unless the run was to `keep` it."""
        if self._after is None:
            raise RequestError("drive: the run did not keep it; ask for run(..., keep=True)")
        return self._after

    @property
    def before(self) -> Drive:
        """The drive as the jobs found it; raises RequestError in a test of one's own."""
        if self._before is None:
            raise RequestError("before: a test's drive is not kept; look at it in between")
        return self._before

    @property
    def requests(self) -> pl.DataFrame:
        """Every request that counts, in order of completion, times in ns after the start of the
        run; `latency_ns` is the sum of `queueing_ns` to `cleaning_ns`. Raises RequestError unless
        the run was to keep a `log`, which of a trace is that of its last round. One in a file is
        read once; `polars.scan_parquet` reads less of it."""
        if self._requests is None:
            raise RequestError("requests: the run kept no log; ask for run(..., log=True)")
        if isinstance(self._requests, Path):
            if self._written is None or stamp(self._requests) != self._written:
                raise RequestError(
                    f"requests: {self._requests} is not the file any more that the run has written"
                )
            self._requests = read_table(self._requests)
        return self._requests

    @property
    def rounds(self) -> pl.DataFrame:
        """A row for each round of a trace that went round; raises RequestError for what did not."""
        if "rounds" not in self._report:
            raise RequestError("rounds: nothing went round; ask for Trace(..., repeat=10)")
        rows = [
            {"round": number} | each
            for number, each in enumerate(self._report["rounds"]["each"], start=1)
        ]
        return pl.DataFrame(rows, schema=ROUNDS)

    @property
    def timeline(self) -> Timeline:
        """What dies, channels and requests did when; raises RequestError unless the run was to
        keep a `timeline`."""
        if self._timeline is None:
            raise RequestError("timeline: the run kept none; ask for run(..., timeline=True)")
        return self._timeline

    @property
    def steady(self) -> dict[str, Any] | None:
        """Whether and how the run got steady, if it was to run `until` it was, or the rounds of a
        trace, if they were to end then."""
        traces = [job for job in self._jobs if isinstance(job, Trace)]
        found = traces[0].steady(self._report) if traces else self._steady
        return None if found is None else dict(found)

    @property
    def totals(self) -> dict[str, Any]:
        """What host and flash did in all, over the measured time."""
        return traffic_record(self._report)

    @property
    def notes(self) -> list[str]:
        """What must be known to read the numbers."""
        model = self._before.model if self._before is not None else None
        found = list(model.notes) if model is not None else []
        found += [note for job in self._jobs if isinstance(job, Trace) for note in job.notes]
        jobs = [job for job in self._jobs if isinstance(job, Job)]
        if self._before is not None:
            found += drawn_before(self._before.history, jobs)
        if (count := self._report.get("rounds", {}).get("count", 1)) > 1:
            found.append(f"numbers are of the last of {count} rounds; see rounds")
        steady = self.steady
        if steady is not None and not steady["reached"]:
            found.append(f"{steady['metric']} was not steady after {steady['rounds']} rounds")
        found += self._timeline.notes if self._timeline is not None else []
        if model is not None:
            own = [job.on_drive(model.user_capacity_bytes, 0, 0) for job in jobs]
            ignored = {key: reason for job in own for key, reason in job.ignored.items()}
            found += effects.told(ignored | effects.without_effect(model, [one.job for one in own]))
        return found + counters.notes(counters.spent_in(self._report))

    @property
    def summary(self) -> pl.DataFrame:
        """A row for each job and direction with requests: rates, latencies, what flash did for it;
        and one for its flushes.

        What several jobs did to the flash together is nobody's own: null there, see `totals`.
        """
        flash = flash_of_jobs(self._report, self.totals)
        rows = []
        for index, job in enumerate(self._report["jobs"]):
            rows += [
                {"job": job["name"], "direction": direction}
                | _rates(job[direction])
                | flash[index][direction]
                for direction in DIRECTIONS
                if job[direction]["ios"]
            ]
            if job[FLUSHES]["count"]:
                rows.append({"job": job["name"], "direction": FLUSHES} | _flushes(job))
        return pl.DataFrame(rows, schema=SUMMARY)

    @property
    def latency(self) -> pl.DataFrame:
        """The distribution of latencies: a row for each job, direction (flushes are one here, too)
        and bin that isn't empty.

        `latency_us` is the longest of the bin (at most 0.1 % above any of it), `share` the part of
        the requests that took as long or less.
        """
        rows: list[tuple[str, str, float, int, float]] = []
        measured = [
            (job["name"], direction, job[direction]["latency_ns"])
            for job in self._report["jobs"]
            for direction in (*DIRECTIONS, FLUSHES)
        ]
        for job, direction, latency in measured:
            done = 0
            for top_ns, count in latency["bins"] if latency else ():
                done += count
                bound_ns = min(top_ns, latency["max"])
                rows.append((job, direction, bound_ns / NS_PER_US, count, done / latency["count"]))
        return pl.DataFrame(rows, schema=LATENCY, orient="row")

    @property
    def series(self) -> pl.DataFrame:
        """Over time: a row for each job, direction and interval (option `log_avg_msec`, 1 s),
        which ends at `time_s` after the start of the measurement and is `interval_s` long. The last
        one ends with the run: where it is short, its rates are of a few requests.

        What the drive did meanwhile (from `write_amplification` on) is told of a job that ran
        alone, null of jobs together; its write amplification with the direction that caused it.
        """
        frames = [pl.DataFrame(schema=SERIES)]
        for job, direction, part in self._parts():
            series = part["series"]
            interval_s = series["interval_ns"] / NS_PER_S
            count = len(series["ios"])
            frame = pl.DataFrame(
                {
                    "start": [index * interval_s for index in range(count)],
                    "ios": series["ios"],
                    "bytes": series["bytes"],
                    "mean": _padded(series["latency_mean_ns"], count),
                    "p99": _padded(series.get("latency_p99_ns"), count),
                    "max": series["latency_max_ns"],
                    **self._drive_over_time(direction, series["interval_ns"], count),
                },
                schema_overrides={"mean": pl.Float64, "p99": pl.Float64, **OF_DRIVE_OVER_TIME},
            )
            done = pl.col("ios") > 0
            # The last interval ends with the run.
            end = (pl.col("start") + interval_s).clip(upper_bound=part["runtime_ns"] / NS_PER_S)
            length = end - pl.col("start")
            frames.append(
                frame.select(
                    pl.lit(job).alias("job"),
                    pl.lit(direction).alias("direction"),
                    end.alias("time_s"),
                    length.alias("interval_s"),
                    pl.when(length > 0).then(pl.col("ios") / length).alias("iops"),
                    pl.when(length > 0).then(pl.col("bytes") / length / MIB).alias("mib_per_s"),
                    (pl.col("mean") / NS_PER_US).alias("latency_mean_us"),
                    pl.when(done).then(pl.col("max") / NS_PER_US).alias("latency_max_us"),
                    (pl.col("p99") / NS_PER_US).alias("latency_p99_us"),
                    *list(OF_DRIVE_OVER_TIME)[:-1],
                    pl.when(length > 0).then(pl.col("cleaning_share") / length),
                )
            )
        return pl.concat(frames)

    @property
    def parts(self) -> pl.DataFrame:
        """Where the mean latency was spent: a row for each job, direction and part; they add up."""
        rows = [
            (job, direction, name, part["split_mean_ns"][f"{name}_ns"] / NS_PER_US)
            for job, direction, part in self._parts()
            for name in results.SPLIT_PARTS
        ]
        return pl.DataFrame(rows, schema=PARTS, orient="row")

    @property
    def tails(self) -> pl.DataFrame:
        """What the slowest requests waited for: a row for each job, direction, tail and part.

        `share_of_requests` is 0.1 of the slowest tenth, down to 0.0001 as far as that is one
        request; `requests` is how many these are, none of them shorter than `latency_min_us`.
        """
        rows = [
            {"job": job, "direction": direction, "requests": tail["count"], **tail}
            | {"part": name, "mean_us": tail["split_mean_us"][name]}
            for job, direction, part in self._parts()
            for tail in results.tails_record(part.get("tails")) or ()
            for name in results.SPLIT_PARTS
        ]
        return pl.DataFrame(rows, schema=TAILS)

    @property
    def plot(self) -> Plots:
        """Pictures: `plot.latency()`, `plot.series("iops")`, `plot.parts()`, `plot.tails()`."""
        # Loaded only where something is drawn.
        from drivelab.lab.plots import Plots

        return Plots(self)

    def metrics(self) -> dict[str, Any]:
        """The numbers of a run of one direction as one flat record, without its flushes; raises
        RequestError where there are several."""
        rows = self.summary.filter(pl.col("direction") != FLUSHES).rows(named=True)
        if len(rows) != 1:
            raise RequestError(
                f"metrics(): {len(rows)} directions had requests, one is needed; see summary"
            )
        (row,) = rows
        totals = self.totals
        own = {key: value for key, value in row.items() if key not in ("job", "direction")}
        return own | {key: totals[key] for key in OF_DRIVE}

    def _drive_over_time(self, direction: str, interval_ns: int, count: int) -> dict[str, Any]:
        """What the drive did in every interval; of `cleaning_share` seconds of a die."""
        drive = self._report.get("drive_series") or {}
        jobs = self._report["jobs"]
        if len(jobs) > 1 or drive.get("interval_ns") != interval_ns:
            drive = {}
        changing = [kind for kind in ("write", "trim") if jobs[0][kind]["ios"]]
        cleaning = None
        if dies := drive.get("die_count"):
            cleaning = [time_ns / dies / NS_PER_S for time_ns in drive["cleaning_ns"]]
        caused = results.amplification_of_intervals(drive) if changing == [direction] else None
        return {
            "write_amplification": _padded(caused, count),
            "queue_depth_mean": _padded(drive.get("outstanding_mean"), count),
            "free_blocks": _padded(drive.get("free_blocks"), count),
            "cleaning_share": _padded(cleaning, count),
        }

    def _parts(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        return [
            (job["name"], direction, job[direction])
            for job in self._report["jobs"]
            for direction in DIRECTIONS
            if job[direction]["ios"]
        ]

    def __repr__(self) -> str:
        totals = self.totals
        amplification = totals["write_amplification"]
        told = "" if amplification is None else f", write amplification {amplification:.4g}"
        notes = "".join(f"\nnote: {note}" for note in self.notes)
        on = "a bench" if self._before is None else repr(self._before)
        return f"<Result on {on}{told}>\n{self.summary}{notes}"

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>note: {escape(note)}</p>" for note in self.notes)
        return f"{self.summary._repr_html_()}{notes}"


def of_whole(result: Result) -> list[pl.Expr]:
    """Columns OF_WHOLE of a result."""
    totals = result.totals
    return [pl.lit(totals[name], dtype=pl.Float64).alias(name) for name in OF_WHOLE]


def _padded(values: Sequence[Any] | None, count: int) -> list[Any]:
    """So many values; null where there is none."""
    known = list(values or ())[:count]
    return known + [None] * (count - len(known))


def _flushes(job: Mapping[str, Any]) -> dict[str, Any]:
    """Rates and latencies of a job's flushes, which move no bytes."""
    count, times = job[FLUSHES]["count"], results.latency_us(job[FLUSHES]["latency_ns"])
    runtime_s = job["runtime_ns"] / NS_PER_S
    return dict.fromkeys(("bytes", "mib_per_s", *FLASH_KEYS)) | {
        "ios": count,
        "iops": count / runtime_s if runtime_s else None,
        **{f"latency_{name}_us": times[name] for name in TIMES},
    }


def _rates(part: Mapping[str, Any]) -> dict[str, Any]:
    """Rates and latencies of one direction of one job."""
    times = results.latency_us(part["latency_ns"])
    return {
        "ios": part["ios"],
        "bytes": part["bytes"],
        "iops": part["iops"],
        "mib_per_s": mib(part["bytes_per_s"]),
        **{f"latency_{name}_us": times[name] for name in TIMES},
    }
