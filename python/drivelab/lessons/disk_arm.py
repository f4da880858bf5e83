"""A disk's arm: the same reads in the order of the host, and in one that the disk chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drivelab import model as models
from drivelab.lessons.drives import NEXT_TRACK_S, PAGE_BYTES, PAGE_SECTORS, STROKE_S, disk
from drivelab.lessons.lesson import Block, Knob, Lesson, Page, Played, Prediction, Step, Values
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.workload import READ, Job, Recorded, Requests

MODEL = "wd-velociraptor-300gb"
ORDER = Knob(
    "order",
    "The disk reads",
    (
        ("first-come", "what was asked for first"),
        ("shortest-positioning", "what it can reach first"),
    ),
)
DEPTH = Knob("depth", "The host asks for", (("8", "all eight reads at once"), ("1", "one by one")))
TRACKS, SPOTS = 8, 8
READS = (51, 3, 44, 12, 60, 21, 35, 8)
"""Places, counted along the tracks from the outermost."""
FREE, WAITING, DONE = "free", "waiting", "read"
"""States of places."""


def steps(values: Values) -> Iterator[Step]:
    """Eight reads, in the order in which the disk does them."""
    states: dict[int, str] = {}
    yield _step(
        "A disk of eight tracks",
        "look",
        f"The platter turns once in a second, and a track has {SPOTS} places: {1 / SPOTS:g} s "
        f"each. From one track to the next the arm takes {NEXT_TRACK_S:g} s, across all of them "
        f"{STROKE_S:g} s; on its way it speeds up. It stands at track 0. Each track is turned "
        "against the one before by half a turn, just what the arm takes between them, so that a "
        "stream goes on at once; the picture has them side by side.",
        states,
    )
    depth = int(values["depth"])
    waiting, asked = list(READS[:depth]), depth
    states.update(dict.fromkeys(waiting, WAITING))
    title = f"Read {len(READS)} places"
    yield _step(
        title,
        "host",
        "The host asks for them: " + ", ".join(map(str, READS)) + "."
        if depth > 1
        else "The host asks for one place, and for the next when it has it.",
        states,
        waiting,
    )
    track, before_s, total_s = 0, 0.0, 0.0
    for done, (place, at_s) in enumerate(_completions(values["order"], depth)):
        to = place // SPOTS
        waiting.remove(place)
        states[place] = DONE
        if asked < len(READS):
            waiting.append(READS[asked])
            states[READS[asked]] = WAITING
            asked += 1
        move = f"The arm goes from track {track} to {to}" if to != track else "The arm stays"
        say = f"{move}, waits until place {place} comes round, and reads it: {at_s - before_s:g} s."
        track, before_s, total_s = to, at_s, at_s
        yield _step(title, "read", say, states, waiting, (to, place % SPOTS), done + 1, at_s)
    yield _step(
        "Counted",
        "look",
        f"{len(READS)} reads took {total_s:g} s: {total_s / len(READS):.2f} s each. Reading alone "
        f"takes {1 / SPOTS:g} s each; the rest is the arm's way and the platter's turning.",
        states,
        reads=len(READS),
        at_s=total_s,
    )


def _completions(order: str, depth: int) -> list[tuple[int, float]]:
    """Places in the order in which the disk reads them, and when each is there, in s."""
    target = EngineTarget(models.load(MODEL, disk(TRACKS, SPOTS, order)), seed=1)
    rows = [(READ, place * PAGE_SECTORS, PAGE_SECTORS) for place in READS]
    job = Job(name="host", source=Recorded(pacing="closed"), queue_depth=depth)
    _, log = target.run_requests_logged(job, Requests.of(rows), TaskProgress("host"))
    found = zip(log["completed_ns"].tolist(), log["offset_bytes"].tolist(), strict=True)
    return [(offset // PAGE_BYTES, at_ns / NS_PER_S) for at_ns, offset in sorted(found)]


def _step(
    title: str,
    kind: str,
    say: str,
    states: dict[int, str],
    waiting: Sequence[int] = (),
    touched: tuple[int, int] | None = None,
    reads: int = 0,
    at_s: float = 0.0,
) -> Step:
    def page(place: int) -> Page:
        label = str(place) if place in states else ""
        return Page(states.get(place, FREE), place, label, False)

    tracks = tuple(
        Block(track, 0, None, tuple(page(track * SPOTS + spot) for spot in range(SPOTS)))
        for track in range(TRACKS)
    )
    return Step(
        title=title,
        say=say,
        kind=kind,
        seconds=0.0,
        command_s=at_s,
        blocks=tracks,
        touched=() if touched is None else (touched,),
        cache=tuple(map(str, waiting)),
        host_pages=0,
        programmed_pages=0,
        reads=reads,
        erases=0,
    )


def predict(played: Played) -> Sequence[Prediction]:
    """What the order is worth, and what it is worth without a queue."""
    took = {key: found[-1].command_s for key, found in played.variants.items()}
    first, chosen = took["first-come,8"], took["shortest-positioning,8"]
    alone = took["shortest-positioning,1"]
    return [
        Prediction(
            f"In the order of the host it takes {first:g} s. How long if the disk may choose?",
            (f"{first:g} s: the same places", f"{chosen:g} s", f"{len(READS) / SPOTS:g} s"),
            1,
            f"{chosen:g} s: each time it takes what arm and platter bring it to first. This is "
            "what native command queueing is for.",
            {"order": "shortest-positioning", "depth": "8"},
        ),
        Prediction(
            "And if it may choose, but the host asks for one place after the other?",
            (f"{alone:g} s", f"{chosen:g} s"),
            0,
            f"{alone:g} s: there is nothing to choose from. A disk needs a queue to be fast at "
            "random places; an SSD needs it for another reason: to keep all of its dies at work.",
            {"order": "shortest-positioning", "depth": "1"},
        ),
    ]


LESSON = Lesson(
    "disk-arm",
    "A disk's arm, and what a queue is for",
    "A hard disk reads a place when its arm is on the track and the place comes round under it. "
    "Eight reads all over the disk: the order makes the time.",
    (ORDER, DEPTH),
    steps,
    predict,
    "At random places a disk does about a hundred reads a second, and a long queue makes them two "
    "or three times as many. An SSD has no arm: that is most of what one feels.",
    medium="disk",
)
