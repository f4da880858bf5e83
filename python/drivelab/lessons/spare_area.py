"""Spare area: pages that the host doesn't know make room cheaper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drivelab import example
from drivelab.lessons.drives import small
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.stage import Stage

FLASH_PAGES = 24
SPARE = Knob(
    "pages",
    "The host's share of 24 pages",
    (
        ("13", "13 pages: 11 are spare"),
        ("10", "10 pages: 14 are spare"),
        ("15", "15 pages: 9 are spare"),
    ),
)
_SHOWN, _MORE = 6, 60


def steps(values: Values) -> Iterator[Step]:
    """Fills the drive, and overwrites at random: some writes in full, then many."""
    user = int(values["pages"])
    stage = Stage(example.MODEL_NAME, small(user))
    yield stage.look(
        f"Six blocks of four pages: {FLASH_PAGES}. The host may address {user} of them; the other "
        f"{FLASH_PAGES - user} are spare area. Reading takes 2 s, programming 4 s, erasing 10 s.",
        "A new drive",
    )
    yield from stage.write_quietly(
        "Write every logical page once", range(user), "Appended one after the other:"
    )
    draw = np.random.default_rng(7)
    for _ in range(_SHOWN):
        page = int(draw.integers(user))
        yield from stage.write(
            f"Overwrite logical page {page}",
            [page],
            [str(page)],
            "A page can't be programmed twice: the new data go to an erased page.",
        )
    yield from stage.write_quietly(
        f"Overwrite {_MORE} more, at random",
        draw.integers(user, size=_MORE).tolist(),
        "The same again and again:",
    )
    yield stage.look(
        f"{stage.host_pages} pages of the host took "
        f"{stage.programmed_pages} programs: write amplification "
        f"{stage.amplification:.2f}, the first fill included."
    )


def predict(played: Played) -> Sequence[Prediction]:
    """More spare area, fewer copies."""
    found = {
        pages: played.last(pages=pages).programmed_pages / played.last(pages=pages).host_pages
        for pages, _ in SPARE.choices
    }
    return [
        Prediction(
            "Leave three pages less to the host, 10 of 24. What becomes of the write amplification "
            f"of {found['13']:.2f}?",
            ("It stays: the same writes are the same work", "It falls", "It rises"),
            1,
            f"It is {found['10']:.2f}. A block waits longer until it is cleaned, so more of its "
            "pages are invalid by then, and fewer have to be copied.",
            {"pages": "10"},
        ),
        Prediction(
            "And with 15 pages for the host?",
            (f"About {found['10']:.1f}", f"About {found['13']:.1f}", f"About {found['15']:.1f}"),
            2,
            f"{found['15']:.2f}: the drive is nearly full of valid pages, and whatever it cleans, "
            "most of it has to be copied.",
            {"pages": "15"},
        ),
    ]


LESSON = Lesson(
    "spare-area",
    "What spare area is for",
    "A drive appends. When erased pages run out, it empties a block: valid pages are copied, then "
    "the block is erased. How many copies that takes depends on the pages that nobody can address.",
    (SPARE,),
    steps,
    predict,
    "Spare area doesn't make a drive larger or its flash faster: it lets blocks rot until cleaning "
    "them is cheap.",
)
