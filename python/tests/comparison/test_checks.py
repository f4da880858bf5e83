from __future__ import annotations

from typing import Any

import documents
import pytest

from drivelab.comparison import Comparison, Source, compare
from drivelab.errors import RequestError


def both(
    a: documents.Record, b: documents.Record, *, force: bool = False, **own: Any
) -> Comparison:
    """A against B: records of one test each, B's run with other properties."""
    sources = [Source("a", documents.review(a)), Source("b", documents.review(b, **own))]
    return compare(sources, "drivelab compare a b", force=force)


def test_alike_runs_have_no_problem() -> None:
    assert both(documents.stream("a"), documents.stream("b")).problems == ()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"data": "random"}, r"Data patterns differ: .*A repeating, B random"),
        ({"span_bytes": 2**30}, r"Spans differ: .*A 8.GiB, B 1.GiB"),
        ({"queue_depth": 32}, r"different requests: .*queue depth: A 3, B 32"),
        (
            {"steady_state": documents.steady_state(1.0, reached=False)},
            r"Classes of results differ.*B exploratory",
        ),
    ],
)
def test_results_of_other_work_are_refused_with_the_reason(
    changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(RequestError, match=words) as refusal:
        both(documents.stream("a"), documents.stream("b", **changed))
    assert "--force" in str(refusal.value)
    forced = both(documents.stream("a"), documents.stream("b", **changed), force=True)
    assert [problem.refused for problem in forced.problems] == [True]
    assert len(forced.pairs) == 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"options": "bs=8k"}, "send different requests: .*options: A bs=4k, B bs=8k"),
        ({"data": "text"}, "Data patterns differ: .*A random, B text"),
    ],
)
def test_jobs_of_other_options_or_data_are_refused(changed: dict[str, Any], words: str) -> None:
    job = {"options": "bs=4k", "data": "random", "steady_state": None}
    both(documents.compound("a", **job), documents.compound("b", **job))
    with pytest.raises(RequestError, match=words):
        both(documents.compound("a", **job), documents.compound("b", **job | changed))


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"engine_version": "0.2.0"}, "Engine versions differ (A: 0.1.0; B: 0.2.0)"),
        ({"seed": 2}, "Seeds differ (A: 1; B: 2)"),
    ],
)
def test_results_of_other_runs_are_warned_of(own: dict[str, Any], words: str) -> None:
    [problem] = both(documents.stream("a"), documents.stream("b"), **own).problems
    assert not problem.refused
    assert words in problem.sentence


def test_two_quick_runs_beside_a_whole_one_are_told_of_as_two() -> None:
    names = ("a", "b", "c")
    sources = [
        Source(name, documents.review(documents.stream(name), quick=name != "c")) for name in names
    ]
    with pytest.raises(RequestError, match="A and B were quick runs, and the others weren't"):
        compare(sources, "")


def test_only_the_test_that_differs_is_left_out() -> None:
    same = documents.compound("a"), documents.compound("b")
    a, b = documents.stream("a"), documents.stream("b", data="random", duration_s=10.0)
    sources = [Source("a", documents.review(a, same[0])), Source("b", documents.review(b, same[1]))]
    found = compare(sources, "")
    assert [pair.id for pair in found.pairs] == ["sweep"]
    [out] = found.left_out
    assert (out.id, out.state, out.letters) == ("random-write-4k", "new", ("A", "B"))
    assert out.reason == "data patterns differ: A repeating, B random"
    # Its other length is no warning: nothing of it is shown.
    assert [(problem.refused, problem.kind) for problem in found.problems] == [(True, "data")]
    forced = compare(sources, "", force=True)
    assert len(forced.pairs) == 2
    assert forced.left_out == ()
    assert [problem.kind for problem in forced.problems] == ["data", "durations"]


def test_a_steady_state_that_one_drive_did_not_reach_costs_that_test_only() -> None:
    tests = [
        documents.compound(
            model,
            test_id=test,
            steady_state=documents.steady_state(1.0, reached=(model, test) != ("b", "x")),
        )
        for model in "ab"
        for test in "xy"
    ]
    found = compare([Source("review", documents.review(*tests))], "")
    assert [pair.id for pair in found.pairs] == ["y"]
    [out] = found.left_out
    assert out.reason.endswith("A steady state, B exploratory")


def test_a_quick_run_is_refused_as_a_whole_whatever_its_tests() -> None:
    one, other = documents.review(), documents.review(quick=True)
    with pytest.raises(RequestError, match="B was a quick run"):
        compare([Source("a", one), Source("b", other)], "")


def test_quick_is_not_compared_with_whole() -> None:
    with pytest.raises(RequestError, match="B was a quick run"):
        both(documents.stream("a"), documents.stream("b"), quick=True)


def test_small_versions_of_other_scales_are_refused() -> None:
    one, other = documents.review(documents.stream("a")), documents.review(documents.stream("b"))
    for model in other["models"]:
        known = model["parameters"]
        model["parameters"] = [*known, known[0] | {"key": "scale_divisor", "value": 64}]
    with pytest.raises(RequestError, match=r"different scales \(A 1/1, B 1/64\)"):
        compare([Source("a", one), Source("b", other)], "")


def test_two_quick_runs_are_exploratory() -> None:
    document = documents.review(documents.stream("a"), documents.stream("b"), quick=True)
    [problem] = compare([Source("a", document)], "").problems
    assert "exploratory" in problem.sentence


def test_the_same_share_of_drives_of_other_sizes_is_the_same_span() -> None:
    large = documents.model("b", user_capacity_bytes=160 * 10**9)
    sources = [
        Source("a", documents.review(documents.stream("a", span_bytes=80 * 10**9))),
        Source(
            "b", documents.review(documents.stream("b", span_bytes=16 * 10**10), models=[large])
        ),
    ]
    assert compare(sources, "").problems == ()


def test_durations_and_deviations_that_differ_are_warned_of() -> None:
    found = both(documents.stream("a"), documents.stream("b", duration_s=100.0))
    assert [problem.kind for problem in found.problems] == ["durations"]
    found = both(documents.compound("a"), documents.compound("b", deviations=[]))
    assert [problem.kind for problem in found.problems] == ["deviations"]


def test_without_a_common_state_nothing_is_compared() -> None:
    used = documents.stream("b", "used")
    with pytest.raises(RequestError, match="No test was made in the same state"):
        both(documents.stream("a"), used)
    forced = both(documents.stream("a"), used, force=True)
    assert {problem.kind for problem in forced.problems if problem.refused} == {
        "states",
        "classes",
    }
    assert forced.left_out == ()
    with pytest.raises(RequestError, match="No test was made"):
        both(documents.stream("a"), documents.compound("b"), force=True)
