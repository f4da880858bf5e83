"""The examples in the docstrings of `import drivelab`: they run, and say what stands there."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import drivelab as dl

HOMES = ["drivelab", *sorted(set(dl._HOMES.values()))]


@pytest.mark.parametrize("home", HOMES)
def test_examples_in_docstrings_are_as_they_say(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(import_module(home), optionflags=flags)
    assert not failed, f"python -m doctest says more of {home}"


def test_every_public_name_has_an_example() -> None:
    assert [name for name in dl._HOMES if ">>> " not in (getattr(dl, name).__doc__ or "")] == []
