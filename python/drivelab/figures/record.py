"""The record of `drivelab figures --json`: what is measured for it, and what is held against it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from drivelab import database, figures, model_layers, stored
from drivelab import model as models
from drivelab import review as laboratory
from drivelab.errors import RequestError
from drivelab.example import MODEL_NAME as EXAMPLE
from drivelab.figures.measured import is_small
from drivelab.figures.plan import measurements
from drivelab.storage_bench.comparison import compare_traces

Record = dict[str, Any]


def measured(
    drive: str | None,
    only: frozenset[str],
    overrides: models.Overrides,
    command_line: str,
    *,
    seed: int,
    workers: int,
    memory_bytes: int,
) -> Record:
    """The review that figures need: of the drive that this model is of, of those with identities
    `only`, or of all.

    Raises RequestError for a drive that no figure is about, and what `review.run` raises.
    """
    chosen = models.load(drive, overrides) if drive is not None else None
    if chosen is not None and not figures.has_figures(chosen.name):
        raise RequestError(
            f'--drive "{chosen.name}": no published figure is about this drive; '
            f"there are figures for: {', '.join(_reviewed_names())}"
        )
    needed = figures.readings_for(chosen.name if chosen is not None else None, only)
    if chosen is None:
        needed |= figures.ordering_readings(only) | figures.statement_readings(only)
    loaded = _models(chosen, overrides, {reading.model for reading in needed})
    plan = laboratory.Plan(
        models=loaded,
        measurements={
            model.name: measurements((r.test_id, r.state) for r in needed if r.model == model.name)
            for model in loaded
        },
        command_line=command_line,
        seed=seed,
        workers=workers,
        memory_bytes=memory_bytes,
    )
    return laboratory.run(plan)


def _models(
    chosen: models.Model | None, overrides: models.Overrides, names: Iterable[str]
) -> list[models.Model]:
    """The models of these names that there are; overrides are for the chosen one, or for all."""
    known = [name for name in model_layers.known_names() if name in set(names)]
    if chosen is None:
        return [models.load(name, overrides) for name in known]
    others = [models.load(name) for name in known if name != chosen.name]
    return [chosen, *others]


def of_review(path: Path, drive: str | None) -> Record:
    """An earlier review, as `measured` gives one; raises RequestError for one without the drive,
    and for what nothing was published of: parts of drives, and small versions."""
    run = stored.read(*stored.split(str(path)), "--results")
    if run.kind != database.REVIEW:
        raise RequestError(f'--results "{path}": a {run.kind}; figures follow from a review')
    found = dict(run.document)
    if found["drivelab"].get("span_bytes") is not None:
        raise RequestError(f'--results "{path}": a run with --span; figures are of whole drives')
    name = None if drive is None else models.load(drive).name
    asked = [model for model in found["models"] if name in (None, model["name"])]
    if not asked:
        raise RequestError(f'--drive "{drive}": not among the models reviewed in {path}')
    for model in asked:
        if is_small(model):
            raise RequestError(
                f'--results "{path}": a small version of {model["name"]}; figures are of drives of '
                "full size"
            )
    return found


def compared(document: Record, drive: str | None, only: frozenset[str]) -> Record:
    """What `--json` prints of a review: of one drive, of identities `only`, or of everything."""
    measured = figures.Measured(document["models"], document["tests"])
    records = figures.compare_all(measured)
    orders = figures.compare_orderings(measured)
    if drive is not None:
        # Ratios take other drives, too; their own figures aren't asked for.
        name = models.load(drive).name
        of_drive = {f.id for f in figures.published() if figures.owner_of(f) == name}
        records = [record for record in records if record["id"] in of_drive]
        orders = []
    claims = figures.judge_statements(measured) if drive is None else []
    if only:
        records, orders, claims = (
            [record for record in found if record["id"] in only]
            for found in (records, orders, claims)
        )
    parameters = figures.parameter_counts(measured, records)
    return {
        "drivelab": document["drivelab"],
        "models": [
            {key: model[key] for key in ("name", "title", "hash")} for model in document["models"]
        ],
        "figures": records,
        "orderings": orders,
        "statements": claims,
        "traces": compare_traces() if drive is None and not only else [],
        "parameters": parameters,
        "on_other_pages": other_pages(),
        "specification_sheet_only": unreviewed_names(),
        "summary": figures.summary(records, orders, claims, parameters),
    }


def unreviewed_names() -> list[str]:
    """Names of the models of drives that no figure is about, here or on a page of its own."""
    names = [name for name in model_layers.known_names() if name != EXAMPLE]
    return [name for name in names if not (figures.has_figures(name) or figures.page_of(name))]


def other_pages() -> dict[str, list[str]]:
    """Names of the models whose measured figures stand on other pages, by page."""
    found: dict[str, list[str]] = {}
    for name in model_layers.known_names():
        if page := figures.page_of(name):
            found.setdefault(page, []).append(name)
    return found


def _reviewed_names() -> list[str]:
    """Names of the models whose drives have been measured in a review."""
    return [name for name in model_layers.known_names() if figures.has_figures(name)]
