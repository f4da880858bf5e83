"""An SLC cache: fast as long as it has room, and what it costs when it hasn't."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drivelab import example
from drivelab.lessons.drives import PAGE_BYTES, small
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.stage import Stage
from drivelab.model import Overrides

WHEN_FULL = Knob(
    "full",
    "With a full cache the drive",
    (("native", "writes to native blocks"), ("wait", "makes room in the cache first")),
)
PAUSE = Knob("pause", "Between the files", (("no", "no pause"), ("yes", "a pause after the fifth")))
FILE, FILES, CACHED = 3, 7, 3
"""Pages of a file, files, and files that the cache holds."""
PAUSE_AFTER, PAUSE_S = 5, 200
SECOND_NS = 10**9


def steps(values: Values) -> Iterator[Step]:
    """Writes files until the cache is full, and on."""
    stage = Stage(example.MODEL_NAME, _overrides(values["full"]))
    yield stage.look(
        f"Blocks of {FILE * 3} pages, three bits a cell. A word line of three pages is programmed "
        f"in 9 s. Up to {CACHED} blocks may be programmed with one bit a cell: each holds only "
        f"{FILE} pages then, but a page takes 1 s.",
        "A new drive",
    )
    for number in range(FILES):
        letter = chr(ord("A") + number)
        pages = range(number * FILE, (number + 1) * FILE)
        yield from stage.write(
            f"Write file {letter}, {FILE} pages",
            pages,
            [f"{letter}{part}" for part in range(1, FILE + 1)],
            "It goes to the cache, if the cache has room."
            + (" With one block left it makes room first." if values["full"] == "wait" else ""),
        )
        yield stage.look(f"File {letter} took {stage.command_s:g} s.")
        if number + 1 == PAUSE_AFTER and values["pause"] == "yes":
            yield from stage.idle(
                "The host pauses",
                PAUSE_S,
                "The drive uses the pause to fold its cache: what is valid there is read and "
                "programmed again into native blocks, three pages at once.",
            )
    yield stage.look(
        f"{stage.host_pages} pages of the host took {stage.programmed_pages} programs of pages "
        f"and {stage.erases} erases: write amplification {stage.amplification:.2f}.",
        "Counted",
    )


def _overrides(when_full: str) -> Overrides:
    """One die of so few blocks that folding can be watched."""
    return small(
        FILE * FILES,
        flash__cell="tlc",
        flash__one_shot="true",
        flash__blocks_per_plane="11",
        flash__pages_per_block=str(FILE * 3),
        flash__read_ns=str(SECOND_NS),
        flash__read_middle_ns=str(SECOND_NS),
        flash__read_upper_ns=str(SECOND_NS),
        flash__program_ns=str(9 * SECOND_NS),
        flash__erase_ns=str(5 * SECOND_NS),
        flash__slc_read_ns=str(SECOND_NS),
        flash__slc_program_ns=str(SECOND_NS),
        flash__slc_erase_ns=str(5 * SECOND_NS),
        slc_cache__max_bytes=str(CACHED * FILE * PAGE_BYTES),
        slc_cache__when_full=when_full,
        slc_cache__fold_dies="1",
        ftl__placement="host-and-cleaning",
        write_buffer__size_bytes=str(FILE * PAGE_BYTES),
    )


def predict(played: Played) -> Sequence[Prediction]:
    """What a file takes once the cache is full, and after a pause."""
    cached, native = _seconds(played, "A", "native"), _seconds(played, "D", "native")
    waiting = _seconds(played, "D", "wait")
    rested = _seconds(played, "F", "native", "yes")
    return [
        Prediction(
            f"File A takes {cached:g} s, and with a full cache file D {native:g} s in native "
            "blocks. How long does D take if the drive makes room in its cache first?",
            (f"{cached:g} s", f"{native:g} s", f"{waiting:g} s"),
            2,
            f"{waiting:g} s: a block of the cache is read, programmed to native cells and erased "
            "before D may go on. Nearly everything is programmed twice, and reading and erasing "
            "come on top.",
            {"full": "wait", "pause": "no"},
        ),
        Prediction(
            f"After file E the host pauses for {PAUSE_S} s. How long does file F take?",
            (
                f"{native:g} s: a file stays in the cache",
                f"{rested:g} s, and no page is copied",
                f"{rested:g} s, for copies of A, B and C",
            ),
            2,
            f"{rested:g} s: in the pause the cache was folded. Nobody waited for it, but A, B and "
            "C were programmed a second time: the flash wears for the speed.",
            {"full": "native", "pause": "yes"},
        ),
    ]


def _seconds(played: Played, letter: str, full: str, pause: str = "no") -> float:
    """How long a file took."""
    title = f"Write file {letter}, {FILE} pages"
    return max(step.command_s for step in played.variants[f"{full},{pause}"] if step.title == title)


LESSON = Lesson(
    "slc-cache",
    "A cache of cells with one bit",
    "A cell that holds three bits is slow to program; the same cell with one bit is quick. Drives "
    "use free blocks that way first. What happens when there are none left?",
    (WHEN_FULL, PAUSE),
    steps,
    predict,
    "A short test measures the cache. Whoever writes more than it holds, without a pause, gets the "
    "speed of the flash itself, or less: a fill of the whole drive shows it all.",
)
