"""Pages on a narrow screen, in a browser."""

from __future__ import annotations

import documents
import pytest
from pages import InPage
from report import sample

from drivelab import report
from drivelab.comparison import Source, compare, page

NARROW_PX = 420
WIDTH = """page.querySelectorAll("details").forEach((each) => { each.open = true; });
return page.documentElement.scrollWidth;"""


def test_a_narrow_screen_scrolls_tables_and_not_the_page(in_page: InPage) -> None:
    results = sample.results()
    results["drivelab"]["repeats"] = {"count": 2, "seeds": [1, 2]}
    for test in results["tests"]:
        rate = test["mib_per_s"]
        test["repeats"] = {"mib_per_s": documents.estimate(0.1 * rate, 1.9 * rate)}
    text = report.render(results)
    assert "Difference on a scale" in text  # Words that aren't seen are wide all the same.
    assert 'class="interval"' in text
    assert in_page(text, WIDTH, NARROW_PX) <= NARROW_PX


# By how much a label sticks out of the lane that its bar stands in, at most.
STICKS_OUT = """return Math.max(...[...page.querySelectorAll(".overview .lane")].map((lane) => {
  const room = lane.getBoundingClientRect();
  const label = lane.querySelector(".value").getBoundingClientRect();
  return Math.max(room.left - label.left, label.right - room.right, label.height - room.height);
}));"""


@pytest.mark.parametrize("width_px", [NARROW_PX, 1400])
@pytest.mark.parametrize("rate", [0.01, 12345.0])
def test_the_longest_bar_leaves_room_for_its_label(
    in_page: InPage, width_px: int, rate: float
) -> None:
    tests = [documents.stream("a", rate=1.0), documents.stream("b", rate=rate)]
    text = page.render(compare([Source("review", documents.review(*tests))], "drivelab compare"))
    assert in_page(text, STICKS_OUT, width_px) <= 0.5


def test_a_comparison_on_a_narrow_screen(in_page: InPage) -> None:
    tests = [documents.stream(name, "used", rate=10.0 + index) for index, name in enumerate("ab")]
    tests += [documents.compound(name) for name in "ab"]
    text = page.render(compare([Source("review", documents.review(*tests))], "drivelab compare"))
    assert in_page(text, WIDTH, NARROW_PX) <= NARROW_PX
