"""Every plot of a report as a chart of its own, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from drivelab.charts import Chart, Line, Scale, Text, palette, stacks
from drivelab.report import bars as bar_charts
from drivelab.report.bars import BarChart, StackChart
from drivelab.report.reading import Reviewed


def bars(chart: BarChart, chart_id: str) -> Chart:
    """Lying bars in the colours of their states, the best first."""
    named: dict[str, list[tuple[str, float]]] = {}
    for bar in chart.bars:
        label = ", ".join(filter(None, (bar.label, bar.note, bar.source)))
        named.setdefault(_token(bar.kind), []).append((label, bar.value))
    parts = [
        Line(token[1:], token, [label for label, _ in of], [value for _, value in of])
        for token, of in named.items()
    ]
    words = "; ".join(f"{bar.label} {bar.note}: {bar.text}" for bar in chart.bars)
    text = Text(chart.title, f"{chart.unit}, {chart.direction}", words, chart_id)
    order = [", ".join(filter(None, (b.label, b.note, b.source))) for b in chart.bars]
    return stacks(text, parts, Scale(chart.unit), order=order)


def _token(kind: str) -> str:
    """The colour of a bar, from its CSS classes."""
    words = (word.removeprefix("s-") for word in reversed(kind.split()))
    return f"${next(word for word in words if word in palette.LIGHT)}"


def parts(chart: StackChart, chart_id: str) -> Chart:
    """Bars made of the parts of a latency."""
    names = [", ".join(filter(None, (stack.label, stack.state))) for stack in chart.stacks]
    lines = []
    for part in palette.PARTS:
        spent = [
            next((s.spent for s in stack.segments if s.part == part), 0.0) for stack in chart.stacks
        ]
        lines.append(Line(part, f"${part}", names, spent))
    words = "; ".join(
        f"{name}: " + ", ".join(f"{s.part} {s.text}" for s in stack.segments)
        for name, stack in zip(names, chart.stacks, strict=True)
    )
    return stacks(Text(chart.title, "", words, chart_id), lines, Scale("Mean latency", "µs"))


def all_of(review: Reviewed, plots: Sequence[Chart]) -> Iterator[Chart]:
    """The plots of a page, and its bars."""
    yield from plots
    yield from _numbered(bar_charts.comparisons(review), "bars")
    yield from _numbered(bar_charts.write_amplification(review), "amplification")
    for writes, name in ((True, "write-parts"), (False, "read-parts")):
        found = bar_charts.splits(review, writes=writes)
        yield from (parts(chart, f"{name}-{index}") for index, chart in enumerate(found))


def _numbered(charts: Iterable[BarChart], name: str) -> Iterator[Chart]:
    for index, chart in enumerate(charts):
        yield bars(chart, f"{name}-{index}")
