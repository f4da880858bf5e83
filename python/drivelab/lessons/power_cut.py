"""A power cut: what was acknowledged, what was promised, and what is there afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from drivelab import example
from drivelab.errors import WorkError
from drivelab.lessons.drives import PAGE_BYTES, small
from drivelab.lessons.kept_stage import KeptStage, Version
from drivelab.lessons.lesson import Knob, Lesson, Played, Prediction, Step, Values

HOST = Knob(
    "host",
    "After its writes the host",
    (
        ("on", "goes on at once"),
        ("flush", "waits for a flush"),
        ("fua", "has waited for each (FUA)"),
    ),
)
MEMORY = Knob(
    "memory",
    "The drive's write buffer",
    (("plain", "is plain memory"), ("capacitor", "has a capacitor")),
)
WHEN = Knob(
    "when", "The power fails", (("6", "6 s after the first write"), ("14", "14 s after it"))
)
USER, PAGES, SETTLED_S = 12, 3, 60.0
"""Pages that the host can address, pages of the letter, and seconds in which all is programmed."""
SAVE, LEFT = "Save the letter again", "What is left"


def steps(values: Values) -> Iterator[Step]:
    """Saves a letter, saves it again, loses the power on the way, and looks what is there."""
    overrides = small(
        USER,
        write_buffer__size_bytes=str(4 * PAGE_BYTES),
        write_buffer__capacitor="true" if values["memory"] == "capacitor" else "false",
    )
    stage = KeptStage(example.MODEL_NAME, overrides)
    yield stage.look(
        "Six blocks of four pages; a program takes 4 s. What the host writes comes into a buffer "
        "of four pages in the drive's memory first, and from there into flash. The buffer "
        + (
            "has a capacitor: without power it lives long enough to be saved."
            if values["memory"] == "capacitor"
            else "forgets everything without power."
        ),
        "A new drive",
    )
    first, second = ([Version(page, number) for page in range(PAGES)] for number in (1, 2))
    stage.begin("Save a letter of three pages, and flush")
    stage.write(*first)
    yield from stage.until(0)
    stage.flush()
    yield from stage.until(SETTLED_S)
    yield stage.look(
        "When a flush comes back, all that was acknowledged before it was sent is in flash. That "
        "is a promise: whatever happens, these versions, or newer ones, are there."
    )
    yield from _saved_again(stage, second, values)
    yield from stage.power_on()
    yield from stage.until(SETTLED_S)
    found, step = stage.read_back(LEFT, range(PAGES))
    yield step
    yield stage.look(_judged(stage, found), "What was promised")


def _saved_again(stage: KeptStage, pages: Sequence[Version], values: Values) -> Iterator[Step]:
    """The second version is written until the power fails."""
    cut_s = float(values["when"])
    stage.begin(SAVE)
    if values["host"] == "fua":
        for version in pages:
            if stage.elapsed_s < cut_s:
                yield stage.look(
                    f"The host writes “{version.label}” with FUA: it wants to hear of it when it "
                    "is "
                    "in flash, and writes the next page then.",
                    kind="host",
                )
                stage.write(version, fua=True)
                yield from stage.until(cut_s, answered=True)
    else:
        yield stage.look("The host writes all three pages.", kind="host")
        stage.write(*pages)
        if values["host"] == "flush":
            yield from stage.until(0)
            yield stage.look("It doesn't say “saved” yet: it asks for a flush.", kind="host")
            stage.flush()
    yield from stage.until(cut_s)
    told = [version for version in stage.heard if version is not None]
    is_saved = len(told) == PAGES and (values["host"] != "flush" or None in stage.heard)
    yield stage.cut(
        f"After {stage.elapsed_s:g} s the power fails. "
        + ("The user was told “saved”." if is_saved else "The user was not told “saved” yet.")
    )


def _judged(stage: KeptStage, found: Sequence[Version]) -> str:
    """Promises against what is there."""
    broken = [v for v in found if v.number < stage.promised[v.page].number]
    if broken:
        raise WorkError("the lesson: a promise was broken")
    promised = ", ".join(f"“{version.label}”" for version in stage.promised.values())
    lost = [
        version.label
        for version in stage.acknowledged
        if found[version.page].number < version.number
    ]
    say = f"Promised were {promised}: all of it is there, or something newer. "
    if lost:
        say += f"Acknowledged, but not promised, and lost: {', '.join(lost)}. "
    numbers = {version.number for version in found}
    return say + (
        "The letter is neither the old one nor the new one: that is for file systems and databases "
        "to prevent, with flushes and with a journal."
        if len(numbers) > 1
        else f"The letter is {'the new' if numbers == {2} else 'the old'} one."
    )


def predict(played: Played) -> Sequence[Prediction]:
    """What is left without and with a capacitor, and what a flush is worth."""
    bare, kept = _left(played, "on", "plain", "6"), _left(played, "on", "capacitor", "6")
    flushed = _left(played, "flush", "plain", "6")
    choices = ("A1, B1, C1", bare, kept)
    return [
        Prediction(
            "The host has written A2, B2 and C2, and heard that they are written. 6 s after that "
            "the power fails. What does it read?",
            choices,
            choices.index(bare),
            f"{bare}: in 6 s one page was programmed, and the next one was torn. “Written” meant "
            "“in "
            "memory”.",
            {"host": "on", "memory": "plain", "when": "6"},
        ),
        Prediction(
            "The host asks for a flush after its writes, and the power fails before it comes back. "
            "What is different?",
            (
                "Nothing is lost: the drive is flushing",
                "Nothing is there that wouldn't be without it; but nobody was told “saved”",
                "All three pages are as they were before",
            ),
            1,
            f"{flushed}, as without. A flush saves nothing sooner: it says when it is safe to "
            "rely on "
            "it.",
            {"host": "flush", "memory": "plain", "when": "6"},
        ),
        Prediction(
            "And a drive whose buffer has a capacitor?",
            choices,
            choices.index(kept),
            f"{kept}: what is in memory when the power fails is saved with the charge that is "
            "left. "
            "Such a drive may answer a flush at once.",
            {"host": "on", "memory": "capacitor", "when": "6"},
        ),
    ]


def _left(played: Played, *values: str) -> str:
    """What the host reads at the end."""
    steps = played.variants[",".join(values)]
    [said] = [step.say for step in steps if step.title == LEFT]
    return ", ".join(re.findall("“(.+?)”", said))


LESSON = Lesson(
    "power-cut",
    "A power cut, and what was promised",
    "A drive says “written” when data is in its memory. What is there when the power fails before "
    "it is in flash? And how does a drive that has lost its map find out what it holds?",
    (HOST, MEMORY, WHEN),
    steps,
    predict,
    "Acknowledged is not promised. What was flushed, or written with FUA, is there after a power "
    "cut; of the rest any part may be, in any order. Every page says whose it is, and that is how "
    "the drive finds its way back.",
)
