"""Charts: the only place where anything is drawn, for pages, notebooks, scripts and documents.

A chart is data: a Vega-Lite specification and its rows. A page draws it with the script of
`drivelab.charts.page`, `Chart.save` without a browser.
"""

from __future__ import annotations

from drivelab.charts.chart import Chart
from drivelab.charts.density import counted, density
from drivelab.charts.drawing import (
    Cells,
    Line,
    Text,
    bars,
    diagonal,
    heat,
    lines,
    points,
    stacks,
    steady_colours,
)
from drivelab.charts.judged import Mark, judged
from drivelab.charts.latencies import Curve, latencies
from drivelab.charts.scales import Scale, nines
from drivelab.charts.studies import Coordinate, effect, panels, parallel

__all__ = [
    "Cells",
    "Chart",
    "Coordinate",
    "Curve",
    "Line",
    "Mark",
    "Scale",
    "Text",
    "bars",
    "counted",
    "density",
    "diagonal",
    "effect",
    "heat",
    "judged",
    "latencies",
    "lines",
    "nines",
    "panels",
    "parallel",
    "points",
    "stacks",
    "steady_colours",
]
