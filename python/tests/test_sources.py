"""Sources of parameters: roles, and flash parts that drives share."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drivelab import cli, identity, model, model_layers, sources
from drivelab.errors import RequestError

PARTS = sorted((model_layers.models_folder() / "flash").glob("*.toml"))
GRADES = [path for path in PARTS if "@" in path.stem]
OF_GRADES = {"blocks_per_plane", "finish_within_ns", "endurance_cycles"}
"""What a maker's grades of one part differ in: blocks sold, rating, and who may be kept waiting."""
HELD_BACK = {"micron-176l-tlc", "samsung-128l-tlc"}
"""Parts whose client grade programs faster than the enterprise drives that were measured; by what
those are held back, die or controller, isn't known."""
PHYSICS = ("read_ns", "program_ns", "erase_ns")
TIMES = tuple(f"flash.{key}" for key in PHYSICS)


@pytest.mark.parametrize(
    ("source", "role"),
    [
        ("[S17]: 25 ns a byte", "cited"),
        ("[S22], [AN]", "cited"),
        ("specified: 250 MB/s [S4]", "specified"),
        ("fitted to AN-149: a read", "fitted"),
        ("fitted to ORD-001 and ORD-002: two orderings", "fitted"),
        ("fitted to [S7]: 11171 writes", "fitted"),
        ("informed: as the X25-M's", "informed"),
        ("assumed: as for a read", "assumed"),
        ("fitted to the specified 250 MB/s", None),
        ("fitted to AN-149", None),
        ("assumed", None),
        ("assumed:", None),
        ("from memory: 250 MB/s [S4]", None),
        ("default", None),
        (None, None),
    ],
)
def test_a_source_states_one_role(source: str | None, role: str | None) -> None:
    assert sources.role_of(source) == role


def test_a_fitted_value_names_what_it_was_fitted_to() -> None:
    named = sources.targets_of("fitted to AN-097, AN-098 and [S7]: as AN-001")
    assert named == {"AN-097", "AN-098", "[S7]"}
    assert sources.targets_of("informed: as AN-001") == frozenset()


def test_only_what_acts_is_counted() -> None:
    shown = model.load("intel-x25-m-g1-80gb")
    found = sources.counts(shown.parameters)
    stated = [p for p in shown.parameters if not p["default"] and sources.acts(p["key"])]
    assert sum(found.values()) == len(stated)
    assert not sources.acts("price_usd")
    assert not sources.acts("member.flash.part")
    assert found["specified"] >= 2, "35000 reads a second and 250 MB/s"
    given = sources.counts(model.load(shown.name, [("flash.read_ns", "1")]).parameters)
    assert sum(given.values()) == sum(found.values()) - 1, "an override has no source"


def own_model(folder: Path, *sources_of: str) -> model.Model:
    """A model of one's own: a bare value, and times of firmware with these sources."""
    keys = ("read_firmware_ns", "write_firmware_ns", "trim_firmware_ns")
    lines = [
        f'{key} = {{ value = 5, source = "{source}" }}'
        for key, source in zip(keys, sources_of, strict=False)
    ]
    file = folder / "own.toml"
    head = ['base = "intel-x25-v-40gb"', 'name = "own"', "spare_ratio = 0.1", "[controller]"]
    file.write_text("\n".join([*head, *lines]), encoding="utf-8")
    return model.load(str(file), [("flash.read_ns", "1")])


def test_what_has_no_source_is_counted_too(tmp_path: Path) -> None:
    found = own_model(tmp_path, "specifed: typo", "by hand", "assumed: so")
    assert sources.counts_without(found.parameters) == {"not stated": 1, "of no role": 2}
    assert "assumed, 1 not stated, 2 of no role; figures" in identity.text(found)
    plain = model.load("intel-x25-v-40gb", [("flash.read_ns", "1")])
    assert not any(sources.counts_without(plain.parameters).values())


def test_a_misspelt_role_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = own_model(tmp_path, "specifed: typo", "by hand: 5", "Fitted to AN-149: a read")
    assert cli.run(["show", str(tmp_path / "own.toml")]) == 0
    said = [f"own: {remark}" for remark in sources.remarks(found.parameters)]
    assert capsys.readouterr().err.splitlines() == said
    read, trim = said
    assert read.startswith('own: controller.read_firmware_ns: source "specifed: typo" states no')
    assert read.endswith('did you mean "specified: WHAT"?')
    assert trim.endswith('did you mean "fitted to FIGURE: WHY"?')


@pytest.mark.parametrize(
    ("source", "role"),
    [
        ("assumed", "assumed"),
        ("Assumed: so", "assumed"),
        ("fited to AN-149: a read", "fitted"),
        ("fitted to taste: a read", "fitted"),
        ("cited: [S4]", "cited"),
        ("measured: on the part", None),
        ("specification of the maker: 5", None),
        ("by hand", None),
        ("assumed: so", None),
        ("", None),
        (": 5", None),
        (None, None),
    ],
)
def test_a_role_is_meant_by_a_word_that_is_nearly_its_own(
    source: str | None, role: str | None
) -> None:
    assert sources.meant(source) == role


@pytest.fixture(scope="module")
def every_model() -> list[model.Model]:
    return model.load_all()


@pytest.mark.parametrize("part", sorted({path.stem.partition("@")[0] for path in PARTS}))
def test_one_part_has_one_physics(part: str, every_model: list[model.Model]) -> None:
    """Whatever drive it is in, and whatever grade it is of: all that its own file states, but for
    what grades differ in."""
    folder = model_layers.models_folder() / "flash"
    stated = tomllib.loads((folder / f"{part}.toml").read_text(encoding="utf-8"))["flash"]
    assert {key.removeprefix("flash.") for key in TIMES} <= stated.keys(), "it has all its times"
    of_grades = OF_GRADES | ({"program_ns"} if part in HELD_BACK else set())
    keys = sorted(key for key in stated if key not in of_grades)
    drives = [d for d in every_model if str(d.value("flash.part")).partition("@")[0] == part]
    assert drives, "a part is some drive's"
    found = {d.name: [d.value(f"flash.{key}") for key in keys] for d in drives}
    assert len(set(map(tuple, found.values()))) == 1, found


@pytest.mark.parametrize("path", GRADES, ids=lambda path: path.stem)
def test_a_grade_is_a_part_with_another_rating(path: Path) -> None:
    part = path.stem.partition("@")[0]
    stated = tomllib.loads(path.read_text(encoding="utf-8"))
    assert stated["part"]["value"] == path.stem
    whole = tomllib.loads(path.with_name(f"{part}.toml").read_text(encoding="utf-8"))["flash"]
    others = {key for key, row in stated["flash"].items() if row["value"] != whole[key]["value"]}
    assert others == stated["flash"].keys(), "it says what is another value, and nothing else"
    assert others <= OF_GRADES | {"program_ns"}
    assert ("program_ns" in others) == (part in HELD_BACK), "one part, one tPROG"


def test_no_part_has_two_files() -> None:
    """Two files that say the same of cells, blocks, pages and times: a part under two names."""
    found: dict[tuple[str, ...], str] = {}
    for path in PARTS:
        if path in GRADES:
            continue
        stated = tomllib.loads(path.read_text(encoding="utf-8"))["flash"]
        keys = ("cell", "planes_per_die", "pages_per_block", "page_bytes", *PHYSICS)
        form = tuple(str(stated.get(key, {}).get("value")) for key in keys)
        assert form not in found, f"{path.stem} and {found[form]}"
        found[form] = path.stem


def test_every_drive_of_flash_names_its_part(every_model: list[model.Model]) -> None:
    drives = [item for item in every_model if item.value("flash.page_bytes") is not None]
    assert [d.name for d in drives if d.value("flash.part") is None] == ["hypothetical"]


def test_a_part_is_changed_by_name_and_by_set_only(tmp_path: Path) -> None:
    plain = model.load("intel-x25-v-40gb")
    other = model.load(plain.name, [("flash.part", "imft-50nm-mlc"), ("spare_ratio", "0.1")])
    assert (plain.value("flash.pages_per_block"), other.value("flash.pages_per_block")) == (
        256,
        128,
    )
    assert model.load(plain.name, [("flash.program_ns", "1")]).value("flash.program_ns") == 1
    with pytest.raises(RequestError, match=r'did you mean "imft-50nm-mlc"'):
        model.load(plain.name, [("flash.part", "imft-50nm-mlx")])
    file = tmp_path / "own.toml"
    file.write_text(
        'base = "intel-x25-v-40gb"\nname = "own"\n[flash]\nprogram_ns = 5\n', encoding="utf-8"
    )
    with pytest.raises(RequestError, match=r"program_ns = 5: belongs to the flash part imft-34nm"):
        model.load(str(file))


def test_a_base_may_be_a_file_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'base = "intel-x25-v-40gb"\nname = "own"\nspare_ratio = 0.3\n', encoding="utf-8"
    )
    other = tmp_path / "other.toml"
    other.write_text('base = "own.toml"\nname = "other"\n', encoding="utf-8")
    found = model.load(str(other))
    assert (found.name, found.value("spare_ratio")) == ("other", 0.3)
    other.write_text('base = "none.toml"\nname = "other"\n', encoding="utf-8")
    with pytest.raises(RequestError, match=r'base = "none.toml": model .* there is no such file'):
        model.load(str(other))
    other.write_text(f'base = "../{tmp_path.name}/other.toml"\nname = "x"\n', encoding="utf-8")
    with pytest.raises(RequestError, match=r"other\.toml is a base of itself"):
        model.load(str(other))


def test_a_byte_order_mark_is_no_part_of_a_model(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('base = "intel-x25-v-40gb"\nname = "own"\n', encoding="utf-8-sig")
    plain = model.load("intel-x25-v-40gb")
    assert model.load(str(file)).user_capacity_bytes == plain.user_capacity_bytes


def test_what_a_file_names_lies_beside_it_wherever_the_command_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base, a member and a flash part, each named by a file in another folder."""
    inner = tmp_path / "inner"
    (inner / "flash").mkdir(parents=True)
    part = (model_layers.models_folder() / "flash/imft-34nm-mlc.toml").read_text(encoding="utf-8")
    (inner / "flash/mine.toml").write_text(
        part.replace('"imft-34nm-mlc"', '"mine"', 1), encoding="utf-8"
    )
    own = 'base = "intel-x25-v-40gb"\nname = "own"\n[flash]\npart = "mine"\n'
    (inner / "own.toml").write_text(own, encoding="utf-8")
    array = 'name = "two"\ntitle = "Two"\nfamily = "raid-0"\nmembers = ["own.toml", "own.toml"]\n'
    (inner / "two.toml").write_text(array + "[array]\nstrip_bytes = 65536\n", encoding="utf-8")
    outer = tmp_path / "outer.toml"
    outer.write_text('base = "inner/own.toml"\nname = "outer"\n', encoding="utf-8")
    for folder in (inner, tmp_path):
        monkeypatch.chdir(folder)
        assert model.load(str(outer)).value("flash.part") == "mine"
        assert model.load(str(inner / "two.toml")).value("member.flash.part") == "mine"
    # A file of this name where the command is run is none that the model names.
    (inner / "own.toml").rename(tmp_path / "own.toml")
    with pytest.raises(RequestError, match=r'base = "inner/own.toml": .* there is no such file'):
        model.load(str(outer))
    with pytest.raises(RequestError, match=r"members: .* there is no such file"):
        model.load(str(inner / "two.toml"))


def test_a_part_may_lie_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "flash").mkdir()
    part = 'part = "mine"\n[flash]\n' + "".join(
        f"{key} = {value}\n"
        for key, value in {
            **dict.fromkeys(("planes_per_die", "oob_bytes"), 1),
            **dict.fromkeys(("blocks_per_plane", "pages_per_block"), 256),
            "page_bytes": 4096,
            **dict.fromkeys(("read_ns", "program_ns", "erase_ns"), 1000),
        }.items()
    )
    (tmp_path / "flash/mine.toml").write_text(part, encoding="utf-8")
    file = tmp_path / "own.toml"
    own = 'base = "intel-x25-v-40gb"\nname = "own"\nspare_ratio = 0.3\n[flash]\npart = "mine"\n'
    file.write_text(own, encoding="utf-8")
    found = model.load(str(file))
    assert found.value("flash.program_ns") == 1000
    assert found.value("flash.endurance_cycles") is None, "nothing of the base's part is left"
    copy = tmp_path / "flash/mine.toml"
    copy.write_text(part.replace('"mine"', '"imft-34nm-mlc"', 1), encoding="utf-8")
    with pytest.raises(RequestError) as refusal:
        model.load(str(file))
    said = 'part = "imft-34nm-mlc": must be "mine", the name of its file'
    assert str(refusal.value) == f"{copy}: {said}", "the line of the copy has to change"
