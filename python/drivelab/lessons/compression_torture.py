"""A drive that compresses: what it saves, what torture takes from it, what TRIM gives back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drivelab.lessons.drives import PAGE_BYTES
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.pieces_stage import PiecesStage
from drivelab.model import Overrides

MODEL = "corsair-force-gs-240gb"
DATA = Knob(
    "data",
    "The files are",
    (("text", "texts, which compress to a half"), ("random", "pictures, which don't compress")),
)
TRIMS = Knob(
    "trims",
    "TRIM",
    (("works", "is taken in whole"), ("loses", "overflows the firmware's queue")),
)
USER, BLOCKS, PAGES, PARTS = 22, 8, 6, 2
"""Pages of the host, blocks, their pages, and parts of a page that are given out."""
FIRST, SHOWN, TORTURED = 4, 6, 60
REST_S = 120.0
SECOND_NS = 10**9
FULL, TORTURED_TITLE = "The drive is full", "Tortured"
TRIMMED, RESTED = "TRIM of everything", "After a pause"


def steps(values: Values) -> Iterator[Step]:
    """Fills a drive, tortures it with what doesn't compress, trims it, and writes again."""
    stage = PiecesStage(MODEL, _overrides(values["trims"]))
    files = "compressible:50" if values["data"] == "text" else "random"
    flash = BLOCKS * PAGES
    yield stage.look(
        f"{BLOCKS} blocks of {PAGES} pages; {USER} of the {flash} pages are the host's. The drive "
        "compresses each page of the host, to a half where it can, and puts two halves together "
        "on a page of flash. A program takes 4 s, an erase 10 s."
    )
    yield from stage.write(
        f"Write pages 0 to {FIRST - 1}",
        range(FIRST),
        files,
        "Texts: two of them fit on a page of flash."
        if values["data"] == "text"
        else "Pictures are compressed already: nothing is left to save.",
    )
    yield stage.write_quietly("Write the others", range(FIRST, USER), files, "Four at a time:")
    yield stage.look(
        f"The host's {USER} pages were {stage.programmed_pages} programs; {stage.erased_pages} of "
        f"{flash} pages of flash are erased. What compression saves is spare area.",
        FULL,
    )
    draw = np.random.default_rng(7)
    yield stage.write_quietly(
        "Torture: overwrite at random what doesn't compress",
        draw.integers(USER, size=TORTURED).tolist(),
        "random",
        "Random bytes, as in an image of an encrypted disk:",
    )
    for _ in range(SHOWN):
        erases, pages = stage.erases, draw.permutation(USER)[:FIRST].tolist()
        yield from stage.write(
            f"Overwrite pages {', '.join(map(str, pages))}",
            pages,
            "random",
            "By now nearly every page of the host takes a page of flash. When few blocks are "
            "free, the "
            "drive empties one: it copies what is valid of it, and erases it.",
        )
        if stage.erases > erases:
            break
    yield stage.look(
        f"{stage.erased_pages} pages are erased. {stage.programmed_pages} programs until now for "
        f"{stage.host_pages} pages of the host.",
        TORTURED_TITLE,
    )
    yield stage.trim(
        TRIMMED,
        range(USER),
        "The host deletes everything, a file of a page at a time, and says so.",
    )
    yield stage.look(
        f"{_held(stage)} And no more than {stage.erased_pages} pages are erased: what TRIM gives "
        "back is there when its blocks have been erased, 10 s each."
    )
    yield from stage.idle(
        RESTED,
        REST_S,
        "Nobody asks for anything, and the drive tidies up: it erases blocks, but only so many "
        "as it "
        "keeps in reserve; and what it has to keep it copies first.",
    )
    yield stage.look(
        f"{stage.erased_pages} of {flash} pages are erased; when the drive was new, all were. "
        + _others(stage)
    )
    yield from stage.write(
        "Write pages 0 to 3 again", range(FIRST), files, "The same files as in the beginning."
    )
    yield stage.look(
        f"{stage.host_pages} pages of the host took {stage.programmed_pages} programs.", "Counted"
    )


def _held(stage: PiecesStage) -> str:
    """What a TRIM has left behind, in a sentence."""
    if not stage.held_units:
        return "All of it is outdated at once."
    return (
        f"{stage.held_units} of {USER} deletions found the firmware's queue full (hatched): the "
        "host "
        "reads zeros there, but the drive keeps what was written, and copies it."
    )


def _others(stage: PiecesStage) -> str:
    """What the pages hold that aren't erased."""
    if not stage.held_units:
        return (
            "The others hold nothing that anybody wants, and are erased when they are needed: then "
            "the host waits for it."
        )
    return (
        f"Of the others some hold the {stage.held_units} pages whose deletion the drive missed "
        "(hatched), which it copies when it needs their blocks, and erases these: then the host "
        "waits for it."
    )


def _overrides(trims: str) -> Overrides:
    """One die of a few blocks, without parity and with its map in memory: nothing but what is told
    takes pages, and nothing but flash takes time."""
    values = {
        "flash.channel_count": "1",
        "flash.dies_per_channel": "1",
        "flash.planes_per_die": "1",
        "flash.two_plane": "false",
        "flash.blocks_per_plane": str(BLOCKS),
        "flash.pages_per_block": str(PAGES),
        "flash.page_bytes": str(PAGE_BYTES),
        "flash.read_ns": str(2 * SECOND_NS),
        "flash.program_ns": str(4 * SECOND_NS),
        "flash.erase_ns": str(10 * SECOND_NS),
        "flash.command_ns": "0",
        "flash.bus_bytes_per_s": "0",
        "user_capacity_bytes": str(USER * PAGE_BYTES),
        "ftl.map_unit_bytes": str(PAGE_BYTES),
        "ftl.granule_bytes": str(PAGE_BYTES // PARTS),
        "ftl.die_parity": "false",
        "ftl.map_cache_bytes": "0",
        "ftl.trims_deferred": "false",
        "ftl.trim_loss_percent": "43" if trims == "loses" else "0",
        "ftl.idle_cleaning_blocks": "4",
        "ftl.wear_spread_limit": "0",
        "link.bytes_per_s": "0",
        "link.frame_overhead_ns": "0",
        "link.command_overhead_ns": "0",
        "write_buffer.size_bytes": str(4 * PAGE_BYTES),
        "write_buffer.hold_ns": str(SECOND_NS),
        "controller.pipeline_ns": "0",
        "controller.partial_unit_firmware_ns": "0",
        # As long as deletions come one after the other, the drive doesn't rest.
        "controller.trim_firmware_ns": str(SECOND_NS // 10),
        **{f"controller.{op}_firmware_ns": "0" for op in ("read", "write", "flush")},
    }
    return list(values.items())


def predict(played: Played) -> Sequence[Prediction]:
    """What compression saves, and what TRIM gives back."""
    text, pictures = (_programs(played, data) for data in ("text", "random"))
    rested = {trims: _erased(played, f"text,{trims}", RESTED) for trims in ("works", "loses")}
    tortured = _erased(played, "text,works", TORTURED_TITLE)
    flash = BLOCKS * PAGES
    return [
        Prediction(
            f"{USER} pages of texts took {text} programs. How many do {USER} pages of pictures "
            "take?",
            (str(text), str(pictures), str(2 * pictures)),
            1,
            f"{pictures}, one for each: what is compressed already saves nothing. Random bytes "
            "show "
            "such a drive from its worst side, and zeros from one that nobody sees in earnest.",
            {"data": "random", "trims": "works"},
        ),
        Prediction(
            f"After torture {tortured} of {flash} pages are erased. The host trims everything, and "
            "leaves the drive alone. How many are erased then?",
            (f"{flash}, as when it was new", str(rested["works"]), str(tortured)),
            1,
            f"{rested['works']}: nothing is valid any more, but in a pause the drive erases only "
            "as "
            "much as it wants to have in reserve. The rest comes back with the writes that "
            "follow, an "
            "erase at a time.",
            {"data": "text", "trims": "works"},
        ),
        Prediction(
            "And with firmware whose queue of deletions overflows?",
            (f"{rested['works']}: TRIM is TRIM", str(rested["loses"])),
            1,
            f"{rested['loses']}, after copies: what was lost in the queue is kept, and moved with "
            "everything else, until the host writes there again. Another TRIM loses the same "
            "again.",
            {"data": "text", "trims": "loses"},
        ),
    ]


def _programs(played: Played, data: str) -> int:
    """That a fill takes."""
    steps = played.variants[f"{data},works"]
    return max(step.programmed_pages for step in steps if step.title == FULL)


def _erased(played: Played, variant: str, title: str) -> int:
    """Pages that are erased at the end of a part of the lesson."""
    last = [step for step in played.variants[variant] if step.title == title][-1]
    return sum(page.state == "erased" for block in last.blocks for page in block.pages)


LESSON = Lesson(
    "compression-torture",
    "Compression, and what torture leaves",
    "A drive that compresses programs less than the host writes, and what it saves is spare area. "
    "Then somebody fills it with what doesn't compress. Does a TRIM make it new again?",
    (DATA, TRIMS),
    steps,
    predict,
    "What such a drive is like depends on what is written, and on what was written before: a test "
    "has to say both. TRIM tells the drive what it needn't keep. Erased it is later.",
)
