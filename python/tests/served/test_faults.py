from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import text_files
from drivelab.errors import RequestError
from drivelab.served import fault_request, faults, image

PLAN = """
seed = 7
spare_blocks = 3

[[fault]]
kind = "power-cut"
at_operation = 1000
phase = "before"

[[fault]]
kind = "program-failure"
probability = 1e-4
endurance_erases = 3000
"""


def plan(tmp_path: Path, text: str | bytes) -> faults.Plan:
    path = tmp_path / "plan.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return faults.read_plan(path)


def test_a_plan_is_its_seed_and_its_faults(tmp_path: Path) -> None:
    assert plan(tmp_path, PLAN).record() == {
        "seed": 7,
        "spare_blocks": 3,
        "faults": [
            {"kind": "power-cut", "at_operation": 1000, "phase": "before"},
            {"kind": "program-failure", "probability": 1e-4, "endurance_erases": 3000},
        ],
    }
    assert plan(tmp_path, '[[fault]]\nkind = "lying-flush"').record() == {
        "seed": 1,
        "faults": [{"kind": "lying-flush"}],
    }


def test_a_byte_order_mark_is_no_part_of_a_plan(tmp_path: Path) -> None:
    assert plan(tmp_path, b"\xef\xbb\xbf" + PLAN.encode()) == plan(tmp_path, PLAN)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no fault in it"),
        ("sed = 1", 'unknown key "sed"; did you mean "seed"?'),
        ("seed = -1", "seed = -1; allowed: whole numbers from 0 on"),
        ("seed = true", "seed = True; allowed"),
        ("spare_blocks = 0.5", "spare_blocks = 0.5; allowed"),
        ("fault = 3", "each fault as a table [[fault]]"),
        ("[[fault]]", "fault 1: no kind. Allowed: power-cut,"),
        ('[[fault]]\nkind = "powercut"', 'did you mean "power-cut"'),
        ("[[fault]]\nkind = 5", "kind = 5 is unknown. Allowed"),
        ('[[fault]]\nkind = "power-cut"\nat_operatoin = 5', 'did you mean "at_operation"'),
        ('[[fault]]\nkind = "power-cut"\nat_command = 5', 'unknown key "at_command"'),
        ('[[fault]]\nkind = "power-cut"\nat_operation = 0', "whole numbers from 1 on"),
        ('[[fault]]\nkind = "power-cut"\nat_operation = 1.5', "at_operation = 1.5; allowed"),
        ('[[fault]]\nkind = "power-cut"\nphase = "before"', "counts with at_operation only"),
        (
            '[[fault]]\nkind = "power-cut"\nat_operation = 1\nphase = "late"',
            'phase = "late"; allowed: before or middle or after',
        ),
        ('[[fault]]\nkind = "torn-write"\nprobability = 0', "a number above 0 up to 1"),
        ('[[fault]]\nkind = "torn-write"\nprobability = nan', "probability = nan; allowed"),
        ('[[fault]]\nkind = "torn-write"\nprobability = 1.5', "probability = 1.5; allowed"),
        ('[[fault]]\nkind = "torn-write"\noffset_bytes = 100', "multiples of 512"),
        ('[[fault]]\nkind = "torn-write"\nlength_bytes = 0', "length_bytes = 0; allowed"),
        (
            '[[fault]]\nkind = "torn-write"\nat_command = 1\nprobability = 0.5',
            "at_command and probability: give one of them",
        ),
        ('[[fault]]\nkind = "latency-spike"', "duration_ns is missing"),
        (
            '[[fault]]\nkind = "erase-failure"\nendurance_erases = 5',
            "endurance_erases: counts with probability only",
        ),
        ("[[fault]]\nkind = ", "it is not TOML"),
        ("[[fault]]\nkind = 4k", "it is not TOML: Expected newline"),
        ("[[fault]]\nkind = 4k", "(at line 2, column 9): kind = 4k"),
        (b"\xff\xfe", "not text in UTF-8"),
        ("x = " + "[" * 5000, "it is not TOML"),
        ("# " + "x" * text_files.MOST_BYTES, "longer than"),
    ],
)
def test_a_wrong_plan_is_refused_with_what_is_allowed(
    tmp_path: Path, text: str | bytes, words: str
) -> None:
    with pytest.raises(RequestError) as refusal:
        plan(tmp_path, text)
    assert words in str(refusal.value)
    assert "plan.toml" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_what_the_engine_says_of_a_plan_names_its_file_and_counts_as_the_file_does(
    tmp_path: Path,
) -> None:
    path = tmp_path / "plan.toml"
    for text, said in (
        (
            '[[fault]]\nkind = "bit-errors"\nnew_bit_error_rate = 0.1\nworn_bit_error_rate = 0.01',
            "fault 1 (bit-errors): worn_bit_error_rate = 0.01: "
            "must be at least new_bit_error_rate = 0.1",
        ),
        (
            '[[fault]]\nkind = "read-only"\n' + 2 * '[[fault]]\nkind = "bit-errors"\n',
            "fault 3 (bit-errors): kind = bit-errors: must be the only one, and fault 2 is another",
        ),
    ):
        with pytest.raises(RequestError) as refusal:
            plan(tmp_path, text)
        assert str(refusal.value) == f"{path}: {said}"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("my.drive: faults[1].block = 9: must be one", "p.toml: fault 2 (program-failure): block"),
        ("faults[0].at_operation = 5: must be more", "p.toml: fault 1 (power-cut): at_operation"),
        ("my.drive: spare_blocks = 9: must be", "p.toml: spare_blocks = 9: must be"),
        ("my.drive: in use by process 5", "my.drive: in use by process 5"),
    ],
)
def test_what_a_drive_says_of_a_plan_does_so_too(told: str, said: str) -> None:
    found = faults.Plan(1, ({"kind": "power-cut"}, {"kind": "program-failure"}), origin="p.toml")
    with pytest.raises(RequestError) as refusal, found.refusals("my.drive"):
        raise RequestError(told)
    assert str(refusal.value).startswith(said)


def test_a_plan_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="can't read it"):
        faults.read_plan(tmp_path / "none.toml")


def test_a_key_given_twice_is_refused() -> None:
    words = ("offset_bytes=4k", "at_command=1", "offset_bytes=8k")
    with pytest.raises(RequestError, match='"offset_bytes=8k": offset_bytes is given twice'):
        fault_request.of_words("read-error", words)
    with pytest.raises(RequestError, match="kind is given twice"):
        fault_request.of_words("read-error", ("kind=power-cut",))


def test_every_key_belongs_to_a_kind_and_says_what_it_is() -> None:
    used = {key for kind in faults.KINDS.values() for key in kind.keys}
    assert used == set(faults.KEYS)
    assert all(key.help and key.allowed for key in faults.KEYS.values())
    for kind in faults.KINDS.values():
        assert set(kind.needs) <= set(kind.keys)


values = st.one_of(
    st.integers(), st.floats(), st.text("abc=", max_size=5), st.booleans(), st.none(), st.just([1])
)
words = st.sampled_from([*faults.KEYS, "kind", "seed", "nonsense"])
tables = st.dictionaries(words, values | st.sampled_from([*faults.KINDS]), max_size=5)


@given(st.fixed_dictionaries({}, optional={"seed": values, "fault": st.lists(tables) | values}))
def test_no_document_does_anything_but_pass_or_be_refused(document: dict[str, Any]) -> None:
    with contextlib.suppress(RequestError):
        found = faults.parse_plan(document, "plan")
        assert len(found.faults) == len(document.get("fault", []))


def test_the_engine_allows_what_plans_allow() -> None:
    """Least and most of every key, and nothing beside them."""
    for kind_name, kind in faults.KINDS.items():
        for name in kind.keys:
            key = faults.KEYS[name]
            if key.choices:
                continue
            table: dict[str, Any] = {"kind": kind_name}
            if name != "duration_ns" and "duration_ns" in kind.needs:
                table["duration_ns"] = 1
            if name in ("endurance_erases", "wear_exponent") and "probability" in kind.keys:
                table["probability"] = 0.5
            if name == "wear_exponent":
                table["endurance_erases"] = 5
            if name == "worn_bit_error_rate":
                table["new_bit_error_rate"] = 0
            if name == "refresh_bits":
                table["correctable_bits"] = 1000
            number = int if key.whole else float
            low = key.low if key.whole or key.low or key.may_be_zero else 1e-9
            step = key.multiple_of
            high = key.high if key.high != faults.COUNT_MAX else 5 * step
            wrong = [key.low - step, *([key.high + step] if key.high < 2**53 else [])]
            if name == "distance_bytes":
                low, wrong = -step, [0, 100]
            for value in (low, high):
                faults.parse_plan({"fault": [{**table, name: number(value)}]}, "plan")
            for value in wrong:
                with pytest.raises(RequestError):
                    faults.parse_plan({"fault": [{**table, name: number(value)}]}, "plan")
                document = {"seed": 1, "faults": [{**table, name: number(value)}]}
                with pytest.raises(RequestError):
                    image.check_faults(document, "plan")
