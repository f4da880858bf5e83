"""A published figure, and each parameter a little less and more, on small drives."""

from __future__ import annotations

from typing import Any

import pytest

import drivelab as dl
from drivelab import figures, model, review
from drivelab.errors import RequestError
from drivelab.figures.plan import measurements
from drivelab.lab.figure_variations import Moved
from drivelab.lab.varying import Variation

NAME, FIGURE = "intel-x25-m-g1-80gb", "AN-149"
KEYS = ["link.frame_overhead_ns", "flash.read_ns", "flash.channel_count"]


@pytest.fixture(scope="module")
def found() -> dl.FigureVariations:
    drive = dl.Drive(NAME, scale="1/64")
    return dl.vary_figure(drive, FIGURE, keys=KEYS, quick=True, workers=2, progress=False)


def test_what_moves_the_figure_most_comes_first_with_what_it_becomes(
    found: dl.FigureVariations,
) -> None:
    first = found.frame().row(0, named=True)
    assert (first["key"], first["role"], first["unit"]) == (KEYS[0], "fitted", "ns")
    assert (first["less_varied"], first["more_varied"]) == (1980, 2420)
    assert first["less_modelled"] > found.modelled > first["more_modelled"]
    wanted = 100 * (first["more_modelled"] / found.modelled - 1)
    assert first["more_percent"] == pytest.approx(wanted)
    assert found.figure["published"] == 264.1
    assert (found.figure["unit"], found.figure["role"]) == ("MiB/s", "fitted")
    # Nine channels hold less than the host may write.
    assert [(item.key, item.side) for item in found.left_out] == [("flash.channel_count", "less")]


def test_printed_it_shows_its_table_and_the_figure(found: dl.FigureVariations) -> None:
    for text in (repr(found), str(found)):
        head, *_ = text.splitlines()
        assert head.startswith(f"<FigureVariations of {FIGURE}, ")
        assert head.endswith(f"{found.modelled:.6g} MiB/s, published 264.1>")
        for key in KEYS:
            assert f" {key} " in text
        assert "more_percent" in text
        assert "note: 1 variation left out, with reasons in left_out" in text
    assert "<table" in found._repr_html_()
    assert "<p>note: 1 variation left out" in found._repr_html_()


def test_of_a_small_version_it_says_that_the_level_means_nothing(
    found: dl.FigureVariations,
) -> None:
    size, *remarks = found.notes
    assert "1/64 of the size, of which nothing was published" in size
    known = dl.Drive(NAME, scale="1/64").model.scale_remarks
    assert remarks == [f"at this scale: {remark}" for remark in known]
    assert f"note: {size}" in repr(found)
    assert "of which nothing was published" in found._repr_html_()
    disk = dl.Drive("wd-velociraptor-300gb")
    whole = dl.vary_figure(disk, "AN-005", keys=["link.bytes_per_s"], quick=True, progress=False)
    assert whole.notes == []


def test_a_figure_that_is_nothing_has_no_per_cents_but_an_order_and_a_reason(
    found: dl.FigureVariations,
) -> None:
    def moved(key: str, side: str, modelled: float) -> Moved:
        return Moved(Variation(key, "ns", 10.0, side, 11.0), modelled)

    items = [moved("a", "less", 0.0), moved("b", "more", 0.5), moved("c", "less", -2.0)]
    none = dl.FigureVariations(
        dict(found.figure) | {"modelled": 0.0}, dict.fromkeys("abc", "fitted"), items, []
    )
    frame = none.frame()
    assert frame["key"].to_list() == ["c", "b", "a"]
    assert frame["less_modelled"].to_list() == [-2.0, None, 0.0]
    for side in ("less", "more"):
        assert frame[f"{side}_percent"].to_list() == [None] * 3
    [note] = none.notes
    assert note.startswith("the figure is 0 on the drive as it is")
    assert note in repr(none)
    assert not any("is 0 on" in note for note in found.notes)


def test_it_is_what_the_laboratory_measures_of_a_drive_with_that_value(
    found: dl.FigureVariations,
) -> None:
    for value, wanted in (
        ("2200", found.modelled),
        ("2420", found.frame().row(0, named=True)["more_modelled"]),
    ):
        changed = model.load(NAME, [("scale_divisor", "64"), (KEYS[0], value)])
        readings = figures.readings_for(NAME, [FIGURE])
        planned = measurements((reading.test_id, reading.state) for reading in readings)
        plan = review.Plan([changed], {NAME: planned}, "", seed=1, quick=True)
        tests = review.run(plan, shown=False)["tests"]
        [test] = tests
        assert test["mib_per_s"] == wanted


def test_the_number_of_workers_changes_nothing(found: dl.FigureVariations) -> None:
    drive = dl.Drive(NAME, scale="1/64")
    alone = dl.vary_figure(drive, FIGURE, keys=KEYS, quick=True, workers=1, progress=False)
    assert alone.frame().equals(found.frame())


def test_only_parameters_that_may_reach_it_of_the_roles_that_are_asked_for_are_varied() -> None:
    drive = dl.Drive(NAME, {"flash.read_ns": 60000}, scale="1/64")
    more = dl.vary_figure(drive, FIGURE, roles=["fitted"], quick=True, progress=False)
    roles = dict(more.frame().select("key", "role").iter_rows())
    # What the drive was given is varied, too.
    assert roles.pop("flash.read_ns") == "set"
    assert set(roles.values()) == {"fitted"}
    assert not any(key.startswith("power.") for key in roles)


def test_a_ratio_is_varied_with_its_other_drives_as_they_are() -> None:
    figure = next(
        one.id
        for one in figures.published()
        if one.id in figures.compared_ids() and _is_ratio_of_small_disks(one)
    )
    drive = dl.Drive("wd-velociraptor-300gb")
    heard: list[float] = []
    ratio = dl.vary_figure(
        drive,
        figure,
        keys=["link.bytes_per_s"],
        quick=True,
        progress=lambda share, _: heard.append(share),
    )
    assert ratio.frame().height == 1
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1)


def _is_ratio_of_small_disks(figure: figures.Figure) -> bool:
    from drivelab.figures.reach import readings_of

    disks = {"wd-velociraptor-300gb", "seagate-momentus-5400-6-500gb", "wd-caviar-se16-640gb"}
    names = {reading.model for reading in readings_of(figure)}
    return "wd-velociraptor-300gb" in names and len(names) > 1 and names <= disks


@pytest.mark.parametrize(
    ("figure", "words", "reason"),
    [
        ("AN-14", {}, 'AN-14" is unknown; did you mean'),
        ("A2-029", {}, "follow from"),
        (FIGURE, {"roles": "fitted"}, 'roles = "fitted": allowed: a list, as'),
        (FIGURE, {"roles": 5}, "roles = 5: allowed: a list of texts"),
        (FIGURE, {"keys": [5]}, r"keys = \[5\]: allowed: a list of texts"),
        (FIGURE, {"keys": "flash.read_ns"}, 'keys = "flash.read_ns": allowed: a list, as'),
        (FIGURE, {"roles": ["guessed"]}, 'roles: "guessed"'),
        (FIGURE, {"keys": ["flash.reed_ns"]}, 'did you mean "flash.read_ns"'),
        (FIGURE, {"by": 1.5}, "above 0 and below 1"),
        (FIGURE, {"by": "x"}, "by = 'x': allowed: a number above 0"),
        (FIGURE, {"by": None}, "by = None: allowed: a number above 0"),
        (FIGURE, {"workers": 0}, "workers"),
    ],
)
def test_what_can_not_be_is_named_before_anything_runs(
    figure: str, words: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RequestError, match=reason):
        dl.vary_figure(dl.Drive(NAME, scale="1/64"), figure, **words)
