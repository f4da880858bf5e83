"""Tests that figures need of a model, as far as the laboratory has them."""

from __future__ import annotations

from collections.abc import Iterable

from drivelab import states
from drivelab.figures import scenarios
from drivelab.review import Measurement


def measurements(keys: Iterable[tuple[str, str]]) -> list[Measurement]:
    """Measurements of (test, state), in order of states, then tests; unknown ones are left out."""
    order = list(states.STATES)
    known = {(test, state) for test, state in keys if test in scenarios.ALL and state in order}
    return [
        Measurement(scenarios.ALL[test], states.STATES[state])
        for test, state in sorted(known, key=lambda key: (order.index(key[1]), key[0]))
    ]
