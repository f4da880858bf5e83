"""The page of a study: what moves what. One file that needs nothing else and opens offline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from drivelab import _engine, output
from drivelab.charts import Chart
from drivelab.errors import RequestError
from drivelab.lab import study_plots
from drivelab.quantities import number
from drivelab.report import page

if TYPE_CHECKING:
    from drivelab.lab.study import Study

PACKAGE = "drivelab.lab"
ROWS_MAX = 2000
"""Rows of points that the page lists; `frame` and --csv have all."""
HUE = "write_amplification"


def write(study: Study, path: Path) -> Path:
    """Writes the page of a study; it appears whole or not at all."""
    if not study.keys:
        raise RequestError("report(): nothing was varied but seeds")
    output.writable_file(path, "report()", *output.HTML)
    html = render(study)
    output.publish(path.parent, {path.name: lambda file: _write(file, html)})
    return path


def _write(file: Path, html: str) -> None:
    file.write_text(html, encoding="utf-8")


def render(study: Study) -> str:
    """The page of a study."""
    frame, keys = study.frame(), study.keys
    directions = frame["direction"].unique(maintain_order=True).to_list()
    parts = [_part(study, frame, each, len(directions) > 1) for each in directions]
    several = [key for key in ("repeat", "direction") if frame[key].n_unique() > 1]
    columns = [*keys, *several, *parts[0]["metrics"]]
    combinations = frame.select(keys).n_unique()
    drawn = [chart for part in parts for chart in _charts(part)]
    return (
        page.environment(PACKAGE)
        .get_template("study.html.j2")
        .render(
            many=False,
            run={"engine_version": _engine.engine_version(), "quick": False},
            helpers=[page.inline("tables.js")],
            style=page.style() + page.inline("study.css", PACKAGE),
            drawing=page.drawn(drawn),
            title=study.title,
            opening=_opening(study, frame, columns),
            notes=study.notes,
            keys=keys,
            parts=parts,
            is_grid=combinations == math.prod(frame[key].n_unique() for key in keys),
            columns=columns,
            rows=[
                [_cell(value) for value in row]
                for row in frame.select(columns).head(ROWS_MAX).rows()
            ],
        )
    )


def _opening(study: Study, frame: pl.DataFrame, columns: Sequence[str]) -> str:
    values = [f"{key} ({frame[key].n_unique()} values)" for key in study.keys]
    cut = f" The first {ROWS_MAX} are listed below." if frame.height > ROWS_MAX else ""
    return f"{len(study)} points over {', '.join(values)}.{cut}"


def _part(study: Study, whole: pl.DataFrame, direction: str, named: bool) -> dict[str, Any]:
    """What is shown of one direction."""
    frame = whole.filter(direction=direction)
    found = study.sensitivity().filter(direction=direction)
    metrics = found["metric"].unique(maintain_order=True).to_list()
    hue = HUE if HUE in metrics else metrics[0]
    return {
        "direction": direction if named else "",
        "metrics": metrics,
        "hue": hue,
        "table": [(metric, _cells(found.filter(metric=metric))) for metric in metrics],
        "parallel": study_plots.parallel(frame, study.keys, metrics, hue, f"all-{direction}"),
        "effects": [
            (
                metric,
                [
                    study_plots.effect(frame, key, metric, f"{direction}-{number_of}-{index}")
                    for index, key in enumerate(study.keys)
                ],
            )
            for number_of, metric in enumerate(metrics)
        ],
    }


def _charts(part: dict[str, Any]) -> Iterator[Chart]:
    yield part["parallel"]
    for _, charts in part["effects"]:
        yield from charts


def _cells(found: pl.DataFrame) -> list[dict[str, str]]:
    return [
        {
            "strength": f"{45 * (row['share'] or 0):.0f}%",
            "share": "all equal" if row["share"] is None else f"{100 * row['share']:.0f} %",
            "range": f"{number(row['mean_min'])} to {number(row['mean_max'])}",
        }
        for row in found.rows(named=True)
    ]


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
