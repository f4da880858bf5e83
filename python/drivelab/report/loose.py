"""Values of JSON that may be missing or of another kind."""

from __future__ import annotations

from typing import Any

from drivelab.report.quantities import number


def dicts(value: Any) -> list[dict[str, Any]]:
    """The dictionaries in a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any, default: str = "") -> str:
    """A value as text, or the default where it is missing."""
    missing = value is None or (isinstance(value, float) and number(value) is None)
    return default if missing else str(value)
