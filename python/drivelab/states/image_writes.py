"""The writes that copy a file-system image onto a drive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drivelab.quantities import SECTOR_BYTES, derive_seed
from drivelab.states.image import IMAGE, ImageCopy
from drivelab.workload import WRITE, Requests


def image_requests(capacity_bytes: int, seed: int, image: ImageCopy | None = None) -> Requests:
    """The writes that copy the image onto a drive of this size, in ascending order."""
    image = image or IMAGE
    cluster_sectors = image.cluster_bytes // SECTOR_BYTES
    first_sector = image.first_byte // SECTOR_BYTES
    room = (capacity_bytes - image.first_byte) // image.cluster_bytes
    wanted = min(image.bytes_on(capacity_bytes) // image.cluster_bytes, room)
    if wanted <= 0:
        empty = np.zeros(0, dtype=np.uint64)
        return Requests(empty.astype(np.uint8), empty, empty.astype(np.uint32))
    # Only uniform doubles are drawn: their stream is the part of numpy that doesn't change.
    rng = np.random.Generator(np.random.PCG64(derive_seed(seed, "image")))
    lengths = _extent_clusters(image, wanted, rng)
    packed = min(room, int(lengths.sum() / image.density))
    starts = _extent_starts(lengths, packed, rng)
    lba, sector_count = _pieces(
        starts * cluster_sectors + first_sector,
        lengths * cluster_sectors,
        image.write_bytes // SECTOR_BYTES,
    )
    op = np.full(len(lba), WRITE, dtype=np.uint8)
    return Requests(op, lba.astype(np.uint64), sector_count.astype(np.uint32))


def _extent_clusters(image: ImageCopy, wanted: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Lengths of all extents in clusters, shuffled; they add up to `wanted`."""
    lengths: list[NDArray[np.int64]] = []
    for size_bytes, byte_share in image.extents:
        clusters = size_bytes // image.cluster_bytes
        lengths.append(np.full(round(wanted * byte_share / clusters), clusters, dtype=np.int64))
    mixed = np.concatenate(lengths)
    mixed = mixed[np.argsort(rng.random(len(mixed)), kind="stable")]
    total = np.cumsum(mixed)
    mixed = mixed[total <= wanted]
    rest = wanted - int(mixed.sum())
    return np.append(mixed, rest) if rest else mixed


def _extent_starts(
    lengths: NDArray[np.int64], room: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Starts in clusters: extents in order, the gaps between them exponentially distributed."""
    free = room - int(lengths.sum())
    weights = -np.log1p(-rng.random(len(lengths) + 1))
    # Rounding the running sum, not each gap, keeps the total exact.
    free_before = np.floor(np.cumsum(weights)[:-1] / weights.sum() * free).astype(np.int64)
    return np.asarray(free_before + np.cumsum(lengths) - lengths, dtype=np.int64)


def _pieces(
    starts: NDArray[np.int64], lengths: NDArray[np.int64], longest: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cuts ranges (in sectors) into pieces of at most `longest` sectors."""
    counts = -(-lengths // longest)
    index = np.repeat(np.arange(len(starts)), counts)
    within = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
    offset = within * longest
    return starts[index] + offset, np.minimum(lengths[index] - offset, longest)
