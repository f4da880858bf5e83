"""Findings of tests that are more than one stream of requests."""

from __future__ import annotations

from collections.abc import Iterator

from drivelab import verdicts
from drivelab.records.findings import Value
from drivelab.records.test import Compound
from drivelab.report import quantities as q
from drivelab.report import streams
from drivelab.report.reading import Reviewed, mostly_from_map
from drivelab.report.sentences import Finding, of_number

COMPOUND_MAX = 4
"""Findings of compound tests in a report's opening."""


def of_model(review: Reviewed, model: str) -> Iterator[Finding]:
    """The largest changes with use among the values of compound tests; tests that never settled."""
    own = [test for test in review.compounds if test.model == model]
    own.sort(key=lambda test: review.rank(test.state))
    # What others are compared with: new, or filled where a test of the new drive read no flash.
    before: dict[tuple[str, str], tuple[float, Compound]] = {}
    changes: dict[str, tuple[float, Finding]] = {}
    for test in own:
        role = review.role(test)
        for value in test.values:
            amount, key = value.value, (test.id, value.name)
            if amount is None or amount <= 0 or value.better is None:
                continue
            if role in ("new", "filled") and key not in before:
                if not mostly_from_map(test):
                    before[key] = amount, test
            elif key in before:
                base, base_test = before[key]
                size = verdicts.size(amount, base)
                # One value speaks for its test: the others mostly say the same.
                told = changes.get(test.id)
                is_larger = told is None or size > told[0]
                if is_larger and _values_differ(test, base_test, value, base):
                    changes[test.id] = (size, _told(test, value, base, base_test))
        if test.steady_state is not None and not test.steady_state.reached:
            sentence = f"{test.title}: no steady state was reached."
            yield Finding("unsteady", sentence, test.state)
    largest = sorted(changes.values(), key=lambda item: item[0], reverse=True)
    yield from (finding for _, finding in largest[:COMPOUND_MAX])


def _values_differ(test: Compound, base_test: Compound, value: Value, base: float) -> bool:
    """Whether a value of a compound test has changed, as far as repeats tell."""
    now, then = (streams.repeated(item, f"value:{value.name}") for item in (test, base_test))
    return verdicts.differ(value.value or 0.0, base, now, then)


def _told(test: Compound, value: Value, base: float, base_test: Compound) -> Finding:
    ratio = (value.value or 0.0) / base
    figure, words = of_number(ratio, base_test.state, more_is_better=value.better == "higher")
    amounts = (
        f"{q.with_unit(base, value.unit)} {base_test.state}, "
        f"{q.with_unit(value.value, value.unit)} {test.state}"
    )
    # A name in capitals stays one.
    what = value.title
    what = what[:1].lower() + what[1:] if what[1:2].islower() else what
    return Finding(figure, f"{test.title}, {test.state}: {what} {words}.", amounts)
