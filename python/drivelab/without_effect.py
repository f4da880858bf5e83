"""Parameters that were stated of a drive and can't matter there, because another one is off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

ERRORS = "flash.bit_errors"
"""Whether the bits of a drive of the laboratory go wrong."""
OF_ERRORS = (
    *("flash.new_bit_error_rate", "flash.worn_bit_error_rate", "flash.wear_exponent"),
    *("flash.retention_hours", "flash.read_disturb_reads", "flash.initial_cycles"),
    *("flash.erase_failure_rate", "flash.slc_new_bit_error_rate"),
    *("flash.slc_worn_bit_error_rate", "flash.slc_endurance_cycles"),
    *("controller.codeword_bytes", "controller.correctable_bits", "controller.read_retries"),
    *("controller.retry_factor", "controller.refresh_bits"),
)
"""Parameters that have an effect with `ERRORS` only."""

Stated = Mapping[str, Mapping[str, Any]]
"""Parameters of a drive by their keys, as `Model.parameters` has them."""


@dataclass(frozen=True)
class Rule:
    """Parameters that need another one."""

    keys: tuple[str, ...]
    needs: str
    """What, in words behind "needs"; {} stands for what keys of an array's members begin with."""
    is_met: Callable[[Stated], bool]
    but: str = ""
    """Where they have an effect nevertheless, in words behind "without effect"."""


def _is(key: str, *values: object) -> Callable[[Stated], bool]:
    return lambda stated: key not in stated or stated[key]["value"] in values


def _given(*keys: str) -> Callable[[Stated], bool]:
    """Whether one of them is there, and not 0. Without any the family has no such thing."""
    return lambda stated: (
        not any(key in stated for key in keys) or any(_number(stated, key) > 0 for key in keys)
    )


def _number(stated: Stated, key: str) -> float:
    value = stated[key]["value"] if key in stated else None
    return value if isinstance(value, int | float) else 0


def _several_queues(stated: Stated) -> bool:
    return "nvme.queue_count" not in stated or _number(stated, "nvme.queue_count") > 1


def _weighted(stated: Stated) -> bool:
    return _several_queues(stated) and _is("nvme.arbitration", "weighted-round-robin")(stated)


def _stated(key: str) -> Callable[[Stated], bool]:
    """Whether it is there, be it 0: who states that of a model that stands on another, knows."""
    return lambda stated: key not in stated or not stated[key]["default"]


def _suspends(stated: Stated) -> bool:
    keys = ("flash.program_suspend_ns", "flash.erase_suspend_ns")
    return any(stated[key]["value"] is not None for key in keys if key in stated)


def _waits_for_flash(stated: Stated) -> bool:
    """Whether writes wait for flash where they are told to: what a capacitor keeps is done."""
    return _is("write_buffer.write_back", True)(stated) or _is("write_buffer.capacitor", False)(
        stated
    )


def _has_bridge(stated: Stated) -> bool:
    return (
        stated.get("family", {}).get("value") != "raid-0" or _number(stated, "link.bytes_per_s") > 0
    )


RULES = (
    Rule(OF_ERRORS, f"{{}}{ERRORS} = true", _stated(ERRORS),
         " but in tests of endurance and retention"),
    Rule(("flash.planes_per_read", "flash.independent_planes"), "{}flash.one_shot = true",
         _is("flash.one_shot", True)),
    Rule(("flash.resume_ns", "flash.suspend_slice_ns", "flash.finish_within_ns",
          "flash.suspends_max", "flash.suspended_max_percent"),
         "{}flash.program_suspend_ns or {}flash.erase_suspend_ns", _suspends),
    Rule(("write_buffer.write_back",), "{}write_buffer.capacitor = false", _waits_for_flash),
    Rule(("ftl.choices",), "{}ftl.victim_selection = d-choices",
         _is("ftl.victim_selection", "d-choices")),
    Rule(("ftl.window_blocks",), "{}ftl.victim_selection = windowed-greedy",
         _is("ftl.victim_selection", "windowed-greedy")),
    Rule(("ftl.hot_writes",), "{}ftl.placement = hot-cold", _is("ftl.placement", "hot-cold")),
    Rule(("ftl.hint_streams",), "{}ftl.placement = hint", _is("ftl.placement", "hint")),
    Rule(("ftl.map_fetch_bytes", "ftl.map_spare_blocks"),
         "{}ftl.map_cache_bytes or {}ftl.host_memory_bytes",
         _given("ftl.map_cache_bytes", "ftl.host_memory_bytes")),
    Rule(("ftl.host_memory_ns",), "{}ftl.host_memory_bytes", _given("ftl.host_memory_bytes")),
    Rule(("controller.write_governor_burst",), "{}controller.write_governor_iops",
         _stated("controller.write_governor_iops")),
    Rule(("nvme.queue_entries", "nvme.arbitration", "nvme.arbitration_burst"),
         "{}nvme.queue_count of 2 or more", _several_queues),
    Rule(("nvme.high_weight", "nvme.medium_weight", "nvme.low_weight"),
         "{}nvme.queue_count of 2 or more and {}nvme.arbitration = weighted-round-robin",
         _weighted),
    Rule(("slc_cache.static_bytes", "slc_cache.whole_until_fill", "slc_cache.gone_from_fill",
          "slc_cache.reserve_bytes", "slc_cache.when_full", "slc_cache.refill_bytes",
          "slc_cache.kept_bytes", "slc_cache.fold_dies"), "{}slc_cache.max_bytes",
         _stated("slc_cache.max_bytes")),
    Rule(("link.frame_bytes", "link.frame_overhead_ns", "link.command_overhead_ns",
          "power.link_mw"), "{}link.bytes_per_s, the link of a bridge", _has_bridge),
)  # fmt: skip


def remarks(parameters: Iterable[Mapping[str, Any]]) -> list[str]:
    """Which stated parameters of a drive or of its members can't matter, and what they need."""
    listed = {str(item["key"]): item for item in parameters}
    found = []
    place = ""
    while stated := {
        key.removeprefix(place): item for key, item in listed.items() if key.startswith(place)
    }:
        queues = [key for key in stated if key.startswith("nvme.") and not stated[key]["default"]]
        # Of members nothing helps those of queues.
        beyond_help = queues if place else []
        for rule in RULES:
            idle = [key for key in rule.keys if key in stated and not stated[key]["default"]]
            idle = [key for key in idle if key not in beyond_help]
            if idle and not rule.is_met(stated):
                names = ", ".join(place + key for key in idle)
                needs = rule.needs.format(place, place)
                found.append(f"{names}: without effect{rule.but}; needs {needs}")
        if beyond_help:
            names = ", ".join(place + key for key in beyond_help)
            found.append(f"{names}: without effect; the host's queues end at the array")
        place += "member."
    return found
