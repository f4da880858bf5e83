"""Which tests of stored results are compared: some, or groups of them, in some states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from drivelab.comparison.sides import Source
from drivelab.errors import RequestError
from drivelab.procedures import ALL, group_name


@dataclass(frozen=True)
class Selection:
    """Tests and states by name; none, or "all" of the tests: all."""

    tests: tuple[str, ...]
    """Tests, or groups ("four corners" or "four-corners")."""
    states: tuple[str, ...]

    def takes(self, test_id: str, group: str, state: str) -> bool:
        """Whether a test in a state is among them."""
        tests = set(map(group_name, self.tests))
        return (not tests or not tests.isdisjoint(map(group_name, (ALL, test_id, group)))) and (
            not self.states or state in self.states
        )

    def of(self, source: Source) -> Source:
        """Results as far as they were asked for."""
        kept = [
            test
            for test in source.document["tests"]
            if self.takes(str(test["id"]), str(test["group"]), str(test["state"]))
        ]
        return replace(source, document={**source.document, "tests": kept})

    def check(self, sources: Sequence[Source]) -> None:
        """Raises RequestError if no results are of these tests and states; it says which are."""
        tests = [test for source in sources for test in source.document["tests"]]
        if not tests or any(self.of(source).document["tests"] for source in sources):
            return
        asked = [*_named("test", self.tests), *_named("state", self.states)]
        groups = _named("group", (str(test["group"]) for test in tests))
        states = _named("state", (str(test["state"]) for test in tests))
        raise RequestError(
            f"no results of {' in '.join(asked)}; there are some of {' in '.join(groups + states)}"
        )


def _named(what: str, names: Iterable[str]) -> list[str]:
    """The names behind what they are of; nothing without a name."""
    found = list(dict.fromkeys(map(group_name, names)))
    return [f"{what}{'s' if len(found) > 1 else ''} {', '.join(found)}"] if found else []
