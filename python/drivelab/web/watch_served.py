"""A served drive that is watched as it serves: through its control socket, which says what is
inside and changes nothing. Which sockets there are was said where the page was started."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from drivelab import _engine
from drivelab.errors import RequestError, WorkError
from drivelab.quantities import NS_PER_US
from drivelab.results import SPLIT_PARTS
from drivelab.served.control import ControlLink, NotServedError, place_of
from drivelab.web import watch_choice
from drivelab.web.watch_frames import P99, QUEUES_SHOWN, Meters, packed, percentile_ns
from drivelab.web.watch_session import FRAME_S
from drivelab.web.watch_viewer import Send, Viewed

SERVING_SHARE = 0.05
"""Of the server's time that looks may take: it answers clients and viewers in one thread."""
READ_ONLY = "a served drive is only looked at here: whoever uses it decides what it does"


def named(targets: Mapping[str, Path], name: object) -> Path:
    """The control socket of a served drive by its name; raises RequestError for another one."""
    return place_of(targets[watch_choice.one_of("served", name, tuple(targets))])


def by_name(targets: list[Path]) -> dict[str, Path]:
    """Images or sockets by the names that pages know them by: files of one name by their paths."""
    names = [target.name for target in targets]
    return {
        str(target) if names.count(target.name) > 1 else target.name: target for target in targets
    }


class ServedFrames:
    """Makes the frames of a served drive for one viewer."""

    def __init__(self, link: ControlLink) -> None:
        self._link = link
        self._viewer = secrets.randbits(48)
        self._meters: Meters | None = None
        self._bins: dict[int, int] = {}
        self._sums: list[float] = []
        self.about: dict[str, Any] = link.ask({"command": "layout"})
        self._has_cache = "slc_cache_bytes" in link.ask({"command": "smart"})

    def begin_anew(self) -> None:
        """The next frame has all blocks."""
        self._viewer = secrets.randbits(48)

    def layout(self) -> dict[str, Any]:
        """Where blocks are; raises RequestError for a drive that has none."""
        about = self.about
        if not about["block_count"]:
            raise RequestError(f"{about['title']}: a hard disk has no blocks to look at")
        return {
            "block_count": about["block_count"],
            "blocks_per_die": about["block_count"] // len(about["die"]),
            "member": about["member"],
            "die": about["die"],
            "channel": about["channel"],
            "roles": _engine.block_roles(),
            "modes": _engine.cell_modes(),
            "cache": self._has_cache,
            "parts": list(SPLIT_PARTS),
            "queues": 1,
            "room": None,
        }

    def frame(self, more: Mapping[str, Any]) -> bytes:
        """What has changed since the last one."""
        look = self._link.ask({"command": "look", "viewer": self._viewer})
        if self._meters is None:
            self._meters = Meters(look["counters"], look["now_ns"])
        text = {
            "count": look["count"],
            "whole": look["whole"],
            "valid_count": look["valid_count"],
            "next": look["next"],
            **self._meters.take(look["counters"], look["now_ns"], look["worked_ns"]),
            "latency": self._latency(look["latency"]),
            "inside": look["inside"],
            "waiting": sum(look["waiting"][:QUEUES_SHOWN]),
        }
        return packed(text | dict(more), bytes.fromhex(look["blocks"]))

    def _latency(self, told: Mapping[str, Any]) -> dict[str, Any]:
        bins = {int(to_ns): int(count) for to_ns, count in told["bins"]}
        sums = [float(told["sum_ns"]), *map(float, told["parts_ns"])]
        fresh = [(to, count - self._bins.get(to, 0)) for to, count in sorted(bins.items())]
        fresh = [(to, count) for to, count in fresh if count > 0]
        before, self._bins, self._sums = self._sums or sums, bins, sums
        ios = sum(count for _, count in fresh)
        if not ios or before is sums:
            return {"ios": 0, "mean_us": None, "p99_us": None, "parts_us": None}
        mean, *parts = (
            (now - then) / ios / NS_PER_US for now, then in zip(sums, before, strict=True)
        )
        counts = np.array([count for _, count in fresh], dtype=np.float64)
        edges = [(to, to) for to, _ in fresh]
        return {
            "ios": ios,
            "mean_us": mean,
            "p99_us": percentile_ns(edges, counts, P99) / NS_PER_US,
            "parts_us": parts,
        }


class ServedWatch(Viewed):
    """A served drive under watch."""

    def __init__(self, name: str, place: Path, send: Send) -> None:
        super().__init__(send, "served drive")
        self._name, self._place = name, place
        self._blocks: list[Mapping[str, int]] = []

    def obey(self, asked: Mapping[str, Any]) -> None:
        """Opens a block; raises RequestError for everything that would change the drive."""
        if asked.get("do") != "block":
            raise RequestError(f"{str(asked.get('do'))[:40]}: {READ_ONLY}")
        self._blocks = [*self._blocks[-7:], watch_choice.place(asked)]
        self._wake.set()

    def _live(self) -> None:
        try:
            with ControlLink(self._place) as link:
                self._look(link)
        except NotServedError:
            self._fail(f"{self._name} is not being served")
        except (RequestError, WorkError, LookupError, TypeError, ValueError) as error:
            self._fail(f"{self._name}: {error}")
        finally:
            self._closed.set()

    def _look(self, link: ControlLink) -> None:
        frames = ServedFrames(link)
        standing = {"paused": False, "speed": None, "workload": "", "achieved": 0.0, "is_on": True}
        watching = {
            "model": frames.about["model"],
            "title": frames.about["title"],
            "capacity_bytes": frames.about["capacity_bytes"],
            "served": self._name,
        }
        layout = frames.layout()
        self._send({"watching": watching, "layout": layout})
        next_s = 0.0
        while not self._closed.is_set():
            blocks, self._blocks = self._blocks, []
            for place in blocks:
                self._send(self._block(link, place))
            now_s = time.perf_counter()
            if not self._wanted.is_set() or now_s < next_s:
                self._wake.wait(max(0.001, next_s - now_s) if self._wanted.is_set() else 0.5)
                self._wake.clear()
                continue
            self._wanted.clear()
            if self._anew.is_set():
                self._anew.clear()
                frames.begin_anew()
                self._send({"watching": watching, "layout": layout})
            begun_s = time.perf_counter()
            frame = frames.frame(standing)
            # From the question to the answer the server had other work, too: its own is less.
            cost_s = time.perf_counter() - begun_s
            next_s = begun_s + max(FRAME_S, cost_s / SERVING_SHARE)
            self._send(frame)

    def _block(self, link: ControlLink, place: Mapping[str, int]) -> dict[str, Any]:
        try:
            pages = link.ask({"command": "block", **place})
        except RequestError as error:
            return {"error": str(error)}
        return {"block": {**place, "states": pages["states"], "units": pages["units"]}}
