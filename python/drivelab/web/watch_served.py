"""A served drive that is watched as it serves: through its control socket, which says what is
inside and changes nothing. Which sockets there are was said where the page was started."""

from __future__ import annotations

import contextlib
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drivelab import _engine, model_layers
from drivelab import model as models
from drivelab.errors import RequestError, WorkError
from drivelab.results import SPLIT_PARTS
from drivelab.served.control import ControlLink, NotServedError, place_of
from drivelab.web import watch_choice
from drivelab.web.watch_causes import Storing
from drivelab.web.watch_frames import QUEUES_SHOWN, Bins, Moment, Numbers, packed
from drivelab.web.watch_session import FRAME_S, SPAN_S
from drivelab.web.watch_viewer import Send, Viewed

SERVING_SHARE = 0.05
"""Of the server's time that looks may take: it answers clients and viewers in one thread."""
SCALED = re.compile(r" \(1/([1-9][0-9]{0,8})\)$")
"""At the end of a small version's title."""
READ_ONLY = "a served drive is only looked at here: whoever uses it decides what it does"


def named(targets: Mapping[str, Path], name: object) -> Path:
    """The control socket of a served drive by its name; raises RequestError for another one."""
    if not targets:
        shown = str(name)[: watch_choice.SHOWN_LETTERS_MAX]
        none = "`drivelab web --served FILE` names drives that may be watched"
        raise RequestError(f"served = {shown!r}: allowed: none here; {none}")
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
        self._numbers: Numbers | None = None
        self._bins: dict[int, int] = {}
        self._sums_ns: list[int] = []
        self.about: dict[str, Any] = link.ask({"command": "layout"})
        facts = link.ask({"command": "smart"})
        model = _known_model(facts)
        self._storing = Storing.of(model) if model else Storing(None)
        self.notes: list[str] = model.notes if model else []
        self._has_cache = "slc_cache_bytes" in facts

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
            "unit_bytes": self._storing.unit_bytes,
        }

    def frame(self, more: Mapping[str, Any], has_span: bool = False) -> bytes:
        """What has changed since the last one."""
        look = self._link.ask({"command": "look", "viewer": self._viewer})
        now = Moment(look["counters"], look["now_ns"], look["worked_ns"])
        if self._numbers is None:
            self._numbers = Numbers(self._storing, now)
        text = {
            "count": look["count"],
            "whole": look["whole"],
            "valid_count": look["valid_count"],
            "next": look["next"],
            **self._numbers.take(now, self._latencies(look), ends_span=has_span),
            "inside": look["inside"],
            "waiting": sum(look["waiting"][:QUEUES_SHOWN]),
        }
        return packed(text | dict(more), bytes.fromhex(look["blocks"]))

    def _latencies(self, look: Mapping[str, Any]) -> Bins:
        """Since the last look: of each bin how many, and in one of them the sums of their parts."""
        told = look["latency"]
        bins = {int(to_ns): int(count) for to_ns, count in told["bins"]}
        sums_ns = [int(part) for part in told["parts_ns"]]
        fresh = [(to, count - self._bins.get(to, 0)) for to, count in bins.items()]
        before, self._bins, self._sums_ns = self._sums_ns, bins, sums_ns
        if not before:
            return {}
        parts_ns = [now - then for now, then in zip(sums_ns, before, strict=True)]
        found: dict[tuple[int, int], list[int]] = {}
        for to_ns, count in fresh:
            if count > 0:
                found[to_ns, to_ns] = [count, *parts_ns]
                parts_ns = [0] * len(parts_ns)
        return found


def _known_model(facts: Mapping[str, Any]) -> models.Model | None:
    """What a served drive was made of, if that is a model of here, or a small version of one: told
    by its hash. It may have been made with other parameters, or be one that nobody here knows."""
    name = facts["model"]
    if name not in model_layers.known_names():
        return None
    model = models.load(name)
    if facts["model_hash"] != model.hash and (scale := SCALED.search(facts["title"])):
        with contextlib.suppress(RequestError):  # one that has no such small version as it comes
            model = models.load(name, [("scale_divisor", scale[1])])
    return model if facts["model_hash"] == model.hash else None


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
            "notes": frames.notes,
        }
        layout = frames.layout()
        self._send({"watching": watching, "layout": layout})
        next_s = span_s = 0.0
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
            is_anew = self._anew.is_set()
            if is_anew:
                self._anew.clear()
                frames.begin_anew()
                self._send({"watching": watching, "layout": layout})
            begun_s = time.perf_counter()
            has_span = is_anew or begun_s >= span_s
            frame = frames.frame(standing, has_span)
            span_s = begun_s + SPAN_S if has_span else span_s
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
