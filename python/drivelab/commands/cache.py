"""`cache`: what stays on disk so that it needn't be prepared again."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab import arguments, kept_states
from drivelab.commands import printing
from drivelab.quantities import bytes_text


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False,
    json: arguments.Json = False,
) -> None:
    """Say where prepared drives are kept, how many, and how large they are together.

    `run`, `replay` and scripts keep a drive whose state took longer than a second to prepare, and
    read it the next time: the same to the bit. What wasn't used for the longest time goes first.
    DRIVELAB_CACHE names another folder, or is "off"; DRIVELAB_CACHE_SIZE is the room for all of
    them, 4g by default, of which one drive takes half at most.
    """
    place, most_bytes = kept_states.folder(), kept_states.most_bytes()
    found = kept_states.Kept(0, 0)
    if place is not None:
        found = kept_states.clear(place) if clear else kept_states.kept(place)
    is_removed = clear and place is not None
    if json:
        own = {"states": found.states, "bytes": found.bytes, "most_bytes": most_bytes}
        where = None if place is None else str(place)
        printing.document({"folder": where, **own, "removed": is_removed})
    elif place is None:
        printing.plain(f"nothing is kept: {kept_states.VARIABLE} is {kept_states.OFF}\n")
    else:
        done = "removed" if is_removed else f"of {bytes_text(most_bytes)} at most"
        drives = "drive" if found.states == 1 else "drives"
        size = bytes_text(found.bytes)
        over = not is_removed and found.bytes > most_bytes
        later = "; room is made when the next one is kept, by --clear now" if over else ""
        printing.plain(f"{place}: {found.states} prepared {drives}, {size} {done}{later}\n")
