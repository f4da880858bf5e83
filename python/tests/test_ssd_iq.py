"""docs/against-ssd-iq.md is what its command writes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
import ssd_iq
from modelled import Modelled

import drivelab as dl
from drivelab.quantities import GIB
from drivelab.theory import Part, mixed_write_amplification

PARTS = 400
"""Of a zipf, by popularity."""


def test_the_page_has_every_table_and_drive() -> None:
    text = ssd_iq.DOCUMENT.read_text("utf-8")
    for name in ("zipf", "cold", "transients"):
        head = ssd_iq.SECTION.format(name=name)
        assert head + "| drive |" in text
        table = text.partition(head)[2].partition("<!-- end -->")[0]
        assert [f"`{drive.model}`" for drive in ssd_iq.DRIVES] == re.findall(r"`[^`]+`", table)
    head = ssd_iq.SECTION.format(name="hot")
    table = text.partition(head)[2].partition("<!-- end -->")[0]
    known = [f"`{drive.model}`" for drive in ssd_iq.DRIVES if any(drive.hot)]
    assert known == re.findall(r"`[^`]+`", table)
    assert ssd_iq.PICTURE.stat().st_size > 10_000


def test_the_tables_are_what_the_models_gave() -> None:
    text = ssd_iq.DOCUMENT.read_text("utf-8")
    kept = Modelled(ssd_iq.KEPT, "make ssd-iq", only="none of them")
    tables, _ = ssd_iq.parts(ssd_iq.collected(kept, {}))
    for name, table in tables.items():
        assert ssd_iq.SECTION.format(name=name) + table in text, "`make ssd-iq` writes it"


def test_the_readme_says_what_the_page_says() -> None:
    text = ssd_iq.DOCUMENT.read_text("utf-8")
    medians = [float(found) for found in re.findall(r"median is off by ([\d.]+) %", text)]
    [said] = re.findall(
        r"median errors of (\d+) to (\d+) %",
        (ssd_iq.DOCS.parent / "README.md").read_text("utf-8"),
    )
    assert [round(min(medians)), round(max(medians))] == [int(end) for end in said]


def test_a_drive_filled_in_sequence_writes_its_spare_area_at_full_speed() -> None:
    """And then falls to what blocks that are all alike leave: 1 - e^(-F / U) of the media rate."""
    found = ssd_iq.modelled(ssd_iq.MAX, ssd_iq.Writes("short", "random", 1.5))
    drive = dl.Drive(ssd_iq.MAX)
    spare = drive.model.effective_spare_ratio
    assert spare is not None
    assert found.transient is not None
    spare_gib = spare * drive.capacity_bytes / GIB
    assert found.transient.full_gib == pytest.approx(spare_gib, rel=0.04)
    assert found.transient.trough < found.mib_per_s < found.transient.overshoot


def behind_buffer(pages: float, exponent: float, buffered: int) -> tuple[float, list[Part]]:
    """Zipf-distributed writes behind a buffer of so many pages, first in, first out, that drops
    what comes again meanwhile: the share that it drops, and parts of equal popularity of the rest.

    A page that is written with p of all writes is in the buffer for the time T that `buffered`
    others take, and reaches flash with p / (1 + p T); the sum of p T / (1 + p T) is `buffered`.
    """
    ranks = [round(pages ** (step / PARTS)) for step in range(PARTS + 1)]
    bounds = sorted({0, *ranks})
    counts, weights = [], []
    for low, high in pairwise(bounds):
        counts.append(high - low)
        # The mean of its ends is near enough: neighbours differ by a twentieth.
        weights.append((high - low) * ((low + 1 + high) / 2) ** -exponent)
    popularity = [w / sum(weights) / count for w, count in zip(weights, counts, strict=True)]
    parts = list(zip(counts, popularity, strict=True))

    def inside(time: float) -> float:
        return sum(count * p * time / (1 + p * time) for count, p in parts)

    low, high = 0.0, 1e12
    for _ in range(100):
        time = (low + high) / 2
        low, high = (time, high) if inside(time) < buffered else (low, time)
    reach = [count * p / (1 + p * low) for count, p in parts]
    shares = [
        (count / bounds[-1], each / sum(reach))
        for (count, _), each in zip(parts, reach, strict=True)
    ]
    return 1 - sum(reach), [Part(*share) for share in shares]


def test_the_buffer_of_a_die_stands_for_a_whole_drives() -> None:
    """By what writes cost the PRO's flash; no other power of two is as near at all three zipfs."""
    drive = dl.Drive(ssd_iq.PRO)
    spare, pages = drive.model.effective_spare_ratio, drive.capacity_bytes // 4096
    assert spare is not None
    # The others' buffer: the PRO's drops nothing, and what writes cost there says what one would.
    whole_pages = dl.Drive(ssd_iq.PE8110).model.value("write_buffer.size_bytes") // 4096
    _, dies = ssd_iq.modern.part_of(ssd_iq.PRO)

    def cost(pages: float, exponent: float, buffered: int) -> float:
        dropped, parts = behind_buffer(pages, exponent, buffered)
        return (1 - dropped) * mixed_write_amplification(parts, spare)

    def worst(buffered: int) -> float:
        exponents = (0.6, 0.8, 1.0)
        of_die = [cost(pages / dies / ssd_iq.SCALE, each, buffered) for each in exponents]
        whole = [cost(pages, each, whole_pages) for each in exponents]
        return max(abs(a / b - 1) for a, b in zip(of_die, whole, strict=True))

    chosen = ssd_iq.BUFFER_BYTES // 4096
    assert worst(chosen) < 0.03
    assert min(worst(chosen // 2), worst(2 * chosen)) > 0.06
    drops = [behind_buffer(size, 1.0, buffered)[0] for size, buffered in (
        (pages, whole_pages), (pages / dies / ssd_iq.SCALE, whole_pages),
        (pages / dies / ssd_iq.SCALE, chosen),
    )]  # fmt: skip
    assert [round(100 * drop) for drop in drops] == [32, 43, 28], "as the page says"
