"""Sources of parameters: roles, and flash parts that drives share."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab import model, sources
from drivelab.errors import RequestError

PARTS = sorted((model.models_folder() / "flash").glob("*.toml"))
TIMES = ("flash.read_ns", "flash.program_ns", "flash.erase_ns")
GEOMETRY = ("flash.planes_per_die", "flash.blocks_per_plane", "flash.page_bytes")


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


@pytest.fixture(scope="module")
def every_model() -> list[model.Model]:
    return model.load_all()


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_one_part_has_one_physics(path: Path, every_model: list[model.Model]) -> None:
    keys = (*TIMES, *GEOMETRY)
    drives = [item for item in every_model if item.value("flash.part") == path.stem]
    assert drives, "a part is some drive's"
    found = {drive.name: [drive.value(key) for key in keys] for drive in drives}
    assert len(set(map(tuple, found.values()))) == 1, found


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
