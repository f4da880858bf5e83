"""A merge on a drive that maps superblocks: a small write moves a whole one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drivelab.lessons.drives import merging
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.stage import Stage
from drivelab.model import Overrides

MODEL = "jmicron-jmf602b-64gb"
SIZE = Knob(
    "pages",
    "A superblock has",
    (("4", "4 pages"), ("8", "8 pages")),
)
USER = 16
WRITES = (9, 2, 13, 3)


def steps(values: Values) -> Iterator[Step]:
    """Fills the drive, then writes in order, then at random."""
    pages = int(values["pages"])
    stage = Stage(MODEL, _overrides(pages))
    yield stage.look(
        f"A drive whose map knows superblocks of {pages} pages only: within one, a page has its "
        "fixed place, so data can't simply be appended anywhere. Reading takes 2 s, programming "
        "4 s, erasing 10 s.",
        "A new drive",
    )
    yield from stage.write_quietly(
        "Write every logical page once",
        range(USER),
        "In order, superblock after superblock. The map has one for each from the start, and what "
        "a new one replaces is erased, empty or not:",
    )
    yield from stage.write_quietly(
        f"Write pages 0 to {pages - 1} again, in order",
        range(pages),
        "A replacement takes them in their order; when it is whole the old superblock is erased, "
        "and nothing was copied (a switch):",
    )
    for page in WRITES:
        first = page == WRITES[0]
        yield from stage.write(
            f"Write page {page} alone",
            [page],
            [str(page)],
            "No replacement is open. When the die has erased the superblock that was switched, one "
            "is begun for this page, and what lies before it is copied."
            if first
            else "The replacement that is open belongs to another superblock. It has to be "
            "completed with copies first; then one is begun for this page, and what lies before it "
            "is copied, too.",
        )
    yield stage.look(
        f"{len(WRITES)} small writes. All in all {stage.host_pages} pages of the host took "
        f"{stage.programmed_pages} programs and {stage.erases} erases.",
        "Counted",
    )


def _overrides(pages: int) -> Overrides:
    return merging(USER, pages, 8, ftl__interleaved_banks="1")


def predict(played: Played) -> Sequence[Prediction]:
    """Larger superblocks, longer merges."""
    longest = {
        pages: max(step.command_s for step in played.variants[pages] if step.kind == "program")
        for pages, _ in SIZE.choices
    }
    return [
        Prediction(
            f"The longest of these writes took {longest['4']:g} s. How long is it with superblocks "
            "of 8 pages?",
            (f"{longest['4']:g} s: one page is one page", f"{longest['8']:g} s", "10 s"),
            1,
            f"{longest['8']:g} s. The host writes a page, the drive moves a superblock: the real "
            "JMF602's have 1024 pages, and a small write took half a second.",
            {"pages": "8"},
        )
    ]


LESSON = Lesson(
    "superblock-merge",
    "Why the first cheap drives stuttered",
    "A map of whole superblocks needs little memory. Writing in order it is as fast as any; "
    "a small write out of order costs a merge.",
    (SIZE,),
    steps,
    predict,
    "A coarse map saves memory and pays with merges: reading, copying and erasing a superblock for "
    "each small write. A map of pages needs a thousand times the memory, and appends.",
)
