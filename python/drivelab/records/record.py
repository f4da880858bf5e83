"""What all records of results.json have in common.

Units end the names of fields. A field is always there, unless it has a default; what doesn't exist
is null, where its type says so. The text below a field is what docs/results.md and the JSON schema
say of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from drivelab.records.kinds import without_others


def _whole(value: object) -> object:
    """Counters of real drives are floats: 4096.0 is a whole number, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


COUNT_MAX = 2**64 - 1
"""What a column of the database holds."""
Count = Annotated[int, Field(ge=0, le=COUNT_MAX), BeforeValidator(_whole)]
Amount = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
"""Part of a whole, from 0 to 1."""
Better = Literal["higher", "lower"]


class Record(BaseModel):
    """One object of results.json. Unchangeable; nothing is converted on the way in."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        populate_by_name=True,
    )

    @classmethod
    def checked(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        """The same record, if it is one of these; raises pydantic's ValidationError if not."""
        found = dict(record)
        cls.model_validate(found)
        return found

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """A record of any version, whose other keys are nobody's: they are passed over.

        Raises pydantic's ValidationError if it is none; `faults` says so in words.
        """
        # pydantic's own extra="ignore" would take keys of records that may have any, too.
        return cls.model_validate(without_others(record, cls))


MISFIT = "misfit"


def misfit(words: str) -> PydanticCustomError:
    """What is wrong with how fields of a record fit together; `words` begin with the key.

    Keys of documents may be of several lines, what is said of them is of one.
    """
    return PydanticCustomError(MISFIT, "{words}", {"words": " ".join(words.split())})


def check_lengths(**columns: Sequence[Any] | None) -> None:
    """Raises if one of several columns, by key, is not as long as the first; null has no length."""
    (first, values), *others = ((key, v) for key, v in columns.items() if v is not None)
    for key, other in others:
        if len(other) != len(values):
            raise misfit(f"{key} has {len(other)} values; allowed: {len(values)}, as {first}")


class Origin(Record):
    """Where a test or state comes from that doesn't come with drivelab."""

    place: str
    """The distribution with its version, or the name of the file"""
    sha256: str
    """Of that file"""
