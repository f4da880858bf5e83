"""The page of a study: what moves what. One file without scripts."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import polars as pl
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from matplotlib.figure import Figure

from drivelab import output
from drivelab.errors import RequestError
from drivelab.lab import study_plots
from drivelab.quantities import number

if TYPE_CHECKING:
    from drivelab.lab.study import Study

ROWS_MAX = 2000
"""Rows of points that the page lists; `frame` and --csv have all."""
HUE = "write_amplification"
SVG: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "drivelab",
    "font.family": "sans-serif",
}
"""Text stays text, and the same study gives the same page."""


def write(study: Study, path: Path) -> Path:
    """Writes the page of a study; it appears whole or not at all."""
    if not study.keys:
        raise RequestError("report(): nothing was varied but seeds")
    output.writable_file(path, "report()")
    html = render(study)
    output.publish(path.parent, {path.name: lambda file: _write(file, html)})
    return path


def _write(file: Path, html: str) -> None:
    file.write_text(html, encoding="utf-8")


def render(study: Study) -> str:
    """The page of a study."""
    frame, keys = study.frame(), study.keys
    directions = frame["direction"].unique(maintain_order=True).to_list()
    with mpl.rc_context(SVG):
        parts = [_part(study, frame, each, len(directions) > 1) for each in directions]
    several = [key for key in ("repeat", "direction") if frame[key].n_unique() > 1]
    columns = [*keys, *several, *parts[0]["metrics"]]
    combinations = frame.select(keys).n_unique()
    environment = Environment(
        loader=PackageLoader("drivelab.lab"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("study.html.j2").render(
        title=study.title,
        opening=_opening(study, frame, columns),
        notes=study.notes,
        keys=keys,
        parts=parts,
        is_grid=combinations == math.prod(frame[key].n_unique() for key in keys),
        columns=columns,
        rows=[
            [_cell(value) for value in row] for row in frame.select(columns).head(ROWS_MAX).rows()
        ],
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
        "parallel": _svg(study_plots.parallel(frame, study.keys, metrics, hue)),
        "effects": [
            (metric, [_svg(study_plots.effect(frame, key, metric)) for key in study.keys])
            for metric in metrics
        ],
    }


def _cells(found: pl.DataFrame) -> list[dict[str, str]]:
    return [
        {
            "strength": f"{0.45 * (row['share'] or 0):.2f}",
            "share": "all equal" if row["share"] is None else f"{100 * row['share']:.0f} %",
            "range": f"{number(row['mean_min'])} to {number(row['mean_max'])}",
        }
        for row in found.rows(named=True)
    ]


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _svg(figure: Figure) -> Markup:
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    # Without the declaration and the document type of a file of its own.
    text = file.getvalue()
    return Markup(text[text.index("<svg") :])
