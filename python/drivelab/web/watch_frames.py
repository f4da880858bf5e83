"""Frames of a watched drive: what its blocks look like, and what it did since the frame before.

A frame is one binary message: 4 bytes with the length of a JSON text, the text (padded with
spaces to a multiple of four), and the columns of `_engine.Tiles`. The text says which blocks the
columns are about: all (`whole`), or only those that have changed, `count` of them; and behind these
`valid_count` others of which only the valid share has. Numbers, which are drawn as lines, are in
some frames only. Once a second or so they have a `span`: the same of all that time, to be read,
with why the flash programs more than the host writes (`watch_causes`).
"""

from __future__ import annotations

import json
import operator
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drivelab import _engine, counters
from drivelab.quantities import NS_PER_S, NS_PER_US
from drivelab.results import SPLIT_PARTS
from drivelab.targets import EngineTarget
from drivelab.targets.going import EngineRun
from drivelab.web.watch_causes import Storing, causes

_HEAD = struct.Struct("<I")
Bins = Mapping[tuple[int, int], Sequence[int]]
"""Requests by latency: from and to how many ns; how many, then the sums of their parts in ns."""
P99 = 0.99
FAR = 255
"""In a frame, of the blocks between two: so many, and as the next byte says."""
QUEUES_SHOWN = 8
"""Submission queues whose commands are counted in frames: no workload here uses more."""


class Latencies:
    """Latencies of reads and writes since the last frame, from what a run has counted until now."""

    def __init__(self) -> None:
        self._before: Bins = {}
        self._ended: list[Bins] = []

    def end(self, run: EngineRun) -> None:
        """A run ends: what it did since the last frame belongs to the next one."""
        self._ended.append(self._since(run))
        self._before = {}

    def take(self, run: EngineRun | None) -> Bins:
        """Those since the last frame."""
        parts, self._ended = self._ended, []
        if run is not None:
            parts.append(self._since(run))
        return together(parts)

    def _since(self, run: EngineRun) -> Bins:
        found = run.latencies_so_far()
        now = together([{row[:2]: (row[2], *row[3])} for row in found])
        before, self._before = self._before, now
        nothing = [0] * (1 + len(SPLIT_PARTS))
        fresh = {
            edges: [a - b for a, b in zip(row, before.get(edges, nothing), strict=True)]
            for edges, row in now.items()
        }
        return {edges: row for edges, row in fresh.items() if row[0]}


def together(parts: Sequence[Bins]) -> Bins:
    """The requests of all of them."""
    found: dict[tuple[int, int], Sequence[int]] = {}
    for part in parts:
        for edges, row in part.items():
            known = found.get(edges)
            found[edges] = row if known is None else list(map(operator.add, known, row))
    return found


def latency(bins: Bins) -> dict[str, Any]:
    """How many reads and writes there were, and how long they took, in us; None where there were
    none."""
    if not bins:
        return {"ios": 0, "mean_us": None, "p99_us": None, "parts_us": None}
    edges = sorted(bins)
    sums = np.array([bins[each] for each in edges], dtype=np.float64)
    ios, *of_parts = sums.sum(axis=0).tolist()
    return {
        "ios": int(ios),
        "mean_us": sum(of_parts) / ios / NS_PER_US,
        "p99_us": percentile_ns(edges, sums[:, 0], P99) / NS_PER_US,
        "parts_us": [part / ios / NS_PER_US for part in of_parts],
    }


def percentile_ns(
    edges: Sequence[tuple[int, int]], counts: NDArray[np.float64], share: float
) -> float:
    """The latency that a share of the requests doesn't exceed: within its bin by its rank."""
    upto = np.cumsum(counts)
    rank = share * upto[-1]
    place = min(int(np.searchsorted(upto, rank)), len(edges) - 1)
    from_ns, to_ns = edges[place]
    return from_ns + (to_ns - from_ns) * float((rank - upto[place] + counts[place]) / counts[place])


@dataclass(frozen=True)
class Moment:
    """What a drive's counters said at a time of its clock."""

    counters: Mapping[str, Any]
    now_ns: int
    worked_ns: Sequence[int]
    """How long each die has worked."""


def between(before: Moment, after: Moment, storing: Storing) -> dict[str, Any]:
    """What a drive did between two moments, and how it is at the later one."""
    now, used = after.counters, counters.spent(before.counters, after.counters)
    since_ns = after.now_ns - before.now_ns
    pairs = zip(after.worked_ns, before.worked_ns, strict=True)
    # A secure erase sets them back.
    busy_ns = [max(0, later - earlier) for later, earlier in pairs]
    programs = {
        key.removeprefix("program_bytes_"): used.get(key, 0) for key in counters.PROGRAM_KEYS
    }
    return {
        "now_s": after.now_ns / NS_PER_S,
        "since_s": since_ns / NS_PER_S,
        "host_write_bytes": used["host_write_bytes"],
        "host_read_bytes": used["host_read_bytes"],
        "host_trim_bytes": used.get("host_trim_bytes", 0),
        "host_flush_commands": used.get("host_flush_commands", 0),
        "host_write_commands": used["host_write_commands"],
        "program_bytes": programs,
        "slc_bytes": used.get("program_bytes_slc", 0),
        "units_completed": used.get("units_rmw", 0),
        "erases": counters.erase_count(used),
        "merges": sum(used.get(f"merges_{kind}", 0) for kind in ("full", "partial")),
        "switches": used.get("merges_switch", 0),
        "write_amplification": counters.write_amplification(used),
        "causes": causes(used, storing),
        "free_blocks": now["free_blocks"],
        "erase_count": [now[f"erase_count_{word}"] for word in ("min", "mean", "max")],
        "dies_busy": [round(min(1.0, part / since_ns), 3) for part in busy_ns]
        if since_ns
        else [0] * len(busy_ns),
    }


class Numbers:
    """The numbers of frames for one viewer: of the time since the last that had some, and of spans
    of a second or so, which end where such a time ends."""

    def __init__(self, storing: Storing, begun: Moment) -> None:
        self._storing = storing
        self._last = begun
        self._early: list[Bins] = []
        """Of the time since the last frame with numbers, taken already."""
        self.begin_span(begun, {})

    @property
    def has_cache(self) -> bool:
        """Whether the drive has an SLC cache."""
        return "slc_cache_bytes" in self._last.counters

    def begin_span(self, now: Moment, bins: Bins) -> None:
        """Something else is done from now on: what was done until then belongs to no span. The next
        one is told even if no time has passed. `bins` are latencies since they were taken last."""
        self._early.append(bins)
        self._begun = now
        self._of_span: list[Bins] = []
        self._told: dict[str, Any] | None = None

    def take(self, now: Moment, bins: Bins, *, ends_span: bool) -> dict[str, Any]:
        """What a frame says; `bins` are latencies since they were taken last. A span that ends now,
        or the last one again if no time has passed since, is its `span`."""
        own, self._early = together([*self._early, bins]), []
        found = between(self._last, now, self._storing) | {"latency": latency(own)}
        self._last = now
        self._of_span = [together([*self._of_span, bins])]
        if ends_span:
            if self._told is None or now.now_ns > self._begun.now_ns:
                of_span = latency(self._of_span.pop())
                self._told = between(self._begun, now, self._storing) | {"latency": of_span}
                self._begun = now
            found["span"] = self._told
        return found


class Frames:
    """Makes the frames of a drive for one viewer, who has seen all of them until now."""

    def __init__(self, target: EngineTarget) -> None:
        self._target = target
        self._tiles = _engine.Tiles()
        self.latencies = Latencies()
        self._storing = Storing.of(target.model)
        self._numbers = Numbers(self._storing, self._moment())
        self._queues = int(target.model.value("nvme.queue_count") or 1)

    def begin_anew(self) -> None:
        """The next frame has all blocks: a viewer has come who knows none."""
        self._tiles.forget()

    def begin_span(self, run: EngineRun | None) -> None:
        """From now on the drive does something else; `run` is at work."""
        self._numbers.begin_span(self._moment(), self.latencies.take(run))

    def _moment(self) -> Moment:
        """Now; dearer than a frame's, which has been told how long dies have worked."""
        target = self._target
        worked_ns = target.inside()[1]["worked_ns"].tolist()
        return Moment(target.counters(), target.now_ns, worked_ns)

    def layout(self) -> dict[str, Any]:
        """Where blocks are: those of a die follow each other, dies in this order."""
        blocks, dies = self._target.inside()
        count = len(blocks["die"])
        die_count = len(dies["die"])
        return {
            "block_count": count,
            "blocks_per_die": count // die_count if die_count else 0,
            "member": dies["member"].tolist(),
            "die": dies["die"].tolist(),
            "channel": dies["channel"].tolist(),
            "roles": _engine.block_roles(),
            "modes": _engine.cell_modes(),
            "cache": self._numbers.has_cache,
            "parts": list(SPLIT_PARTS),
            "queues": self._queues,
            "room": self._target.model.value("controller.queue_depth"),
            "unit_bytes": self._storing.unit_bytes,
        }

    def frame(
        self,
        run: EngineRun | None,
        more: Mapping[str, Any],
        has_numbers: bool = True,
        has_span: bool = False,
    ) -> bytes:
        """What has changed since the last frame, with `more` in its text; `run` is at work. Its
        numbers are about the time since the last frame that had some."""
        target = self._target
        count, is_whole, valid_count, sequences, worked_ns, columns = self._tiles.changes(
            target.engine
        )
        text: dict[str, Any] = {"count": count, "whole": is_whole, "valid_count": valid_count}
        text["next"] = sequences
        if has_numbers:
            now = Moment(target.counters(), target.now_ns, worked_ns)
            text |= self._numbers.take(now, self.latencies.take(run), ends_span=has_span)
            if self._queues > 1:
                inside, waiting = _engine.queue_lengths(target.engine)
                text["queues"] = {"inside": inside, "waiting": waiting[:QUEUES_SHOWN]}
        return packed(text | dict(more), columns)


def packed(text: Mapping[str, Any], columns: bytes) -> bytes:
    """A frame of its text and its columns."""
    encoded = json.dumps(text, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 4)
    return _HEAD.pack(len(encoded)) + encoded + columns


def read_frame(message: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A frame's text and columns; what static/views/watch-frames.js does, for scripts and tests.
    Those of which only the valid share has changed are `valid_index` and `valid_share`."""
    (length,) = _HEAD.unpack_from(message)
    text = json.loads(message[_HEAD.size : _HEAD.size + length])
    place, columns = _HEAD.size + length, {}
    count, valid_count = text["count"], text["valid_count"]
    kinds: list[tuple[str, Any, int]] = [("born", "<u4", count), ("erase_count", "<u2", count)]
    kinds += [(name, "u1", count) for name in ("valid", "written", "role", "stream", "mode")]
    if not text["whole"]:
        kinds = [("index", "<u4", count), *kinds, ("valid_share", "u1", valid_count)]
    for name, kind, rows in kinds:
        columns[name] = np.frombuffer(message, kind, rows, place)
        place += columns[name].nbytes
    if not text["whole"]:
        between = np.frombuffer(message, "u1", offset=place)
        is_block = between < FAR
        columns["valid_index"] = np.cumsum(between + is_block, dtype=np.int64)[is_block] - 1
    return text, columns
