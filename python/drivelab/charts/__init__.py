"""Charts: the only place where anything is drawn, for pages, notebooks, scripts and documents.

A chart is data: a Vega-Lite specification and its rows. A page draws it with the script of
`drivelab.charts.page`, `Chart.save` without a browser.
"""

from __future__ import annotations

from drivelab.charts.chart import Chart
from drivelab.charts.drawing import (
    Cells,
    Line,
    Text,
    bars,
    diagonal,
    heat,
    lines,
    stacks,
    steady_colours,
)
from drivelab.charts.scales import Scale, nines

__all__ = [
    "Cells",
    "Chart",
    "Line",
    "Scale",
    "Text",
    "bars",
    "diagonal",
    "heat",
    "lines",
    "nines",
    "stacks",
    "steady_colours",
]
