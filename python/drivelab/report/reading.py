"""A review as pages read it: the records of results.json, and what is looked up in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from pydantic import ValidationError

from drivelab import traits
from drivelab.counters import reads_map
from drivelab.errors import RequestError
from drivelab.records.faults import in_words
from drivelab.records.review import Review
from drivelab.records.test import AnyTest, Compound, Stream, Test
from drivelab.report import streams
from drivelab.states import STATES
from drivelab.traits import NO_STATE_TRAITS, StateTraits

T = TypeVar("T", bound=AnyTest)

FROM_MAP_SHARE = 0.5
"""From this share of bytes on a test of reads is one of the map, not of flash."""


class Reviewed(Review):
    """The records of a review, with lookups over all of them."""

    @cached_property
    def streams(self) -> list[Stream]:
        """Tests of one stream, in the order they were run."""
        return [test for test in self.tests if isinstance(test, Stream)]

    @cached_property
    def compounds(self) -> list[Compound]:
        """All other tests."""
        return [test for test in self.tests if isinstance(test, Compound)]

    @cached_property
    def known_states(self) -> Mapping[str, StateTraits]:
        """What the states of the review declare, and those that come with drivelab, by name."""
        found = {state.name: state.traits for state in STATES.values()}
        for record in self.states:
            own = traits.of_record(StateTraits, record.declared)
            if own is not None:
                found[record.state] = own
        return found

    @property
    def repeat_count(self) -> int:
        """How many seeds numbers are the mean of."""
        repeats = self.drivelab.repeats
        return repeats.count if repeats is not None else 1

    def state(self, name: str) -> StateTraits:
        """What a state declares."""
        return self.known_states.get(name, NO_STATE_TRAITS)

    def role(self, test: AnyTest) -> str:
        """What the state of a test is to others: `new`, `filled`, `used` or empty."""
        return self.state(test.state).role

    def rank(self, state: str) -> tuple[float, str]:
        """The order in which states are shown: new first."""
        return (self.state(state).order, state)

    def title_of(self, model: str) -> str:
        """The model's title."""
        return next(item.title for item in self.models if item.name == model)

    def test_ids(self, model: str | None = None) -> list[str]:
        """Ids of the streams, in the order they were run."""
        ids = (test.id for test in self.streams if model is None or test.model == model)
        return list(dict.fromkeys(ids))

    def of(self, test_id: str, model: str | None = None) -> list[Stream]:
        """All measurements of one stream, models in order, new before used."""
        names = [model.name for model in self.models]
        found = [t for t in self.streams if t.id == test_id and model in (None, t.model)]
        return sorted(found, key=lambda t: (names.index(t.model), self.rank(t.state)))

    def work(self, model: str, direction: str, pattern: str) -> list[Stream]:
        """All of a model that are of one kind of work, in the order they were run."""
        kind = (model, direction, pattern)
        return [t for t in self.streams if (t.model, t.direction, streams.pattern(t)) == kind]

    def one(self, test_id: str, model: str, state: str) -> Stream | None:
        """The measurement of one stream of one model in one state."""
        return next((t for t in self.of(test_id, model) if t.state == state), None)

    def new(self, test_id: str, model: str) -> Stream | None:
        """The one on a new model, which those in other states stand beside."""
        found = self.of(test_id, model)
        return next((test for test in found if self.role(test) == "new"), None)

    def states_of(self, model: str) -> list[str]:
        """States the model was tested in, new first."""
        return sorted({test.state for test in self.tests if test.model == model}, key=self.rank)

    def is_from_map(self, test: Test) -> bool:
        """Whether a test mostly read what was never written: zeros, out of the map, without flash.

        Not if lines of the map were read from flash for it: so do drives without memory for all of
        it, and what that takes is theirs. Drives in software count it. A real one that is new holds
        nothing (a sparse file, blocks that were discarded), unless the test wrote what it read.
        """
        if not isinstance(test, Stream):
            return not test.host_write_bytes and mostly_from_map(test)
        if test.direction != "read":
            return False
        zeros = test.counters.get("zero_read_bytes")
        if reads_map(test.counters, test.host_read_bytes):
            return False
        if zeros is not None and test.bytes:
            return zeros >= FROM_MAP_SHARE * test.bytes
        is_real = any(model.real for model in self.models if model.name == test.model)
        return is_real and self.role(test) == "new" and not test.data


def mostly_from_map(test: Test) -> bool:
    """Whether a map in memory answered for most of what a test read."""
    if reads_map(test.counters, test.host_read_bytes):
        return False
    return (test.unmapped_read_share or 0.0) >= FROM_MAP_SHARE


def remarks(tests: Iterable[T]) -> dict[str, list[T]]:
    """Each remark once, with the tests that make it."""
    found: dict[str, list[T]] = {}
    for test in tests:
        for note in test.notes:
            found.setdefault(note, []).append(test)
    return found


def read(results: Mapping[str, Any], kind: type[Reviewed] = Reviewed) -> Reviewed:
    """The content of results.json; raises RequestError for what isn't as `records/` defines it."""
    try:
        return kind.read(results)
    except ValidationError as error:
        raise RequestError(in_words(results, error)) from None
