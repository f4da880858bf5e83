"""What a drive of a script follows from: parameters, states, and what was done to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drivelab import states
from drivelab.errors import RequestError
from drivelab.lab import checks
from drivelab.model_texts import check_apart
from drivelab.states import STATES, State

if TYPE_CHECKING:
    from drivelab.lab.job import Job
    from drivelab.lab.steady import Steady
    from drivelab.model import Model
    from drivelab.targets import Target

Step = dict[str, Any]
"""Something that was done to a drive: {"state": NAME}, of a state from elsewhere an object with
`name`, `place` and `sha256`; {"idle_ns": TIME}; {"age_ns": TIME}, without power; or {"jobs":
[record of a job, ...]}, with "until" where they ended once steady; or {"trace": record of a trace},
with the "path" where it was."""


def until_of(step: Step) -> Steady | None:
    """When jobs that were done to a drive ended."""
    if "until" not in step:
        return None
    from drivelab.lab.steady import Steady

    return Steady.of_record(step["until"])


def let_pass(target: Target, step: Step) -> None:
    """Does a step that takes a time and no commands."""
    if "age_ns" in step:
        target.age(step["age_ns"])
    else:
        target.idle(step["idle_ns"])


def only_state(history: Sequence[Mapping[str, Any]]) -> str | None:
    """The name of the state that a drive was brought into, if nothing else was done to it."""
    found = history[0].get("state") if len(history) == 1 else None
    return found["name"] if isinstance(found, Mapping) else found


def state_label(history: Sequence[Step]) -> str:
    """The state of a drive to which this was done: new, the one it was brought into, or run."""
    return only_state(history) or ("run" if history else "new")


def drawn_before(history: Sequence[Step], jobs: Sequence[Job]) -> list[str]:
    """A note for every job whose random numbers an earlier one on the drive had: what is drawn
    follows from the drive's seed, `name`, `randseed` and the place among the jobs of a run."""

    def draws(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, int]]:
        for at, record in enumerate(records):
            options = record["options"]
            if any(options.get(key, "").startswith("rand") for key in ("rw", "readwrite")):
                yield record["name"], str(options.get("randseed", 0)), at

    earlier = {drawn for step in history for drawn in draws(step.get("jobs", ()))}
    return [
        f'job "{name}": its random numbers are those of an earlier job of this name on the drive, '
        "so with the same span and block size it goes to the same addresses in the same order; a "
        "name or randseed of its own gives it others"
        for name, seed, at in draws([job.record() for job in jobs])
        if (name, seed, at) in earlier
    ]


def state_named(name: str) -> State:
    """A state by name; packages are looked at only for one that isn't drivelab's."""
    if name in STATES:
        return STATES[name]
    from drivelab import plugins

    return plugins.find_state(name, "state")


def wanted_state(state: object) -> State:
    """A state that a script gives, or names; raises RequestError for what is none."""
    if isinstance(state, State):
        return state
    if not isinstance(state, str):
        # Tests take a while to load, which processes that only measure don't need.
        from drivelab.procedures.procedure import Procedure

        if isinstance(state, Procedure):
            raise RequestError(f'state = "{state.id}": that is a test; use measure()', "state")
        checks.undecorated("state", state, "@dl.state()")
    return state_named(checks.text("state", state))


def check_ages(model: Model, time: str | float) -> None:
    """Raises RequestError for a drive that a time without power does nothing to."""
    switches = [p for p in model.parameters if p["key"].endswith("flash.bit_errors")]
    if any(switch["value"] for switch in switches):
        return
    why = "only bits of page maps go wrong"
    if switches:
        key = switches[0]["key"]
        why = f"{key} = false, so that none of its bits go wrong; allowed: {key} = true"
    raise RequestError(f"time = {time!r}: age has no effect on {model.name}: {why}")


def reference(state: State) -> Any:
    """A state for another process."""
    if state.origin is None:
        return state.name
    from drivelab import plugins

    return plugins.reference(state)


def referred(known: Any) -> State:
    """The state of a reference."""
    if isinstance(known, str):
        return states.find(known)
    from drivelab import plugins

    return plugins.referred(known)


def counted(history: Sequence[Step]) -> list[Step]:
    """What of a history counts: a trace by what is in it, wherever it lies."""
    return [{key: value for key, value in step.items() if key != "path"} for step in history]


def drive_key(model_hash: str, seed: int, history: Sequence[Step], engine_version: str) -> str:
    """The key of a drive, from all that it follows from."""
    known = [model_hash, seed, counted(history), engine_version]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def overrides_of(parameters: object) -> list[tuple[str, str]]:
    """Parameters as `--set` takes them; raises RequestError, for two that say the same thing,
    too."""
    if not isinstance(parameters, Mapping):
        raise RequestError(
            f"parameters = {parameters!r}: allowed: names with values, as {{'spare_ratio': 0.28}}"
        )
    found = [(checks.text("parameter", key), _text(key, item)) for key, item in parameters.items()]
    check_apart((key, f"{key} = {text}") for key, text in found)
    return found


def _text(key: str, value: object) -> str:
    """A parameter's value as `--set` takes it."""
    value = checks.plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(key, item) for item in value)}]"
    raise RequestError(f"{key} = {value!r}: a parameter is a number, a text or a list of them")
