"""What a page asks to be watched: a drive, its state, a workload. Checked here, every value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from drivelab import model as models
from drivelab import model_layers, states
from drivelab.errors import RequestError, nearest
from drivelab.lab import checks
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.model import Model
from drivelab.quantities import bytes_text

MEMORY_BYTES_MAX = 2**31
"""Of a drive that is watched: a page can't ask for more."""

STATES = ("new", "filled", "used", "tortured")
"""States of the laboratory that a drive can be watched from."""

STEADY, CUTS = "steady", "cuts"
KEYS = ("model", "state", "fill_percent", "spare_percent", "victims", "divisor", "power")
"""What a choice of a drive says."""
POWERS = {
    STEADY: "never fails",
    CUTS: "can be cut",
    "volatile": "can be cut; a buffer that forgets",
    "capacitor": "can be cut; a buffer with a capacitor",
}
"""What can happen to the power of a watched drive, and its write buffer then."""
CAPACITOR = "write_buffer.capacitor"

SPARE, VICTIMS, PLACEMENT = "spare_ratio", "ftl.victim_selection", "ftl.placement"
SHOWN_LETTERS_MAX = 60
"""Of what a page asked for, where a message quotes it."""
LONGEST = "1000000000s"
"""Of a workload that goes on until another one comes: 30 years of the drive's time."""

_WRITER = {"rw": "randwrite", "bs": "4k", "iodepth": 256}
WORKLOADS: dict[str, tuple[str, dict[str, Any] | tuple[dict[str, Any], ...]]] = {
    "random-writes": ("Random writes, 4 KiB", {"rw": "randwrite", "bs": "4k", "iodepth": 32}),
    "hot-and-cold": (
        "Random writes, 4 KiB, a few places hot",
        {"rw": "randwrite", "bs": "4k", "iodepth": 32, "random_distribution": "zipf:1.1"},
    ),
    "sequential-writes": (
        "Sequential writes, 128 KiB",
        {"rw": "write", "bs": "128k", "iodepth": 4},
    ),
    "mixed": (
        "Reads and writes at random, 70 to 30",
        {"rw": "randrw", "bs": "4k", "iodepth": 32, "rwmixread": 70},
    ),
    "random-reads": ("Random reads, 4 KiB", {"rw": "randread", "bs": "4k", "iodepth": 32}),
    "queues": (
        "Three heavy writers and a light reader (a queue each, where there are several)",
        (_WRITER, _WRITER, _WRITER, {"rw": "randread", "bs": "4k", "iodepth": 1}),
    ),
    "idle": ("Nothing: the drive is left alone", {}),
}
"""Workloads by name: a title, and fio's options; of several jobs each has a queue of its own, where
the drive has several."""


@dataclass(frozen=True)
class Choice:
    """A drive to be watched."""

    drive: Drive
    state: str
    fill_percent: int
    """Of its capacity: what is written in the state "filled", and what workloads go over."""
    power: str = STEADY
    """One of `POWERS`."""

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Choice:
        """What a page asks for; raises RequestError naming key, value and what is allowed."""
        known(asked, KEYS)
        name = model_name(asked.get("model"))
        overrides: dict[str, object] = {}
        divisor = checks.whole("divisor", asked.get("divisor", 1), 1, 65536)
        spare = asked.get("spare_percent")
        if spare is not None:
            overrides[SPARE] = number("spare_percent", spare, 0.5, 400) / 100
        plain = models.load(name)
        if asked.get("victims"):
            key = victims_key(plain)
            if key is None:
                raise RequestError(f'victims: {name} chooses none: it is a "{plain.family}" drive')
            overrides[key] = one_of("victims", asked["victims"], policies(plain))
        power = one_of("power", asked.get("power", STEADY), tuple(POWERS))
        if power not in (STEADY, CUTS):
            overrides[_key_of(plain, CAPACITOR) or CAPACITOR] = power == "capacitor"
        scale = None if divisor == 1 else f"1/{divisor}"
        drive = Drive(name, overrides, scale=scale)
        if drive.model.memory_bytes > MEMORY_BYTES_MAX:
            raise RequestError(
                f"model {name}: takes {bytes_text(drive.model.memory_bytes)} of memory; allowed: "
                f"{bytes_text(MEMORY_BYTES_MAX)}; a divisor makes it smaller"
            )
        return cls(
            drive,
            one_of("state", asked.get("state", "filled"), STATES),
            checks.whole("fill_percent", asked.get("fill_percent", 100), 1, 100),
            power,
        )

    def record(self) -> dict[str, Any]:
        """The choice as pages and addresses have it."""
        model = self.drive.model
        return {
            "model": model.name,
            "title": model.title,
            "state": self.state,
            "fill_percent": self.fill_percent,
            "capacity_bytes": model.user_capacity_bytes,
            "spare_percent": 100 * (model.effective_spare_ratio or 0),
            "overrides": dict(model.overrides),
            "takes_trim": model.takes_trim,
            "power": self.power,
            "capacitor": bool(model.value(_key_of(model, CAPACITOR) or "")),
            "notes": model.notes,
        }


def workload(asked: object, fill_percent: int) -> tuple[Job, ...]:
    """The endless jobs of a workload, by name; none leave the drive alone."""
    name = one_of("workload", asked, tuple(WORKLOADS))
    _, options = WORKLOADS[name]
    several = options if isinstance(options, tuple) else (options,) if options else ()
    return tuple(
        Job(
            name=name if len(several) == 1 else f"{name}-{place + 1}",
            **own,
            size=f"{fill_percent}%",
            norandommap=True,
            time_based=True,
            runtime=LONGEST,
        )
        for place, own in enumerate(several)
    )


@lru_cache(maxsize=1)
def watchable() -> tuple[str, ...]:
    """Models that can be watched: those with flash that come with drivelab."""
    return tuple(name for name in model_layers.known_names() if not models.load(name).is_disk)


def model_name(asked: object) -> str:
    """A model that can be watched; raises RequestError with what may have been meant."""
    is_known = isinstance(asked, str) and asked in model_layers.known_names()
    # All of them take a second to load.
    if is_known and not models.load(str(asked)).is_disk:
        return str(asked)
    names, shown = watchable(), _shown(asked)
    allowed = f"allowed: one of the {len(names)} drives with flash that the form lists"
    if is_known:
        raise RequestError(f"model = {shown}: a hard disk has no blocks to look at; {allowed}")
    hint = nearest(str(asked)[:SHOWN_LETTERS_MAX], names)
    raise RequestError(f"model = {shown}: there is no such model{hint.rstrip('.')} ({allowed})")


def offered(name: str) -> dict[str, Any]:
    """What of a model can be chosen, for a form."""
    model = models.load(model_name(name))
    return {
        "model": model.name,
        "title": model.title,
        "family": models.FAMILY_TITLES[model.family],
        "capacity_bytes": model.user_capacity_bytes,
        "spare_percent": round(100 * (model.effective_spare_ratio or 0), 1),
        "victims": policies(model),
        "victim": model.value(victims_key(model) or ""),
        "takes_trim": model.takes_trim,
        "states": [{"name": name, "title": states.find(name).description} for name in STATES],
        "workloads": [{"name": name, "title": title} for name, (title, _) in WORKLOADS.items()],
        "powers": [{"name": name, "title": title} for name, title in POWERS.items()],
    }


def place(asked: Mapping[str, Any]) -> dict[str, int]:
    """Which block a page opens; raises RequestError for what is no whole number."""
    keys = ("member", "die", "block")
    known(asked, ("do", *keys))
    return {key: checks.whole(key, asked.get(key, 0), 0, 2**31) for key in keys}


def victims_key(model: Model) -> str | None:
    """The parameter that says how victims are chosen, if the drive chooses any."""
    return _key_of(model, VICTIMS)


def _key_of(model: Model, key: str) -> str | None:
    """A parameter of the drive, or of an array's members; None if neither has it."""
    keys = (key, f"member.{key}")
    return next((key for key in keys if model.value(key) is not None), None)


def policies(model: Model) -> list[str]:
    """Victim policies that a model takes, its own first."""
    key = victims_key(model)
    found = [item for item in model.parameters if item["key"] == key]
    names = [str(name) for item in found for name in _listed(item["allowed"])]
    own = model.value(key or "")
    return sorted(names, key=lambda name: name != own)


def _listed(allowed: str) -> Sequence[str]:
    """The names of "one of a, b, c"."""
    return allowed.removeprefix("one of ").split(", ")


def known(asked: object, keys: Sequence[str]) -> None:
    """Raises RequestError for what is no object, or has a key that nobody reads."""
    if not isinstance(asked, Mapping):
        raise RequestError("the message: allowed: an object")
    for key in asked:
        if key not in keys:
            word = str(key)[:SHOWN_LETTERS_MAX]
            hint = nearest(word, keys)
            raise RequestError(f'"{word}" is unknown{hint} Allowed: {", ".join(keys)}.')


def one_of(key: str, value: object, allowed: Sequence[str]) -> str:
    """A word of a list; raises RequestError with what may have been meant."""
    if not isinstance(value, str) or value not in allowed:
        hint = nearest(str(value)[:SHOWN_LETTERS_MAX], allowed).rstrip(".")
        raise RequestError(f"{key} = {_shown(value)}: allowed: {', '.join(allowed)}{hint}")
    return value


def _shown(value: object) -> str:
    """A value as a message quotes it."""
    return repr(str(value)[:SHOWN_LETTERS_MAX])


def number(key: str, value: object, least: float, most: float) -> float:
    """A number in a range; raises RequestError."""
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
        return float(value)
    raise RequestError(f"{key} = {str(value)[:40]!r}: allowed: {least:g} to {most:g}")
