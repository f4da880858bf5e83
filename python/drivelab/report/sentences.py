"""Parts of the sentences that findings are made of: a change, a test's work, its circumstances."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab import verdicts
from drivelab.records.test import Stream
from drivelab.report import quantities as q
from drivelab.report import streams

MANIFOLD = 4
"""Changes of speed by more than this factor are told as times, not as percentages."""
NUMBER_MANIFOLD = 2
"""The same of any other number."""


@dataclass(frozen=True)
class Finding:
    """One finding: the number that matters, a sentence, and the values behind it."""

    figure: str
    sentence: str
    detail: str


def change(before: float | None, after: float | None) -> float | None:
    """(after - before) / before, None where it means nothing."""
    return None if not before or after is None else after / before - 1


def comparison(ratio: float) -> tuple[str, str]:
    """A change of speed as a figure, and in words: "-41 %", "41 % slower than".

    Percentages beyond a doubling or a quarter say nothing to a reader: then it is times.
    """
    if not verdicts.differ(1.0, max(0.0, 1 + ratio)):
        return q.percent(ratio, signed=True), "as fast as"
    if ratio > MANIFOLD - 1:
        times = q.significant(1 + ratio, 2)
        return f"{times}{q.NBSP}×", f"{times} times as fast as"
    if 0 < 1 + ratio < 1 / MANIFOLD:
        times = q.significant(1 / (1 + ratio), 2)
        return f"1/{times}", f"{times} times slower than"
    word = "slower" if ratio < 0 else "faster"
    return q.percent(ratio, signed=True), f"{q.percent(abs(ratio))} {word} than"


def of_number(ratio: float, before: str, *, more_is_better: bool) -> tuple[str, str]:
    """A change of a number that isn't a speed, to `ratio` times what it was in a state: as a
    figure, and in words: "+24 %", "24 % worse than filled".

    It is the change of the number itself, of what should be low too: nobody reading 2 and 5 beside
    each other expects 60 %. Only better and worse go by the direction.
    """
    change_words = q.percent(ratio - 1, signed=True)
    if not verdicts.differ(1.0, ratio):
        return change_words, f"as good as {before}"
    word = "better" if (ratio > 1) == more_is_better else "worse"
    if ratio > NUMBER_MANIFOLD:
        times = q.significant(ratio, 2)
        return f"{times}{q.NBSP}×", f"{times} times that of {before}, which is {word}"
    if ratio < 1 / NUMBER_MANIFOLD:
        times = q.significant(1 / ratio, 2)
        return f"1/{times}", f"1/{times} of that of {before}, which is {word}"
    return change_words, f"{q.percent(abs(ratio - 1))} {word} than {before}"


NONE = "none"
"""The figure of a difference that repeats don't bear out."""


def compared(before: Stream, after: Stream, name: str = "mib_per_s") -> tuple[str, str] | None:
    """How a number of one test compares with another's, as `comparison`; None without both.

    A difference within the interval that repeats give it is called none.
    """
    one, other = getattr(before, name), getattr(after, name)
    ratio = change(one, other)
    if ratio is None:
        return None
    ones, others = streams.repeated(before, name), streams.repeated(after, name)
    if ones or others:
        large = verdicts.differ(1.0, max(0.0, 1 + ratio))
        if large and not verdicts.differ(one, other, ones, others):
            return NONE, "no differently, within the interval of the repeats, than"
    return comparison(ratio)


def circumstances(test: Stream) -> str:
    """Queue depth and alignment of a test in words, and what the rate of a pass is."""
    parts = []
    if test.queue_depth is not None:
        parts.append(f"queue depth {q.exact(test.queue_depth)}")
    if streams.pattern(test) == "random" and test.align_bytes is not None and test.block_bytes:
        aligned = test.align_bytes >= test.block_bytes
        parts.append(f"{q.size(test.align_bytes)}-aligned" if aligned else "sector-aligned")
    if streams.pattern(test) == "pass":
        parts.append("all bytes over all of the time")
    return ", ".join(parts)


def work(test: Stream) -> str:
    """What a test does: "random 4 KiB writes"."""
    kind = "writes" if test.writes else "reads"
    pattern = {
        "random": "random ",
        "sequential": "sequential ",
        "access": "random ",
        "pass": "sequential ",
    }
    block = "" if test.block_bytes is None else q.size(test.block_bytes) + " "
    return f"{pattern.get(streams.pattern(test), '')}{block}{kind}{_place(test)}"


def does(test: Stream) -> str:
    """What a drive does in a test: "writes random 4 KiB blocks"."""
    verb = "writes" if test.writes else "reads"
    block = "" if test.block_bytes is None else f" {q.size(test.block_bytes)}"
    how = f"random{block} blocks" if block else "at random"
    known = {"sequential": "sequentially", "pass": "all its blocks in a row"}
    return f"{verb} {known.get(streams.pattern(test), how)}{_place(test)}"


def _place(test: Stream) -> str:
    """Where on the drive, if a test says so, after a space."""
    place = streams.declared(test).place
    return f" {place}" if place else ""


def rates(test: Stream) -> str:
    """Throughput, of random work with IOPS."""
    text = q.throughput(test.mib_per_s, streams.plus_minus(test, "mib_per_s"))
    if streams.pattern(test) in ("sequential", "pass") or test.iops is None:
        return text
    return f"{text} ({q.iops(test.iops)})"
