"""The files that a model is read from: found by name or path, with the bases they stand on, the
flash part and the members that they name. What is wrong within them, the engine says."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from drivelab import paths, text_files
from drivelab.errors import RequestError, nearest
from drivelab.model_texts import Overrides, Texts

QUOTES = "\"'"
SUFFIX = ".toml"
PARTS = "flash"
"""Folder of the flash parts, beside the models."""


@cache
def models_folder() -> Path:
    """The folder of the models that come with drivelab."""
    return Path(str(resources.files("drivelab"))) / "models"


def known_names() -> list[str]:
    """Names of the models that come with drivelab, sorted; NAME@FIRMWARE included."""
    # Every model that is loaded asks, several times: a pattern would take ten times as long.
    with os.scandir(models_folder()) as entries:
        names = [entry.name for entry in entries]
    return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))


def texts(request: str, overrides: Overrides, arrays: tuple[Path, ...] = ()) -> Texts:
    """What a model is read from; `arrays` are those that it is a member of.

    Raises RequestError for an unknown name (with the nearest), an unreadable file, and files that
    name each other in a circle.
    """
    path = _find(request)
    if path.resolve() in arrays:
        raise RequestError(f'model "{request}": {_origin(path)} is a member of itself')
    files = _layers(path, request)
    layers = [(text, str(_origin(file))) for text, file in files]
    part, file = _stated_in_one(files, overrides, "flash.part")
    if isinstance(part, str):
        layers.insert(0, _part_layer(part, (file or path).parent, request))
    names, file = _stated_in_one(files, overrides, "members")
    place = "members" if file is None else f"{_origin(file)}: members"
    found = [
        _find_named(name, place, Path() if file is None else file.parent)
        for name in (names if isinstance(names, list) else ())
        if isinstance(name, str)
    ]
    inside = (*arrays, path.resolve())
    return Texts(layers, overrides, [texts(str(member), (), inside) for member in found])


def _layers(path: Path, request: str) -> list[tuple[str, Path]]:
    """Texts and files of a model and of the bases it stands on, the lowest first."""
    layers: list[tuple[str, Path]] = []
    seen: list[Path] = []
    while True:
        if path.resolve() in seen:
            raise RequestError(f'model "{request}": {_origin(path)} is a base of itself')
        seen.append(path.resolve())
        text = _read(path, request)
        layers.insert(0, (text, path))
        base = _stated(text, "base")
        if not isinstance(base, str):
            return layers
        path = _find_named(base, f'{_origin(path)}: base = "{base}"', path.parent)


def _stated_in_one(
    files: Sequence[tuple[str, Path]], overrides: Overrides, key: str
) -> tuple[Any, Path | None]:
    """What an override says about a key, or else the topmost of the files that says something; and
    that file (None: an override)."""
    given = [value.strip(QUOTES) for name, value in overrides if name == key]
    if given:
        # A list is written as TOML has it, a word without its quotes.
        listed = _stated(f"{key} = {given[-1]}", key) if given[-1].startswith("[") else given[-1]
        return listed, None
    for text, file in reversed(files):
        found = _stated(text, key)
        if found is not None:
            return found, file
    return None, None


def _read(path: Path, request: str) -> str:
    try:
        return text_files.read(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RequestError(f'model "{request}": can\'t read {path}: {reason}') from None


def _part_layer(name: str, folder: Path, request: str) -> tuple[str, str]:
    """Text and origin of a flash part: of one beside the file that names it, in `folder`, or that
    comes with drivelab. A grade, PART@GRADE, is the part with what its own file says in place of
    the part's."""
    text, origin = _part_file(name, folder, request)
    whole, at, _ = name.partition("@")
    if not at:
        return text, origin
    return _graded(_part_file(whole, folder, request)[0], text), origin


def _graded(part: str, grade: str) -> str:
    """The text of a part as one of its grades; what isn't TOML or has no values is the engine's to
    refuse."""
    try:
        below, above = tomllib.loads(part), tomllib.loads(grade)
    except tomllib.TOMLDecodeError:
        return grade
    parts = below.get("flash", {}), above.pop("flash", {})
    if not all(isinstance(part, dict) for part in parts):
        return grade
    flash = {**parts[0], **parts[1]}
    lines = [f"{key} = {_inline(value)}" for key, value in above.items()]
    return "\n".join([*lines, "[flash]", *(f"{k} = {_inline(v)}" for k, v in flash.items()), ""])


def _inline(value: Any) -> str:
    """A value as TOML writes it within a line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_inline(inner)}" for key, inner in value.items()) + " }"
    # Of numbers, switches and texts JSON's are TOML's.
    return json.dumps(value, ensure_ascii=False)


def _part_file(name: str, folder: Path, request: str) -> tuple[str, str]:
    """Text and origin of the file of a part, or of a grade."""
    places = [place / PARTS / f"{name}{SUFFIX}" for place in (folder, models_folder())]
    found = next((place for place in places if place.is_file()), None)
    if found is None or "/" in name:
        known = sorted({file.stem for place in places for file in place.parent.glob(f"*{SUFFIX}")})
        raise RequestError(
            f'model "{request}": flash.part "{name}" is unknown{nearest(name, known)} '
            f"Known: {', '.join(known)}"
        )
    origin = found.relative_to(models_folder()) if found == places[-1] else found
    return _read(found, request), str(origin)


def _stated(text: str, key: str) -> Any:
    """What a file says about a key. Whatever else is wrong with the file, the engine says."""
    try:
        value: Any = _tables(text)
    except tomllib.TOMLDecodeError:
        return None
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value.get("value") if isinstance(value, dict) else value


@lru_cache(maxsize=64)
def _tables(text: str) -> dict[str, Any]:
    """A file's tables, to look at: a sweep loads one model many times."""
    return tomllib.loads(text)


def _origin(path: Path) -> Path:
    """How messages call a model file: packaged ones by their name alone."""
    return Path(path.name) if path.parent == models_folder() else path


def _find(request: str, folder: Path = Path()) -> Path:
    """A model that comes along, or a file; a relative path is one in `folder`."""
    names = known_names()
    if request in names:
        return models_folder() / f"{request}{SUFFIX}"
    path = folder / paths.expanded(paths.checked("model", request))
    if path.is_file():
        return path
    if "/" in request or request.endswith(SUFFIX) or path.is_dir():
        raise RequestError(f'model "{request}": {paths.missing(path)}')
    base, at, firmware = request.partition("@")
    if at and base in names:
        raise RequestError(_unknown_firmware(base, firmware, names))
    raise RequestError(
        f'model "{request}" is unknown, and no file{nearest(request, names)} '
        "`drivelab list` names all models."
    )


def _find_named(request: str, place: str, folder: Path) -> Path:
    """A model that a file in `folder` names: one that comes along, or a file beside that, wherever
    the command is run. What is wrong with its name is told with the place."""
    try:
        return _find(request, folder)
    except RequestError as error:
        raise RequestError(f"{place}: {error}", error.key) from None


def _unknown_firmware(base: str, firmware: str, names: Sequence[str]) -> str:
    variants = [name.partition("@")[2] for name in names if name.startswith(f"{base}@")]
    if not variants:
        return (
            f'model "{base}@{firmware}": there are no firmware variants of {base}; '
            f'ask for "{base}" without "@{firmware}"'
        )
    return (
        f'model "{base}@{firmware}": unknown firmware "{firmware}"{nearest(firmware, variants)} '
        f"Known: {', '.join(variants)}; or none for the default."
    )
