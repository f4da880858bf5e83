from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import drivelab as dl

RANGES = {"spare_ratio": (0.1, 0.5), "job.iodepth": (1, 4), "ftl.x": ["a", "b"]}


@pytest.mark.parametrize("method", ["sobol", "latin-hypercube", "random"])
def test_points_lie_in_their_ranges_and_come_again(method: Any) -> None:
    found = dl.samples(RANGES, 64, method=method, seed=3)
    assert found == dl.samples(RANGES, 64, method=method, seed=3)
    assert found != dl.samples(RANGES, 64, method=method, seed=4)
    assert len(found) == 64
    assert all(0.1 <= point["spare_ratio"] < 0.5 for point in found)
    assert {point["job.iodepth"] for point in found} == {1, 2, 3, 4}


def test_a_sobol_sequence_is_even_where_chance_is_not() -> None:
    found = dl.samples(RANGES, 64, seed=3)
    # 64 points of 4 x 2 values: 8 of each, and one in each 64th of a range.
    both = Counter((point["job.iodepth"], point["ftl.x"]) for point in found)
    assert set(both.values()) == {8}
    places = sorted(int((point["spare_ratio"] - 0.1) / 0.4 * 64) for point in found)
    assert places == list(range(64))


@pytest.mark.parametrize("count", [1, 13, 50])
def test_a_latin_hypercube_has_one_point_in_every_part_of_every_range(count: int) -> None:
    ranges = {"x": (0.0, 1.0), "y": (1.0, 10.0, "log")}
    found = dl.samples(ranges, count, method="latin-hypercube")
    shares = [[point["x"], np.log10(point["y"])] for point in found]
    for column in zip(*shares, strict=True):
        assert sorted(int(share * count) for share in column) == list(range(count))


def test_a_range_in_the_logarithm() -> None:
    found = [point["x"] for point in dl.samples({"x": (1.0, 10_000.0, "log")}, 256)]
    assert np.histogram(np.log10(found), bins=4, range=(0, 4))[0].tolist() == [64] * 4


def test_whole_numbers_below_zero_have_as_much_room_as_others() -> None:
    # 1024 draws, of which those of equal x differ in y.
    found = dl.samples({"x": (-3, 0), "y": (0.0, 1.0)}, 1024)
    assert Counter(point["x"] for point in found) == dict.fromkeys((-3, -2, -1, 0), 256)


def test_points_that_are_equal_are_there_once() -> None:
    assert sorted(point["x"] for point in dl.samples({"x": (1, 3)}, 16)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("ranges", "told"),
    [
        ({"x": (2, 1)}, "the least first"),
        ({"x": (0, 1, "log")}, "above 0"),
        ({"x": (1, "2")}, "allowed: (least, most)"),
        ({"x": 3}, "allowed: (least, most)"),
        ({}, "give ranges by key"),
    ],
)
def test_what_is_no_range_is_refused(ranges: Any, told: str) -> None:
    with pytest.raises(dl.RequestError) as caught:
        dl.samples(ranges, 4)
    assert told in str(caught.value)


def test_a_method_that_is_none_is_refused() -> None:
    with pytest.raises(dl.RequestError, match='did you mean "sobol"'):
        dl.samples(RANGES, 4, method="soboll")  # type: ignore[arg-type]
