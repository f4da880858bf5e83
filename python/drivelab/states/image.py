"""A synthetic file-system image, and the writes that copy it onto a drive.

The image that the reviews used isn't public. In this one files lie in extents of mixed sizes, in
ascending order from the start of the drive, with free gaps between them and one large gap at the
end. Only its used clusters are copied, each to its own logical block. Every constant of it is in
`ImageCopy`, so that how much a result depends on it can be tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drivelab.quantities import KIB, MIB, SECTOR_BYTES, derive_seed
from drivelab.workload import WRITE, Requests


@dataclass(frozen=True)
class ImageCopy:
    """A synthetic file-system image and the way it is copied. Source of every value: assumed.

    The sizes follow what file-system surveys agree on: most files are a few KB, most bytes are in
    files of MBs, and the free space between files is in gaps as irregular as the files.
    """

    image_bytes: int = 50 * 10**9
    """Bytes copied (the reviews: "over 50 GB")."""
    share_max: float = 0.625
    """At most this share of the drive: what 50 GB are of 80 GB, for drives that are smaller."""
    cluster_bytes: int = 4 * KIB
    """Allocation unit of the file system; extents and gaps are multiples of it."""
    first_byte: int = MIB
    """Start of the partition, aligned as partitioning tools do since 2007."""
    extents: tuple[tuple[int, float], ...] = (
        (4 * KIB, 0.02),
        (16 * KIB, 0.06),
        (64 * KIB, 0.12),
        (256 * KIB, 0.20),
        (MIB, 0.25),
        (8 * MIB, 0.35),
    )
    """Sizes of extents in bytes, and the share of the image's bytes that lies in such extents."""
    density: float = 0.9
    """Used share of the part of the volume that the image reaches. File systems pack files towards
    the start; the rest of the free space is one gap at the end."""
    write_bytes: int = 128 * KIB
    """Longest write of the copying tool; longer extents are written in pieces."""
    queue_depth: int = 1
    """Writes that the copying tool keeps outstanding."""
    data: str = "compressible:50"
    """What files contain: programs and documents compress to about half [A2]."""

    def bytes_on(self, capacity_bytes: int) -> int:
        """How much of it a drive of this size gets."""
        return min(self.image_bytes, int(capacity_bytes * self.share_max))


IMAGE = ImageCopy()
"""The image of the used state."""


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


def mix_text(image: ImageCopy) -> str:
    """Sizes of the extents and their shares, as people read them."""

    def size(size_bytes: int) -> str:
        return f"{size_bytes // MIB} MiB" if size_bytes >= MIB else f"{size_bytes // KIB} KiB"

    return ", ".join(f"{share * 100:.0f} % in {size(bytes_)}" for bytes_, share in image.extents)
