"""How a published figure follows from each parameter of a drive: each a little less, and more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from drivelab import figures, results, review, schedule, sources
from drivelab import model as models
from drivelab.errors import RequestError, WorkError, nearest
from drivelab.figures import reach
from drivelab.figures.plan import measurements
from drivelab.figures.published import Figure
from drivelab.figures.readings import Reading
from drivelab.lab import checks
from drivelab.lab.drive import Drive
from drivelab.lab.varying import (
    BY,
    SIDES,
    LeftOut,
    Variation,
    as_html,
    as_text,
    left_out_text,
    numbers,
    variants,
)
from drivelab.model import Model
from drivelab.progress import Bar, Crew, Heard, TaskProgress

if TYPE_CHECKING:
    import polars as pl

Record = dict[str, Any]
ROLES = ("specified", "fitted", "informed", "assumed")
"""Roles of parameters that are varied unless others are asked for: all but what is cited."""
SET = "set"
"""In place of a role: a parameter that the drive was given."""
NOTHING = (
    "the figure is 0 on the drive as it is, of which there are no per cents: less_modelled and "
    "more_modelled say what it becomes"
)
NO_VALUE = "the figure has no value there"
"""A moment that never comes, or a ratio to nothing."""


@dataclass(frozen=True)
class Moved:
    """What the figure becomes with one parameter varied."""

    variation: Variation
    modelled: float


class FigureVariations:
    """A published figure on a drive, and with each of its parameters a little less and more.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    >>> keys = ["link.frame_overhead_ns"]
    >>> found = dl.vary_figure(drive, "AN-149", keys=keys, quick=True, workers=1)
    >>> found.figure["unit"], found.frame()["less_modelled"].item() > found.modelled
    ('MiB/s', True)
    """

    def __init__(
        self,
        figure: Record,
        parameters: Mapping[str, str],
        moved: Sequence[Moved],
        left_out: Sequence[LeftOut],
        notes: Sequence[str] = (),
    ) -> None:
        of_nothing = [] if figure["modelled"] else [NOTHING]
        self.notes = [*notes, *of_nothing]
        """What must be known to read the numbers."""
        self.figure = figure
        """As results.json has it (docs/results.md): `published`, `unit`, `relation`, `role`,
        `modelled` on the drive as it is, `error_ratio`."""
        self.left_out = tuple(left_out)
        """Variations that make no drive, or give the figure no value, with the reasons."""
        self._parameters, self._moved = parameters, tuple(moved)

    @property
    def modelled(self) -> float:
        """The figure on the drive as it is, in its unit."""
        return float(self.figure["modelled"])

    def __repr__(self) -> str:
        figure = self.figure
        what = (
            f"{figure['id']}, {figure['metric']} of {figure['model'] or figure['drive']}: "
            f"{self.modelled:.6g} {figure['unit']}, published {figure['published']:g}"
        )
        shown = ["key", "role", "value", "unit"]
        shown += [f"{side}_{name}" for side in SIDES for name in ("modelled", "percent")]
        return as_text("FigureVariations", what, self.frame().select(shown), self._told())

    def _repr_html_(self) -> str:
        return str(self.frame()._repr_html_()) + as_html(self._told())

    def _told(self) -> list[str]:
        return [*self.notes, *left_out_text(self.left_out)]

    def frame(self) -> pl.DataFrame:
        """A row for each parameter, the most moving first.

        Its `key`, `role` ("set": the drive was given it), `unit` and `value`; `modelled`, the
        figure on the drive as it is; and for `less` and `more` what the parameter was set to
        (`less_varied`), the figure then (`less_modelled`), and the change (`less_percent`); null
        where it is left out, and all changes of a figure that is 0, as `notes` say.
        """
        import polars as pl

        rows: dict[str, Record] = {}
        for item in self._moved:
            own = item.variation
            row = rows.setdefault(own.key, self._row(own))
            row[f"{own.side}_varied"] = float(own.varied)
            row[f"{own.side}_modelled"] = item.modelled
            if self.modelled:
                row[f"{own.side}_percent"] = 100 * (item.modelled / self.modelled - 1)
        columns = [f"{side}_{name}" for side in SIDES for name in ("varied", "modelled", "percent")]
        schema: dict[str, type[pl.DataType]] = {"key": pl.String, "role": pl.String}
        schema["unit"] = pl.String
        schema |= dict.fromkeys(("value", "modelled", *columns), pl.Float64)
        found = sorted(rows.values(), key=lambda row: (-_size(row), row["key"]))
        return pl.DataFrame(found, schema=schema)

    def _row(self, item: Variation) -> Record:
        return {
            "key": item.key,
            "role": self._parameters[item.key],
            "unit": item.unit,
            "value": float(item.value),
            "modelled": self.modelled,
        }


def _size(row: Record) -> float:
    """By how much it moves the figure, in its unit: 0 has no per cents, and an order all the
    same."""
    found = [row.get(f"{side}_modelled") for side in SIDES]
    return max((abs(value - row["modelled"]) for value in found if value is not None), default=0.0)


@checks.keywords
def vary_figure(
    drive: Drive,
    figure: str,
    *,
    by: float = BY,
    roles: Iterable[str] = ROLES,
    keys: Iterable[str] | None = None,
    quick: bool = False,
    workers: int | None = None,
    progress: bool | Heard = True,
) -> FigureVariations:
    """Measures a published figure (docs/figures.md) on a drive, and with each of its parameters a
    share `by` less and as much more; of whole numbers by one at least.

    `figure` is an identity as `drivelab figures --drive NAME` lists them: one of the drive, or a
    ratio that it is a part of; the other drives of a ratio stay as they are. Varied are numbers
    that aren't 0 (off) and whose source has one of `roles` ("specified", "fitted", "informed",
    "assumed"; "cited" is allowed, too), and those that the drive was given; or `keys`. Parameters
    of power are left alone where no power is measured. Every measurement is that of
    `drivelab figures`, with the drive's seed; `quick` cuts tests to 10 s, except where what is
    rare is looked for. Results are the same to the bit with any number of `workers`. `progress`: a
    bar on a terminal, or somebody who hears of it.

    >>> drive = Drive("intel-x25-m-g1-80gb", scale="1/64")
    >>> found = vary_figure(drive, "AN-149", keys=["link.frame_overhead_ns"], quick=True, workers=1)
    >>> found.frame()["more_percent"].item() < 0
    True

    Nothing was published of a small version: of one, how far a figure moves says something, what
    it is doesn't, as `notes` of the result say. Raises RequestError for what can't be before
    anything runs, WorkError where the figure has no value on the drive as it is, or when it is
    stopped.
    """
    checks.instance("drive", drive, Drive)
    checks.text("figure", figure)
    checks.switch("quick", quick)
    if workers is not None:
        checks.whole("workers", workers, 1, schedule.WORKERS_MAX)
    if drive.history:
        raise RequestError("vary_figure(): the drive has a past already; a figure has its own")
    published = chosen(drive.name, figure)
    own = [item for item in reach.readings_of(published) if item.model == drive.name]
    parameters = roles_of(drive)
    asked = _usual_keys(drive, wanted_roles(roles), own) if keys is None else keys
    found = list(variants(drive, by, asked, partial(_check_fits, drive.name, own)))
    _check_fits(drive.name, own, drive.model)
    bench = _Bench(published, drive, quick)
    made = [(f"{i.key} = {i.varied:g}", own) for i, own in found if isinstance(own, Drive)]
    shown, heard = (progress, None) if isinstance(progress, bool) else (False, progress)
    base, *values = bench.records([("as it is", drive), *made], workers, shown, heard)
    if base["modelled"] is None:
        raise WorkError(f"{figure}: {base['reason'] or NO_VALUE}")
    notes = small_notes(drive.model)
    return _sorted_out(base, parameters, found, values, notes)


def small_notes(model: models.Model) -> list[str]:
    """What must be known of a figure of a small version; nothing of a drive of full size."""
    if model.scale == 1:
        return []
    size = (
        f"a drive of 1/{model.scale} of the size, of which nothing was published: how far the "
        "figure moves says something, what it is doesn't"
    )
    return [size, *models.scale_notes(model.scale_remarks)]


def _sorted_out(
    base: Record,
    parameters: Mapping[str, str],
    found: Sequence[tuple[Variation, Drive | LeftOut]],
    values: Sequence[Record],
    notes: Sequence[str],
) -> FigureVariations:
    """Which variations moved the figure, and which are left out."""
    remaining = iter(values)
    moved: list[Moved] = []
    left_out: list[LeftOut] = []
    for item, made in found:
        if isinstance(made, LeftOut):
            left_out.append(made)
            continue
        record = next(remaining)
        if record["modelled"] is None:
            left_out.append(LeftOut(item.key, item.side, record["reason"] or NO_VALUE))
        else:
            moved.append(Moved(item, record["modelled"]))
    return FigureVariations(base, parameters, moved, left_out, notes)


def chosen(name: str, figure: str) -> Figure:
    """The figure of an identity; raises RequestError for one that this model doesn't reach."""
    reached = {found.id: found for found in reach.reached_by(name)}
    if not reached:
        raise RequestError(f'figure "{figure}": no published figure follows from {name}')
    if figure not in reached:
        known = figure in figures.figures_by_id()
        why = f"doesn't follow from {name}" if known else "is unknown"
        raise RequestError(
            f'figure "{figure}" {why}{nearest(figure, reached)}; allowed: {", ".join(reached)}'
        )
    return reached[figure]


def wanted_roles(roles: Iterable[str]) -> tuple[str, ...]:
    """Roles of parameters; raises RequestError for a word that is none."""
    wanted = checks.texts("roles", roles)
    for role in wanted:
        if role not in sources.ROLES:
            raise RequestError(f'roles: "{role}": allowed: {", ".join(sources.ROLES)}')
    return wanted


def roles_of(drive: Drive) -> dict[str, str]:
    """The role of every number of a drive, by key; "set" of those that it was given."""
    given = {key for key, _ in drive.model.overrides}
    return {
        key: SET if key in given else str(item["role"] or "default")
        for key, item in numbers(drive.model).items()
    }


def _usual_keys(drive: Drive, roles: Sequence[str], own: Sequence[Reading]) -> list[str]:
    """Numbers that aren't 0, of these roles or given, that may reach the figure."""
    known = numbers(drive.model)
    return [
        key
        for key, role in roles_of(drive).items()
        if role in (*roles, SET)
        and known[key]["value"]
        and sources.acts(key)
        and any(reach.reaches(key, reading) for reading in own)
    ]


def _check_fits(name: str, own: Sequence[Reading], model: Model) -> None:
    """Raises RequestError for a drive on which the figure's tests use more than it has."""
    for item in measurements((reading.test_id, reading.state) for reading in own):
        if not item.procedure.fits(model.user_capacity_bytes):
            raise RequestError(
                f"{name}: {item.procedure.id} uses more than such a drive has "
                f"({model.user_capacity_bytes} bytes); a larger one shows it"
            )


class _Bench:
    """Measures what a figure follows from on one form of a drive and another."""

    def __init__(self, figure: Figure, drive: Drive, quick: bool) -> None:
        self._figure, self._drive, self._quick = figure, drive, quick
        self._readings = reach.readings_of(figure)
        names = sorted({item.model for item in self._readings} - {drive.name})
        self._others = [models.load(name) for name in names]

    def records(
        self,
        drives: Sequence[tuple[str, Drive]],
        workers: int | None,
        shown: bool,
        heard: Heard | None,
    ) -> list[Record]:
        """The figure of each drive, beside its modelled value; other drives are measured once."""
        jobs = [(text, [drive.model]) for text, drive in drives]
        jobs += [(other.name, [other]) for other in self._others]
        tasks = [TaskProgress(f"{self._drive.name}: {text}") for text, _ in jobs]
        with Bar(len(tasks), shown, heard) as bar, Crew(workers or self._workers(), bar) as crew:
            crew.tasks.extend(tasks)
            futures = [
                crew.submit(task, partial(self._measured, loaded))
                for task, (_, loaded) in zip(tasks, jobs, strict=True)
            ]
            tests = crew.wait(*futures)
        beside = [record for found in tests[len(drives) :] for record in found]
        records = []
        for (_, drive), own in zip(drives, tests[: len(drives)], strict=True):
            known = [results.model_result(one) for one in (drive.model, *self._others)]
            measured = figures.Measured(known, [*own, *beside])
            records.append(figures.record_of(self._figure, measured))
        return records

    def _workers(self) -> int:
        """As many as there are processors, and as drives fit into memory, each with a copy."""
        most = 2 * max(one.memory_bytes for one in (self._drive.model, *self._others))
        fitting = max(1, schedule.usual_memory_bytes() // max(1, most))
        return min(schedule.usual_workers(), fitting)

    def _measured(self, loaded: Sequence[models.Model], progress: TaskProgress) -> list[Record]:
        """Records of tests of the whole review of these models."""
        tests: list[Record] = []
        parts = [
            self._plan(loaded, quick) for quick in ((True, False) if self._quick else (False,))
        ]
        plans = [plan for plan in parts if any(plan.measurements.values())]
        for plan in plans:
            heard = _Hearing(progress, 1 / len(plans))
            tests += review.run(plan, shown=False, heard=heard)["tests"]
        return tests

    def _plan(self, loaded: Sequence[models.Model], quick: bool) -> review.Plan:
        """Tests that are cut short, or all others."""
        wanted = [r for r in self._readings if (self._quick and not reach.is_long(r)) is quick]
        return review.Plan(
            models=loaded,
            measurements={
                model.name: measurements(
                    (r.test_id, r.state) for r in wanted if r.model == model.name
                )
                for model in loaded
            },
            command_line="",
            seed=self._drive.seed,
            quick=quick,
            workers=1,
        )


class _Hearing:
    """Makes what a review tells a share of a task; ends the review when the task is to end."""

    def __init__(self, progress: TaskProgress, share: float) -> None:
        self._progress, self._share, self._done = progress, share, 0.0

    def __call__(self, done: float, _: Sequence[str]) -> None:
        if self._progress.cancelled:
            raise WorkError("stopped")
        self._progress.add((done - self._done) * self._share)
        self._done = done
