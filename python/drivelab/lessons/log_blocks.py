"""Log blocks: small writes are cheap until the log is full, and then each one pays for four."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drivelab.lessons.drives import PAGE_BYTES, merging
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.stage import Stage
from drivelab.model import Overrides

MODEL = "samsung-slc-64gb"
LOGS = Knob("logs", "The drive has", (("2", "2 log blocks"), ("3", "3 log blocks")))
USER, PAGES = 16, 4
WRITES = (1, 6, 9, 14, 2, 5, 10, 13, 3, 7, 11, 15, 6)


def steps(values: Values) -> Iterator[Step]:
    """Fills the drive, then writes small and out of order until the log has run out."""
    logs = int(values["logs"])
    stage = Stage(MODEL, _overrides(logs))
    yield stage.look(
        f"A drive whose map knows blocks of {PAGES} pages, as the merging one; but {logs} of its "
        "blocks are a log: a page may lie anywhere there. Reading takes 2 s, programming 4 s, "
        "erasing 10 s.",
        "A new drive",
    )
    yield from stage.write_quietly(
        "Write every logical page once", range(USER), "In order, block after block:"
    )
    for page in WRITES:
        yield from stage.write(
            f"Write page {page} alone",
            [page],
            [str(page)],
            "If the log has an erased page, the new data is appended there. If not, all pages of "
            "its block are gathered, from the log too, and written in order to an erased block: a "
            "merge. Log blocks that hold nothing current any more are erased, and serve again.",
        )
    yield stage.look(
        f"{len(WRITES)} small writes, {logs * PAGES} of which fit the log. All in all "
        f"{stage.host_pages} pages of the host took {stage.programmed_pages} programs and "
        f"{stage.erases} erases.",
        "Counted",
    )


def _overrides(logs: int) -> Overrides:
    return merging(
        USER,
        PAGES,
        9,
        ftl__log_blocks=str(logs),
        ftl__reserve_blocks="1",
        ftl__rotation_superblocks="0",
        write_buffer__size_bytes=str(PAGE_BYTES),
        write_buffer__hold_ns="0",
    )


def predict(played: Played) -> Sequence[Prediction]:
    """More log, later merges; the merges themselves stay what they are."""
    free = {logs: _before_the_first_merge(played.variants[logs]) for logs, _ in LOGS.choices}
    return [
        Prediction(
            f"With two log blocks {free['2']} small writes take 4 s each, and the next one waits "
            "for a merge. How many do with three?",
            (f"{free['2']} too", f"{free['3']}", f"All {len(WRITES)}"),
            1,
            f"{free['3']}: a log block more holds {PAGES} pages more. It only puts the merge off: "
            "when the log has run out, every write pays, for as long as they keep coming.",
            {"logs": "3"},
        )
    ]


def _before_the_first_merge(steps: Sequence[Step]) -> int:
    """How many of the small writes were done before one had pages read."""
    until = next(at for at, step in enumerate(steps) if step.kind == "read")
    begun = [step for step in steps[:until] if step.kind == "host" and step.host_pages > USER]
    return len(begun) - 1


LESSON = Lesson(
    "log-blocks",
    "Fast at first: log blocks that run out",
    "A few blocks as a log take small writes as they come, and a coarse map serves for all others. "
    "That is fast in a short test. What happens when the log is full?",
    (LOGS,),
    steps,
    predict,
    "A log hides merges for as long as it has room. A test that is shorter than the log measures "
    "the log; a drive in use lives with the merges.",
)
