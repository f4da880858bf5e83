from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import drivelab as dl
from drivelab import cli, model, model_file, model_layers, without_effect
from drivelab.errors import RequestError


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert cli.run(["list", "--json", *words]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_models_say_what_they_are_and_what_they_cost(capsys: pytest.CaptureFixture[str]) -> None:
    found = {item["name"]: item for item in listed(capsys)}
    assert sorted(found) == model_layers.known_names()
    x25 = found["intel-x25-m-g1-80gb"]
    assert (x25["family"], x25["released"]) == ("page-map", "2008-09")
    # 80 GiB of flash, 74.53 GiB for the host.
    assert x25["price_usd_per_gib_flash"] == pytest.approx(x25["price_usd"] / 80)
    assert x25["price_usd_per_gib_user"] == pytest.approx(x25["price_usd"] / 74.53, rel=1e-4)
    assert found["hypothetical"]["price_usd"] is None
    assert found["hypothetical"]["price_usd_per_gib_user"] is None


def test_the_list_names_every_model_under_its_family(capsys: pytest.CaptureFixture[str]) -> None:
    items = listed(capsys)
    assert cli.run(["list"]) == 0
    text = capsys.readouterr().out
    for item in items:
        heading = text.index(f"({item['family']})")
        assert text.index(f"\n{item['name']} ", heading) > heading


def test_tests_and_states_are_listed_with_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    tests = listed(capsys, "--tests")
    assert {"id", "title", "states", "default_for"} <= set(tests[0])
    assert "hdtach-write" in [test["id"] for test in tests]
    assert "tortured-random" in [state["name"] for state in listed(capsys, "--states")]
    assert cli.run(["list", "--tests", "--states"]) == 2


def test_prices_begin_with_the_cheapest_usable_gib(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys, "--prices")
    costs = [item["price_usd_per_gib_user"] for item in found]
    assert costs == sorted(costs)
    assert "hypothetical" not in [item["name"] for item in found]
    assert cli.run(["list", "--prices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1 : len(found) + 1]] == [i["name"] for i in found]
    assert cli.run(["list", "--prices", "--states"]) == 2


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    assert cli.run(["show", "--json", *words]) == 0
    printed = capsys.readouterr()
    found: dict[str, Any] = json.loads(printed.out)
    return found, printed.err


def test_the_list_has_what_a_model_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Who looks for a key takes the list for all there is."""
    name, keys = "crucial-p1-1tb", ("flash.coarse_program_ns", "flash.held_word_lines")
    found = shown(capsys, name)[0]
    known = {item["key"] for item in found["parameters"]}
    assert not known & set(keys)
    assert "flash.program_passes" in known
    left_out = {item["key"]: item for item in found["left_out"]}
    assert left_out.keys() >= set(keys)
    assert not left_out.keys() & known
    assert left_out[keys[1]]["allowed"] == "a whole number from 1 to 16"
    assert cli.run(["show", name]) == 0
    printed = capsys.readouterr().out.partition("this model leaves out")[2]
    assert [key for key in keys if f"\n{key} " not in printed] == []
    words = [
        "--set",
        "flash.program_passes=2",
        "--set",
        f"{keys[0]}=200us",
        "--set",
        f"{keys[1]}=2",
    ]
    given = {item["key"]: item["value"] for item in shown(capsys, name, *words)[0]["parameters"]}
    assert (given[keys[0]], given[keys[1]]) == (200_000, 2)


def test_of_capacity_and_spare_area_the_one_that_is_not_stated_is_listed_with_what_it_comes_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for settings, stated, other, value in (
        ((), "user_capacity_bytes", "spare_ratio", "0.073388"),
        (("spare_ratio=0.28",), "spare_ratio", "user_capacity_bytes", "67108864000"),
    ):
        words = [word for text in settings for word in ("--set", text)]
        assert cli.run(["show", "intel-x25-m-g1-80gb", *words]) == 0
        above, _, below = capsys.readouterr().out.partition("this model leaves out")
        assert re.search(rf"^{other} +{value} .*follows from", above, re.MULTILINE)
        assert other not in below
        assert above.index(f"\n{stated} ") < above.index(f"\n{other} ") < above.index("\nflash.")
    assert cli.run(["show", "wd-velociraptor-300gb"]) == 0
    assert "spare_ratio" not in capsys.readouterr().out


def test_a_small_version_keeps_the_effective_spare_area_and_says_what_it_cannot_keep(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, said = shown(capsys, "intel-x25-v-40gb")
    assert said == ""
    small, said = shown(capsys, "intel-x25-v-40gb", "--scale", "1/64")
    ratio = whole["derived"]["effective_spare_ratio"]
    assert small["derived"]["effective_spare_ratio"] == pytest.approx(ratio, rel=0.01)
    assert small["user_capacity_bytes"] == pytest.approx(
        whole["user_capacity_bytes"] / 64, rel=0.05
    )
    assert small["hash"] != whole["hash"]
    assert said.startswith("intel-x25-v-40gb: at this scale: spare area of a die: varies by")


ERRORS = {
    "intel-x25-m-g1-80gb": "",
    "intel-x25-v-40gb-raid0-x2": "member.",
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_that_were_not_asked_for_are_said_to_have_no_effect(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ERRORS[name]
    rates = [f"{place}{key}" for key in ("flash.new_bit_error_rate", "controller.refresh_bits")]
    sets = ["--set", f"{rates[0]}=0.3", "--set", f"{rates[1]}=3"]
    told = (
        f"{', '.join(rates)}: without effect but in tests of endurance and retention; needs "
        f"{place}flash.bit_errors = true"
    )
    assert shown(capsys, name, *sets)[1] == f"{name}: {told}\n"
    drive = dl.Drive(name, {rates[1]: 3}, scale="1/64")
    assert any(note.startswith(f"{rates[1]}: without effect but") for note in drive.model.notes)
    job = dl.Job(rw="randread", bs="4k", io_size="4k")
    assert set(drive.model.notes) <= set(drive.run(job, progress=False).notes)
    # Who says that there are none knows, and of those that there are they are.
    for switch in ("false", "true"):
        own = ("--set", f"{place}flash.bit_errors={switch}", "--set", f"{rates[1]}=3")
        assert shown(capsys, name, *own)[1] == ""


def test_what_has_an_effect_with_errors_only_is_what_the_engine_lists_so() -> None:
    keys = [
        item["key"]
        for item in model.load("intel-x25-m-g1-80gb", [(without_effect.ERRORS, "true")]).parameters
    ]
    first = keys.index(without_effect.ERRORS) + 1
    assert tuple(keys[first : first + len(without_effect.OF_ERRORS)]) == without_effect.OF_ERRORS
    without = {item["key"] for item in model.load("intel-x25-m-g1-80gb").parameters}
    assert set(keys) - without <= set(without_effect.OF_ERRORS)


CUT_DOWN = ("--set", "flash.blocks_per_plane=64")
SPARE = "effective spare area over user capacity: "


def test_a_drive_cut_down_by_hand_says_that_it_holds_back_as_much_as_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "intel-x25-m-g1-80gb"
    small, said = shown(capsys, name, *CUT_DOWN, "--set", "spare_ratio=0.0734")
    assert small["derived"]["effective_spare_ratio"] == pytest.approx(0.034, abs=0.001)
    assert said == (
        f"{name}: at this scale: {SPARE}0.0336, where the whole drive would have 0.0722: what is "
        "held back doesn't shrink with the drive; --scale 1/N keeps it as it is at full size\n"
    )
    # Spare area of another size was asked for, and is had.
    more, said = shown(capsys, name, "--set", "spare_ratio=0.28")
    assert (more["derived"]["effective_spare_ratio"], said) == (pytest.approx(0.279, abs=1e-3), "")
    _, said = shown(capsys, name, "--set", "spare_ratio=0.28", "--scale", "1/64")
    assert SPARE not in said
    _, said = shown(capsys, name, *CUT_DOWN, "--set", "spare_ratio=0.28")
    assert f"{SPARE}0.2325, where the whole drive would have 0.2785: " in said


FEW_BLOCKS = "flash.blocks_per_plane=64"


@pytest.mark.parametrize(
    ("name", "settings", "divisor"),
    [
        ("intel-x25-m-g1-80gb", [FEW_BLOCKS, "price_usd=2"], 32),
        ("intel-x25-m-g1-80gb", [FEW_BLOCKS, "scale_divisor=8"], 32),
        ("samsung-pm9a3-960gb", ["flash.channel_count=1"], 8),
        ("jmicron-jmf602b-64gb", [FEW_BLOCKS, "flash.pages_per_block=64"], 64),
    ],
    ids=["blocks", "scaled", "channels", "both"],
)
def test_who_takes_flash_away_is_led_to_a_smaller_drive(
    capsys: pytest.CaptureFixture[str], name: str, settings: list[str], divisor: int
) -> None:
    words = [word for text in settings for word in ("--set", text)]
    assert cli.run(["show", name, *words]) == 2
    [line] = capsys.readouterr().err.splitlines()
    taken = ", ".join(text.replace("=", " = ") for text in settings if "flash." in text)
    assert re.search(
        r"user_capacity_bytes = \d+: must be at most the raw capacity, \d+ bytes, which "
        rf"{taken} leaves; .*\(--scale 1/{divisor}\); or set user_capacity_bytes, too$",
        line,
    )
    small, _ = shown(capsys, name, "--scale", f"1/{divisor}")
    assert small["user_capacity_bytes"] > 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("flash.read_ns", "-1"),
        ("flash.chanel_count", "3"),
        ("user_capacity_bytes", "2000000000000"),
        ("write_buffer.size_bytes", "512"),
        ("partition_bytes", "1000000000000"),
        ("scale_divisor", "100000"),
        ("spare_ratio", "28"),
        ("spare_ratio", "28%"),
        ("flash.read_ns", "50 minutes"),
    ],
)
def test_a_refusal_carries_the_key_of_the_parameter(key: str, value: str) -> None:
    with pytest.raises(RequestError) as refused:
        model.load("intel-x25-m-g1-80gb", [(key, value)])
    assert refused.value.key == key


def test_a_refusal_of_a_member_carries_the_key_of_its_own_model() -> None:
    with pytest.raises(RequestError, match=r"flash\.read_ns = -1") as refused:
        model.load("intel-x25-v-40gb-raid0-x2", [("member.flash.read_ns", "-1")])
    assert refused.value.key == "flash.read_ns"


def test_a_refusal_of_another_process_has_its_key() -> None:
    refused = pickle.loads(pickle.dumps(RequestError("shard = 0", "shard")))
    assert (str(refused), refused.key) == ("shard = 0", "shard")


def test_what_is_not_toml_has_no_key(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("name = ", encoding="utf-8")
    with pytest.raises(RequestError) as refused:
        model.load(str(own))
    assert refused.value.key is None


def test_who_sets_a_capacity_that_the_flash_has_not_is_told_no_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for settings in (["user_capacity_bytes=2000000000000"], [FEW_BLOCKS, "spare_ratio=-0.5"]):
        words = [word for text in settings for word in ("--set", text)]
        assert cli.run(["show", "intel-x25-m-g1-80gb", *words]) == 2
        assert "--scale" not in capsys.readouterr().err
    small, _ = shown(
        capsys, "intel-x25-m-g1-80gb", *CUT_DOWN, "--set", "user_capacity_bytes=2500000000"
    )
    assert small["user_capacity_bytes"] == pytest.approx(2.5e9, rel=1e-4)


def test_no_drive_that_comes_along_is_told_to_be_cut_down() -> None:
    assert [one.name for one in model.load_all() if one.scale_remarks] == []


def test_a_file_of_one_s_own_is_held_to_the_spare_area_that_it_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [("flash.blocks_per_plane", "64"), ("spare_ratio", "0.0734")]
    own = tmp_path / "own.toml"
    cut_down = model_file.text("intel-x25-m-g1-80gb", settings)
    own.write_text(cut_down.replace('"intel-x25-m-g1-80gb"', '"own"', 1), encoding="utf-8")
    _, said = shown(capsys, str(own))
    assert f"{SPARE}0.0336, where the model states 0.0734: the rest is held back" in said
    own.write_text(model_file.text("intel-x25-m-g1-80gb", ()), encoding="utf-8")
    assert shown(capsys, str(own))[1] == ""
    # What stands on a model that comes along is held to that one.
    based = (
        'base = "corsair-force-gs-240gb"\nname = "own"\n'
        'power.idle_mw = { value = 61, source = "measured" }\n'
    )
    own.write_text(based, encoding="utf-8")
    assert shown(capsys, str(own))[1] == ""


def test_a_drive_that_comes_along_is_itself_in_one_file_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `show --toml` writes names no base; a 980 PRO holds back a fifth of its spare area."""
    own = tmp_path / "own.toml"
    for name in ("samsung-980-pro-1tb", "own"):
        text = model_file.text("samsung-980-pro-1tb", ())
        own.write_text(text.replace("samsung-980-pro-1tb", name, 1), encoding="utf-8")
        assert shown(capsys, str(own))[1] == ""


@pytest.mark.parametrize("scale", ["64", "1/0", "2/64", "1/x", "1/"])
def test_a_scale_is_one_in_so_many(scale: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["show", "intel-x25-v-40gb", "--scale", scale]) == 2
    assert f'--scale "{scale}": expected 1/N' in capsys.readouterr().err


def test_a_hard_disk_has_no_small_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["show", "wd-velociraptor-300gb", "--scale", "1/2"]) == 2
    assert "does not apply to hard disks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("flash.read_ns=50us", "flash.read_ns", 50_000),
        ("flash.erase_ns=1.5ms", "flash.erase_ns", 1_500_000),
        ("write_buffer.size_bytes=1m", "write_buffer.size_bytes", 2**20),
        ("flash.read_ns=50_000", "flash.read_ns", 50_000),
        ("flash.read_ns=0xff", "flash.read_ns", 255),
    ],
)
def test_times_and_sizes_may_have_units(
    setting: str, key: str, value: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["show", "intel-x25-m-g1-80gb", "--json", "--set", setting]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"]
    assert [item["value"] for item in found if item["key"] == key] == [value]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("flash.read_ns=5xs", ("flash.read_ns", "5xs", "a number with d, h, m, s, ms, us or ns")),
        ("flash.read_ns=0.5ns", ("flash.read_ns", "0.5ns", "whole in ns")),
        ("write_buffer.size_bytes=1q", ("write_buffer.size_bytes", "1q", "k, m, g, t or p")),
        ("spare_ratio=7", ("spare_ratio", "7", "from 0 to 3", "0.28 for 28 %")),
        ("spare_ratio=28%", ("spare_ratio", "28%", "from 0 to 3", "0.28 for 28 %")),
        ("spare_ratio=28", ("spare_ratio", "28", "from 0 to 3", "0.28 for 28 %")),
        ("spare_ratio=101", ("spare_ratio", "101", "from 0 to 3", "0.28 for 28 %")),
        ("flash.channel_count=1e300", ("flash.channel_count = 1e300: must be", "from 1 to 1024")),
    ],
)
def test_units_and_ratios_that_make_no_sense_are_refused(
    setting: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for words_of_scale in ([], ["--scale", "1/64"]):
        command = ["show", "intel-x25-m-g1-80gb", "--set", setting, *words_of_scale]
        assert cli.run(command) == 2
        said = capsys.readouterr().err
        assert all(word in said for word in words)
    assert said.count("\n") == 1
