"""A model written out as one file, to be changed: every parameter with its range and source.

The file gives the same results to the bit as what it was written from: the same name, from which
with the seed all random streams are derived, and the same value of every parameter. What the
model's base and flash part say is written out; the members of an array are models of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from drivelab import model as models
from drivelab.errors import RequestError
from drivelab.model import SCALE, Model

BASE, PART, MEMBERS = "base", "flash.part", "members"
HAND = "assumed: set by hand"
"""The source of what `--set` changed: the file can't know why."""


def text(request: str, overrides: models.Overrides) -> str:
    """The file of a model with parameters overridden; raises RequestError as `load` does."""
    for key, value in overrides:
        if key.startswith("member."):
            raise RequestError(
                f"--set {key}={value}: --toml writes the array alone; write a member's model with "
                f"--set {key.removeprefix('member.')}={value}, and name its file in members"
            )
    found = models.load(request, overrides)
    divisor = found.scale
    if divisor != 1:
        # A small version's own values would be made small once more.
        found = models.load(request, [pair for pair in overrides if pair[0] != SCALE])
        if found.scale != 1:
            found = found.with_overrides([(SCALE, "1")])
    sections: dict[str, list[str]] = {"": []}
    members = found.value(MEMBERS)
    of_members = {} if members is None else _values(models.load(members[0]), "member.")
    for parameter in found.parameters:
        section, _, key = str(parameter["key"]).rpartition(".")
        if key in (BASE, SCALE):
            continue
        # Of the members, which are named, only what the array says otherwise.
        if of_members.get(parameter["key"]) == parameter["value"]:
            continue
        sections.setdefault(section, []).extend(_entry(key, parameter))
    for parameter in found.left_out:
        section, _, key = str(parameter["key"]).rpartition(".")
        name = key if section in sections else parameter["key"]
        sections.get(section, sections[""]).append(_absent(name, parameter))
    if divisor != 1:
        sections[""] += _lines(SCALE, divisor, HAND, "a small version: 1/N of the drive")
    parts = [_head(found), *(_section(name, lines) for name, lines in sections.items())]
    return "\n".join(parts)


def _values(found: Model, prefix: str) -> dict[str, Any]:
    return {prefix + str(item["key"]): item["value"] for item in found.parameters}


def _head(found: Model) -> str:
    lines = [
        f"# {found.description.get('title') or found.name}: all that its model says.",
        "# Random streams follow from name and seed: another name, other streams.",
        "# Lines that begin with #, as those of defaults do, count for nothing.",
    ]
    if found.value(MEMBERS):
        lines.append("# members are names of models, or paths of files such as this one.")
    return "\n".join([*lines, ""])


def _section(name: str, lines: list[str]) -> str:
    return "\n".join([*([f"[{name}]"] if name else []), *lines, ""])


def _absent(key: str, parameter: Mapping[str, Any]) -> str:
    """A line about a parameter that the model leaves out."""
    return f"# {key} is left out: {_about(parameter)}"


def _about(parameter: Mapping[str, Any]) -> str:
    unit = f", {parameter['unit']}" if parameter.get("unit") else ""
    allowed = str(parameter["allowed"]).removeprefix("a whole number ").removeprefix("a number ")
    return f"{parameter['help']}{unit}" + (f"; {allowed}" if allowed != "one line of text" else "")


def _entry(key: str, parameter: Mapping[str, Any]) -> Iterator[str]:
    """A parameter's lines: what it is, and its value."""
    if parameter["key"] == PART:
        named = json.dumps(parameter["value"])
        yield f"# The flash part {named}: what it says is below, for this drive alone."
        return
    source = HAND if parameter["source"] == "command line" else parameter["source"]
    lines = _lines(
        key, parameter["value"], None if parameter["default"] else source, _about(parameter)
    )
    if parameter["default"]:
        lines[-1] = f"# {lines[-1]}"
    yield from lines


def _lines(key: str, value: Any, source: object, about: str) -> list[str]:
    """Numbers, booleans, texts and lists of texts are in TOML as they are in JSON."""
    shown = json.dumps(value, ensure_ascii=False)
    said = f", source = {json.dumps(source, ensure_ascii=False)}" if source else ""
    return [f"# {about}", f"{key} = {{ value = {shown}{said} }}"]
