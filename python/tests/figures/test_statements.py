"""Statements: the rows themselves, and the judging, on a hand-written stand-in for measurements."""

from __future__ import annotations

from typing import Any

import pytest
from figures.sample import measured, model

from drivelab import figures, states
from drivelab.figures import text
from drivelab.figures.scenarios import ALL, SCENARIOS
from drivelab.figures.statements import judge_statements, statement_readings, statements
from drivelab.figures.statements.judging import readings_of, statements_summary
from drivelab.figures.statements.rows import parse
from drivelab.model_layers import known_names
from drivelab.procedures import PROCEDURES

HEAD = """
[drives]
a = "drive-a"
b = "drive-b"
c = "drive-c"
[sets]
all = ["a", "b", "c"]
[[statement]]
id = "ST-900"
drives = "A, B, C"
claim = "something"
test = "how"
strength = "stated as measured"
"""
MEASURE = """
[statement.measure]
new = "sequential-read-2m / new"
used = "sequential-read-2m / used"
"""
RATES = {
    "drive-a": (100.0, 90.0),
    "drive-b": (200.0, 100.0),
    "drive-c": (50.0, 48.0),
}
"""MiB/s of reads, new and used."""


def judged(check: str, rates: dict[str, tuple[float, float]] | None = None) -> dict[str, Any]:
    """The record of a statement with this one check, on drives with these rates."""
    rates = RATES if rates is None else rates
    tests = [
        measured("sequential-read-2m", state, rate, model_name=name)
        for name, pair in rates.items()
        for state, rate in zip(("new", "used"), pair, strict=True)
    ]
    rows = parse(f"{HEAD}check = [{{ {check} }}]\n{MEASURE}", "some-review")
    [found] = judge_statements(figures.Measured([model(name) for name in rates], tests), rows)
    return found


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        ('each = "used / new", of = "all", least = 0.5', True),
        ('each = "used / new", of = "all", above = 0.5', False),
        ('each = "used / new", of = ["b"], below = 0.5', False),
        ('each = "used / new", of = ["b"], most = 0.5', True),
        ('each = "1 - used / new", of = ["a"], least = 0.09, most = 0.11', True),
        ('each = "min(new, 2 * used) - log(1)", of = ["a"], most = 99', False),
        ('ratio = "new", of = ["b", "a"], least = 2.0', True),
        ('ratio = "new", of = ["b", "a"], above = 2.0', False),
        # Every drive of the one list beside every one of the other.
        ('ratio = "new", of = [["a", "b"], "c"], least = 2.0', True),
        ('ratio = "new", of = [["a", "c"], "b"], least = 0.5', False),
        ('order = "new", of = ["b", "a", "c"]', True),
        ('order = "new", of = ["a", "b", "c"]', False),
        ('order = "new", of = ["c", "a", "b"], lowest_first = true', True),
        # Within a place the order isn't stated.
        ('order = "new", of = [["a", "b"], "c"]', True),
        ('order = "new", of = ["a", ["b", "c"]]', False),
        ('within = "used", of = ["a", "b"], percent = 12', True),
        ('within = "used", of = ["a", "b"], percent = 11', False),
        ('within = "used", of = "all", percent = 12, around = "median"', False),
        ('within = "used", of = "all", percent = 12, around = "median", count = 2', True),
        ('within = "used", of = ["a", "b"], percent = 5.2, around = "mean"', False),
        ('within = "used", of = ["a", "b"], percent = 5.3, around = "mean"', True),
        ('value = "new(b) / used(a)", above = 2.2', True),
        ('value = "new(b) / used(a)", below = 2.2', False),
        ('value = "largest(new) / smallest(used)", of = "all", least = 4.1', True),
        ('value = "largest(new) / smallest(used)", of = "all", most = 4.1', False),
        ('value = "used(a) - median(used)", of = "all", above = 0', False),
        ('value = "used(b) - mean(used)", of = "all", above = 0', True),
    ],
)
def test_every_kind_of_check_can_hold_and_can_fail(check: str, holds: bool) -> None:
    found = judged(check)
    assert found["holds"] is holds
    assert found["result"] == ("holds" if holds else "does not hold")
    assert bool(found["broken"]) is not holds


def test_what_breaks_a_statement_is_said_with_its_values() -> None:
    found = judged('ratio = "new", of = [["a", "c"], "b"], least = 0.5')
    assert found["broken"] == ["drive-c / drive-b: 0.25 is not at least 0.5"]
    assert found["checks"][0]["values"] == [
        {"of": "drive-a / drive-b", "value": 0.5},
        {"of": "drive-c / drive-b", "value": 0.25},
    ]
    order = judged('order = "new", of = ["a", "b"]')
    assert order["broken"] == ["drive-a (100) is not ahead of drive-b (200)"]
    equal = judged('order = "new", of = ["a", "b"]', RATES | {"drive-b": (100.0, 1.0)})
    assert equal["holds"] is False


def test_a_drive_that_was_not_measured_lets_nothing_hold_but_what_is_broken_stays_so() -> None:
    without_c = {name: pair for name, pair in RATES.items() if name != "drive-c"}
    found = judged('each = "used / new", of = "all", least = 0.5', without_c)
    assert (found["result"], found["holds"], found["missing"]) == (
        *("not measured", None),
        ["drive-c"],
    )
    assert judged('each = "used / new", of = "all", least = 0.6', without_c)["holds"] is False
    nothing = judged('value = "new(a) / used(b)", above = 1', {})
    assert nothing["result"] == "not measured"
    by_zero = judged('each = "new / used", of = ["a"], above = 1', {"drive-a": (1.0, 0.0)})
    assert by_zero["result"] == "not measured"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('check = [{ each = "new", of = "all" }]', "bounds"),
        ('check = [{ order = "new", of = "all", least = 1 }]', "bounds"),
        ('check = [{ each = "new", order = "new", of = "all", least = 1 }]', "a check is one of"),
        ('check = [{ each = "new", of = "all", at_least = 1 }]', "at_least"),
        ("check = []", "needs either"),
        ('untestable = "no"\ncheck = [{ each = "new", of = "all", least = 1 }]', "needs either"),
    ],
)
def test_a_row_that_cannot_be_meant_is_refused(change: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse(f"{HEAD}{change}\n{MEASURE}", "some-review")
    with pytest.raises(ValueError, match="strength"):
        parse(HEAD.replace("stated as measured", "said") + 'untestable = "no"\n', "some-review")


def test_what_can_not_be_tested_says_why_and_counts_for_nothing() -> None:
    [row] = parse(HEAD + 'untestable = "nobody knows"\n', "some-review")
    [found] = judge_statements(figures.Measured([], []), [row])
    assert (found["result"], found["reason"]) == ("not testable", "nobody knows")
    summary = statements_summary([found])
    assert (summary["not_testable"], summary["held_ratio"]) == (["ST-900"], None)


def test_the_summary_counts_what_holds_and_leaves_contradictions_out_of_the_share() -> None:
    def record(name: str, result: str, **more: Any) -> dict[str, Any]:
        holds = {"holds": True, "does not hold": False}.get(result)
        fixed = {"id": name, "result": result, "holds": holds, "main": False, "contradicts": ""}
        return fixed | more

    records = [
        record("ST-901", "holds", main=True),
        record("ST-902", "holds"),
        record("ST-903", "does not hold", main=True),
        record("ST-904", "does not hold", contradicts="ST-902"),
        record("ST-905", "not measured"),
        record("ST-906", "not testable"),
    ]
    found = statements_summary(records)
    assert (found["hold"], found["do_not_hold"]) == (["ST-901", "ST-902"], ["ST-903", "ST-904"])
    assert (found["uncontradicted_hold"], found["uncontradicted"]) == (2, 3)
    assert found["held_ratio"] == pytest.approx(2 / 3)
    assert found["main"] == {"count": 2, "hold": ["ST-901"], "do_not_hold": ["ST-903"]}
    sentence = text.main_findings(found)
    assert sentence == "Main findings: 1 of 2 hold, not ST-903."


def test_every_statement_is_about_models_tests_and_states_that_there_are() -> None:
    assert len(statements()) == 76
    assert sum(statement.main for statement in statements()) == 10
    needed = statement_readings()
    assert {item.model for item in needed} <= set(known_names())
    assert {item.test_id for item in needed} <= set(ALL)
    assert {item.state for item in needed} <= set(states.STATES)


def test_no_scenario_hides_a_test_and_none_is_left_over() -> None:
    assert not set(SCENARIOS) & set(PROCEDURES)
    assert set(SCENARIOS) <= {item.test_id for item in statement_readings()}


def test_measurements_of_some_statements_only() -> None:
    assert {item.test_id for item in statement_readings(["ST-063"])} == {"sequential-write-2m"}
    assert statement_readings(["AN-031"]) == set()


def use(name: str, longest_ms: float) -> dict[str, Any]:
    """Two hours of desktop use on a drive whose users seldom wait, or never."""
    values = [
        {"name": "minutes_to_stutter", "value": None},
        {"name": "longest_ms", "value": longest_ms},
    ]
    return {"model": name, "id": "desktop-use", "state": "used", "values": values}


@pytest.mark.parametrize("identity", ["ST-019", "ST-021"])
def test_a_drive_that_should_pause_and_never_does_refutes_the_statement(identity: str) -> None:
    [row] = [item for item in statements() if item.id == identity]
    names = {reading.model for reading in readings_of(row).values()}
    slow = {name for check in row.checks if "above" in check.bounds for name in check.models}
    drives = [model(name) for name in names]
    for longest_ms, result in ((900.0, "holds"), (100.0, "does not hold")):
        tests = [use(name, longest_ms if name in slow else 100.0) for name in names]
        [found] = judge_statements(figures.Measured(drives, tests), [row])
        assert found["result"] == result


def test_a_drive_that_cares_in_one_of_the_two_tests_refutes_that_most_do_not() -> None:
    """ST-039 is about the sweep of shares as about the four corners."""
    [row] = [item for item in statements() if item.id == "ST-039"]
    readings = set(readings_of(row).values())
    assert {item.test_id for item in readings} == {"compressibility", "corners-by-data"}
    drives = {item.model for item in readings}

    def result(test_id: str, odd: float) -> str:
        found: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for item in readings:
            is_odd = item.test_id == test_id and item.quantity.startswith("value:random_read")
            value = odd if is_odd and "repeating" not in item.quantity else 100.0
            name = item.quantity.removeprefix("value:")
            found.setdefault((item.model, item.test_id), []).append({"name": name, "value": value})
        tests = [
            {"model": name, "id": test, "state": "new", "values": values}
            for (name, test), values in found.items()
        ]
        known = figures.Measured([model(name) for name in drives], tests)
        return str(judge_statements(known, [row])[0]["result"])

    assert result("compressibility", 100.5) == result("corners-by-data", 100.5) == "holds"
    assert result("compressibility", 90.0) == result("corners-by-data", 90.0) == "does not hold"


def test_sandforce_must_gain_most_by_alignment() -> None:
    """ST-037: more than Micron's controller, not only more than Intel's."""
    [row] = [item for item in statements() if item.id == "ST-037"]

    def result(f100: float, c300: float) -> str:
        gains = {"corsair-force-f100-100gb": f100, "crucial-c300-256gb": c300}
        tests = [
            measured(item.test_id, item.state, rate, model_name=item.model)
            for item in readings_of(row).values()
            for rate in (10.0 * (gains.get(item.model, 1.2) if "-aligned" in item.test_id else 1),)
        ]
        models = {item.model for item in readings_of(row).values()}
        known = figures.Measured([model(name) for name in models], tests)
        return str(judge_statements(known, [row])[0]["result"])

    assert result(3.0, 2.0) == "holds"
    assert result(2.0, 3.0) == "does not hold"


def test_reads_that_touch_no_flash_are_said_to() -> None:
    rows = parse(
        f'{HEAD}note = "short"\ncheck = [{{ each = "used / new", of = ["a"], least = 0.5 }}]\n'
        f"{MEASURE}",
        "some-review",
    )
    new, used = (
        measured("sequential-read-2m", state, 100.0, model_name="drive-a") | {"direction": "read"}
        for state in ("new", "used")
    )

    def note(share: float) -> str:
        tests = [new | {"unmapped_read_share": share}, used | {"unmapped_read_share": 0.02}]
        [found] = judge_statements(figures.Measured([model("drive-a")], tests), rows)
        return str(found["note"])

    assert note(1.0) == "short; most of these reads touch no flash: sequential-read-2m / new"
    assert note(0.0) == "short"


def test_every_name_of_a_row_is_used_and_every_statement_can_be_judged() -> None:
    for row in statements():
        used = {name for name, _ in readings_of(row)}
        assert used == set(row.measure), row.id
    records = judge_statements(figures.Measured([], []))
    assert {item["result"] for item in records} == {"not measured", "not testable"}
