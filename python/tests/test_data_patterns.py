from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.data_patterns import data_pattern_text, parse_data_pattern
from drivelab.errors import RequestError
from drivelab.workload import Compressible, Job, RandomBytes, Repeating, Zeros


def test_patterns_have_names_and_some_have_numbers() -> None:
    assert parse_data_pattern("zeros") == Zeros()
    assert parse_data_pattern("repeating") == Repeating()
    assert parse_data_pattern("random") == RandomBytes()
    assert parse_data_pattern("compressible:46") == Compressible(compressed_percent=46)
    assert parse_data_pattern("duplicate:30%") == Compressible(duplicate_percent=30)
    assert parse_data_pattern("compressible:46.5, duplicate:30, pool:7") == Compressible(
        compressed_percent=46.5, duplicate_percent=30, duplicate_pool=7
    )


def test_a_job_writes_random_bytes_unless_told_otherwise() -> None:
    assert Job(name="a").data == RandomBytes()
    job = Job(name="a", data=parse_data_pattern("compressible:46"))
    assert Job.model_validate_json(job.to_json()) == job


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zeroes", r'--data "zeroes": "zeroes" is unknown; did you mean "zeros"\? Allowed: zeros'),
        ("", r'--data "": "" is unknown. Allowed: zeros, repeating'),
        ("zeros:5", r'"zeros:5" stands alone, without a number'),
        ("zeros,duplicate:5", r'"zeros" stands alone'),
        ("compressible", r'compressible = ""; allowed: what compression leaves, 0 to 100 percent'),
        ("compressible:101", r'compressible = "101"; allowed: .* 0 to 100'),
        ("compressible:nan", r'compressible = "nan"; allowed: .* 0 to 100'),
        ("duplicate:-1", r'duplicate = "-1"; allowed: the share of copies, 0 to 100'),
        ("duplicate:5,pool:0", r'pool = "0"; allowed: .* 1 to 65535'),
        ("duplicate:5,pool:65536", r'pool = "65536"; allowed: .* 1 to 65535'),
        ("pool:5", r"pool needs duplicate:SHARE"),
        ("duplicate:5,duplicate:6", r"duplicate is there twice"),
    ],
)
def test_wrong_patterns_are_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        parse_data_pattern(text)


def test_another_option_is_named_in_its_own_errors() -> None:
    with pytest.raises(RequestError, match=r'^--state-data "x"'):
        parse_data_pattern("x", "--state-data")


@given(
    st.one_of(
        st.sampled_from([Zeros(), Repeating(), RandomBytes()]),
        st.builds(
            Compressible,
            compressed_percent=st.integers(0, 1000).map(lambda permille: permille / 10),
            duplicate_percent=st.integers(1, 1000).map(lambda permille: permille / 10),
            duplicate_pool=st.integers(1, 65_535),
        ),
    )
)
def test_the_text_of_a_pattern_says_it_all(pattern: Zeros | Compressible) -> None:
    assert parse_data_pattern(data_pattern_text(pattern)) == pattern
    assert parse_data_pattern(data_pattern_text(pattern.model_dump())) == pattern


def test_texts_are_short() -> None:
    assert data_pattern_text(Zeros()) == "zeros"
    assert data_pattern_text(Compressible()) == "compressible:100"
    assert data_pattern_text(Compressible(duplicate_percent=30)) == "duplicate:30"
    assert (
        data_pattern_text({"kind": "compressible", "compressed_percent": 46}) == "compressible:46"
    )
