"""An order of a page to vary a drive's parameters and see what becomes of a published figure."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from drivelab import _engine
from drivelab import model as models
from drivelab.figures import reach
from drivelab.lab.drive import Drive
from drivelab.lab.figure_variations import ROLES, chosen, vary_figure
from drivelab.progress import Heard
from drivelab.web.folder import Folder
from drivelab.web.order import SCALE_MAX, Name, Setting, check_memory, check_names

Record = dict[str, Any]
ID_LETTERS = 16
Role = Literal["cited", "specified", "fitted", "informed", "assumed"]


class FigureOrder(BaseModel):
    """A published figure on a drive, whose parameters are varied one at a time."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Literal["figure"]
    model: Name
    settings: Annotated[list[Setting], Field(max_length=32)] = []
    figure: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9]-[0-9]{3}$")]
    roles: Annotated[list[Role], Field(min_length=1, max_length=5)] = list(ROLES)  # type: ignore[arg-type]
    """Of the parameters that are varied, with those that the settings name."""
    by_percent: Annotated[int, Field(ge=1, le=50)] = 10
    quick: bool = False
    scale: Annotated[int, Field(ge=1, le=SCALE_MAX)] = 1
    seed: Annotated[int, Field(ge=0, le=2**53 - 1)] = 1

    @property
    def id(self) -> str:
        """The name of what it gives: equal orders to one engine give the same."""
        text = json.dumps([self.model_dump(), _engine.engine_version()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:ID_LETTERS]

    def check(self, _: Folder) -> None:
        """Raises RequestError for what can't be measured."""
        check_names([self.model])
        own = self.drive().model
        figure = chosen(own.name, self.figure)
        names = {item.model for item in reach.readings_of(figure)} - {own.name}
        check_memory([own, *map(models.load, sorted(names))])

    def drive(self) -> Drive:
        """The drive as it is."""
        scale = None if self.scale == 1 else f"1/{self.scale}"
        settings = dict(models.split_overrides(self.settings))
        return Drive(self.model, settings, scale=scale, seed=self.seed)

    @property
    def title(self) -> str:
        """A line that says what is measured."""
        roles = ", ".join(self.roles)
        return f"{self.model}: {self.figure}, varying parameters by {self.by_percent} % ({roles})"

    def command_line(self) -> str:
        """What a script does to get the same."""
        settings = dict(models.split_overrides(self.settings))
        changed = f", {settings}" if settings else ""
        scale = "" if self.scale == 1 else f', scale="1/{self.scale}"'
        by = "" if self.by_percent == 10 else f", by={self.by_percent / 100:g}"
        roles = "" if tuple(self.roles) == ROLES else f", roles={list(self.roles)}"
        quick = ", quick=True" if self.quick else ""
        drive = f'dl.Drive("{self.model}"{changed}{scale}, seed={self.seed})'
        return f'dl.vary_figure({drive}, "{self.figure}"{by}{roles}{quick})'

    def measure(self, results: Path, heard: Heard) -> str:
        """Measures it, and keeps what was found; its name."""
        found = vary_figure(
            self.drive(),
            self.figure,
            by=self.by_percent / 100,
            roles=self.roles,
            quick=self.quick,
            progress=heard,
        )
        study: Record = {
            "order": self.model_dump(),
            "title": self.title,
            "script": self.command_line(),
            "figure": found.figure,
            "rows": found.frame().to_dicts(),
            "left_out": [vars(item) for item in found.left_out],
            "notes": found.notes,
        }
        Folder(results).keep_study(self.id, study)
        return self.id
