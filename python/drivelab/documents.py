"""JSON documents as the laboratory writes them."""

from __future__ import annotations

import json
from typing import Any


def to_json(document: Any, *, ascii_only: bool = False) -> str:
    """Strict JSON with a final newline; refuses NaN and infinities."""
    return json.dumps(document, indent=1, ensure_ascii=ascii_only, allow_nan=False) + "\n"
