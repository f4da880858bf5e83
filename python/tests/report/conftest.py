"""Pages of reports in a browser."""

from __future__ import annotations

from pathlib import Path

import pages
import pytest


@pytest.fixture
def in_page(tmp_path: Path) -> pages.InPage:
    """Runs a script in a page: `in_page(text, script, width_px)`."""
    return pages.runner(tmp_path)
