"""What is inside of a drive at a moment: every block and every die, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from drivelab import _engine


@dataclass(frozen=True)
class Inside:
    """Every block and every die of a drive, a row each; empty of a hard disk.

    >>> import drivelab as dl
    >>> inside = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled").inside()
    >>> sorted(inside.blocks["role"].unique())
    ['closed', 'free', 'metadata', 'open']
    >>> inside.dies["free_blocks"].sum() == inside.blocks.filter(role="free").height
    True

    `blocks`: `member` (of an array; 0 otherwise), `die`, `block` (number on the die), `role` (free,
    open, closed, emptied, log, metadata, failed), `stream` (that an open block takes, null
    otherwise), `mode` (native, or slc: programmed with one bit a cell; null of an erased one),
    `valid_bytes` (that hold current data, as they are stored), `valid_share` (of what the block
    holds in its mode), `written_pages`, `erase_count`, and `age_programs`: programs of the whole
    drive since the block's first page was programmed, null of an erased one.

    `dies`: `member`, `die`, `channel`, `reserved_us` (for how long it is reserved from now on),
    `worked_s` (since power came or a secure erase), `free_blocks`, `valid_bytes`.
    """

    blocks: pl.DataFrame
    dies: pl.DataFrame

    @classmethod
    def of(cls, columns: tuple[Mapping[str, Any], Mapping[str, Any]]) -> Inside:
        """The tables of the engine's columns."""
        blocks, dies = (pl.DataFrame(dict(part)) for part in columns)
        return cls(
            blocks.with_columns(
                pl.col("role").cat.to(pl.Enum(_engine.block_roles())),
                pl.when(pl.col("mode") >= 0)
                .then(pl.col("mode"))
                .cast(pl.UInt8)
                .cat.to(pl.Enum(_engine.cell_modes()))
                .alias("mode"),
                pl.when(pl.col("stream") >= 0).then(pl.col("stream")).alias("stream"),
                pl.when(pl.col("written_pages") > 0)
                .then(pl.col("age_programs"))
                .alias("age_programs"),
            ),
            dies.select(
                "member",
                "die",
                "channel",
                (pl.col("reserved_ns") / 1e3).alias("reserved_us"),
                (pl.col("worked_ns") / 1e9).alias("worked_s"),
                "free_blocks",
                "valid_bytes",
            ),
        )
