"""An order of a page to replay a trace on some drives: `drivelab replay`, once for each."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from drivelab import database, replay, states, subject, traces
from drivelab import model as models
from drivelab.comparison.sides import SIDES_MAX
from drivelab.errors import RequestError
from drivelab.lab.drive import Drive
from drivelab.lab.sweep import sweep
from drivelab.lab.trace import Trace
from drivelab.progress import Heard, TaskProgress
from drivelab.results import model_result
from drivelab.web import trace_check
from drivelab.web.folder import Folder
from drivelab.web.order import Name, check_memory, check_names

Record = dict[str, Any]
QUEUE_DEPTH_MAX = 1024


class ReplayOrder(BaseModel):
    """A trace of the folder beside the results, on drives that come along."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Literal["replay"]
    trace: Name
    models: Annotated[list[Name], Field(min_length=1, max_length=SIDES_MAX)]
    state: Name = "used"
    pacing: Literal["arrival", "closed"] = "arrival"
    queue_depth: Annotated[int, Field(ge=1, le=QUEUE_DEPTH_MAX)] = 32
    """With closed pacing."""
    out_of_range: Literal["reject", "modulo", "compact"] = "modulo"
    seed: Annotated[int, Field(ge=0, le=2**53 - 1)] = 1

    def check(self, folder: Folder) -> None:
        """Raises RequestError for what can't be replayed."""
        check_names(self.models)
        if len(set(self.models)) < len(self.models):
            raise RequestError("models: a drive is there twice")
        if self.state not in states.STATES:
            raise RequestError(
                f'state "{self.state}" is unknown; allowed: {", ".join(states.STATES)}'
            )
        check_memory([models.load(name) for name in self.models])
        folder.trace(self.trace)

    @property
    def title(self) -> str:
        """A line that says what is measured."""
        return f"{self.trace} on {', '.join(self.models)} ({self.state})"

    @property
    def command_lines(self) -> str:
        """The commands that replay it on all of them, one after the other."""
        return " && ".join(self.command_line(model) for model in self.models)

    def command_line(self, model: str, folder: str = "traces/") -> str:
        """The command that replays it on one of the drives."""
        words = [
            "drivelab replay",
            shlex.quote(f"{folder}{self.trace}"),
            "--drive",
            model,
            "--state",
            self.state,
        ]
        words += ["--pacing", self.pacing] if self.pacing != "arrival" else []
        words += ["--queue-depth", str(self.queue_depth)] if self.pacing == "closed" else []
        words += ["--out-of-range", self.out_of_range] if self.out_of_range != "reject" else []
        return " ".join([*words, "--seed", str(self.seed)])

    def measure(self, results: Path, heard: Heard) -> list[int]:
        """Replays it on every drive, and records each replay as the command does; their runs."""
        file = Folder(results).trace(self.trace)
        trace_check.check(file, self.trace)
        depth = self.queue_depth if self.pacing == "closed" else None
        trace = Trace(file, pacing=self.pacing, queue_depth=depth, out_of_range=self.out_of_range)
        study = sweep(
            Drive(self.models[0], seed=self.seed),
            {"model": self.models},
            job=trace,
            state=self.state,
            progress=heard,
        )
        used = [models.load(name) for name in self.models]
        fitting = traces.read_for_drives(
            traces.TraceFile(file),
            TaskProgress("read"),
            [model.user_capacity_bytes for model in used],
            self.out_of_range,
        )
        recorded = []
        for model, result, found in zip(used, study, fitting, strict=True):
            document = replay.document(
                model,
                found,
                result.report,
                job=replay.replay_job(found.name, self.pacing, depth or 1, None, self.seed),
                pacing=self.pacing,
                state=subject.state_on(model, states.find(self.state)),
                seed=self.seed,
                command_line=self.command_line(model.name),
            )
            recorded.append(database.Recorded(database.REPLAY, document, [model_result(model)]))
        # Together or not at all: one that is cancelled or fails leaves no runs of some drives.
        return database.append_together(results, recorded, "FILE")
