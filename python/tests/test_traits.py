"""What tests and states declare of themselves, and that reports go by it and by no name."""

from __future__ import annotations

import re
from pathlib import Path

from documents import compound, review, stream

from drivelab.procedures import PROCEDURES
from drivelab.procedures.stream import Stream
from drivelab.records.test import Stream as Record
from drivelab.report import rankings, reading, studies
from drivelab.report.quantities import NBSP
from drivelab.report.streams import declared
from drivelab.states import STATES

PACKAGE = Path(reading.__file__).parents[1]


def test_every_stream_declares_its_pattern_and_no_other_test_has_one() -> None:
    for test in PROCEDURES.values():
        assert bool(test.traits.pattern) == isinstance(test, Stream), test.id
        if isinstance(test, Stream) and test.traits.pattern in ("random", "sequential"):
            assert test.traits.pattern == test.order, test.id


def test_a_stream_that_keeps_to_the_end_says_so_in_sentences() -> None:
    for test in PROCEDURES.values():
        at_end = isinstance(test, Stream) and test.end_share is not None
        assert bool(test.traits.place) == at_end, test.id


def test_stories_are_those_that_tests_declare() -> None:
    told = {test.traits.story for test in PROCEDURES.values()} - {""}
    assert told == set(studies.STORIES)


def test_a_state_restores_the_one_that_it_comes_after() -> None:
    restoring = [state for state in STATES.values() if state.traits.restores]
    assert restoring
    for state in restoring:
        assert state.parent is not None
        assert (state.parent.name, bool(state.traits.by)) == (state.traits.restores, True)


def test_reports_and_comparisons_name_no_test_and_no_state() -> None:
    # Words of roles, colours and patterns are no names of states.
    words = {"new", "used", "filled", "alignment", "compressibility", "partition", "atto"}
    names = ({*PROCEDURES} | {*STATES}) - words
    names -= {test.traits.story for test in PROCEDURES.values()}
    quoted = re.compile(r"[\"']([a-z0-9-]+)[\"']")
    folders = [PACKAGE / "report", PACKAGE / "comparison"]
    files = {folder: sorted(folder.rglob("*.py")) for folder in folders}
    assert all(files.values()), "a folder that isn't there holds no file to look into"
    found = [
        f"{path.name}: {name}"
        for paths in files.values()
        for path in paths
        for name in quoted.findall(path.read_text(encoding="utf-8"))
        if name in names
    ]
    assert found == []


def test_what_a_record_declares_counts_before_anything_that_is_known_of_its_name() -> None:
    record = stream(test_id="access-time", state="new")
    assert declared(Record.read(record)).pattern == "access"
    own = declared(Record.read(record | {"declared": {"pattern": "sequential", "open": True}}))
    assert own.pattern == "sequential"
    assert own.open
    # What nobody can have written is as if it weren't there.
    broken = record | {"declared": {"pattern": "zigzag"}}
    assert declared(Record.read(broken)).pattern == "access"


def test_a_state_from_elsewhere_has_place_colour_and_role_of_its_record() -> None:
    states = ("worn", "used", "new")
    document = review(*(stream(state=name) for name in states))
    document["states"] = [
        document["states"][0]
        | {"state": "worn"}
        | {"declared": {"order": 50, "colour": "tortured", "restores": "used", "by": "A nap"}}
    ]
    found = reading.read(document)
    assert found.states_of("a") == ["new", "worn", "used"]
    worn = found.state("worn")
    assert (worn.colour, worn.restores) == ("tortured", "used")


def test_a_test_from_elsewhere_may_have_its_ranking_open_and_be_a_headline() -> None:
    models = ("a", "b", "c", "d")
    record = compound() | {"declared": {"open": True}}
    tests = [record | {"model": name} for name in models]
    tests += [
        stream(name, "used", "mine", rate=rate)
        | {"declared": {"pattern": "random", "headline": True}}
        for name, rate in zip(models, (10, 20, 30, 80), strict=True)
    ]
    found = reading.read(review(*tests))
    shown = {item.id: item.open for item in rankings.rankings(found)}
    assert shown == {"mine": False, "value-sweep-write": True}
    sentences = [item.sentence.replace(NBSP, " ") for item in rankings.findings(found)]
    assert any("Drive D is the fastest in random 4 KiB writes, 8.0 times" in s for s in sentences)
    plain = review(*(test | {"declared": None} for test in tests))
    assert rankings.findings(reading.read(plain)) == []
