"""Points drawn from ranges, for sweeps over more parameters than a grid can have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from drivelab.errors import RequestError, nearest
from drivelab.lab import checks

Method = Literal["sobol", "latin-hypercube", "random"]
COUNT_MAX = 100_000
LOG = "log"


@checks.keywords
def samples(
    ranges: Mapping[str, Sequence[Any]],
    count: int,
    *,
    method: Method = "sobol",
    seed: int = 1,
) -> list[dict[str, Any]]:
    """So many points in ranges, for `sweep(..., points=...)`.

    A range is (least, most), both allowed; of whole numbers if both are. (least, most, "log") draws
    evenly in the logarithm. A list of texts is a choice of one of them. `method` "sobol" spreads
    points evenly (a scrambled Sobol sequence; best with a power of 2), "latin-hypercube" has one
    point in each of `count` equal parts of every range, "random" draws each by itself. The same
    seed gives the same points. Of equal points, as of whole numbers, one stays.

    >>> points = samples({"spare_ratio": (0.07, 0.5), "job.iodepth": (1, 32, "log")}, 2)
    >>> [(round(point["spare_ratio"], 2), point["job.iodepth"]) for point in points]
    [(0.19, 1), (0.32, 26)]

    Raises RequestError for a range that can't be one.
    """
    # Loading scipy.stats takes most of a second.
    from scipy.stats import qmc

    checks.whole("count", count, 1, COUNT_MAX)
    checks.whole("seed", seed, 0, 2**63 - 1)
    if method not in get_args(Method):
        hint = nearest(str(method), get_args(Method))
        raise RequestError(f'method = "{method}"{hint} Known: {", ".join(get_args(Method))}')
    if not ranges:
        raise RequestError(
            f"ranges = {ranges!r}: give ranges by key, e.g. {{'spare_ratio': (0.07, 0.5)}}"
        )
    found = {checks.text("key of a range", key): _Range(key, each) for key, each in ranges.items()}
    if method == "sobol":
        # The engine draws whole powers of two; a part of one is its beginning.
        engine = qmc.Sobol(len(found), scramble=True, rng=seed)
        drawn = engine.random_base2(math.ceil(math.log2(count)))[:count].tolist()
    elif method == "latin-hypercube":
        drawn = qmc.LatinHypercube(len(found), rng=seed).random(count).tolist()
    else:
        import numpy as np

        drawn = np.random.default_rng(seed).random((count, len(found))).tolist()
    points: list[dict[str, Any]] = []
    for row in drawn:
        point = {key: each.at(share) for (key, each), share in zip(found.items(), row, strict=True)}
        if point not in points:
            points.append(point)
    return points


class _Range:
    """One range: what lies at each share of it, from 0 (included) to 1 (not included)."""

    def __init__(self, key: str, said: Any) -> None:
        wrong = RequestError(
            f'{key} = {said!r}: allowed: (least, most), (least, most, "log"), or a list of texts'
        )
        if isinstance(said, str | bytes) or not isinstance(said, Sequence) or not said:
            raise wrong
        values: list[Any] = [checks.plain(value) for value in said]
        self._choices: list[str] = []
        self._is_log = False
        self._least: Any = None
        self._most: Any = None
        if all(isinstance(value, str) for value in values):
            self._choices = [str(value) for value in values]
            return
        if len(values) == 3 and values[2] == LOG:
            self._is_log = True
            values.pop()
        if len(values) != 2 or not all(_is_number(value) for value in values):
            raise wrong
        self._least, self._most = values
        self._is_whole = all(isinstance(value, int) for value in values)
        if not self._least < self._most or (self._is_log and self._least <= 0):
            raise RequestError(f'{key} = {said!r}: allowed: the least first, above 0 with "log"')

    def at(self, share: float) -> Any:
        if self._choices:
            return self._choices[int(share * len(self._choices))]
        # Every whole number has as much room as the others: the ends, too.
        least, most = self._least, self._most + 1 if self._is_whole else self._most
        value = least * (most / least) ** share if self._is_log else least + (most - least) * share
        return min(math.floor(value), self._most) if self._is_whole else float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
