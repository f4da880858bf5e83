"""What a study says in a sentence: the one thing that a reader would decide by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from drivelab import verdicts
from drivelab.records.test import Compound
from drivelab.report import quantities as q
from drivelab.report import streams
from drivelab.report.sentences import Finding, comparison

Numbers = Mapping[str, float]


def findings(test: Compound) -> Iterator[Finding]:
    """The findings of a study; none of any other test, and none where its numbers are missing."""
    story = STORIES.get(streams.declared(test).story)
    if story is None:
        return
    numbers = {value.name: value.value for value in test.values if value.value is not None}
    try:
        yield from story(test, numbers)
    except KeyError:
        # A quick study has fewer points.
        return


def _steady(test: Compound) -> str:
    """What the points of a study are, of which some may have been cut off."""
    cut = any(row.get("steady") == "no" for table in test.tables for row in table.rows)
    return (
        "random 4 KiB writes, not all of them steady yet" if cut else "steady random 4 KiB writes"
    )


def _spare_area(test: Compound, of: Numbers) -> Iterator[Finding]:
    sold, more = of["as_sold_write_amplification"], of["spare_28_write_amplification"]
    rows = [row for table in test.tables for row in table.rows]
    own = next((q.number(r.get("spare_percent")) for r in rows if r.get("variant") == "as sold"), 0)
    _, words = comparison(of["spare_28_mib_per_s"] / of["as_sold_mib_per_s"] - 1)
    yield Finding(
        f"{q.significant(sold)} → {q.significant(more)}",
        f"With 28{q.NBSP}% of spare area instead of {q.significant(own, 2)}{q.NBSP}%, each byte of "
        f"random writes costs {q.significant(more)} bytes of flash instead of "
        f"{q.significant(sold)}, and the drive writes {words} as sold.",
        f"{_steady(test)}: {q.throughput(of['as_sold_mib_per_s'])} as sold, "
        f"{q.throughput(of['spare_28_mib_per_s'])} with 28{q.NBSP}%",
    )


def _fill_level(test: Compound, of: Numbers) -> Iterator[Finding]:
    figure, words = comparison(of["half_full_mib_per_s"] / of["full_mib_per_s"] - 1)
    detail = (
        f"{_steady(test)}: {q.throughput(of['full_mib_per_s'])} full, "
        f"{q.throughput(of['half_full_mib_per_s'])} half full"
    )
    if "half_trimmed_mib_per_s" in of:
        detail += f", {q.throughput(of['half_trimmed_mib_per_s'])} half full after TRIM"
    yield Finding(figure, f"Half full, the drive writes at random {words} full.", detail)


def _partition(test: Compound, of: Numbers) -> Iterator[Finding]:
    figure, words = comparison(of["partition_random_mib_per_s"] / of["whole_random_mib_per_s"] - 1)
    title = next(v.title for v in test.values if v.name == "partition_random_mib_per_s")
    where = title.rpartition(", ")[2]
    yield Finding(
        figure,
        f"After torture, a partition of {where} is written at random {words} the whole drive.",
        f"{q.throughput(of['whole_random_mib_per_s'])} whole, "
        f"{q.throughput(of['partition_random_mib_per_s'])} on the partition",
    )


def _resiliency(test: Compound, of: Numbers) -> Iterator[Finding]:
    worn = of["tortured_pass_write_percent"] / 100
    for name, cause in (("trimmed", "TRIM of everything"), ("passed", "One sequential pass")):
        if f"{name}_pass_write_percent" in of and verdicts.differ(worn, 1.0):
            back = of[f"{name}_pass_write_percent"] / 100
            yield Finding(
                f"{q.percent(worn)} → {q.percent(back)}",
                f"{cause} brings a pass of writes over the tortured drive from {q.percent(worn)} "
                f"to {q.percent(back)} of its speed after secure erase.",
                f"{test.title}; mean over positions",
            )


def _alignment(test: Compound, of: Numbers) -> Iterator[Finding]:
    kept = of["random_4k_shifted_percent"] / 100
    if verdicts.differ(kept, 1.0):
        yield Finding(
            q.percent(kept - 1, signed=True),
            f"At the worst offset, random 4 KiB writes keep {q.percent(kept)} of the speed that "
            "they have when aligned.",
            f"{q.throughput(of['random_4k_mib_per_s'])} aligned",
        )


def _compressibility(test: Compound, of: Numbers) -> Iterator[Finding]:
    kept = {name: amount / 100 for name, amount in of.items() if name.endswith("_kept_percent")}
    if not kept:
        return
    worst = min(kept, key=lambda name: kept[name])
    work = worst.removesuffix("_kept_percent").replace("_", " ") + "s"
    others = ", ".join(
        f"{name.removesuffix('_kept_percent').replace('_', ' ')} {q.percent(share)}"
        for name, share in kept.items()
    )
    if verdicts.differ(kept[worst], 1.0):
        yield Finding(
            q.percent(kept[worst] - 1, signed=True),
            f"Of data that don't compress, {work} keep {q.percent(kept[worst])} of their speed.",
            f"incompressible, of compressible: {others}",
        )


STORIES: dict[str, Callable[[Compound, Numbers], Iterator[Finding]]] = {
    "spare-area": _spare_area,
    "fill-level": _fill_level,
    "partition": _partition,
    "resiliency": _resiliency,
    "alignment": _alignment,
    "compressibility": _compressibility,
}
"""By the name that tests declare."""
