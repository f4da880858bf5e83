"""What the slowest requests of a test waited for, beside all of them."""

from __future__ import annotations

from drivelab.charts import Chart, Line, Scale, Text, palette, stacks
from drivelab.records.test import Stream
from drivelab.report import quantities as q
from drivelab.report import streams
from drivelab.report.reading import Reviewed

SHARES = Scale("Share of their mean latency", "%")


def tails(review: Reviewed, model: str, prefix: str) -> list[Chart]:
    """A chart for each test of a model that knows them: a bar for each tail and state."""
    found = []
    for index, test_id in enumerate(review.test_ids(model)):
        bars = [bar for test in review.of(test_id, model) for bar in _bars(test)]
        if not bars:
            continue
        title = review.of(test_id, model)[0].title
        parts = [
            Line(
                part,
                f"${part}",
                [name for name, _ in bars],
                [100 * split.get(part, 0.0) / sum(split.values()) for _, split in bars],
                words=[q.latency(split.get(part, 0.0)) for _, split in bars],
            )
            for part in palette.PARTS
        ]
        words = "; ".join(
            f"{name}: " + ", ".join(f"{part} {q.latency(us)}" for part, us in split.items() if us)
            for name, split in bars
        )
        about = f"What the slowest requests of {title} waited for; {words}"
        found.append(stacks(Text(title, "", about, f"{prefix}-{index}"), parts, SHARES))
    return found


def _bars(test: Stream) -> list[tuple[str, dict[str, float]]]:
    """Names and parts of a test's tails, all of its requests first."""
    slowest = [(f"slowest {100 * share:.2g} %", split) for share, split in streams.tails(test)]
    shown = [("all", streams.parts(test.split_mean_us)), *slowest] if slowest else []
    return [(f"{test.state}, {name}", of) for name, of in shown if sum(of.values()) > 0]
