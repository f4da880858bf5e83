"""Findings of tests that are more than one stream of requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab import verdicts
from drivelab.report import quantities as q
from drivelab.report.loose import dicts, text
from drivelab.report.measurements import Review
from drivelab.report.reading import FROM_MAP_SHARE, repeated
from drivelab.report.sentences import Finding, comparison

COMPOUND_MAX = 4
"""Findings of compound tests in a report's opening."""


def of_model(review: Review, model: str) -> Iterator[Finding]:
    """The largest changes with use among the values of compound tests; tests that never settled."""
    own = [record for record in review.compound if record.get("model") == model]
    own.sort(key=lambda record: review.rank(text(record.get("state"))))
    # What others are compared with: new, or filled where a test of the new drive read no flash.
    before: dict[tuple[str, str], tuple[float, Mapping[str, Any]]] = {}
    changes: dict[str, tuple[float, Finding]] = {}
    for record in own:
        test_id, state = text(record.get("id")), text(record.get("state"))
        for value in dicts(record.get("values")):
            amount, key = q.number(value.get("value")), (test_id, text(value.get("name")))
            if amount is None or amount <= 0 or not value.get("better"):
                continue
            role = review.state(state).role
            if role in ("new", "filled") and key not in before:
                if (q.number(record.get("unmapped_read_share")) or 0.0) < FROM_MAP_SHARE:
                    before[key] = amount, record
            elif key in before:
                base, base_record = before[key]
                ratio = amount / base - 1
                gain = ratio if value["better"] == "higher" else 1 / (1 + ratio) - 1
                size = verdicts.size(amount, base)
                # One value speaks for its test: the others mostly say the same.
                told = changes.get(test_id)
                is_larger = told is None or size > told[0]
                if is_larger and _values_differ(record, base_record, key[1], amount, base):
                    changes[test_id] = (size, _told(record, value, base, base_record, gain))
        steady = record.get("steady_state")
        if isinstance(steady, dict) and steady.get("reached") is False:
            sentence = f"{text(record.get('title'))}: no steady state was reached."
            yield Finding("unsteady", sentence, state)
    largest = sorted(changes.values(), key=lambda item: item[0], reverse=True)
    yield from (finding for _, finding in largest[:COMPOUND_MAX])


def _values_differ(
    record: Mapping[str, Any], new: Mapping[str, Any], name: str, amount: float, before: float
) -> bool:
    """Whether a value of a compound test has changed, as far as repeats tell."""
    now, then = (repeated(dict(item)).get(f"value:{name}", ()) for item in (record, new))
    return verdicts.differ(amount, before, now, then)


def _told(
    record: Mapping[str, Any],
    value: Mapping[str, Any],
    base: float,
    base_record: Mapping[str, Any],
    gain: float,
) -> Finding:
    state, unit, than = text(record.get("state")), text(value.get("unit")), base_record.get("state")
    figure, words = comparison(gain)
    words = words.replace("slower", "worse").replace("faster", "better").replace("fast", "good")
    amounts = (
        f"{q.with_unit(base, unit)} {text(than)}, {q.with_unit(value.get('value'), unit)} {state}"
    )
    what = text(value.get("title"))
    # A name in capitals stays one.
    what = what[:1].lower() + what[1:] if what[1:2].islower() else what
    sentence = f"{text(record.get('title'))}, {state}: {what} {words} {text(than)}."
    return Finding(figure, sentence, amounts)
