"""The views of the page, in the order of its menu. A new one is a line here and two modules."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from starlette.routing import BaseRoute


@dataclass(frozen=True)
class View:
    """One page of the page: /NAME, drawn by static/views/NAME.js."""

    name: str
    title: str
    module: str
    """Of drivelab.web; its `routes()` are what the view asks the server for."""
    path_parts_max: int = 0
    """How many parts an address may have behind /NAME."""

    def routes(self) -> list[BaseRoute]:
        """Below /api/ and /socket/, where a token is needed; others let in whoever knows them."""
        module: Any = importlib.import_module(f"drivelab.web.{self.module}")
        return list(module.routes())


VIEWS = (
    View("compare", "Compare", "comparison"),
    View("watch", "Watch", "watch"),
    View("learn", "Learn", "lessons", path_parts_max=1),
    View("design", "Design", "design"),
    View("traces", "Traces", "traces"),
    View("history", "History", "history"),
)
