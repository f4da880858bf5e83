from __future__ import annotations

import json
from typing import Any

import pytest

from drivelab import cli


@pytest.fixture
def scenarios(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert cli.run(["example", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["scenarios"]
    return found


@pytest.mark.parametrize(
    ("name", "seconds", "kb_per_s"),
    [("full", 26.0, 0.4615), ("spare", 12.0, 1.0), ("trim", 12.0, 1.0)],
)
def test_the_last_file_takes_as_long_as_the_review_says(
    scenarios: dict[str, Any], name: str, seconds: float, kb_per_s: float
) -> None:
    assert scenarios[name]["seconds"] == seconds
    assert scenarios[name]["kb_per_s"] == kb_per_s


def test_only_a_drive_that_is_told_knows_of_the_deletion(scenarios: dict[str, Any]) -> None:
    full = {name: found["full_percent_after_delete"] for name, found in scenarios.items()}
    assert full == {"full": 60.0, "spare": 60.0, "trim": 40.0}


def test_every_step_shows_every_page(scenarios: dict[str, Any]) -> None:
    for name, count in (("full", 5), ("spare", 6), ("trim", 5)):
        for step in scenarios[name]["steps"]:
            [block] = step["blocks"]
            assert len(block["pages"]) == count
        last = scenarios[name]["steps"][-1]["blocks"][0]["pages"]
        assert sorted(page["lpn"] for page in last if page["state"] == "valid") == [0, 1, 2, 3, 4]


def test_the_text_form_shows_pages_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["example"]) == 0
    text = capsys.readouterr().out
    assert "26 s" in text
    assert "invalid 0" in text
    assert "40 % full" in text


def test_parameters_can_be_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["example", "--json", "--set", "flash.program_ns=1000000000"]) == 0
    found = json.loads(capsys.readouterr().out)["scenarios"]
    assert found["spare"]["seconds"] == 3.0


@pytest.mark.parametrize(
    ("pages", "titles"),
    [
        (5, ["Five pages, all of them the user's", "Five pages, and the operating system trims"]),
        (
            8,
            [
                "Eight pages, three of them spare area",
                "Eight pages, and the operating system trims",
            ],
        ),
    ],
)
def test_titles_count_the_pages_of_the_drive_as_it_was_set(
    pages: int, titles: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["example", "--set", f"flash.pages_per_block={pages}"]) == 0
    said = capsys.readouterr().out
    assert all(title in said for title in titles)
    assert "Six pages" not in said
