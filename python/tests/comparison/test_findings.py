"""What a comparison says in words: who leads, and where drives differ most."""

from __future__ import annotations

import documents
import pytest
from comparison.sample import found

from drivelab.comparison import Comparison, Source, compare, page
from drivelab.report.quantities import NBSP


def test_findings_are_words_about_the_largest_difference() -> None:
    sentences = [finding.sentence.replace(NBSP, " ") for finding in found().findings]
    assert sentences[0] == "Drive B leads in 4 of 5 tests."
    assert "Drive B writes random 4 KiB blocks 2.3 times as fast as Drive A (used)." in sentences
    slow = [finding.sentence.replace(NBSP, " ") for finding in found(1.27).findings]
    assert "Drive B writes random 4 KiB blocks 27 % faster than Drive A (used)." in slow
    assert any("takes 2.3 times longer on Drive A" in sentence for sentence in sentences)
    assert len(sentences) <= 12


def test_what_is_measured_at_the_drives_end_is_said_to_be() -> None:
    """Its rate says nothing of the rest of the drive."""
    tests = [
        documents.stream(name, "used", "sequential-write-2m-end", rate=rate, direction="write")
        for name, rate in (("a", 10.0), ("b", 40.0))
    ]
    found = compare([Source("review", documents.review(*tests))], "").findings
    sentences = [finding.sentence.replace(NBSP, " ") for finding in found]
    assert (
        "Drive B writes sequentially at the end of the drive 4.0 times as fast as Drive A (used)."
    ) in sentences


def test_a_test_that_read_nothing_but_the_map_is_no_finding() -> None:
    value = {"name": "us", "title": "mean latency", "unit": "us", "better": "lower"}
    tests = [
        documents.compound(
            name, test_id="span", values=[value | {"value": us}], tables=[], charts=[]
        )
        | {"unmapped_read_share": 1.0, "host_write_bytes": 0}
        for name, us in (("a", 10.0), ("b", 40.0))
    ]
    comparison = compare([Source("review", documents.review(*tests))], "")
    assert not comparison.findings
    assert page.overview(comparison.sides, comparison.pairs) == []
    for test in tests:
        test["host_write_bytes"] = 1
    assert compare([Source("review", documents.review(*tests))], "").findings


def rated(*rates: tuple[float, ...]) -> Comparison:
    """Drives of these throughputs, each in a write and as many reads as there are rates."""
    tests = [
        documents.stream(name, "used", f"read-{number}", rate=rate, direction="read")
        for name, of in zip("abc", rates, strict=False)
        for number, rate in enumerate(of)
    ]
    return compare([Source("review", documents.review(*tests))], "")


def test_a_tie_is_no_lead() -> None:
    """Each leads in one test: a reader told that A leads would buy A."""
    tie = rated((10.0, 20.0, 30.0), (20.0, 10.0, 30.1)).findings[0]
    assert tie.sentence == "Drive A and Drive B lead in 1 of 3 tests each."
    assert tie.detail.replace(NBSP, " ") == "within 2 % of each other in 1"
    lead = rated((10.0, 20.0, 30.0), (20.0, 10.0, 31.0)).findings[0]
    assert lead.sentence == "Drive B leads in 2 of 3 tests."


def test_who_shares_the_first_place_of_a_test_does_not_lead_in_it() -> None:
    shared = rated((30.0, 20.0), (30.1, 10.0), (5.0, 5.0)).findings[0]
    assert shared.sentence == "Drive A leads in 1 of 2 tests."
    assert shared.detail.startswith("Drive B in 0, Drive C in 0; two or more share the lead in 1")
    nobody = rated((30.0,), (30.1,), (5.0,)).findings[0]
    assert nobody.sentence == "None of them leads in a test."


def test_drives_that_do_not_differ_are_said_not_to() -> None:
    [finding] = found(1.0).findings
    assert "No test tells them apart" in finding.sentence


def amplified(name: str, factor: float) -> documents.Record:
    """A replay as a test: its throughput differs little, its write amplification much."""
    value = {"name": "write_amplification", "title": "write amplification", "unit": ""}
    rate = {"name": "mib_per_s", "title": "throughput", "unit": "MiB/s", "better": "higher"}
    values = [rate | {"value": 20.0}, value | {"better": "lower", "value": factor}]
    return documents.review(
        documents.compound(name, test_id="replay t write", values=values, tables=[], charts=[])
    )


def said(*documents_: documents.Record) -> list[str]:
    sources = [Source(str(i), item) for i, item in enumerate(documents_)]
    found = compare(sources, "drivelab compare").findings
    return [f"{item.figure}: {item.sentence}".replace(NBSP, " ") for item in found]


@pytest.mark.parametrize(
    ("slower", "told"),
    [
        (8.0, "−20 %: Drive A finds any place in 20 % less time than Drive B (used)."),
        (2.0, "5.0 ×: Drive A finds any place 5.0 times as fast as Drive B (used)."),
    ],
)
def test_an_access_time_is_told_as_the_change_of_the_time(slower: float, told: str) -> None:
    a, b = (
        documents.review(documents.stream(name, "used", "access-time", rate=rate, direction="read"))
        for name, rate in (("a", 10.0), ("b", slower))
    )
    assert told in said(a, b)


def test_write_amplification_of_replays_is_a_finding() -> None:
    found = said(amplified("a", 1.2), amplified("b", 3.6))
    assert "3.0 ×: Drive B programs 3.0 times the bytes that Drive A does for “Test replay t " in (
        " ".join(found)
    )
    # What is a sixth less isn't a fifth less.
    found = said(amplified("a", 1.0), amplified("b", 1.2))
    assert any(line.startswith("−17 %: ") and "17 % less than" in line for line in found)


def test_flash_drives_are_compared_with_each_other_before_a_hard_disk() -> None:
    rates = {"a": 20.0, "b": 40.0, "c": 0.1}
    models = [
        documents.model(name, family="hard-disk" if name == "c" else "page-map") for name in rates
    ]
    tests = [documents.stream(name, "used", rate=rate) for name, rate in rates.items()]
    found = said(documents.review(*tests) | {"models": models})
    text = " ".join(found)
    assert "Drive B writes random 4 KiB blocks 2.0 times as fast as Drive A" in text
    assert "400 times" not in text
    assert "0 of 2: 0 of 2 flash drives are slower than the hard disk Drive C" in text


def test_reads_that_touched_no_flash_are_no_finding_but_said() -> None:
    reads = [
        documents.stream(name, "new", "random-read", rate=rate, direction="read")
        for name, rate in (("a", 1.0), ("b", 50.0))
    ]
    for test in reads:
        test["counters"] = {"zero_read_bytes": test["bytes"]}
    sides_ = [
        documents.review(
            test,
            documents.stream(test["model"], "new", rate=10 * test["mib_per_s"]),
        )
        for test in reads
    ]
    sources = [Source(str(i), item) for i, item in enumerate(sides_)]
    found = compare(sources, "drivelab compare")
    assert not any(" reads " in finding.sentence for finding in found.findings)
    [problem] = [problem for problem in found.problems if problem.kind == "unwritten"]
    assert "Test random-read, new (A, B)" in problem.sentence


def test_reads_for_which_a_map_in_flash_was_read_are_a_finding() -> None:
    a, b = (
        documents.stream(name, "new", "random-read", rate=rate, direction="read")
        for name, rate in (("a", 1.0), ("b", 50.0))
    )
    for test in (a, b):
        test["counters"] = {"zero_read_bytes": test["bytes"], "read_bytes_map": 4 * test["bytes"]}
        test |= {"host_read_bytes": test["bytes"], "unmapped_read_share": 1.0}
    sources = [Source(test["model"], documents.review(test)) for test in (a, b)]
    found = compare(sources, "drivelab compare")
    assert any(" reads " in finding.sentence for finding in found.findings)
    assert not [problem for problem in found.problems if problem.kind == "unwritten"]
    # A line for some MiB, as of a sequence, is no time of flash.
    for test in (a, b):
        test["counters"]["read_bytes_map"] = test["bytes"] // 1000
    found = compare([Source(t["model"], documents.review(t)) for t in (a, b)], "drivelab compare")
    assert [problem for problem in found.problems if problem.kind == "unwritten"]


def test_reads_come_before_larger_differences_of_writes_unless_they_are_trifles() -> None:
    def order(read_factor: float) -> list[str]:
        a, b = (
            documents.review(
                documents.stream(name, "used", "random-read", rate=rate, direction="read"),
                documents.stream(name, "used", rate=5 * rate if name == "b" else 10.0),
            )
            for name, rate in (("a", 20.0), ("b", 20.0 * read_factor))
        )
        return [line for line in said(a, b) if " reads " in line or " writes " in line]

    assert " reads " in order(1.3)[0]
    assert " writes " in order(1.04)[0]
