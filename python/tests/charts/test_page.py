"""The script of a page, which is kept between programs."""

from pathlib import Path

import pytest

from drivelab.charts import page


def test_the_script_is_kept_and_made_anew_where_it_was_harmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page.library.cache_clear()
    script = page.library()
    [kept] = (tmp_path / "drivelab").iterdir()
    with monkeypatch.context() as without:
        without.setattr("vl_convert.javascript_bundle", lambda *_, **__: pytest.fail("made anew"))
        page.library.cache_clear()
        assert page.library() == script
    kept.write_bytes(kept.read_bytes()[:-1] + b"!")
    page.library.cache_clear()
    assert page.library() == script
    assert kept.read_text("ascii").endswith(script), "and kept again"


def test_a_folder_that_takes_nothing_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    page.library.cache_clear()
    assert page.library()
