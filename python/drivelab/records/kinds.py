"""The types that a field's annotation allows, and what of a value is theirs."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel


def kinds(annotation: Any) -> list[Any]:
    """The parts of a union, without what is said about them.

    >>> kinds(Annotated[int, "bytes"] | list[str] | None)
    [<class 'int'>, list[str], <class 'NoneType'>]
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        return kinds(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for part in get_args(annotation) for kind in kinds(part)]
    return [annotation]


def record_of(value: Mapping[str, Any], annotation: Any) -> type[BaseModel] | None:
    """The record that an object is, of those that an annotation allows; None if it is none."""
    records = [kind for kind in kinds(annotation) if _is_record(kind)]
    if len(records) > 1:
        records = [kind for kind in records if value.get("kind") in _tags(kind)]
    return records[0] if records else None


def without_others(value: Any, annotation: Any) -> Any:
    """A value without the keys that its records don't know.

    Of what has another form than the annotation nothing is taken: who checks it finds it as it is.
    """
    if isinstance(value, list):
        items = _items(annotation, list)
        return [without_others(part, items[0]) for part in value] if items else value
    if not isinstance(value, dict):
        return value
    record = record_of(value, annotation)
    if record is not None:
        keys, nested = _keys(record), _nested(record)
        return {
            key: without_others(part, nested[key]) if key in nested else part
            for key, part in value.items()
            if keys is None or key in keys
        }
    items = _items(annotation, dict)
    return {key: without_others(part, items[0]) for key, part in value.items()} if items else value


@cache
def _keys(record: type[BaseModel]) -> frozenset[str] | None:
    """What a record knows, by every name that it goes by; None of one that takes any key."""
    if record.model_config.get("extra") == "allow":
        return None
    fields = record.model_fields.items()
    return frozenset(key for name, field in fields for key in (name, field.alias) if key)


@cache
def _nested(record: type[BaseModel]) -> dict[str, Any]:
    """Annotations of the fields that hold records, by key."""
    fields = record.model_fields.items()
    found = {field.alias or name: field.annotation for name, field in fields}
    return {key: annotation for key, annotation in found.items() if _holds_records(annotation)}


def _holds_records(annotation: Any) -> bool:
    return any(
        _is_record(kind) or any(map(_holds_records, get_args(kind))) for kind in kinds(annotation)
    )


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _items(annotation: Any, container: type) -> list[Any]:
    """The type of what is in a list, or under the keys of a dictionary; none if it is neither."""
    return [get_args(kind)[-1] for kind in kinds(annotation) if get_origin(kind) is container]


def _tags(record: type[BaseModel]) -> tuple[Any, ...]:
    field = record.model_fields.get("kind")
    return get_args(field.annotation) if field is not None else ()
