from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import MODEL_NAME, OVERRIDES

from drivelab import model, model_layers
from drivelab.data_patterns import data_pattern_text, parse_data_pattern
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB
from drivelab.targets import EngineTarget, Report
from drivelab.workload import (
    BlockSize,
    Compressible,
    DataPattern,
    Job,
    RandomBytes,
    Repeating,
    Zeros,
)


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
        ("foo", r'--data "foo": "foo" is unknown\. Allowed: zeros'),
        ("duplicate:5,pol:3", r'"pol:3" is unknown; did you mean "pool"'),
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


def measured(model: Model, data: DataPattern) -> Report:
    """A short job on a new drive, without the name of its pattern."""
    target = EngineTarget(model, 1)
    span_bytes = min(16 * MIB, target.capacity_bytes)
    block = BlockSize(bytes=4096)
    job = Job(name="a", rw="randrw", block_sizes=(block,), span_bytes=span_bytes, queue_depth=4)
    report = target.run([job.model_copy(update={"data": data})], TaskProgress("test"))
    assert report["jobs"][0].pop("data") == data.model_dump()
    return report


@pytest.mark.parametrize("name", model_layers.known_names())
def test_only_drives_that_compress_look_at_what_is_written(name: str) -> None:
    found = model.load(name)
    same = measured(found, Zeros()) == measured(found, RandomBytes())
    assert same == (found.family != "compressed-map")


def test_results_of_a_drive_that_compresses_depend_on_every_part_of_a_pattern() -> None:
    found = model.load(MODEL_NAME, (*OVERRIDES, ("family", "compressed-map")))
    texts = ("random", "compressible:50", "compressible:50,duplicate:50", "duplicate:50", "zeros")
    reports = [measured(found, parse_data_pattern(text)) for text in texts]
    assert all(reports.count(report) == 1 for report in reports)
