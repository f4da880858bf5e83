"""Long work of the engine in pieces: Python answers Ctrl-C only between two calls.

Where time is cut changes nothing of what a drive does, so pieces are as good as one call, and what
was interrupted can go on.
"""

from __future__ import annotations

from collections.abc import Iterator

from drivelab.model import Model
from drivelab.quantities import NS_PER_S

PIECE_NS = NS_PER_S // 4
"""Of the drive's time: the engine works a second at most for it."""
PIECES_MAX = 100_000
"""A longer time has longer pieces: most of years pass without a command."""


def ends(now_ns: int, until_ns: int) -> Iterator[int]:
    """Where the pieces of a time end: the last one at its end.

    >>> list(ends(0, 600_000_000))
    [250000000, 500000000, 600000000]
    """
    piece_ns = max(PIECE_NS, (until_ns - now_ns) // PIECES_MAX)
    while now_ns < until_ns:
        now_ns = min(now_ns + piece_ns, until_ns)
        yield now_ns


def ns_per_byte_least(model: Model) -> float:
    """What a byte takes at least on its way from or to the host; 0 where the links don't tell, as
    of drives that may refuse a write, of which nothing moves.

    Both ways at once, and every member of an array by a port of its own, are the fastest.
    """
    values = {parameter["key"]: parameter["value"] for parameter in model.parameters}
    rates = [int(rate) for key, rate in values.items() if key.endswith("link.bytes_per_s")]
    members: list[str] = values.get("members") or [model.name]
    refuses = any(key.endswith("flash.bit_errors") and value for key, value in values.items())
    if refuses or not rates or not all(rates) or len(set(members)) > 1:
        return 0.0
    return NS_PER_S / (2 * len(members) * max(rates))
