"""TRIM: what the drive knows to be deleted needn't be copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drivelab import example
from drivelab.lessons.drives import small
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.stage import Stage

TOLD = Knob(
    "told",
    "Deleting a file",
    (("no", "the drive isn't told"), ("yes", "the drive is told, with TRIM")),
)
USER, FILE = 15, 6
_SHOWN, _MORE = 5, 30


def steps(values: Values) -> Iterator[Step]:
    """Fills a drive, deletes a file of six pages, overwrites the rest."""
    stage = Stage(example.MODEL_NAME, small(USER))
    told = values["told"] == "yes"
    yield stage.look(
        f"Six blocks of four pages; {USER} are the host's. Its first {FILE} pages will be a file.",
        "A new drive",
    )
    yield from stage.write_quietly(
        "Write every logical page once", range(USER), "Appended one after the other:"
    )
    yield from stage.delete(
        f"Delete the file in pages 0 to {FILE - 1}",
        range(FILE),
        told,
        "The operating system sends TRIM for the pages of the file."
        if told
        else "The operating system notes that the pages are free, in tables of its own. For the "
        "drive they are as valid as before (hatched).",
    )
    draw = np.random.default_rng(3)
    for _ in range(_SHOWN):
        page = int(draw.integers(FILE, USER))
        yield from stage.write(
            f"Overwrite logical page {page}",
            [page],
            [str(page)],
            "The host goes on with its other pages.",
        )
    yield from stage.write_quietly(
        f"Overwrite {_MORE} more of the others",
        draw.integers(FILE, USER, size=_MORE).tolist(),
        "At random:",
    )
    yield stage.look(
        f"Until now {stage.host_pages} pages of the host took {stage.programmed_pages} programs "
        f"and {stage.erases} erases: write amplification {stage.amplification:.2f}."
    )


def predict(played: Played) -> Sequence[Prediction]:
    """How much a TRIM saves."""
    deaf, told = played.last(told="no").programmed_pages, played.last(told="yes").programmed_pages
    return [
        Prediction(
            f"Without TRIM it took {deaf} programs. How many does it take with it?",
            (f"{deaf}: deleting writes nothing", str(told), str(deaf + FILE)),
            1,
            f"{told}. Copies of deleted pages are gone, and, what is more, their pages have become "
            "spare area: every block that is cleaned holds less that is valid.",
            {"told": "yes"},
        )
    ]


LESSON = Lesson(
    "trim",
    "What TRIM tells a drive",
    "To a drive a logical page is valid until it is written again. Deleting a file writes nothing "
    "there, so without a word the drive copies dead data for ever.",
    (TOLD,),
    steps,
    predict,
    "TRIM costs nothing and gives spare area back, as long as the file system has free space to "
    "tell of.",
)
