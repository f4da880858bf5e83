"""Nine caches fill 89 % of a drive: what it writes, mixed, and if each kind has its own hint."""

import drivelab as dl

MODEL = "samsung-pm9a3-960gb"
# One die, with pages of a quarter: its blocks, their pages, and what objects are divided by. They
# stay longer than a word line and shorter than a block.
BLOCKS, PAGES, OBJECTS = 512, 4092, 32
CACHES = (  # hint, caches of the kind, KiB of an object, GB of a cache
    ("none", 2, 4096, 90),  # chat
    ("short", 1, 32768, 180),  # long contexts
    ("medium", 2, 16384, 90),  # shared prefixes
    ("long", 3, 2048, 90),  # random prompts
    ("extreme", 1, 1024, 45),  # metadata
)
DRIVE_GB, TIMES_WRITTEN = 960, 4
# Of a plane of the whole drive, if it cleaned block by block: 64 GiB a die, and what it holds back.
WHOLE_BLOCKS = 1370


def drive(victims: str, blocks: int = BLOCKS) -> dl.Drive:
    """One die with its share of the capacity, filled in order as far as it will be used."""
    whole = dl.Drive(MODEL)
    value = whole.model.value
    dies = value("flash.channel_count") * value("flash.dies_per_channel")
    pages = 4 * dies * WHOLE_BLOCKS * value("flash.pages_per_block")
    die = {
        "flash.channel_count": 1,
        "flash.dies_per_channel": 1,
        "flash.blocks_per_plane": blocks,
        "flash.pages_per_block": PAGES,
        "flash.page_bytes": value("flash.page_bytes") // 4,
        "flash.oob_bytes": value("flash.oob_bytes") // 4,
        "ftl.journal_updates_per_page": value("ftl.journal_updates_per_page") // 4,
        "user_capacity_bytes": whole.capacity_bytes * blocks * PAGES // pages // 2**20 * 2**20,
        # Six streams of superblocks would be most of the spare area of so small a die.
        "ftl.superblock_blocks": 1,
        "ftl.placement": "hint",
        "ftl.victim_selection": victims,
    }
    return dl.Drive(MODEL, die)


def jobs(capacity_bytes: int, order: str, hints: bool) -> list[dl.Job]:
    """Every cache writes as many objects, each over an old one: at random, or over the oldest."""
    kinds = [kind for kind in CACHES for _ in range(kind[1])]
    objects = TIMES_WRITTEN * capacity_bytes // sum(kib * 1024 // OBJECTS for _, _, kib, _ in kinds)
    found, offset = [], 0
    for number, (hint, _, kib, gigabytes) in enumerate(kinds):
        block = kib * 1024 // OBJECTS
        size = capacity_bytes * gigabytes // DRIVE_GB // block * block
        where = dl.Job(name=f"cache-{number}", bs=block, offset=offset, size=size, rw="write")
        if order == "random":
            where = where.with_options(rw="randwrite", norandommap=True)
        if hints:
            where = where.with_options(write_hint=hint)
        found.append(where.with_options(io_size=objects * block))
        offset += size
    return found


def write_amplification(victims: str, order: str, hints: bool, blocks: int = BLOCKS) -> float:
    """Of all that the caches write."""
    new = drive(victims, blocks)
    size = sum(kind[1] * kind[3] for kind in CACHES) * new.capacity_bytes // DRIVE_GB
    fill = dl.Job(rw="write", bs="512k", size=size // 2**19 * 2**19)
    filled = new.run(fill, keep=True, progress=False).drive
    caches = jobs(new.capacity_bytes, order, hints)
    after = filled.run(*caches, keep=True, progress=False).drive.counters
    used = {key: after[key] - count for key, count in filled.counters.items()}
    programmed = sum(count for key, count in used.items() if key.startswith("program_bytes"))
    return programmed / used["host_write_bytes"]


if __name__ == "__main__":
    print("replaced  victims        mixed  told apart")
    for order, victims in (("random", "greedy"), ("random", "cost-benefit"), ("oldest", "greedy")):
        found = [write_amplification(victims, order, hints) for hints in (False, True)]
        print(f"{order:8}  {victims:12} {found[0]:7.2f} {found[1]:11.2f}", flush=True)
