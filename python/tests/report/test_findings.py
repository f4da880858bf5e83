from __future__ import annotations

from typing import Any

import documents
import pytest
from report.sample import MODEL, results

from drivelab.report.findings import findings
from drivelab.report.quantities import NBSP
from drivelab.report.reading import read
from drivelab.report.sentences import comparison, of_number


def sentences(data: dict[str, Any]) -> list[str]:
    return [f.sentence.replace(NBSP, " ") for f in findings(read(data))]


def measured(data: dict[str, Any], test_id: str, state: str) -> dict[str, Any]:
    return next(t for t in data["tests"] if (t["id"], t["state"]) == (test_id, state))


def test_a_loss_is_slower_and_negative() -> None:
    found = findings(read(results()))
    loss = next(item for item in found if "writes random" in item.sentence)
    assert loss.sentence.replace(NBSP, " ") == (
        "Used, the drive writes random 4 KiB blocks 42 % slower than new."
    )
    assert loss.figure.replace(NBSP, " ") == "−42 %"
    assert "39.1 MiB/s" in loss.detail.replace(NBSP, " ")


def test_reads_of_written_data_come_first() -> None:
    assert sentences(results())[0] == (
        "Used, the drive reads random 4 KiB blocks 20 % slower than new."
    )


def never_written(data: dict[str, Any], state: str) -> None:
    """Makes the reads of a state those of a drive that was never written."""
    for test in data["tests"]:
        if test["direction"] == "read" and test["state"] == state:
            test["bytes"] = 10**9
            test["counters"] = {"zero_read_bytes": 10**9}


def test_reads_that_touched_no_flash_are_no_measure_of_anything() -> None:
    data = results()
    never_written(data, "new")
    found = findings(read(data))
    text = [item.sentence.replace(NBSP, " ") for item in found]
    assert text[0] == "Used, the drive reads random 4 KiB blocks at 52.8 MiB/s (13,517 IOPS)."
    assert "touch no flash" in found[0].detail
    assert not any("read" in sentence and "than new" in sentence for sentence in text)
    access = next(item for item in found if "an access anywhere" in item.sentence)
    assert "new:" not in access.detail


def test_reads_of_a_filled_drive_stand_for_those_of_a_new_one() -> None:
    data = results()
    for test in [test for test in data["tests"] if test["state"] == "new"]:
        if test["id"] == "random-read-4k-qd3-aligned":
            data["tests"].append(test | {"state": "filled", "mib_per_s": 60.0})
    never_written(data, "new")
    text = sentences(data)
    assert "Used, the drive reads random 4 KiB blocks 12 % slower than filled." in text
    assert not any("reads random 4 KiB blocks at" in sentence for sentence in text)


def test_a_new_drive_that_was_never_written_has_no_headline_of_reads() -> None:
    data = results()
    data["tests"] = [test for test in data["tests"] if test["state"] == "new"]
    assert any("an access anywhere" in sentence for sentence in sentences(data))
    never_written(data, "new")
    assert not any("read" in text or "access" in text for text in sentences(data))


def test_reads_of_a_sparse_file_are_no_headline() -> None:
    data = results()
    data["tests"] = [test for test in data["tests"] if test["state"] == "new"]
    for model in data["models"]:
        model["real"] = {"path": "/tmp/sparse", "kind": "regular file"}
    assert not any("read" in text or "access" in text for text in sentences(data))
    # Unless the test wrote what it reads.
    for test in data["tests"]:
        test["data"] = "random"
    assert any("an access anywhere" in sentence for sentence in sentences(data))


def test_a_gain_is_faster_and_positive() -> None:
    data = results()
    measured(data, "sequential-read-2m", "used")["mib_per_s"] = 264.1 * 1.5
    assert "Used, the drive reads sequentially 50 % faster than new." in sentences(data)
    figures = {f.sentence: f.figure for f in findings(read(data))}
    gain = next(figure for text, figure in figures.items() if "reads sequentially" in text)
    assert gain.startswith("+50")


def test_no_change_is_called_none() -> None:
    data = results()
    measured(data, "sequential-read-2m", "used")["mib_per_s"] = 263.0
    assert "Used, the drive reads sequentially as fast as new." in sentences(data)


def test_tail_amplification_and_cleaning_are_those_of_the_used_unaligned_write() -> None:
    text = " ".join(sentences(results()))
    assert "one in 10,000 random 4 KiB writes takes longer than 24.0 ms" in text
    assert "programs 2.74 times the bytes" in text
    assert "Waiting for cleaning takes 42 % of the time" in text
    assert "Aligned to 4 KiB, random 4 KiB writes are 40 % faster" in text


def test_without_cleaning_the_largest_part_is_named() -> None:
    data = results()
    data["tests"] = [test for test in data["tests"] if test["state"] == "new"]
    text = " ".join(sentences(data))
    assert "Flash takes 50 % of the time of random 4 KiB writes on the new drive." in text
    assert "slower" not in text


def test_figures_are_judged_by_tolerance_and_bounds() -> None:
    data = results()
    assert "The model meets 9 of 9 published figures within 10 %." in sentences(data)
    by_id = {figure["id"]: figure for figure in data["figures"]}
    by_id["AN-150"]["modelled"] = 230.2 * 1.11
    by_id["AN-109"]["modelled"] = 0.31  # published as less than 0.3 ms
    assert "The model meets 7 of 9 published figures within 10 %." in sentences(data)
    detail = findings(read(data))[-1].detail.replace(NBSP, " ")
    assert "5 of 7 predicted, 2 of 2 fitted" in detail
    assert "+11 % (AN-150)" in detail


def test_another_model_is_compared_in_the_same_state() -> None:
    text = " ".join(sentences(results(2)))
    assert (
        "X25-M with 28 % spare area writes random 4 KiB blocks 18 % faster than "
        "Intel X25-M G1 80 GB, both used." in text
    )


def test_beside_another_drive_every_finding_says_which_drive_it_is_about() -> None:
    """A reader of two drives can't tell whose tail, flash or access time a sentence is about."""
    data = results(2)
    names = [model["title"] for model in data["models"]]
    data["tests"].append(
        study("fill-level", {"full_mib_per_s": 10.0, "half_full_mib_per_s": 20.0}, state="used")
        | {"model": data["models"][0]["name"]}
    )
    alone, found = sentences(results()), sentences(data)
    assert len(found) > len(alone)
    unnamed = [text for text in found if not any(name in text for name in names)]
    assert [text for text in unnamed if not text.startswith("The models meet")] == []
    assert sum(names[0] in text for text in alone) == 0


def test_nothing_measured_gives_no_findings() -> None:
    assert findings(read(documents.review(models=[]) | {"tests": [], "states": []})) == []
    assert findings(read(results() | {"tests": [], "figures": []})) == []


def test_what_trim_restores_is_said_of_the_write_that_lost_most() -> None:
    data = results()
    used = measured(data, "random-write-4k-qd3-sector", "used")
    trimmed = used | {"state": "used-trimmed", "mib_per_s": 38.3}
    data["tests"].append(trimmed)
    text = " ".join(sentences(data))
    assert "TRIM of everything brings a used drive back to 98 % of new" in text
    assert "Used, the drive writes random 4 KiB blocks 42 % slower than new." in text


def test_large_changes_are_told_as_times() -> None:
    assert comparison(-0.42)[1] == f"42{NBSP}% slower than"
    assert comparison(17.0) == (f"18{NBSP}×", "18 times as fast as")
    assert comparison(-0.98) == ("1/50", "50 times slower than")


def test_values_of_compound_tests_that_changed_most_are_told_first() -> None:
    data = results()
    for state, score in (("new", 100.0), ("used", 10.0)):
        values = [documents.value("score", score, better="higher")]
        data["tests"].append(
            documents.compound(MODEL, state, "suite", title="A suite", values=values)
        )
    assert "A suite, used: score 1/10 of that of new, which is worse." in sentences(data)


def test_a_compound_test_that_read_an_unwritten_drive_is_nobodys_measure() -> None:
    data = results()
    data["tests"] = []
    for state, score, share in (("new", 900.0, 1.0), ("filled", 100.0, 0.0), ("used", 50.0, 0.0)):
        values = [documents.value("score", score, better="higher")]
        record = documents.compound(MODEL, state, "suite", title="A suite", values=values)
        data["tests"].append(record | {"unmapped_read_share": share})
    assert "A suite, used: score 50 % worse than filled." in sentences(data)


@pytest.mark.parametrize(
    ("filled", "later", "told"),
    [
        (1.00, 2.62, "2.6 ×: write amplification 2.6 times that of filled, which is worse."),
        (2.62, 1.00, "1/2.6: write amplification 1/2.6 of that of filled, which is better."),
        (10_215.0, 12_706.0, "+24 %: write amplification 24 % worse than filled."),
        (12_706.0, 10_215.0, "−20 %: write amplification 20 % better than filled."),
    ],
)
def test_of_what_should_be_low_the_change_is_that_of_the_numbers_beside_it(
    filled: float, later: float, told: str
) -> None:
    data = results()
    for state, amount in (("filled", filled), ("used", later)):
        value = documents.value("write_amplification", amount, better="lower")
        value |= {"title": "Write amplification"}
        data["tests"].append(
            documents.compound(MODEL, state, "suite", title="A suite", values=[value])
        )
    [found] = [item for item in findings(read(data)) if item.sentence.startswith("A suite")]
    text = f"{found.figure}: {found.sentence.removeprefix('A suite, used: ')}"
    assert text.replace(NBSP, " ") == told


def test_the_sign_of_a_number_is_its_own_and_the_word_that_of_its_direction() -> None:
    for ratio in (0.1, 0.4, 0.6, 0.97, 1.03, 1.5, 3.0, 20.0):
        more, less = (of_number(ratio, "new", more_is_better=which) for which in (True, False))
        assert more[0] == less[0]
        words = ("better", "worse") if ratio > 1 else ("worse", "better")
        assert words[0] in more[1]
        assert words[1] in less[1]
    assert of_number(1.01, "new", more_is_better=False)[1] == "as good as new"


def study(test_id: str, values: dict[str, float], **more: Any) -> dict[str, Any]:
    """The record of a study with these values."""
    told = [
        documents.value(name, value) | {"title": f"{name}, 81 % of the drive"}
        for name, value in values.items()
    ]
    return documents.compound(MODEL, "new", test_id, values=told, tables=[], charts=[]) | more


def test_studies_tell_their_story() -> None:
    rows = [{"spare_percent": 7.3, "variant": "as sold"}, {"spare_percent": 28.0, "variant": "v"}]
    data = results() | {
        "tests": [
            study(
                "spare-area",
                {
                    "as_sold_write_amplification": 7.19,
                    "as_sold_mib_per_s": 7.53,
                    "spare_28_write_amplification": 2.48,
                    "spare_28_mib_per_s": 22.1,
                },
                tables=[{"name": "spare", "title": "Spare", "rows": rows, "columns": []}],
            ),
            study("fill-level", {"full_mib_per_s": 7.5, "half_full_mib_per_s": 41.0}),
            study(
                "partition", {"whole_random_mib_per_s": 8.0, "partition_random_mib_per_s": 21.04}
            ),
            study(
                "resiliency-table",
                {"tortured_pass_write_percent": 23.0, "passed_pass_write_percent": 91.0},
            ),
            study("alignment", {"random_4k_mib_per_s": 54.0, "random_4k_shifted_percent": 66.7}),
            study(
                "compressibility",
                {"random_write_kept_percent": 60.0, "random_read_kept_percent": 100.0},
            ),
        ]
    }
    found = {
        item.figure.replace(NBSP, " "): item.sentence.replace(NBSP, " ")
        for item in findings(read(data))
    }
    assert found["7.19 → 2.48"] == (
        "With 28 % of spare area instead of 7.3 %, each byte of random writes costs 2.48 bytes of "
        "flash instead of 7.19, and the drive writes 193 % faster than as sold."
    )
    assert found["5.5 ×"] == ("Half full, the drive writes at random 5.5 times as fast as full.")
    assert found["+163 %"] == (
        "After torture, a partition of 81 % of the drive is written at random 163 % faster than "
        "the whole drive."
    )
    assert found["23 % → 91 %"].startswith("One sequential pass brings a pass of writes over")
    assert found["−33 %"].startswith("At the worst offset, random 4 KiB writes keep 67 %")
    assert found["−40 %"] == (
        "Of data that don't compress, random writes keep 60 % of their speed."
    )


def test_a_study_without_its_values_says_nothing() -> None:
    data = results() | {"tests": [study("spare-area", {"as_sold_mib_per_s": 7.5})]}
    assert not any("spare area" in sentence for sentence in sentences(data))


@pytest.mark.parametrize(
    ("steady", "words"),
    [
        ("yes", "steady random 4 KiB writes: "),
        ("no", "random 4 KiB writes, not all of them steady"),
    ],
)
def test_what_was_cut_off_is_not_called_steady(steady: str, words: str) -> None:
    rows = [{"fill_percent": 100.0, "steady": "yes"}, {"fill_percent": 50.0, "steady": steady}]
    told = study(
        "fill-level",
        {"full_mib_per_s": 7.5, "half_full_mib_per_s": 41.0},
        tables=[{"name": "levels", "title": "Levels", "rows": rows, "columns": []}],
    )
    finding = findings(read(results() | {"tests": [told]}))[0]
    assert finding.detail.replace(NBSP, " ").startswith(words)
