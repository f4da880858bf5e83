"""The definition of results.json as tables of Markdown, and as a JSON schema."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from drivelab.records import (
    failed,
    figure,
    findings,
    latency,
    model,
    record,
    run,
    series,
    smart,
    state,
    steady_state,
    test,
)
from drivelab.records.kinds import kinds
from drivelab.records.review import Review

SECTIONS: Sequence[tuple[str, type[BaseModel]]] = (
    ("`drivelab`", run.Run),
    ("`drivelab.repeats`", run.Repeats),
    ("`models[]`", model.Model),
    ("`models[].parameters[]`", model.Parameter),
    ("`models[].smart`", smart.Smart),
    ("`smart.before` and `smart.after`", smart.Reading),
    ("`states[]`", state.State),
    ("`failed[]`", failed.Failed),
    ("`tests[]`", test.AnyTest),
    ("`tests[]` of kind `stream`", test.Stream),
    ("`tests[]` of kind `compound`", test.Compound),
    ("`latency_us`", latency.Latency),
    ("`latency_us.histogram`", latency.Histogram),
    ("`latency_field`", latency.LatencyField),
    ("`split_mean_us`", latency.Split),
    ("`tails[]`", latency.Tail),
    ("`series`", series.Series),
    ("`pass`", findings.Pass),
    ("`values[]`", findings.Value),
    ("`tables[]`", findings.Table),
    ("`tables[].columns[]`", findings.Column),
    ("`charts[]`", findings.Chart),
    ("`steady_state`", steady_state.SteadyState),
    ("`steady_state.variables[]`", steady_state.Window),
    ("`repeats` of a test", findings.Estimate),
    ("`smart` of a test", smart.Readings),
    ("`origin`", record.Origin),
    ("`figures[]`", figure.Figure),
    ("`figures[].bound_by[]`", figure.Bound),
    ("`figures[].left_out[]`", figure.LeftOut),
    ("`figures[].inputs[]`", figure.Input),
)
"""Where each record is in a document, in the order in which it is told of them."""

NULL = "null"
WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    type(None): NULL,
    JsonValue: "anything",
}


def json_schema() -> dict[str, Any]:
    """The JSON schema of results.json (draft 2020-12), with descriptions."""
    found = Review.model_json_schema(by_alias=True, mode="validation")
    for place in (found, *found["$defs"].values()):
        kind = _records().get(place.get("title", ""))
        if kind is None:
            continue
        texts = descriptions(kind)
        for name, field in kind.model_fields.items():
            place["properties"][field.alias or name]["description"] = texts[name]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | found


def markdown() -> str:
    """A section with a table for every kind of record."""
    return "\n".join(_section(place, kind) for place, kind in SECTIONS)


@cache
def descriptions(kind: type[BaseModel]) -> dict[str, str]:
    """What the text below each field says, by the field's name."""
    found: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        if issubclass(part, BaseModel) and part.__module__.startswith(__package__ or ""):
            found |= _own_descriptions(part)
    return found


def _own_descriptions(kind: type[BaseModel]) -> dict[str, str]:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for item, after in zip(tree.body, tree.body[1:], strict=False):
        if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[item.target.id] = " ".join(str(after.value.value).split())
    return found


def _records() -> dict[str, type[BaseModel]]:
    found: list[type[BaseModel]] = [Review, *(kind for _, kind in SECTIONS)]
    return {kind.__name__: kind for kind in found}


def _section(place: str, kind: type[BaseModel]) -> str:
    text = " ".join((kind.__doc__ or "").split())
    lines = [f"### {place}", "", text, "", "| key | type | what |", "|---|---|---|"]
    texts, of_all = descriptions(kind), test.AnyTest.model_fields
    for name, field in kind.model_fields.items():
        if kind is not test.AnyTest and issubclass(kind, test.AnyTest) and name in of_all:
            continue
        words = _words(field).replace("|", "\\|")
        lines.append(f"| `{field.alias or name}` | {words} | {texts[name]} |")
    return "\n".join([*lines, ""])


def _words(field: FieldInfo) -> str:
    """What a field may hold: "number or null"."""
    allowed = ", ".join(dict.fromkeys(_kind_words(field.annotation)))
    before, comma, last = allowed.rpartition(", ")
    return (f"{before} or {last}" if comma else last) + (
        "" if field.is_required() else "; may be absent"
    )


def _kind_words(annotation: Any) -> Iterator[str]:
    for kind in kinds(annotation):
        parts = get_args(kind)
        if get_origin(kind) is Literal:
            yield from (f"`{value}`" for value in parts)
        elif get_origin(kind) is list:
            yield f"list of {_many(parts[0])}"
        elif get_origin(kind) is dict:
            yield f"{_many(parts[1])} by name"
        elif get_origin(kind) is tuple:
            yield "pair of numbers"
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            yield "object"
        else:
            yield WORDS[kind]


MANY = {"list": "lists", "object": "objects", "text": "texts", "number": "numbers"} | {
    "whole number": "whole numbers",
    "pair of numbers": "pairs of numbers",
}


def _many(annotation: Any) -> str:
    """Several of a kind: "numbers", "numbers (any may be null)"."""
    words = list(_kind_words(annotation))
    each = " or ".join(MANY.get(word, word) for word in words if word != NULL)
    return f"{each} (any may be {NULL})" if NULL in words else each
