"""A synthetic file-system image that the used state copies onto a drive.

The image that the reviews used isn't public. In this one files lie in extents of mixed sizes, in
ascending order from the start of the drive, with free gaps between them and one large gap at the
end. Only its used clusters are copied, each to its own logical block. Every constant of it is in
`ImageCopy`, so that how much a result depends on it can be tried.
"""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.quantities import KIB, MIB


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


def mix_text(image: ImageCopy) -> str:
    """Sizes of the extents and their shares, as people read them."""

    def size(size_bytes: int) -> str:
        return f"{size_bytes // MIB} MiB" if size_bytes >= MIB else f"{size_bytes // KIB} KiB"

    return ", ".join(f"{share * 100:.0f} % in {size(bytes_)}" for bytes_, share in image.extents)
