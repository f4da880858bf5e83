"""How what a job measures follows from each parameter of a drive: each a little less, and more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.errors import RequestError, nearest
from drivelab.lab import checks
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.points import Point
from drivelab.lab.sweep import measured
from drivelab.lab.trace import Trace
from drivelab.model import Model
from drivelab.model_texts import CAPACITIES
from drivelab.progress import Heard
from drivelab.states import State
from drivelab.targets import Report

if TYPE_CHECKING:
    import polars as pl

BY = 0.1
SIDES = ("less", "more")
SHOWN = "latency_mean_us"
"""What is shown of variations: `effects` has every metric. Rates don't move where a trace has its
own."""
ROWS_SHOWN, WIDTH_SHOWN, KEY_LETTERS = 20, 140, 60
NOT_VARIED = frozenset({"price_usd", "scale_divisor"})
"""Numbers of a model that no result follows from, and the size of a small version."""
ZERO = "; 0: "
"""What follows in a parameter's help is what 0 stands for: none, no limit, all."""


@dataclass(frozen=True)
class Variation:
    """One parameter with another value."""

    key: str
    unit: str
    value: float
    """What the drive has."""
    side: str
    """less or more."""
    varied: float


@dataclass(frozen=True)
class LeftOut:
    """A variation that makes no drive, or none that differs by a little."""

    key: str
    side: str
    reason: str


def as_text(kind: str, what: str, table: object, notes: Iterable[str]) -> str:
    """What printing shows of a table of variations: its first rows, and what must be known."""
    import polars as pl

    with pl.Config(
        tbl_rows=ROWS_SHOWN,
        tbl_cols=-1,
        tbl_width_chars=WIDTH_SHOWN,
        fmt_str_lengths=KEY_LETTERS,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        tbl_formatting="UTF8_FULL_CONDENSED",
    ):
        return f"<{kind} of {what}>\n{table}" + "".join(f"\nnote: {note}" for note in notes)


def as_html(notes: Iterable[str]) -> str:
    """What a notebook shows below such a table."""
    return "".join(f"<p>note: {escape(note)}</p>" for note in notes)


def left_out_text(left_out: Sequence[LeftOut]) -> list[str]:
    """That there is more than the table says."""
    count = len(left_out)
    what = f"{count} variation{'' if count == 1 else 's'}"
    return [f"{what} left out, with reasons in left_out"] if count else []


class Variations:
    """What a job measured on a drive, and with each of its parameters a little less and more.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    >>> job = dl.Job(rw="randread", bs="4k", io_size="4m")
    >>> keys = ["flash.read_ns", "flash.erase_ns"]
    >>> found = dl.vary(drive, job, keys=keys, state="filled", workers=1)
    >>> len(found), found.effects("iops")["key"].to_list()
    (4, ['flash.read_ns', 'flash.erase_ns'])
    """

    def __init__(
        self,
        drive: Drive,
        job: Job | Trace,
        base: Report,
        varied: Sequence[tuple[Variation, Drive, Report]],
        left_out: Sequence[LeftOut],
    ) -> None:
        self._drive, self._job, self._base, self._varied = drive, job, base, tuple(varied)
        self.left_out = tuple(left_out)
        """Variations that make no drive, or none that differs by a little, with the reasons."""

    def __len__(self) -> int:
        return len(self._varied)

    @property
    def notes(self) -> list[str]:
        """What must be known to read the numbers."""
        return self._drive.model.notes

    def __repr__(self) -> str:
        keys = {item.key for item, _, _ in self._varied}
        what = f"{len(keys)} parameters of {self._drive.name}, {self._job!r}"
        return as_text("Variations", what, self._shown(), self._told())

    def _repr_html_(self) -> str:
        return str(self._shown()._repr_html_()) + as_html(self._told())

    def _shown(self) -> pl.DataFrame:
        columns = ["direction", "key", "value", "unit", "less_percent", "more_percent"]
        return self.effects(SHOWN).select(columns)

    def _told(self) -> list[str]:
        shown = f"{SHOWN}, change in per cent; effects(metric) has others"
        return [shown, *self.notes, *left_out_text(self.left_out)]

    def frame(self) -> pl.DataFrame:
        """A row for each parameter, side and direction: the values, then the columns of a result's
        summary; what the drive as it is gives has the key ""."""
        import polars as pl

        from drivelab.lab.result import Result

        def rows(report: Report, drive: Drive, known: dict[str, Any]) -> pl.DataFrame:
            summary = Result(report, drive, [self._job]).summary
            kinds = _kinds()
            literals = [pl.lit(known[name], dtype=kinds[name]).alias(name) for name in known]
            return summary.select(*literals, pl.exclude("job"))

        own = {"key": "", "unit": "", "value": None, "side": "", "varied": None}
        frames = [rows(self._base, self._drive, own)]
        for item, drive, report in self._varied:
            known = {name: getattr(item, name) for name in own}
            frames.append(rows(report, drive, known))
        return pl.concat(frames, how="vertical_relaxed")

    def effects(self, metric: str, direction: str | None = None) -> pl.DataFrame:
        """How far each parameter moves a column of `frame`, in per cent of what the drive as it is
        gives: `less_percent` and `more_percent` (null: left out, not measured, or of a column that
        is 0 on the drive as it is), the most moving first.

        Raises RequestError for a column that isn't there, or not a number.
        """
        import polars as pl

        frame = self.frame()
        measures = [name for name, kind in frame.schema.items() if kind.is_numeric()]
        if metric not in measures or metric in ("value", "varied"):
            raise RequestError(f'"{metric}" is not measured{nearest(metric, measures)}')
        if direction is not None:
            frame = frame.filter(direction=direction)
        base = frame.filter(key="").select("direction", pl.col(metric).alias("base"))
        moved = frame.filter(pl.col("key") != "").join(base, on="direction", how="left")
        # 0 has no per cents; polars would say infinity, or no number.
        percent = 100 * (pl.col(metric) / pl.col("base") - 1)
        percent = pl.when(pl.col("base") != 0).then(percent)
        found = moved.with_columns(percent=percent).pivot(
            "side", index=["direction", "key", "unit", "value"], values=["percent", "varied"]
        )
        columns = {
            f"{name}_{side}": f"{side}_{name}" for name in ("percent", "varied") for side in SIDES
        }
        for name in columns:
            if name not in found.columns:
                found = found.with_columns(pl.lit(None, dtype=pl.Float64).alias(name))
        found = found.rename(columns)
        size = pl.max_horizontal(pl.col("less_percent").abs(), pl.col("more_percent").abs())
        order = ["direction", "key", "unit", "value", *(columns.values())]
        return found.select(order).sort(size.fill_null(0), descending=True, maintain_order=True)


@checks.keywords
def vary(
    drive: Drive,
    job: Job | Trace,
    *,
    by: float = BY,
    keys: Iterable[str] | None = None,
    state: str | State | None = None,
    workers: int | None = None,
    store: str | Path | None = None,
    progress: bool | Heard = True,
) -> Variations:
    """Measures a job on a drive, and with each of its numbers a share `by` less and as much more;
    of whole numbers by one at least.

    `keys` are the parameters that are varied, by default all numbers of the model that aren't 0.
    Variations are left out, with the reason, that make no drive, leave the parameter as it was at
    its scale, or make a number 0 that stands for something else (no limit, none). `state`,
    `workers`, `store` and `progress` are those of `sweep`.

    >>> found = vary(
    ...     Drive("intel-x25-m-g1-80gb", scale="1/64"),
    ...     Job(rw="randread", bs="4k", io_size="4m"),
    ...     keys=["flash.read_ns"], state="filled", workers=1,
    ... )
    >>> found.effects("latency_mean_us")["more_percent"].item() > 0
    True

    Raises RequestError for what can't be before anything runs, WorkError when it is stopped.
    """
    checks.instance("drive", drive, Drive)
    if not isinstance(job, Trace):
        checks.instance("job", job, Job)
    if drive.history:
        raise RequestError("vary(): the drive has a past already; give a new one and state=...")
    state = "new" if state is None else state
    points = [Point({}, 0, drive.in_state(state), job)]
    variations: list[Variation] = []
    left_out: list[LeftOut] = []
    for item, found in variants(drive, by, keys, job.check):
        if isinstance(found, LeftOut):
            left_out.append(found)
            continue
        variations.append(item)
        points.append(Point({item.key: item.varied}, 0, found.in_state(state), job))
    job.check(drive.model)
    reports = measured(points, workers=workers, store=store, progress=progress)
    varied = zip(variations, (point.drive for point in points[1:]), reports[1:], strict=True)
    return Variations(points[0].drive, job, reports[0], list(varied), left_out)


def variants(
    drive: Drive, by: float, keys: Iterable[str] | None, check: Callable[[Model], object]
) -> Iterator[tuple[Variation, Drive | LeftOut]]:
    """Every variation of a drive's numbers, with the drive that it makes or why it makes none.

    `check` refuses, with a RequestError, a model that what is measured can't be on.
    Raises RequestError for a share or keys that can't be.
    """
    wanted = None if keys is None else checks.texts("keys", keys)
    for item, zero in _variations(drive.model, checks.share("by", by), wanted):
        try:
            if zero:
                raise RequestError(f"{item.key} = 0 is another thing than a little less: {zero}")
            own = drive.with_parameters({item.key: _plain(item.varied)})
            check(own.model)
            _check_differs(own.model, drive.model, item)
        except RequestError as error:
            yield item, LeftOut(item.key, item.side, str(error))
        else:
            yield item, own


def numbers(model: Model) -> dict[str, dict[str, Any]]:
    """The parameters of a model that are numbers which results may follow from, by key; of a small
    version those of the drive that it stands for."""
    whole = model if model.scale == 1 else model.with_overrides([("scale_divisor", "1")])
    return {
        item["key"]: item
        for item in whole.parameters
        if isinstance(item["value"], int | float)
        and not isinstance(item["value"], bool)
        and item["key"] not in NOT_VARIED
    }


def _check_differs(varied: Model, model: Model, item: Variation) -> None:
    """Raises RequestError if a small version has the same value: what it has is rounded, and what
    else moves with it (its capacity) says nothing of the parameter."""
    value = model.value(item.key)
    if value is not None and varied.value(item.key) == value:
        raise RequestError(
            f"{item.key} = {_plain(item.varied)}: {value} as before in a drive of "
            f"1/{model.scale} of the size; a larger one shows it"
        )


def _variations(
    model: Model, by: float, keys: Iterable[str] | None
) -> Iterator[tuple[Variation, str]]:
    """Every number of a model, less and more, and what it stands for if it becomes a 0 that is no
    number; raises RequestError for a key that is none."""
    known = numbers(model)
    wanted = [key for key, item in known.items() if item["value"]] if keys is None else list(keys)
    for key in wanted:
        if key not in known:
            raise RequestError(f'"{key}" is no number of {model.name}{_reason(model, key)}')
        item = known[key]
        value = item["value"]
        step = abs(value) * by
        if isinstance(value, int):
            step = max(1, round(step))
        if step:
            for side, varied in zip(SIDES, (value - step, value + step), strict=True):
                zero = "" if varied else item["help"].partition(ZERO)[2]
                yield Variation(key, item["unit"], value, side, varied), zero


def _reason(model: Model, key: str) -> str:
    """What one might have meant, or why there is no such number."""
    follows = {item["key"] for item in model.left_out if item["comes_to"] is not None}
    if key in follows:
        there = ", ".join(name for name in CAPACITIES if name in numbers(model))
        return f": it follows from others there; vary {there}"
    return nearest(key, numbers(model))


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _kinds() -> dict[str, Any]:
    import polars as pl

    return {
        "key": pl.String,
        "unit": pl.String,
        "value": pl.Float64,
        "side": pl.String,
        "varied": pl.Float64,
    }
