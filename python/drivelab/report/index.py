"""An index of the tests of a report: where each is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from drivelab.charts import Chart
from drivelab.report.compound import Group


@dataclass(frozen=True)
class Entry:
    """A test, and the places (words, anchor) where it is shown."""

    title: str
    group: str
    places: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """What a search looks at."""
        return f"{self.title} {self.group}".lower()


STREAMS = "Streams"


def entries(plots: Mapping[str, Iterable[Chart]], groups: Sequence[Group]) -> list[Entry]:
    """Streams by the plots of each section, by title, then compound tests by group."""
    streams: dict[str, list[tuple[str, str]]] = {}
    for section, charts in plots.items():
        for chart in charts:
            streams.setdefault(chart.title, []).append((section, chart.id))
    found = [Entry(title, STREAMS, tuple(places)) for title, places in streams.items()]
    found += [
        Entry(test.title, group.title, (("results", test.anchor),))
        for group in groups
        for test in group.tests
    ]
    return found
