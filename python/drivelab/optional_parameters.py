"""Parameters that a model may leave without: those that have no default in the engine's tables.

The engine tells of a model what it states and what has a default. What else could be set is here.
"""

from __future__ import annotations

from typing import Any

from drivelab import _engine
from drivelab.model import Model
from drivelab.parameters import SPARE_RATIO_MAX

OPTIONAL = {
    "user_capacity_bytes": ("B", "what the host can address (this or spare_ratio)"),
    "spare_ratio": ("spare/user", "spare area over user capacity (this or user_capacity_bytes)"),
    "flash.part": ("", "flash part, whose geometry and times drives that have it share"),
    "flash.program_fast_ns": ("ns", "tPROG of fast pages; slow ones follow from the average"),
    "flash.endurance_cycles": (
        "P/E",
        "erases that a block stands; for the reader, and for flash.bit_errors",
    ),
    "disk.track_skew_ns": (
        "ns",
        "turn of a track against the one before it on its cylinder; left out: just enough "
        "for switch and settling",
    ),
    "disk.cylinder_skew_ns": (
        "ns",
        "turn of a cylinder's first track; left out: just enough for the seek and settling",
    ),
    "released": ("", "year and month of release"),
    "controller_name": ("", "name of the controller chip"),
    "firmware": ("", "firmware that the parameters describe"),
    "price_usd": ("USD", "price when reviewed"),
    "partition_bytes": (
        "B",
        "what the host uses of the drive, from its beginning; the rest is never written; "
        "left out: all",
    ),
    "base": ("", "model that this one differs from; it gives every value that is not stated here"),
    "ftl.map_fetch_bytes": (
        "B",
        "what one read of a map that lies in flash brings; left out: a page",
    ),
    "ftl.map_spare_blocks": (
        "blocks/die",
        "blocks of a map that lies in flash beside those that it fills; left out: as few "
        "as it works with",
    ),
    "link.bytes_per_s": (
        "B/s",
        "payload rate of a bridge's link; left out: every member has a port of its own",
    ),
    "flash.slc_read_ns": ("ns", "tR of blocks of the SLC cache"),
    "flash.slc_program_ns": ("ns", "tPROG of blocks of the SLC cache: one page of each plane"),
    "flash.slc_erase_ns": ("ns", "tBERS of blocks of the SLC cache; left out: as of others"),
    "slc_cache.whole_until_fill": (
        "mapped/user",
        "fill level up to which the dynamic part is whole; left out: 1, as far as blocks are free",
    ),
    "slc_cache.gone_from_fill": (
        "mapped/user",
        "fill level from which there is no dynamic part, after it has shrunk in a line; "
        "left out: 1",
    ),
    "flash.read_middle_ns": (
        "ns",
        "tR of the second page of a word line (flash.read_ns: of the first); left out: as "
        "the first",
    ),
    "flash.read_upper_ns": ("ns", "tR of the third page of a word line; left out: as the first"),
    "flash.read_top_ns": ("ns", "tR of the fourth page of a word line; left out: as the first"),
    "flash.coarse_program_ns": (
        "ns",
        "of flash.program_ns the first of two passes; left out: half",
    ),
    "flash.held_word_lines": (
        "",
        "word lines of a block that have had the first of two passes when the one before "
        "them gets its second; left out: 1",
    ),
    "flash.program_suspend_ns": (
        "ns",
        "from a read's wish to its beginning while its die programs; left out: it waits "
        "for the end",
    ),
    "flash.erase_suspend_ns": (
        "ns",
        "from a read's wish to its beginning while its die erases; left out: it waits for the end",
    ),
}
"""Unit and meaning by key, as in crates/drive/src/parameters/."""


def left_out(model: Model) -> list[dict[str, Any]]:
    """What of them the model could state and doesn't: `key`, `unit`, what is `allowed`, `help`, and
    what it `comes_to`, if that follows from what is stated."""
    # A model's base is its file's, and nobody else's to state.
    stated = {"base", *(item["key"] for item in model.parameters)}
    spare_ratio = round(model.raw_capacity_bytes / model.user_capacity_bytes - 1, 6)
    follows = {"user_capacity_bytes": model.user_capacity_bytes, "spare_ratio": spare_ratio}
    allowed = {key: _allowed(model, key) for key in OPTIONAL if key not in stated}
    return [
        {
            "key": key,
            "unit": OPTIONAL[key][0],
            "allowed": text,
            "help": OPTIONAL[key][1],
            "comes_to": follows.get(key),
        }
        for key, text in allowed.items()
        if text is not None
    ]


def _allowed(model: Model, key: str) -> str | None:
    """What the engine says of a value that can't be; None if no such drive has the key."""
    texts = model.texts
    members = [member.parse() for member in texts.members]
    try:
        _engine.Model.parse([*texts.layers], [*texts.overrides, (key, '"?"')], members)
    except _engine.ModelError as error:
        message = str(error).partition("\n")[0]
        if "does not apply" in message:
            return None
        if key == "spare_ratio":
            return f"a number from 0 to {SPARE_RATIO_MAX}"
        return message.rpartition(": must be ")[2]
    return "text"
