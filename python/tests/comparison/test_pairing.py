from __future__ import annotations

import documents
import pytest

from drivelab.comparison import compare, pairing, specifications
from drivelab.comparison.notes import notes
from drivelab.comparison.selection import Selection
from drivelab.comparison.sides import SIDES_MAX, Side, Source, sides_of
from drivelab.errors import RequestError


def sides(*documents_: documents.Record) -> list[Side]:
    return sides_of([Source(f"review-{i}", item) for i, item in enumerate(documents_)])


def test_all_models_of_one_review_are_sides() -> None:
    found = sides(documents.review(documents.stream("a"), documents.stream("b")))
    assert [(side.letter, side.label) for side in found] == [("A", "Drive A"), ("B", "Drive B")]


def test_drives_of_one_title_are_told_apart() -> None:
    found = sides(documents.review(), documents.review(seed=2))
    assert [side.label for side in found] == ["Drive A (review-0)", "Drive A (review-1)"]


def test_one_drive_is_no_comparison_and_seven_are_too_many() -> None:
    with pytest.raises(RequestError, match=r"two drives at least.*there is 1"):
        sides(documents.review())
    with pytest.raises(RequestError, match=f"{SIDES_MAX} at most; there are 7"):
        sides(*[documents.review()] * 7)


def test_pairs_come_by_size_of_the_difference_whatever_its_direction() -> None:
    a = documents.review(
        documents.stream("a", test_id="random-read", rate=10),
        documents.stream("a", test_id="random-write", rate=30),
        documents.stream("a", test_id="sequential-read", rate=10),
        documents.compound("a", rate=10),
    )
    b = documents.review(
        documents.stream("b", test_id="random-read", rate=20),
        documents.stream("b", test_id="random-write", rate=10),
        documents.stream("b", test_id="sequential-read", rate=10.1),
        documents.compound("b", rate=90),
    )
    pairs, singles = pairing.pair(sides(a, b))
    order = ["sweep", "random-write", "random-read", "sequential-read"]
    assert [pair.id for pair in pairs] == order
    assert singles == []
    by_id = {pair.id: pair.headline for pair in pairs}
    write, same = by_id["random-write"], by_id["sequential-read"]
    assert write is not None
    assert write.ratio(1) == pytest.approx(1 / 3)
    assert write.extremes == (0, 1)
    assert same is not None
    assert not same.differs


def test_less_is_better_where_it_is() -> None:
    a = documents.review(documents.stream("a", test_id="access-time", rate=10))
    b = documents.review(documents.stream("b", test_id="access-time", rate=20))
    [pair], _ = pairing.pair(sides(a, b))
    headline = pair.headline
    assert headline is not None
    assert (headline.name, headline.better) == ("mean_us", "lower")
    assert headline.extremes == (1, 0)


def test_the_headline_is_the_value_that_differs_most_among_those_with_a_better_end() -> None:
    """docs/compare.md says how it is chosen: nobody may take it for a number that was fixed."""

    def values(reads: float, writes: float, count: float) -> list[documents.Record]:
        return [
            {"name": name, "title": name, "unit": "IOPS", "better": better, "value": value}
            for name, better, value in (
                ("reads", "higher", reads), ("writes", "higher", writes), ("count", None, count),
            )
        ]  # fmt: skip

    def headline(*tables: list[documents.Record]) -> str:
        names = "abc"[: len(tables)]
        tests = [
            documents.compound(name) | {"values": table}
            for name, table in zip(names, tables, strict=True)
        ]
        [pair], _ = pairing.pair(sides(documents.review(*tests)))
        assert pair.headline is not None
        return pair.headline.name

    one, two, three = values(10, 10, 1), values(11, 20, 99), values(50, 20, 1)
    assert headline(one, two) == "writes"
    # Another side, another headline.
    assert headline(one, two, three) == "reads"


def test_percentiles_need_requests_beyond_them() -> None:
    few = documents.review(documents.stream("a", duration_s=2.0), documents.stream("b"))
    [pair], _ = pairing.pair(sides(few))
    values = {metric.name: metric.values for metric in pair.metrics}
    # 5120 requests a second: after 2 s one is beyond 99.99 %, after 180 s 92 are.
    assert values["p99_99_us"][0] is None
    assert values["p99_99_us"][1] == 4000.0
    assert values["p99_us"][0] == 300.0


def test_nothing_and_something_differ_by_no_ratio() -> None:
    for first, other, better in ((0.0, 5.0, True), (5.0, 0.0, False), (0.0, 0.0, None)):
        rows = [documents.compound(name, rate=rate) for name, rate in (("a", first), ("b", other))]
        [pair], _ = pairing.pair(sides(documents.review(*rows)))
        metric = next(metric for metric in pair.metrics if metric.name == "write")
        assert metric.ratio(1) is None
        assert (metric.told_apart(1), metric.is_better(1)) == (better is not None, better)


def test_what_only_one_side_has_is_left_over() -> None:
    a = documents.review(documents.stream("a"), documents.stream("a", "used"))
    b = documents.review(documents.stream("b"), documents.compound("b"))
    pairs, singles = pairing.pair(sides(a, b))
    assert [(pair.id, pair.state) for pair in pairs] == [("random-write-4k", "new")]
    assert [(item.state, item.side.letter) for item in singles] == [("used", "A"), ("new", "B")]


def test_states_are_crossed_only_on_request() -> None:
    a = documents.review(documents.stream("a", "new"))
    b = documents.review(documents.stream("b", "used"))
    assert pairing.pair(sides(a, b))[0] == []
    [pair], _ = pairing.pair(sides(a, b), across_states=True)
    assert pair.state == "new / used"


def test_values_that_are_zero_or_missing_have_no_ratio() -> None:
    for value in (None, 0.0):
        a = documents.review(documents.stream("a", mib_per_s=value))
        b = documents.review(documents.stream("b"))
        [pair], _ = pairing.pair(sides(a, b))
        headline = pair.headline
        assert headline is not None
        assert headline.ratio(1) is None
        assert headline.size == 0


def test_parameters_that_differ_are_named_with_values_and_units() -> None:
    one, other = documents.model("a"), documents.model("b")
    other["parameters"] = [
        dict(other["parameters"][0], value=1300000),
        other["parameters"][1],
        dict(other["parameters"][1], key="ftl.parity", value=True),
    ]
    found = sides(
        documents.review(documents.stream("a"), models=[one]),
        documents.review(documents.stream("b"), models=[other]),
    )
    differences = {item.key: item for item in specifications.differences(found)}
    assert set(differences) == {"flash.program_ns", "ftl.parity"}
    assert differences["flash.program_ns"].unit == "ns"
    assert differences["flash.program_ns"].texts == ("900\u00a0µs", "1.30\u00a0ms")
    assert differences["ftl.parity"].texts == ("—", "yes")
    [shared] = specifications.shared(found)
    assert shared.key == one["parameters"][1]["key"]
    assert shared.values == (one["parameters"][1]["value"],) * 2
    assert len(set(shared.texts)) == 1


def test_a_selection_that_leaves_nothing_says_what_there_is() -> None:
    found = [
        Source(name, documents.review(documents.stream(name, group="four corners")))
        for name in "ab"
    ]
    words = (
        "no results of test pts-iops in states new, thawed; "
        f"there are some of group four-corners in state {found[0].document['tests'][0]['state']}"
    )
    with pytest.raises(RequestError, match=f"^{words}$"):
        Selection(("pts-iops",), ("new", "thawed")).check(found)
    for tests in ((), ("all",), ("four corners",), ("pts-iops", "four-corners")):
        chosen = Selection(tests, ())
        chosen.check(found)
        assert [chosen.of(item) for item in found] == found


def test_a_small_version_says_what_it_is_beside_every_test_of_its_own() -> None:
    document = documents.review(*(documents.stream(name, "used") for name in "ab"))
    document["models"][0]["scale_remarks"] = ["memory for the map covers 4 GB"]
    compared = compare([Source("review", document)], "drivelab compare review")
    assert [note.text for note in notes(compared.sides, compared.pairs)] == [
        "A: at this scale: memory for the map covers 4 GB"
    ]
