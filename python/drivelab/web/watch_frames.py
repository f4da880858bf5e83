"""Frames of a watched drive: what its blocks look like, and what it did since the frame before.

A frame is one binary message: 4 bytes with the length of a JSON text, the text (padded with
spaces to a multiple of four), and the columns of `_engine.Tiles`. The text says which blocks the
columns are about: all (`whole`), or only those that have changed, `count` of them; and behind these
`valid_count` others of which only the valid share has. Numbers, which are read and not watched, are
in some frames only.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drivelab import _engine, counters
from drivelab.quantities import NS_PER_S, NS_PER_US
from drivelab.results import SPLIT_PARTS
from drivelab.targets import EngineTarget
from drivelab.targets.going import EngineRun

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

    def take(self, run: EngineRun | None) -> dict[str, Any]:
        """How many reads and writes there were since the last frame, and how long they took, in us;
        None where there were none."""
        parts, self._ended = self._ended, []
        if run is not None:
            parts.append(self._since(run))
        bins = sorted(item for part in parts for item in part.items())
        if not bins:
            return {"ios": 0, "mean_us": None, "p99_us": None, "parts_us": None}
        sums = np.array([row for _, row in bins], dtype=np.float64)
        ios, *of_parts = sums.sum(axis=0).tolist()
        return {
            "ios": int(ios),
            "mean_us": sum(of_parts) / ios / NS_PER_US,
            "p99_us": percentile_ns([edges for edges, _ in bins], sums[:, 0], P99) / NS_PER_US,
            "parts_us": [part / ios / NS_PER_US for part in of_parts],
        }

    def _since(self, run: EngineRun) -> Bins:
        now: dict[tuple[int, int], list[int]] = {}
        for from_ns, to_ns, count, parts in run.latencies_so_far():
            known = now.setdefault((from_ns, to_ns), [0] * (1 + len(parts)))
            now[from_ns, to_ns] = [a + b for a, b in zip(known, (count, *parts), strict=True)]
        before, self._before = self._before, now
        nothing = [0] * (1 + len(SPLIT_PARTS))
        fresh = {
            edges: [a - b for a, b in zip(row, before.get(edges, nothing), strict=True)]
            for edges, row in now.items()
        }
        return {edges: row for edges, row in fresh.items() if row[0]}


def percentile_ns(
    edges: Sequence[tuple[int, int]], counts: NDArray[np.float64], share: float
) -> float:
    """The latency that a share of the requests doesn't exceed: within its bin by its rank."""
    upto = np.cumsum(counts)
    rank = share * upto[-1]
    place = min(int(np.searchsorted(upto, rank)), len(edges) - 1)
    from_ns, to_ns = edges[place]
    return from_ns + (to_ns - from_ns) * float((rank - upto[place] + counts[place]) / counts[place])


class Meters:
    """What a drive's counters say of the time since the last frame."""

    def __init__(self, counters_now: Mapping[str, Any], now_ns: int) -> None:
        self._before, self._before_ns = counters_now, now_ns
        self._worked_ns: list[int] = []

    @property
    def has_cache(self) -> bool:
        """Whether the drive has an SLC cache."""
        return "slc_cache_bytes" in self._before

    def take(self, now: Mapping[str, Any], now_ns: int, worked_ns: list[int]) -> dict[str, Any]:
        """The numbers of a frame; `worked_ns`: how long each die has worked."""
        used = counters.spent(self._before, now)
        since_ns = now_ns - self._before_ns
        # A secure erase sets the dies' times back.
        before_ns = self._worked_ns if len(self._worked_ns) == len(worked_ns) else worked_ns
        pairs = zip(worked_ns, before_ns, strict=True)
        busy_ns = [max(0, after - before) for after, before in pairs]
        self._before, self._before_ns, self._worked_ns = now, now_ns, worked_ns
        programs = {
            key.removeprefix("program_bytes_"): used.get(key, 0) for key in counters.PROGRAM_KEYS
        }
        return {
            "now_s": now_ns / NS_PER_S,
            "since_s": since_ns / NS_PER_S,
            "host_write_bytes": used["host_write_bytes"],
            "host_read_bytes": used["host_read_bytes"],
            "program_bytes": programs,
            "erases": counters.erase_count(used),
            "merges": sum(used.get(f"merges_{kind}", 0) for kind in ("full", "partial", "switch")),
            "write_amplification": counters.write_amplification(used),
            "free_blocks": now["free_blocks"],
            "erase_count": [now[f"erase_count_{word}"] for word in ("min", "mean", "max")],
            "dies_busy": [round(min(1.0, part / since_ns), 3) for part in busy_ns]
            if since_ns
            else [0] * len(busy_ns),
        }


class Frames:
    """Makes the frames of a drive for one viewer, who has seen all of them until now."""

    def __init__(self, target: EngineTarget) -> None:
        self._target = target
        self._tiles = _engine.Tiles()
        self.latencies = Latencies()
        self._meters = Meters(target.counters(), target.now_ns)
        self._queues = int(target.model.value("nvme.queue_count") or 1)

    def begin_anew(self) -> None:
        """The next frame has all blocks: a viewer has come who knows none."""
        self._tiles.forget()

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
            "cache": self._meters.has_cache,
            "parts": list(SPLIT_PARTS),
            "queues": self._queues,
            "room": self._target.model.value("controller.queue_depth"),
        }

    def frame(
        self, run: EngineRun | None, more: Mapping[str, Any], has_numbers: bool = True
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
            text |= self._meters.take(target.counters(), target.now_ns, worked_ns)
            text["latency"] = self.latencies.take(run)
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
