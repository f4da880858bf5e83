"""What binds figures: the table, its age, and the experiment behind it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import cast

import pytest

from drivelab import cli, figures, model, model_layers, sources, variation
from drivelab.errors import RequestError
from drivelab.figures import bindings, constants, reach
from drivelab.figures.bindings import Bindings, Moves, Row
from drivelab.figures.constants import CONSTANTS

ROW = Row(
    "abc",
    "def",
    ("AN-149", "AN-150"),
    {"family": "does not apply", "x": 'x = 3: must be "even"'},
    wider=("ftl.unit",),
    switched=("flash.two",),
    kept_from_ratio=0.01,
    noise={"AN-149": 0.004, "AN-150": 0.3},
    moves={
        "link.x": {"AN-149": Moves(-0.1, 0.05)},
        "ftl.unit": {"AN-150": Moves(-0.5, None, (0.5, 2.0))},
        "flash.two": {"AN-149": Moves(0.8, None)},
    },
)
DISK = "wd-caviar-se16-640gb"


def test_a_table_says_what_was_found_and_reads_back() -> None:
    rows = {"b": ROW, "a": Row("1", "2", (), moves={"k": {"AN-001": Moves(None, 0.0312)}})}
    text = bindings.rendered(rows)
    assert text.index('["a"]') < text.index('["b"]')
    assert "AN-149 = [-10.00, 5.00]" in text
    back = bindings.parsed(text)
    assert back["b"] == ROW
    assert back["a"].moves["k"]["AN-001"] == Moves(None, pytest.approx(0.0312))


def test_a_hundredth_of_the_step_binds_in_either_direction() -> None:
    least = bindings.threshold_ratio(0.0)
    assert Moves(-0.0011, 0.0).binds(least)
    assert Moves(None, 0.0011).binds(least)
    assert not Moves(0.0009, -0.0009).binds(least)
    assert not Moves(None, None).binds(least)
    assert Moves(0.02, -0.04).largest == -0.04
    # What is in proportion to the parameter has an elasticity of 1.
    assert Moves(-0.1, 0.1).elasticity == pytest.approx(1.0)
    assert Moves(-0.1, None).elasticity is None
    assert Moves(-0.5, 1.0, (0.5, 2.0)).elasticity == pytest.approx(1.0)


def test_what_another_seed_moves_as_far_is_not_bound_but_a_hundredth_is_in_any_case() -> None:
    found = Bindings(
        {
            "m": Row(
                "h",
                "c",
                ("F-1", "F-2"),
                noise={"F-1": 0.005, "F-2": 0.3},
                moves={
                    "weak": {"F-1": Moves(0.004, None), "F-2": Moves(0.009, None)},
                    "strong": {"F-1": Moves(-0.006, None), "F-2": Moves(0.011, None)},
                },
            )
        },
        {"m": "h"},
        {"m": "c"},
    )
    assert [b.key for b in found.of("F-1")] == ["strong"]
    assert [b.key for b in found.of("F-2")] == ["strong"]


def test_the_strongest_comes_first_and_an_old_row_is_said_to_be_old() -> None:
    other = Row("x", "", ("AN-149",), moves={"a": {"AN-149": Moves(0.2, None)}})
    rows, hashes = {"m": ROW, "n": other, "gone": other}, {"m": "abc", "n": "y"}
    found = Bindings(rows, hashes, {"m": "def", "n": ""})
    assert [(b.model, b.key) for b in found.of("AN-149")] == [
        ("m", "flash.two"),
        ("n", "a"),
        ("m", "link.x"),
    ]
    assert (found.stale(["m"]), found.stale(["m", "n"])) == (False, True)
    changed = Bindings(rows, hashes, {"m": "another", "n": ""})
    assert changed.stale(["m"]), "a constant of a test has changed since"
    assert found.known("AN-150", ["m"])
    assert not found.known("AN-150", ["m", "n"])
    assert not found.known("AN-149", ["m", "unheard-of"])


def test_left_out_of_its_fit_a_figure_follows_from_the_others() -> None:
    moves = {"f": Moves(-0.1, 0.1), "g": Moves(-0.1, 0.1), "same": Moves(-0.1, 0.1)}
    errors = {"f": 0.0, "g": 0.25, "same": 0.0}
    # The parameter would be lower by a fifth.
    assert bindings.left_out(errors, moves, "f", ["f", "same"]) == pytest.approx(1 / 1.25 - 1)
    assert bindings.left_out(errors, moves, "f", ["f", "g", "same"]) is None
    weak = moves | {"g": Moves(-0.0005, 0.0005)}
    assert bindings.left_out(errors, weak, "f", ["f", "same"]) is None


def test_what_the_lower_value_moves_is_not_measured_again() -> None:
    scope = variation.Scope.of("intel-x25-m-g1-80gb")
    reached = scope.own("intel-x25-m-g1-80gb")
    before = {"AN-149": 100.0, "AN-150": 100.0, "AN-091": 10.0, "AN-110": 1.0}
    asked = []

    def run(factor: float, readings: frozenset[figures.Reading]) -> dict[str, float]:
        asked.append(readings)
        return {**before, "AN-150": 100 * factor, "AN-091": 10 / min(factor, 1.0)}

    found = variation._moves(run, before, reached, {}, both=False)
    assert found is not None
    assert found == {
        "AN-150": Moves(pytest.approx(-0.1), None),
        "AN-091": Moves(pytest.approx(1 / 0.9 - 1), None),
    }
    assert asked[0] == reached
    assert {(r.test_id, r.state) for r in asked[1]} == {
        ("sequential-read-2m", "new"),
        ("random-write-4k-qd3-sector", "used"),
    }
    whole = variation._moves(run, before, reached, {}, both=True)
    assert whole is not None
    assert whole["AN-150"] == Moves(pytest.approx(-0.1), pytest.approx(0.1))


class Choosy:
    """Takes the values that it is given; every figure is in proportion to the parameter."""

    refusal = "must be a power of two"

    def __init__(self, *factors: float) -> None:
        self._factors = factors

    def with_value(
        self, parameter: variation.Record, factor: float, readings: frozenset[figures.Reading]
    ) -> dict[str, float] | None:
        return {"AN-149": 100 * factor} if factor in self._factors else None

    def with_text(
        self, parameter: variation.Record, value: str, readings: frozenset[figures.Reading]
    ) -> dict[str, float] | None:
        return WORDS.get(value)


WORDS = {
    "paced": {"AN-149": 100.0},
    "level": {"AN-149": 100.05},
    "yielding": {"AN-149": 80.0},
    "true": {"AN-149": 103.0},
}
"""What a figure is with each value that is taken; it was 100."""


def with_steps(*takes: float) -> tuple[dict[str, Moves] | None, tuple[float, float]]:
    reached = variation.Scope.of("intel-x25-m-g1-80gb").own("intel-x25-m-g1-80gb")
    bench = cast(variation._Bench, Choosy(*takes))
    return variation._with_steps(bench, {"role": "informed"}, {"AN-149": 100.0}, reached, {})


@pytest.mark.parametrize(
    ("value", "allowed", "expected"),
    [
        ("paced", "one of block, paced, level, yielding", {"AN-149": Moves(-0.2, None)}),
        ("paced", "one of block, paced, level", {}),
        ("paced", "one of block, paced", None),
        (False, "true or false", {"AN-149": Moves(0.03, None)}),
        (True, "true or false", None),
    ],
    ids=["another-moves-it", "another-doesn-t", "takes-no-other", "flipped", "can-t-be-flipped"],
)
def test_words_and_switches_get_every_other_value(
    value: str | bool, allowed: str, expected: dict[str, Moves] | None
) -> None:
    reached = variation.Scope.of("intel-x25-m-g1-80gb").own("intel-x25-m-g1-80gb")
    bench = cast(variation._Bench, Choosy())
    parameter = {"role": "informed", "value": value, "allowed": allowed}
    found = variation._with_words(bench, parameter, {"AN-149": 100.0}, reached, {})
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found.keys() == expected.keys()
        for name, moves in expected.items():
            assert (found[name].down, found[name].up) == (pytest.approx(moves.down), None)


def test_what_takes_no_value_a_tenth_away_is_halved_or_doubled() -> None:
    assert with_steps(1.1) == ({"AN-149": Moves(None, pytest.approx(0.1))}, bindings.FACTORS)
    half, factors = with_steps(0.5)
    assert factors == bindings.WIDER_FACTORS
    assert half == {"AN-149": Moves(-0.5, None, bindings.WIDER_FACTORS)}
    assert with_steps()[0] is None


def test_everything_chosen_for_a_performance_was_varied_or_is_said_not_to_be() -> None:
    for name, row in bindings.stored().items():
        own = variation.Scope.of(name).own(name)
        for parameter in model.load(name).parameters:
            key, value = str(parameter["key"]), parameter["value"]
            if (
                parameter["role"] in sources.DEPENDENT
                and sources.acts(key)
                and any(reach.reaches(key, reading) for reading in own)
            ):
                varied = variation._is_number(value) and any(
                    is_taken(name, key, value, factor) for factor in bindings.FACTORS
                )
                listed = key in row.not_varied or key in row.wider or key in row.switched
                assert varied or listed, f"{key} of {name}: nobody says that it wasn't varied"


def is_taken(name: str, key: str, value: float, factor: float) -> bool:
    """Whether a model takes a value multiplied by a factor, and whether that is another one."""
    other = constants.scaled(value, factor)
    try:
        model.load(name, [(key, str(other))])
    except RequestError:
        return False
    return other != value


def test_what_the_pages_call_fitted_is_a_constant_that_is_varied() -> None:
    targets = {name for constant in CONSTANTS for name in sources.targets_of(constant.source)}
    page = Path(__file__).parents[3] / "docs" / "tests" / "loading.md"
    named = set(re.findall(r"fitted to ([A-Z0-9]{2}-\d{3})", page.read_text(encoding="utf-8")))
    assert named == {"AN-037", "AN-038", "AN-231", "AN-239"}
    assert named <= targets


def test_the_experiment_finds_what_decides_a_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only(name: str) -> variation.Scope:
        readings = frozenset(r for i in ("AN-161", "AN-162") for r in variation._readings(i))
        return variation.Scope(("AN-161", "AN-162"), readings)

    monkeypatch.setattr(variation.Scope, "of", only)
    monkeypatch.setattr(bindings, "path", lambda: tmp_path / "bindings.toml")
    bindings.stored.cache_clear()
    assert variation.is_stale(DISK)
    monkeypatch.setattr(variation, "names", lambda: [DISK])
    variation.renew(DISK, 1, 2, print)
    row = bindings.stored()[DISK]
    assert not variation.is_stale(DISK)
    bindings.stored.cache_clear()
    tracks = row.moves["disk.outer_track_bytes"]
    assert tracks["AN-161"].elasticity == pytest.approx(1, abs=0.05)
    assert set(row.moves["disk.zone_ratio_permille"]) == {"AN-162"}, "the outer tracks stay"
    assert "write_buffer.entries" not in row.moves, "reads don't write"
    assert set(row.noise) <= {"AN-161", "AN-162"}


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda constant: constant.key)
def test_constants_vary_and_come_back(constant: constants.Constant) -> None:
    assert constant.role in sources.ROLES
    before, readings = constant.stands, figures.readings_for()
    assert any(map(constant.reaches, readings)), "a constant reaches some figure"
    digest = constants.digest(frozenset(readings))
    for factor in variation.FACTORS:
        with constant.varied(factor):
            assert constant.stands != before
            assert constants.digest(frozenset(readings)) != digest
    assert constant.stands == before


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [(2, 1.1, 3), (2, 0.9, 1), (1, 0.9, 1), (100, 0.9, 90), (14, 1.1, 15), (0.5, 1.1, 0.55)],
)
def test_whole_numbers_move_by_a_step_at_least(
    value: float, factor: float, expected: float
) -> None:
    assert constants.scaled(value, factor) == pytest.approx(expected)


def test_shares_stay_shares_when_one_is_varied() -> None:
    with next(c for c in CONSTANTS if c.key == "image.extents").varied(1.1):
        image = constants.image.IMAGE
        assert math.fsum(share for _, share in image.extents) == pytest.approx(1)
    with next(c for c in CONSTANTS if c.key == "pcmark.read_sizes").varied(0.9):
        for trace in constants.pcmark.TRACES:
            assert math.fsum(share for _, share in trace.read_sizes) == pytest.approx(1)


def test_bindings_of_what_has_no_figure_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["figures", "--bindings", "--drive", "ocz-solid-60gb"]) == 2
    assert "no published figure follows from it" in capsys.readouterr().err
    assert cli.run(["figures", "--bindings", "--json"]) == 2
    assert "only --drive, --seed and --workers" in capsys.readouterr().err


def test_the_table_is_of_models_that_there_are() -> None:
    known = model_layers.known_names()
    assert set(bindings.stored()) <= set(known)
