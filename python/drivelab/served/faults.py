"""Faults of served drives: the kinds there are, plan files, and their checks.

A plan is a TOML file: a `seed`, `spare_blocks`, and any number of `[[fault]]` tables. Each has a
`kind`, at most one trigger, and keys of its kind. What is wrong is refused with key, value and
what is allowed; nothing is ignored.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivelab import text_files
from drivelab.errors import RequestError, nearest, toml_reason
from drivelab.quantities import SECTOR_BYTES
from drivelab.served import image

Fault = dict[str, Any]

FAULTS_MAX = 1000
COUNT_MAX = 2**63 - 1
BLOCKS_MAX = 2**32 - 1
DURATION_NS_MAX = 3_600 * 10**9
TRIGGERS = ("at_operation", "at_command", "probability")
PLAN_KEYS = ("seed", "spare_blocks", "fault")
_PLACE = re.compile(r"faults\[(?P<index>\d+)\]\.|(?=spare_blocks = |faults: )")
"""How the engine begins what it says of a plan."""
_INNER = re.compile(r"faults\[(?P<index>\d+)\]")
"""How it names another fault of the plan."""


@dataclass(frozen=True)
class Key:
    """A key of a fault: what its value may be, and what it means."""

    help: str
    low: float = 0
    high: float = COUNT_MAX
    whole: bool = True
    choices: tuple[str, ...] = ()
    multiple_of: int = 1
    may_be_zero: bool = False
    """Of numbers that need not be whole."""

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return " or ".join(self.choices)
        if not self.whole:
            above = "above" if self.low == 0 and not self.may_be_zero else "from"
            return f"a number {above} {self.low:g} up to {self.high:g}"
        kind = f"multiples of {self.multiple_of}" if self.multiple_of > 1 else "whole numbers"
        if self.high == COUNT_MAX:
            return f"{kind} from {self.low:g} on" if self.low >= 0 else f"{kind} but 0"
        return f"{kind} from {self.low:g} to {self.high:.0f}"

    def accepts(self, value: object) -> bool:
        """Whether a value is allowed."""
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if isinstance(value, bool) or not isinstance(value, int if self.whole else (int, float)):
            return False
        assert isinstance(value, (int, float))
        if not self.whole:
            return self.low <= value <= self.high and (self.may_be_zero or value != 0)
        in_range = self.low <= value <= self.high and value % self.multiple_of == 0
        return in_range and (self.low >= 0 or value != 0)


SEED = Key("of everything that is drawn")
SPARE = Key("read-only when so many blocks are retired", high=BLOCKS_MAX)


def _rate(meaning: str) -> Key:
    return Key(f"share of {meaning}", high=0.5, whole=False, may_be_zero=True)


KEYS = {
    "at_operation": Key(
        "at this flash operation since power-on: of any sort (power-cut), or at this program or "
        "erase of host data (failures)",
        low=1,
    ),
    "at_command": Key(
        "at this host command since power-on, of its sort (read, write, flush); of latency-spike: "
        "of any sort",
        low=1,
    ),
    "probability": Key("drawn for every operation or command", high=1, whole=False),
    "count": Key("at most so often", low=1),
    "offset_bytes": Key(
        "first byte on the drive that it concerns; default: 0", multiple_of=SECTOR_BYTES
    ),
    "length_bytes": Key(
        "bytes from there; default: to the end", low=SECTOR_BYTES, multiple_of=SECTOR_BYTES
    ),
    "block": Key("only this block of the flash", high=BLOCKS_MAX),
    "endurance_erases": Key(
        "probability is multiplied by (erases of the block / this) ^ wear_exponent; bit-errors: "
        "erases after which the worn rate holds, default 10000",
        low=1,
        high=BLOCKS_MAX,
    ),
    "wear_exponent": Key(
        "see endurance_erases; default: 3 (bit-errors: 2)", high=100, whole=False, may_be_zero=True
    ),
    "duration_ns": Key("how much longer the command takes", low=1, high=DURATION_NS_MAX),
    "distance_bytes": Key(
        "how far from its place the data lands, less than the capacity; default: drawn",
        low=-COUNT_MAX,
        multiple_of=SECTOR_BYTES,
    ),
    "new_bit_error_rate": _rate("wrong bits of a new block; default: 1e-7"),
    "worn_bit_error_rate": _rate(
        "wrong bits of a block after endurance_erases, at least new_bit_error_rate; default: 1e-4, "
        "or as new"
    ),
    "retention_hours": Key(
        "after which what was written has twice the errors; default: 8760",
        low=1e-6,
        high=1e7,
        whole=False,
    ),
    "read_disturb_reads": Key(
        "sensings of pages of a block since its erase that double its errors; default: 100000",
        low=1,
    ),
    "correctable_bits": Key("that a codeword may have wrong; default: 8", high=1000),
    "codeword_bytes": Key(
        "that are corrected together; default: 512",
        low=SECTOR_BYTES,
        high=4096,
        multiple_of=SECTOR_BYTES,
    ),
    "read_retries": Key("before a read is given up; default: 4", high=100),
    "retry_factor": Key(
        "what a retry leaves of the errors; default: 0.5", high=1, whole=False, may_be_zero=True
    ),
    "refresh_bits": Key(
        "a block with more wrong bits in a codeword is moved; default: 0, never; at most "
        "correctable_bits",
        high=1000,
    ),
    "phase": Key(
        "of the operation: before it, in its middle (the default: it is torn), after it",
        choices=("before", "middle", "after"),
    ),
}
"""Every key but `kind`."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault: what happens, and the keys that it has."""

    help: str
    keys: tuple[str, ...]
    needs: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


_RANGE = ("offset_bytes", "length_bytes")
_WEAR = ("endurance_erases", "wear_exponent")
_FLASH = ("at_operation", "probability", "count", "block", *_WEAR)
_COMMAND = ("at_command", "probability", "count")

_BIT_ERRORS = (
    *("new_bit_error_rate", "worn_bit_error_rate", *_WEAR),
    *("retention_hours", "read_disturb_reads", "correctable_bits", "codeword_bytes"),
    *("read_retries", "retry_factor", "refresh_bits"),
)

KINDS = {
    "power-cut": Kind(
        "the power fails: at once, or at a flash operation; the server ends",
        ("at_operation", "phase"),
    ),
    "program-failure": Kind("a program fails, and its block is retired", _FLASH),
    "erase-failure": Kind("an erase fails, and its block is retired", _FLASH),
    "read-error": Kind("a host read of these bytes fails with EIO", (*_COMMAND, *_RANGE)),
    "bit-errors": Kind(
        "errors grow with erases, time and reads of a block; what can't be corrected fails; one at "
        "a time",
        _BIT_ERRORS,
    ),
    "latency-spike": Kind(
        "a command takes longer", (*_COMMAND, *_RANGE, "duration_ns"), needs=("duration_ns",)
    ),
    "read-only": Kind(
        "as at the end of life: writes, trims and zeroing are refused until the fault is cleared "
        "or the power goes off; at_command counts writes",
        ("at_command",),
    ),
    "lying-flush": Kind(
        "a flush is acknowledged and not done; what it covered may be lost", _COMMAND
    ),
    "ignored-fua": Kind("a write with FUA is acknowledged before it is in flash", _COMMAND),
    "torn-write": Kind(
        "of a write of two sectors or more a power cut leaves only the first half, even flushed",
        (*_COMMAND, *_RANGE),
    ),
    "lost-write": Kind(
        "a write is acknowledged and dropped: what was there stays", (*_COMMAND, *_RANGE)
    ),
    "misdirected-write": Kind(
        "a write lands in another place", (*_COMMAND, *_RANGE, "distance_bytes")
    ),
}
"""In the order in which they are listed."""
WORN = tuple(name for name, kind in KINDS.items() if {*_WEAR, "probability"} <= {*kind.keys})
"""Kinds whose probability may grow with the erases of a block."""


@dataclass(frozen=True)
class Plan:
    """Faults of one power-on, and the seed of what is drawn."""

    seed: int
    faults: tuple[Fault, ...]
    spare_blocks: int | None = None
    """The drive is read-only when so many blocks are retired; None: as its flash has."""
    origin: str = "plan"
    """Its file, as messages name it."""

    def record(self) -> dict[str, Any]:
        """As the engine reads it."""
        own = {} if self.spare_blocks is None else {"spare_blocks": self.spare_blocks}
        return {"seed": self.seed, **own, "faults": list(self.faults)}

    @contextmanager
    def refusals(self, asked: str | Path) -> Iterator[None]:
        """The engine names a fault by its place in the record, behind the name of what it was
        `asked` for; whoever wrote the file reads file, number and kind of the fault."""
        try:
            yield
        except RequestError as error:
            told = str(error).removeprefix(f"{asked}: ")
            found = _PLACE.match(told)
            if not found:
                raise
            place = ""
            if found["index"]:
                number = int(found["index"])
                place = f"fault {number + 1} ({self.faults[number]['kind']}): "
            told = told[found.end() :]
            told = _INNER.sub(lambda other: f"fault {int(other['index']) + 1}", told)
            raise RequestError(f"{self.origin}: {place}{told}", error.key) from None


def read_plan(path: Path, option: str = "--faults") -> Plan:
    """The plan in a file; raises RequestError that names file, key, value and what is allowed."""
    try:
        text = text_files.read(path)
        document = tomllib.loads(text)
    except OSError as error:
        raise RequestError(f'{option} "{path}": can\'t read it ({error.strerror})') from None
    except UnicodeDecodeError:
        raise RequestError(f'{option} "{path}": it is not text in UTF-8') from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        reason = toml_reason(error, text)
        raise RequestError(f'{option} "{path}": it is not TOML: {reason}') from None
    return parse_plan(document, str(path))


def parse_plan(document: Mapping[str, Any], origin: str) -> Plan:
    """The plan that a TOML document describes; raises RequestError."""
    for key in document:
        if key not in PLAN_KEYS:
            raise RequestError(
                f'{origin}: unknown key "{key}"{nearest(key, PLAN_KEYS)} '
                f"Allowed: {', '.join(PLAN_KEYS)}."
            )
    for key, own in (("seed", SEED), ("spare_blocks", SPARE)):
        if key in document and not own.accepts(document[key]):
            raise RequestError(f"{origin}: {key} = {_shown(document[key])}; allowed: {own.allowed}")
    tables = document.get("fault", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise RequestError(f"{origin}: fault: give each fault as a table [[fault]]")
    if not tables and "spare_blocks" not in document:
        raise RequestError(f"{origin}: no fault in it; give each as a table [[fault]]")
    if len(tables) > FAULTS_MAX:
        raise RequestError(f"{origin}: {len(tables)} faults; at most {FAULTS_MAX}")
    faults = (parse(table, f"{origin}: fault {i + 1}") for i, table in enumerate(tables))
    plan = Plan(document.get("seed", 1), tuple(faults), document.get("spare_blocks"), origin)
    with plan.refusals(origin):
        image.check_faults(plan.record(), origin)
    return plan


def parse(table: Mapping[str, Any], origin: str) -> Fault:
    """One fault, checked; raises RequestError."""
    kind = find(table.get("kind"), origin)
    known = KINDS[kind].keys
    for key, value in table.items():
        if key == "kind":
            continue
        if key not in known:
            raise RequestError(
                f'{origin} ({kind}): unknown key "{key}"{nearest(key, known)} '
                f"Allowed: {', '.join(known)}."
            )
        if not KEYS[key].accepts(value):
            allowed = KEYS[key].allowed
            raise RequestError(f"{origin} ({kind}): {key} = {_shown(value)}; allowed: {allowed}")
    for problem in _contradictions(kind, table):
        raise RequestError(f"{origin} ({kind}): {problem}")
    return dict(table)


def find(kind: object, origin: str) -> str:
    """The kind of this name; raises RequestError with the nearest one."""
    if not isinstance(kind, str) or kind not in KINDS:
        hint = nearest(kind, KINDS) if isinstance(kind, str) else "."
        shown = "no kind" if kind is None else f"kind = {_shown(kind)} is unknown"
        raise RequestError(f"{origin}: {shown}{hint} Allowed: {', '.join(KINDS)}.")
    return kind


def _contradictions(kind: str, table: Mapping[str, Any]) -> Iterator[str]:
    """What can't be together, or is missing."""
    triggers = [key for key in TRIGGERS if key in table]
    if len(triggers) > 1:
        yield f"{' and '.join(triggers)}: give one of them"
    missing = [key for key in KINDS[kind].needs if key not in table]
    if missing:
        yield f"{missing[0]} is missing; allowed: {KEYS[missing[0]].allowed}"
    if kind in WORN and "endurance_erases" in table and "probability" not in table:
        yield "endurance_erases: counts with probability only"
    if kind in WORN and "wear_exponent" in table and "endurance_erases" not in table:
        yield "wear_exponent: counts with endurance_erases only"
    if "phase" in table and "at_operation" not in table:
        yield "phase: counts with at_operation only"
    end = table.get("offset_bytes", 0) + table.get("length_bytes", 0)
    if end > COUNT_MAX:
        yield f"offset_bytes + length_bytes = {end}; at most {COUNT_MAX}"


def _shown(value: object) -> str:
    """A value as it may stand in a message, not too long."""
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
