"""The picture of the parts shows the tree as it is."""

from __future__ import annotations

import parts
import pytest


def test_the_picture_is_current() -> None:
    text = parts.DOCUMENT.read_text(encoding="utf-8")
    assert parts.replaced(text) == text, "ARCHITECTURE.md shows other parts: `make parts`"


def test_arrows_that_a_longer_way_makes_superfluous_are_left_out() -> None:
    edges = {"a": {"b", "c"}, "b": {"c"}, "c": set[str]()}
    assert parts.reduced(edges) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_where_parts_use_each_other_every_arrow_stays() -> None:
    edges = {"a": {"b", "c"}, "b": {"c"}, "c": {"b"}}
    assert parts.reduced(edges) == edges


def test_a_document_without_its_place_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks"):
        parts.replaced("nothing")
