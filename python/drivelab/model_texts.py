"""What a model is read from, as results and images keep it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivelab import _engine, paths
from drivelab.errors import LINE_LETTERS, RequestError

Overrides = Sequence[tuple[str, str]]
GEOMETRY = (
    *("flash.part", "flash.channel_count", "flash.dies_per_channel", "flash.planes_per_die"),
    *("flash.blocks_per_plane", "flash.pages_per_block", "flash.page_bytes"),
)
"""Keys that say how much flash there is."""
CAPACITIES = ("user_capacity_bytes", "spare_ratio")
"""Keys that say how much of the flash is the host's."""


def meaning(key: str) -> str:
    """A parameter's key, the same for keys that say the same thing; of an array's members, too."""
    section, dot, name = key.rpartition(".")
    return f"{section}{dot}{CAPACITIES[0]}" if name in CAPACITIES else key


def check_apart(said: Iterable[tuple[str, str]]) -> None:
    """Raises RequestError for two parameters that say the same thing: which of them counts nobody
    could tell. `said`: keys, and the words that each was given in."""
    given: dict[str, str] = {}
    for key, words in said:
        about = meaning(key)
        if about in given:
            raise RequestError(f"{given[about]} and {words}: give one of them", key)
        given[about] = words


@dataclass(frozen=True)
class Texts:
    """What a model is read from: texts and origins of its layers, the base first."""

    layers: Sequence[tuple[str, str]]
    overrides: Overrides
    members: Sequence[Texts]
    """Of an array."""

    def parse(self) -> _engine.Model:
        """The engine's form; raises RequestError."""
        members = [member.parse() for member in self.members]
        try:
            return _engine.Model.parse(list(self.layers), list(self.overrides), members)
        except _engine.ModelError as error:
            message, left_bytes = _one_line(str(error)), error.raw_capacity_bytes
            message = self._with_its_place(message, error.key)
            if left_bytes is not None:
                message += self._way_to_a_smaller_drive(left_bytes)
            raise RequestError(message, error.key) from None
        except UnicodeEncodeError as error:
            key = next((key for key, value in self.overrides if value == error.object), None)
            said = paths.escaped(error.object if key is None else f"{key} = {error.object}")
            raise RequestError(f"{said}: allowed: text in UTF-8", key) from None

    def _with_its_place(self, message: str, key: str | None) -> str:
        """The message with the right place: the engine names the model's file for what was set."""
        keys = {name.removeprefix("member.") for name, _ in self.overrides}
        origin = next((at for at in self._origins() if message.startswith(f"{at}: ")), None)
        if origin is None or key is None or key.removeprefix("member.") not in keys:
            return message
        name = origin.removesuffix(".toml") if "/" not in origin else origin
        return f"set for {name}: {message.removeprefix(f'{origin}: ')}"

    def _origins(self) -> list[str]:
        """Files that messages name."""
        inner = [origin for member in self.members for origin in member._origins()]
        return [*(origin for _, origin in self.layers), *inner]

    def _way_to_a_smaller_drive(self, left_bytes: int) -> str:
        """What who took flash away most likely wanted, if too little is left for the host."""
        given = dict(self.overrides)
        taken = [f"{key} = {given[key]}" for key in GEOMETRY if key in given]
        if not taken or not given.keys().isdisjoint(CAPACITIES):
            return ""
        try:
            whole = json.loads(replace(self, overrides=()).parse().to_json())["derived"]
        except RequestError:
            return ""
        divisor = max(2, round(whole["raw_capacity_bytes"] / left_bytes))
        return (
            f", which {', '.join(taken)} leaves; a smaller drive of the same kind is "
            f"scale_divisor = {divisor} (--scale 1/{divisor}); or set user_capacity_bytes, too"
        )

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "layers": self.layers,
            "overrides": self.overrides,
            "members": [member.record() for member in self.members],
        }

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Texts:
        """The texts of such a record."""
        layers, overrides = (
            [(str(first), str(second)) for first, second in record[key]]
            for key in ("layers", "overrides")
        )
        return cls(layers, overrides, [cls.of_record(member) for member in record["members"]])


def _one_line(message: str) -> str:
    """A message without the picture that shows the place of a mistake in TOML, but with the line
    that is in it, which has the key."""
    first, *picture = message.splitlines()
    if not picture:
        return first
    shown = (re.match(r" *\d+ \|(.*)", row) for row in picture)
    line = next((found[1].strip()[:LINE_LETTERS] for found in shown if found), "")
    return f"{first}: {picture[-1]}{f': {line}' if line else ''}"
