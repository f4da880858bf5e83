"""Copying a folder of files on one drive, as an operating system does it.

A file is read in pieces, and every piece is written as soon as it is there; nobody waits for the
writes, until the queue is full and at the end. Every file costs the file system a small write. All
numbers are assumed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drivelab.applications.scenario import (
    CLUSTER_BYTES,
    ONE_AFTER_ANOTHER_NS,
    Place,
    Sizes,
)
from drivelab.quantities import GIB, KIB, MIB, SECTOR_BYTES, derive_seed
from drivelab.workload import FLUSH, READ, WRITE, Requests

COPY_BYTES = GIB
"""Size of the folder."""
FILE_SIZES: Sizes = ((16 * KIB, 0.3), (128 * KIB, 0.3), (MIB, 0.25), (4 * MIB, 0.15))
"""Sizes of files and how many there are of each: documents, pictures, songs."""
PIECE_BYTES = 128 * KIB
"""How much is asked for at a time: the longest transfer of Windows' disk driver."""
RECORDS_BYTES = 64 * MIB
"""Size of the file system's records of files, before the files themselves."""
SPAN_BYTES = RECORDS_BYTES + 3 * COPY_BYTES
"""All that the copy reaches: records, the folder, as much that is something else, and the copy."""


def copy_requests(place: Place, seed: int, shorter: int = 1) -> Requests:
    """Requests of a copy within the files at `place`, of a whole fraction of the folder.

    The folder is as large as fits there, if less than `COPY_BYTES`.
    """
    size = folder_bytes(place) // shorter
    sizes = _file_sizes(size, np.random.Generator(np.random.PCG64(derive_seed(seed, "files"))))
    starts = np.cumsum(sizes) - sizes
    pieces = -(-sizes // PIECE_BYTES)
    file = np.repeat(np.arange(len(sizes)), pieces)
    within = (np.arange(len(file)) - np.repeat(np.cumsum(pieces) - pieces, pieces)) * PIECE_BYTES
    length = np.minimum(sizes[file] - within, PIECE_BYTES)
    source = RECORDS_BYTES + starts[file] + within
    target = source + (place.size_bytes - RECORDS_BYTES) * 2 // 3 // CLUSTER_BYTES * CLUSTER_BYTES
    records = np.arange(len(sizes)) % (RECORDS_BYTES // CLUSTER_BYTES) * CLUSTER_BYTES
    return _in_order(place, file, (source, target, length), records)


def folder_bytes(place: Place) -> int:
    """Size of the folder that fits into the files at `place`."""
    return min(COPY_BYTES, (place.size_bytes - RECORDS_BYTES) // 3)


def _file_sizes(total: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sizes of files that add up to `total` or a little less, in random order."""
    mean = sum(size * share for size, share in FILE_SIZES)
    counts = [max(1, round(total / mean * share)) for _, share in FILE_SIZES]
    sizes = np.repeat(np.array([size for size, _ in FILE_SIZES], dtype=np.int64), counts)
    sizes = sizes[np.argsort(rng.random(len(sizes)), kind="stable")]
    return np.asarray(sizes[np.cumsum(sizes) <= total])


def _in_order(
    place: Place,
    file: NDArray[np.int64],
    pieces: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    records: NDArray[np.int64],
) -> Requests:
    """Read and write of every piece, then the file's record; at the end a flush."""
    source, target, length = pieces
    last = np.concatenate((file[1:] != file[:-1], [True]))
    per_piece = 2 + last.astype(np.int64)
    first = np.cumsum(per_piece) - per_piece
    count = int(per_piece.sum()) + 1
    op = np.full(count, WRITE, dtype=np.uint8)
    offset, size = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    think = np.zeros(count, dtype=np.uint64)
    op[first], offset[first], size[first] = READ, source, length
    # A write follows the read that it copies.
    think[first + 1] = ONE_AFTER_ANOTHER_NS
    offset[first + 1], size[first + 1] = target, length
    third = first[last] + 2
    offset[third], size[third] = records, CLUSTER_BYTES
    op[-1], think[-1] = FLUSH, ONE_AFTER_ANOTHER_NS
    lba = (offset + place.first_byte) // SECTOR_BYTES
    lba[-1] = 0
    return Requests(
        op=op,
        lba=lba.astype(np.uint64),
        sector_count=(size // SECTOR_BYTES).astype(np.uint32),
        think_ns=think,
        background=(op == WRITE).astype(np.uint8),
    )
