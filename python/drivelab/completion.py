"""What a shell offers where a model, a state or a test is wanted; modules load when it asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from glob import escape
from pathlib import Path


def model_names(incomplete: str) -> list[str]:
    """Models that begin so; if there are none, model files and folders."""
    from drivelab import model_layers

    found = [name for name in model_layers.known_names() if name.startswith(incomplete)]
    return found or list(_files(incomplete, ".toml"))


def state_names(incomplete: str) -> list[str]:
    """States, after what a list already has."""
    from drivelab import states

    return _of_list(incomplete, states.STATES)


def test_names(incomplete: str) -> list[str]:
    """Tests and groups of them, after what a list already has."""
    from drivelab import procedures

    groups = [procedures.group_name(group) for group in procedures.GROUPS]
    return _of_list(incomplete, [procedures.ALL, *groups, *procedures.PROCEDURES])


def _of_list(incomplete: str, known: Iterable[str]) -> list[str]:
    head, comma, last = incomplete.rpartition(",")
    given = head.split(",")
    return [
        head + comma + name
        for name in dict.fromkeys(known)
        if name.startswith(last) and name not in given
    ]


def _files(incomplete: str, ending: str) -> Iterator[str]:
    folder, slash, last = incomplete.rpartition("/")
    for path in sorted(Path(folder or (slash or ".")).glob(f"{escape(last)}*")):
        if path.is_dir() or path.name.endswith(ending):
            yield folder + slash + path.name + ("/" if path.is_dir() else "")
