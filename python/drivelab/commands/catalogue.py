"""`list` and `show`: the models."""

from __future__ import annotations

from drivelab import arguments, model
from drivelab.commands import printing
from drivelab.quantities import bytes_text


def list_models(json: arguments.Json = False) -> None:
    """List the models that come with drivelab."""
    summaries = [item.summary() for item in model.load_all()]
    if json:
        printing.document(summaries)
        return
    rows = [
        (
            str(item["name"]),
            str(item["title"]),
            bytes_text(item["user_capacity_bytes"]),
            str(item["released"] or "-"),
        )
        for item in summaries
    ]
    printing.table(("name", "title", "capacity", "released"), rows, ("capacity",))


def show(
    name: arguments.ModelName, sets: arguments.Settings = None, json: arguments.Json = False
) -> None:
    """Show a model: every parameter with its value, unit and source."""
    found = model.load(name, [model.split_override(text) for text in sets or ()])
    if json:
        printing.document(found.details())
        return
    spare_ratio = found.raw_capacity_bytes / found.user_capacity_bytes - 1
    out = printing.console()
    out.print(f"{found.title} ({found.name})", markup=False, style="bold")
    out.print(
        f"{bytes_text(found.user_capacity_bytes)} for the host, "
        f"{bytes_text(found.raw_capacity_bytes)} of flash: spare area {spare_ratio * 100:.1f} % of "
        f"the user capacity\nmodel hash {found.hash}\n",
        markup=False,
    )
    rows = [
        (
            str(item["key"]),
            _value_text(item["value"]),
            str(item.get("unit") or ""),
            "default" if item.get("default") else str(item["source"] or "not stated"),
        )
        for item in found.parameters
    ]
    printing.table(("parameter", "value", "unit", "source"), rows, ("value",))


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)
