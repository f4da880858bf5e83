"""The drives of lessons: a few blocks of a few pages, with times that one can watch."""

from __future__ import annotations

from drivelab.model import Overrides
from drivelab.quantities import KIB, NS_PER_S, SECTOR_BYTES

PAGE_BYTES = 4 * KIB
PAGE_SECTORS = PAGE_BYTES // SECTOR_BYTES
NEXT_TRACK_S, MEAN_SEEK_S, STROKE_S = 0.5, 1.2, 2.0
"""Of a lesson's disk: its arm's way to the next track, in the mean of all pairs, to the last."""


def small(user_pages: int, **more: str) -> Overrides:
    """The drive of most lessons: six blocks of four pages, of which the host has so many; it
    appends, and cleans a block at a time. An erase takes 10 s."""
    values = {
        "flash.blocks_per_plane": "6",
        "flash.pages_per_block": "4",
        "flash.erase_ns": "10000000000",
        "user_capacity_bytes": str(user_pages * PAGE_BYTES),
        "ftl.cleaning_mode": "relocate",
        "ftl.placement": "one-stream",
        "controller.cleaning_pace": "block",
        "write_buffer.size_bytes": str(PAGE_BYTES),
    }
    return _changed(values, more)


def merging(user_pages: int, pages_per_block: int, blocks: int, **more: str) -> Overrides:
    """One die of so many blocks for a model that merges: reads of 2 s, programs of 4 s, erases of
    10 s, and nothing else that takes time."""
    bare = ("read_firmware_ns", "write_firmware_ns", "flush_firmware_ns")
    values = {
        "flash.channel_count": "1",
        "flash.dies_per_channel": "1",
        "flash.planes_per_die": "1",
        "flash.blocks_per_plane": str(blocks),
        "flash.pages_per_block": str(pages_per_block),
        "flash.lockstep_channels": "1",
        "flash.two_plane": "false",
        "flash.read_ns": "2000000000",
        "flash.program_ns": "4000000000",
        "flash.erase_ns": "10000000000",
        "flash.bus_bytes_per_s": "0",
        "link.bytes_per_s": "0",
        "user_capacity_bytes": str(user_pages * PAGE_BYTES),
        **{f"controller.{key}": "0" for key in bare},
    }
    return _changed(values, more)


def disk(tracks: int, spots: int, scheduling: str) -> Overrides:
    """A disk of one head for a model of a disk: a turn takes 1 s, a track has so many pages;
    nothing but turning and the arm takes time."""
    values = {
        "disk.rpm": "60",
        "disk.head_count": "1",
        "disk.outer_track_bytes": str(spots * PAGE_BYTES),
        "disk.zone_count": "1",
        "disk.zone_ratio_permille": "1000",
        "disk.track_to_track_ns": _ns(NEXT_TRACK_S),
        "disk.average_seek_ns": _ns(MEAN_SEEK_S),
        "disk.full_stroke_ns": _ns(STROKE_S),
        "disk.head_switch_ns": "0",
        "disk.write_settle_ns": "0",
        "user_capacity_bytes": str(tracks * spots * PAGE_BYTES),
        "read_cache.size_bytes": "0",
        "controller.read_firmware_ns": "0",
        "controller.scheduling": scheduling,
        "controller.deadline_ns": _ns(3600),
        "link.bytes_per_s": "0",
        "link.frame_overhead_ns": "0",
        "link.command_overhead_ns": "0",
    }
    return list(values.items())


def _ns(seconds: float) -> str:
    return str(round(seconds * NS_PER_S))


def _changed(values: dict[str, str], more: dict[str, str]) -> Overrides:
    """Values with more of them, in whose names __ stands for the dot."""
    return list((values | {key.replace("__", "."): value for key, value in more.items()}).items())
