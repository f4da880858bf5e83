"""One parameter at a time: what moves what, on small drives."""

from __future__ import annotations

from typing import Any

import pytest

import drivelab as dl
from drivelab.errors import RequestError

NAME = "intel-x25-v-40gb"
JOB = dl.Job(rw="randread", bs="4k", io_size="2m")
KEYS = ("flash.read_ns", "link.bytes_per_s", "flash.channel_count", "controller.queue_depth")


@pytest.fixture(scope="module")
def found() -> dl.Variations:
    drive = dl.Drive(NAME, scale="1/64")
    return dl.vary(drive, JOB, keys=KEYS, state="filled", workers=1, progress=False)


def test_a_slower_die_makes_reads_slower_and_a_queue_that_is_never_full_nothing(
    found: dl.Variations,
) -> None:
    effects = {row["key"]: row for row in found.effects("latency_mean_us").to_dicts()}
    assert effects["flash.read_ns"]["less_percent"] < -1
    assert effects["flash.read_ns"]["more_percent"] > 1
    assert effects["controller.queue_depth"]["more_percent"] == pytest.approx(0, abs=1e-9)
    first = next(iter(effects))
    assert first == "flash.read_ns", "the most moving comes first"
    # tR is a part of the latency: a tenth of it moves the whole by less than a tenth.
    assert abs(effects["flash.read_ns"]["more_percent"]) < 10


def test_whole_numbers_change_by_one_at_least_and_what_makes_no_drive_is_told(
    found: dl.Variations,
) -> None:
    varied = {row["key"]: row for row in found.effects("iops").to_dicts()}
    channels = dl.Drive(NAME).model.value("flash.channel_count")
    assert varied["flash.channel_count"]["more_varied"] == channels + 1
    assert varied["flash.channel_count"]["less_percent"] is None
    [left] = found.left_out
    assert (left.key, left.side) == ("flash.channel_count", "less")
    assert "user_capacity_bytes" in left.reason


def test_what_a_small_version_can_not_show_is_left_out_and_so_is_another_meaning() -> None:
    keys = ["ftl.superblock_blocks", "nvme.arbitration_burst"]
    drive = dl.Drive("samsung-pm9a3-960gb", scale="1/128")
    found = dl.vary(drive, JOB, keys=keys, workers=1, progress=False)
    left = {(item.key, item.side): item.reason for item in found.left_out}
    assert left.keys() == {(keys[0], "less"), (keys[0], "more"), (keys[1], "less")}
    assert "1/128 of the size" in left[keys[0], "less"]
    assert "all that it has" in left[keys[1], "less"]
    assert found.effects("iops")["key"].to_list() == [keys[1]]


def test_a_hard_disk_which_has_no_small_version_is_varied_too() -> None:
    job = dl.Job(rw="randread", bs="4k", io_size="64k")
    drive = dl.Drive("wd-velociraptor-300gb")
    found = dl.vary(drive, job, keys=["link.bytes_per_s"], workers=1, progress=False)
    assert found.effects("iops").height == 1


def test_what_is_nothing_on_the_drive_as_it_is_has_no_per_cents(found: dl.Variations) -> None:
    # One read after the other takes as long as any; with more or fewer channels, too.
    metric = "latency_stddev_us"
    assert found.frame().filter(key="")[metric].item() == 0
    for side in ("less", "more"):
        assert found.effects(metric)[f"{side}_percent"].to_list() == [None] * len(KEYS)


def test_it_is_what_a_sweep_measures(found: dl.Variations) -> None:
    read_ns = dl.Drive(NAME).model.value("flash.read_ns")
    values = [round(read_ns * 0.9), read_ns, round(read_ns * 1.1)]
    drive = dl.Drive(NAME, scale="1/64")
    grid = {"flash.read_ns": values}
    study = dl.sweep(drive, grid, job=JOB, state="filled", workers=1, progress=False)
    swept = study.frame()["latency_mean_us"].to_list()
    frame = found.frame()
    own = [
        frame.filter(key=key, side=side)["latency_mean_us"].item()
        for key, side in (("flash.read_ns", "less"), ("", ""), ("flash.read_ns", "more"))
    ]
    assert own == swept


def test_printed_it_shows_its_table_and_what_must_be_known(found: dl.Variations) -> None:
    for text in (repr(found), str(found)):
        assert f"4 parameters of {NAME}, Job(rw='randread'" in text
        for key in KEYS:
            assert f" {key} " in text
        assert "less_percent" in text
        assert "note: at this scale: " in text
        assert "\nnote: 1 variation left out, with reasons in left_out" in text
        assert max(map(len, text.splitlines()[:-3])) < 140
    page = found._repr_html_()
    assert "<table" in page
    assert "<p>note: at this scale" in page


def test_what_makes_no_drive_at_all_is_printed_too() -> None:
    drive, keys = dl.Drive(NAME, scale="1/64"), ["flash.blocks_per_plane"]
    none = dl.vary(drive, JOB, keys=keys, by=0.001, workers=1, progress=False)
    assert len(none) == 0
    assert "note: 2 variations left out" in repr(none)
    assert "2 variations left out" in none._repr_html_()


def test_somebody_hears_how_far_it_is() -> None:
    heard: list[float] = []
    dl.vary(
        dl.Drive(NAME, scale="1/64"),
        JOB,
        keys=["flash.read_ns"],
        workers=1,
        progress=lambda share, _: heard.append(share),
    )
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"keys": ["flash.reed_ns"]}, 'did you mean "flash.read_ns"'),
        ({"keys": ["title"]}, "is no number"),
        ({"keys": ["spare_ratio"]}, "it follows from others there; vary user_capacity_bytes"),
        ({"keys": "flash.read_ns"}, "allowed: a list, as"),
        ({"by": 0}, "above 0 and below 1"),
        ({"by": 1.5}, "above 0 and below 1"),
        ({"state": "spent"}, "spent"),
    ],
)
def test_what_can_not_be_is_named_before_anything_runs(words: dict[str, Any], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        dl.vary(dl.Drive(NAME, scale="1/64"), JOB, **words)


def test_a_drive_with_a_past_and_a_number_that_is_not_measured_are_refused(
    found: dl.Variations,
) -> None:
    used = dl.Drive(NAME, scale="1/64").prepare("filled", progress=False)
    with pytest.raises(RequestError, match="has a past"):
        dl.vary(used, JOB)
    with pytest.raises(RequestError, match='"iop" is not measured'):
        found.effects("iop")
