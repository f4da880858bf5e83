"""The worked example of five pages: why a full drive writes slowly [AN]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drivelab import example
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values
from drivelab.lessons.stage import Stage

HOW = Knob(
    "how",
    "The drive",
    (
        ("full", "five pages, all of them the user's"),
        ("spare", "six pages, one of them spare"),
        ("trim", "five pages, and deleting is told to the drive"),
    ),
)
_IDLE_S = 120.0


def steps(values: Values) -> Iterator[Step]:
    """The host's four commands on the drive that was chosen."""
    scenario = next(item for item in example.SCENARIOS if item.name == values["how"])
    stage = Stage(example.MODEL_NAME, scenario.overrides)
    yield stage.look(
        f"A drive of one block with {stage.page_count} pages of 4 KB. Reading a page takes 2 s, "
        "programming one 4 s; a page that was programmed can be programmed again only after the "
        "whole block was erased.",
        "A new drive",
    )
    yield from stage.write(
        "Write a text file of 4 KB", [0], ["text"], "The host hands over one page."
    )
    yield from stage.write(
        "Write a picture of 8 KB",
        [1, 2],
        ["picture 1", "picture 2"],
        "Two pages more. The drive appends: the next erased pages take them.",
    )
    yield from stage.delete(
        "Delete the text file",
        [0],
        scenario.trims,
        "The operating system sends TRIM: the drive learns that the text is no longer needed."
        if scenario.trims
        else "The operating system only notes in its own tables that the space is free. The drive "
        "learns nothing: to it the text is as valid as before.",
    )
    yield from _idle(stage)
    yield from stage.write(
        example.LAST_FILE,
        [0, 3, 4],
        ["new 1", "new 2", "new 3"],
        "Three pages, to where the text was and where nothing was yet. To the host they are free. "
        "Does the drive have three erased pages?",
    )
    last_s = stage.command_s
    yield stage.look(
        f"The file of 12 KB took {last_s:g} s: {12 / last_s:.2g} KB/s. Programming alone would "
        "have taken 12 s."
    )
    yield from _idle(stage)


def _idle(stage: Stage) -> Iterator[Step]:
    yield from stage.idle(
        "Nobody asks for anything",
        _IDLE_S,
        "The drive uses the time: it makes room while nobody waits.",
    )


def predict(played: Played) -> Sequence[Prediction]:
    """What a page more is worth."""
    took = {how: _last_file_s(played.variants[how]) for how, _ in HOW.choices}
    return [
        Prediction(
            "Give the drive one page more, of which the host knows nothing. How long does the last "
            "file take?",
            (f"{took['full']:g} s, as before", "20 s", f"{took['spare']:g} s"),
            2,
            f"{took['spare']:g} s: three erased pages are there, so nothing has to be read, erased "
            "or written back while the host waits. The drive tidies up afterwards.",
            {"how": "spare"},
        ),
        Prediction(
            "And with five pages again, but deleting told to the drive?",
            (f"{took['full']:g} s", f"{took['trim']:g} s", "4 s"),
            1,
            f"{took['trim']:g} s: it knew early that the text isn't needed, and erased while it "
            "stood idle.",
            {"how": "trim"},
        ),
    ]


def _last_file_s(steps: Sequence[Step]) -> float:
    return max(step.command_s for step in steps if step.title == example.LAST_FILE)


LESSON = Lesson(
    "five-pages",
    "Why a full drive writes slowly",
    "Five pages, three files, one of them deleted. The last file needs three programs of 4 s each, "
    "and takes 26 s.",
    (HOW,),
    steps,
    predict,
    "Flash is programmed by the page and erased by the block. What a drive doesn't know to be "
    "deleted it has to keep; what it has to keep it has to move before it can erase.",
)
