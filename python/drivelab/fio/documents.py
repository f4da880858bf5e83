"""The document of a run of a job file: fio's, with where its numbers come from and its repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drivelab import _engine, repeats
from drivelab.fio.groups import GroupRun
from drivelab.fio.jobs import Workload
from drivelab.fio.output import to_fio_json
from drivelab.results import state_origin
from drivelab.states import State
from drivelab.subject import Subject

Record = dict[str, Any]


def provenance(drive: Subject, state: State, workload: Workload, seed: int) -> Record:
    """What the numbers come from: of the object `drivelab` of a document."""
    return {
        "seed": seed,
        "engine_version": _engine.engine_version(),
        "model": drive.name,
        "model_hash": drive.hash,
        "effective_spare_ratio": getattr(drive, "effective_spare_ratio", None),
        "state": state.name,
        **({"state_from": origin} if (origin := state_origin(state)) else {}),
        "ignored_options": workload.ignored,
    }


def of_repeats(
    workloads: Sequence[Workload],
    parts: Sequence[Sequence[GroupRun]],
    own: Record,
    seeds: Sequence[int],
) -> Record:
    """The document of a run: the first repeat's, with the numbers of all; `own` is `drivelab`."""
    documents = [
        to_fio_json(workload, runs, dict(own))
        for workload, runs in zip(workloads, parts, strict=True)
    ]
    document = documents[0]
    verdicts = [dict(runs[-1].until) for runs in parts if runs[-1].until is not None]
    if verdicts:
        document["drivelab"]["until_steady"] = verdicts[0]
    if len(seeds) > 1:
        document["drivelab"]["repeats"] = repeats.of_jobs(documents, seeds)
        if verdicts:
            document["drivelab"]["repeats"]["until_steady"] = verdicts
    return document
