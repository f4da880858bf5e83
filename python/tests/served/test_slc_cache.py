"""Drives with an SLC cache, served: filled past it, killed, and everything is where it was."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from served import wire
from served.conftest import Serve
from served.drive import ServedDrive
from served.stamps import SECTOR, sector

from drivelab.served import since, smart

MIB = 1 << 20
SEED = 5
CACHE_BYTES = 96 * MIB
SMALL = ("flash.channel_count=2", "flash.dies_per_channel=1", "user_capacity_bytes=399998976")
DRIVES = {
    # Blocks of its cache are native ones at other times.
    "crucial-t500-2tb": (
        "flash.pages_per_block=48",
        "flash.blocks_per_plane=100",
        f"slc_cache.max_bytes={CACHE_BYTES}",
    ),
    # Some are always of the cache, and the map lies in flash.
    "intel-660p-1tb": (
        "flash.pages_per_block=64",
        "flash.blocks_per_plane=100",
        f"slc_cache.max_bytes={CACHE_BYTES}",
        f"slc_cache.static_bytes={16 * MIB}",
        "ftl.map_cache_bytes=65536",
    ),
}
# Writes wait while their caches are folded: without pauses, those of others aren't.
WAITING = {
    "samsung-980-1tb": (
        "flash.pages_per_block=48",
        "flash.blocks_per_plane=300",
        *DRIVES["intel-660p-1tb"][2:],
        "ftl.host_memory_bytes=0",
    ),
    "intel-660p-1tb": (*DRIVES["intel-660p-1tb"], "slc_cache.when_full=wait"),
}


@pytest.mark.parametrize("model", DRIVES)
def test_what_was_written_past_the_cache_survives_kill_9(serve: Serve, model: str) -> None:
    """Two and a half times what the cache takes, cut three times on the way; then it all again."""
    drive = serve(model, (*SMALL, *DRIVES[model]))
    kills = np.random.default_rng(SEED)
    written = 0
    for goal in (CACHE_BYTES // 2, CACHE_BYTES * 5 // 4, CACHE_BYTES * 5 // 2):
        connection = wire.Connection(drive.socket)
        for piece in range(written // MIB, goal // MIB):
            assert connection.done(wire.WRITE, piece * MIB, MIB, stamped(piece, 1)) == b""
        connection.done(wire.FLUSH, 0, 0)
        written = goal
        # What isn't flushed may be lost, but nothing that was.
        for piece in range(goal // MIB, goal // MIB + int(kills.integers(1, 8))):
            connection.send(piece + 1, wire.WRITE, piece * MIB, MIB, data=stamped(piece, 1))
        drive.kill9()
        connection.close(politely=False)
        drive.check()
        drive.restart()
        assert wrong_pieces(drive, written, 1) == []
    assert drive.smart()["unsafe_shutdowns"] == 3
    # Hot places are written again: the cache has room once more when it was folded.
    connection = wire.Connection(drive.socket)
    for piece in range(written // MIB):
        connection.done(wire.WRITE, piece * MIB, MIB, stamped(piece, 2))
    connection.done(wire.FLUSH, 0, 0)
    connection.close()
    drive.kill9()
    drive.check()
    drive.restart()
    assert wrong_pieces(drive, written, 2) == []


@pytest.mark.parametrize("model", WAITING)
def test_what_was_programmed_is_the_sum_of_its_purposes(
    serve: Serve, tmp_path: Path, model: str
) -> None:
    """Of a full drive, and of what it did from a mark half of the way on."""
    drive = serve(model, (*SMALL, *WAITING[model]))
    mark = tmp_path / "mark.json"
    connection = wire.Connection(drive.socket)
    pieces = 400_000_000 // MIB
    for piece in range(pieces):
        assert connection.done(wire.WRITE, piece * MIB, MIB, bytes(MIB)) == b""
        if piece == pieces // 2:
            document = smart.document(drive.smart(), "my.drive", [])
            mark.write_text(json.dumps(document), encoding="utf-8")
    connection.done(wire.FLUSH, 0, 0)
    connection.close()
    now = smart.own(drive.smart())
    spent = since.spent(since.read_mark(mark), now, mark)
    for told in (now, spent):
        parts = told["flash_program_bytes_for"]
        assert sum(filter(None, parts.values())) == told["flash_program_bytes"]
        assert parts["folding"] > CACHE_BYTES // 2


def test_blocks_fail_beside_the_cache_until_the_drive_only_reads(
    serve: Serve, tmp_path: Path
) -> None:
    """What was flushed before is there, through a power cut, and nothing more is taken."""
    plan = tmp_path / "plan.toml"
    plan.write_text('seed = 3\n[[fault]]\nkind = "program-failure"\nprobability = 0.06\n')
    sets = (*SMALL, *DRIVES["crucial-t500-2tb"])
    drive = serve("crucial-t500-2tb", sets, options=("--faults", str(plan)))
    kept = 0
    connection = wire.Connection(drive.socket)
    for piece in range(400_000_000 // MIB):
        connection.send(piece + 1, wire.WRITE, piece * MIB, MIB, data=stamped(piece, 1))
        if connection.receive().error:
            break
        connection.send(0, wire.FLUSH, 0, 0)
        if connection.receive().error:
            break
        kept = (piece + 1) * MIB
    connection.close()
    facts = drive.smart()
    assert facts["read_only"]
    assert (facts["spare_blocks"], facts["retired_blocks"]) == (0, facts["spare_blocks_new"])
    assert kept > CACHE_BYTES // 2, "blocks of both modes have failed"
    drive.kill9()
    drive.check()
    drive.restart()
    # The last to fail may not have been told so before the power failed.
    assert drive.smart()["retired_blocks"] >= facts["retired_blocks"] - 1
    assert wrong_pieces(drive, kept, 1) == []


def stamped(piece: int, version: int) -> bytes:
    """A MiB whose sectors each say which they are, and of which version: the first in full."""
    first = piece * MIB // SECTOR
    heads = [sector(SEED, first, version)]
    heads += [
        lba.to_bytes(8, "little") + version.to_bytes(8, "little") + bytes(SECTOR - 16)
        for lba in range(first + 1, first + MIB // SECTOR)
    ]
    return b"".join(heads)


def wrong_pieces(drive: ServedDrive, written: int, version: int) -> list[int]:
    """MiB that don't hold what was flushed to them."""
    connection = wire.Connection(drive.socket)
    pieces = range(written // MIB)
    wrong = [
        piece
        for piece in pieces
        if connection.done(wire.READ, piece * MIB, MIB) != stamped(piece, version)
    ]
    connection.close()
    return wrong
