"""Write amplification and its formula, from blocks that are cleaned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drivelab import example
from drivelab.lessons.drives import small
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.stage import Stage

VICTIMS = Knob(
    "victims",
    "The block that is cleaned",
    (
        ("greedy", "the one with the fewest valid pages"),
        ("fifo", "the oldest"),
        ("random", "any"),
    ),
)
USER, PAGES = 14, 4
_WARM, _SHOWN, _MORE = 40, 4, 120


def steps(values: Values) -> Iterator[Step]:
    """Brings a drive into its steady state, shows some writes, then counts many."""
    stage = Stage(example.MODEL_NAME, small(USER, ftl__victim_selection=values["victims"]))
    yield stage.look(
        f"Six blocks of {PAGES} pages; {USER} of the 24 are the host's. Every page of the host is "
        "a program; every valid page of a block that is cleaned is one more.",
        "A new drive",
    )
    draw = np.random.default_rng(11)
    first = [*range(USER), *draw.integers(USER, size=_WARM).tolist()]
    yield from stage.write_quietly("Fill it, and overwrite for a while", first, "To begin with:")
    host, programs, erases = stage.host_pages, stage.programmed_pages, stage.erases
    for _ in range(_SHOWN):
        page = int(draw.integers(USER))
        yield from stage.write(
            f"Overwrite logical page {page}", [page], [str(page)], "A page of the host's:"
        )
    yield from stage.write_quietly(
        f"Overwrite {_MORE} more", draw.integers(USER, size=_MORE).tolist(), "At random:"
    )
    host, programs = stage.host_pages - host, stage.programmed_pages - programs
    erases = stage.erases - erases
    yield stage.look(f"Since the beginning of the overwrites: {sentence(host, programs, erases)}")


def sentence(host: int, programs: int, erases: int) -> str:
    """The formula with its numbers. A block that is cleaned with v of its n pages valid frees n - v
    and costs v copies: programs / host = n / (n - v) = 1 / (1 - v/n)."""
    moved = programs - host
    valid = moved / erases
    predicted = 1 / (1 - valid / PAGES)
    return (
        f"{host} pages of the host, {moved} copies, {erases} erases. A cleaned block held on "
        f"average v = {valid:.2f} valid pages of {PAGES}; it gives {PAGES} - v pages back and "
        f"costs v copies, so WA = 1 / (1 - v/{PAGES}) = {predicted:.2f}. Counted: "
        f"{programs / host:.2f}; the two differ by what is in the open block."
    )


def predict(played: Played) -> Sequence[Prediction]:
    """Victims compared."""
    programs = {name: played.last(victims=name).programmed_pages for name, _ in VICTIMS.choices}
    order = sorted(programs, key=lambda name: programs[name])
    words = dict(VICTIMS.choices)
    return [
        Prediction(
            "Which choice of blocks to clean needs the fewest programs for these writes?",
            tuple(words[name] for name in programs),
            list(programs).index(order[0]),
            "; ".join(f"{words[name]}: {programs[name]} programs" for name in order)
            + ". The fewer valid pages a victim has, the less there is to copy; on larger drives "
            "with hot and cold data the order can be another.",
            {"victims": order[0]},
        )
    ]


LESSON = Lesson(
    "write-amplification",
    "Write amplification, and its formula",
    "Programs per page of the host: the number that says how much of a drive's work is its own. "
    "It follows from how full blocks are when they are cleaned.",
    (VICTIMS,),
    steps,
    predict,
    "WA = 1 / (1 - v/n): everything that makes cleaned blocks emptier, spare area, TRIM, hot and "
    "cold data apart, a good choice of victims, makes a drive faster and live longer.",
)
