"""What a model is read from, as results and images keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab import _engine
from drivelab.errors import RequestError

Overrides = Sequence[tuple[str, str]]


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
            raise RequestError(_one_line(str(error))) from None

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
    """A message without the picture that shows the place of a mistake in TOML."""
    first, *picture = message.splitlines()
    return f"{first}: {picture[-1]}" if picture else first
