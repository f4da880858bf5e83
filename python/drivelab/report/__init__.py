"""The report of a review: one HTML file that needs nothing else and opens offline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from drivelab.charts import Chart
from drivelab.records.model import Model, Parameter
from drivelab.report import (
    bars,
    charts,
    compound,
    drawn,
    fields,
    findings,
    index,
    page,
    quantities,
    rankings,
    smart,
    tables,
    tails,
)
from drivelab.report.reading import Reviewed, read

__all__ = ["every_plot", "render"]


@dataclass(frozen=True)
class ModelSection:
    """What the report shows of each model by itself."""

    model: Model
    capacity: str
    raw: str
    spare: str
    effective_spare: str
    key_parameters: list[tuple[str, str]]
    parameter_groups: list[tuple[str, list[Parameter]]]
    contrasts: list[tables.Contrast]
    latencies: list[tables.Row]
    raw_gib: str
    user_gb: str
    stacks: list[bars.StackChart]
    time_charts: list[Chart]
    amplification_charts: list[Chart]
    slow_charts: list[Chart]
    latency_fields: list[Chart]
    position_charts: list[Chart]
    latency_charts: list[Chart]
    tail_charts: list[Chart]
    groups: list[compound.Group]
    warnings: list[str]
    readings: list[smart.Row]
    """What a real drive said around each test."""

    @property
    def charts(self) -> Iterator[Chart]:
        """Everything that is drawn of the model."""
        yield from self.time_charts
        yield from self.amplification_charts
        yield from self.slow_charts
        yield from self.latency_fields
        yield from self.position_charts
        yield from self.latency_charts
        yield from self.tail_charts
        for group in self.groups:
            for test in group.tests:
                yield from test.charts

    @property
    def index(self) -> list[index.Entry]:
        """Where each test is shown."""
        plots = {
            "over time": self.time_charts,
            "write amplification": self.amplification_charts,
            "latency over time": self.slow_charts,
            "every latency over time": self.latency_fields,
            "by position": self.position_charts,
            "latency": self.latency_charts,
            "tails": self.tail_charts,
        }
        return index.entries(plots, self.groups)


def _group(parameter: Parameter) -> str:
    head, dot, _ = parameter.key.rpartition(".")
    return head if dot else "general"


def _giga(count_bytes: float | None) -> float | None:
    return None if count_bytes is None else count_bytes / 1e9


def _section(review: Reviewed, model: Model, place: int) -> ModelSection:
    ordered = sorted(model.parameters, key=lambda p: p.key.count(".") > 0)
    tests = [test for test in review.tests if test.model == model.name]
    return ModelSection(
        model=model,
        capacity=quantities.capacity(model.user_capacity_bytes),
        raw=quantities.capacity(model.raw_capacity_bytes),
        spare=quantities.percent(model.spare_ratio),
        effective_spare=quantities.percent(model.effective_spare_ratio),
        key_parameters=tables.key_parameters(model),
        parameter_groups=[(name, list(group)) for name, group in groupby(ordered, _group)],
        contrasts=tables.contrasts(review, model.name),
        latencies=tables.latencies(review, model.name),
        raw_gib=quantities.data(model.raw_capacity_bytes),
        user_gb=quantities.with_unit(_giga(model.user_capacity_bytes), "GB"),
        stacks=bars.splits(review, writes=True, model=model.name),
        position_charts=charts.courses(
            review, model.name, charts.OVER_POSITION, f"position-{place}"
        ),
        time_charts=charts.courses(review, model.name, charts.OVER_TIME, f"time-{place}"),
        amplification_charts=charts.courses(
            review, model.name, charts.AMPLIFICATION, f"amplified-{place}"
        ),
        slow_charts=charts.courses(review, model.name, charts.SLOW, f"slow-{place}"),
        latency_fields=fields.fields(review, model.name, f"field-{place}"),
        tail_charts=tails.tails(review, model.name, f"tails-{place}"),
        latency_charts=charts.latency_percentiles(review, model.name, f"latency-{place}"),
        groups=compound.groups(review, model.name, f"test-{place}"),
        warnings=list(smart.warnings(model, tests)),
        readings=smart.table(tests),
    )


def _grouped(sections: list[ModelSection]) -> list[tuple[str, str]]:
    """Titles and anchors of the groups of compound tests, in order."""
    titles = dict.fromkeys(group.title for section in sections for group in section.groups)
    return [(title, "group-" + title.lower().replace(" ", "-")) for title in titles]


def _title(review: Reviewed) -> str:
    names = [model.title for model in review.models] or ["nothing"]
    if len(names) >= rankings.MANY:
        return f"{len(names)} drives side by side"
    text = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    states = list(dict.fromkeys(s for m in review.models for s in review.states_of(m.name)))
    words = " and ".join(states) if len(states) < 3 else f"in {len(states)} states"
    return text + (f", {words}" if words else "")


def _sections(review: Reviewed) -> list[ModelSection]:
    return [_section(review, model, place) for place, model in enumerate(review.models)]


def _plots(sections: list[ModelSection], agreement: list[Chart]) -> list[Chart]:
    return [*(chart for section in sections for chart in section.charts), *agreement]


def every_plot(results: dict[str, Any]) -> dict[str, Chart]:
    """Everything that the report of a review draws, by id: its plots, and its bars as charts.

    `results` is the content of results.json.
    """
    review = read(results)
    found = _plots(_sections(review), charts.agreement(review))
    return {chart.id: chart for chart in drawn.all_of(review, found)}


def render(results: dict[str, Any]) -> str:
    """The report of a review as HTML.

    `results` is the content of results.json. Null values are shown as an em dash and what depends
    on them is left out. The same results give the same text. Raises RequestError for what isn't as
    `records/` defines it.
    """
    review = read(results)
    many = len(review.models) >= rankings.MANY
    sections = _sections(review)
    agreement = charts.agreement(review)
    states = sorted({s for m in review.models for s in review.states_of(m.name)}, key=review.rank)
    shown = _plots(sections, agreement)
    return (
        page.environment()
        .get_template("field.html.j2" if many else "report.html.j2")
        .render(
            title=_title(review),
            many=many,
            review=review,
            run=review.drivelab,
            sections=sections,
            states=[(state, bars.state_class(review, state)) for state in states],
            descriptions=tables.descriptions(review),
            settings=tables.settings(review),
            others=list(dict.fromkeys(test.title for test in review.compounds)),
            span=quantities.size(review.drivelab.span_bytes),
            smart_columns=smart.COLUMNS,
            published=tables.published(review),
            unmodelled=tables.unmodelled(review),
            contrasted=any(section.contrasts for section in sections),
            timed=any(section.time_charts or section.position_charts for section in sections),
            told_latencies=any(test.latency_us.mean is not None for test in review.streams),
            grouped=_grouped(sections),
            agreement=agreement,
            drawing=page.drawn(shown),
            wall=quantities.duration(review.wall_s),
            style=page.style(),
            helpers=[page.inline("tables.js"), page.inline("filter.js" if many else "index.js")],
            **(_ranked(review, sections) if many else _told(review)),
        )
    )


def _told(review: Reviewed) -> dict[str, Any]:
    """What only the report of few models shows."""
    return {
        "findings": findings.findings(review),
        "comparisons": bars.comparisons(review),
        "notes": tables.notes(review),
        "write_splits": bars.splits(review, writes=True),
        "read_splits": bars.splits(review, writes=False),
        "amplification": bars.write_amplification(review),
        "wear": tables.wear(review),
        "seasoning": tables.seasoning(review),
        "power": tables.power(review),
    }


def _ranked(review: Reviewed, sections: list[ModelSection]) -> dict[str, Any]:
    """What only the report of many models shows."""
    by_name = {section.model.name: section for section in sections}
    return {
        "findings": rankings.findings(review),
        "families": [
            {
                "word": family.word,
                "title": family.title,
                "sections": [by_name[model.name] for model in family.models],
            }
            for family in rankings.families(review)
        ],
        "rankings": rankings.rankings(review),
        "amplifications": rankings.amplifications(review),
    }
