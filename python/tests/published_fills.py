"""Fills of consumer drives that were published, and the models that are compared with them.

Figures are those of reviews (rounded, one for each phase) and of specifications; each names what it
is printed in, as REFERENCES.md knows it. Caches of other sizes, which no model file has, name where
they come from as model files do. The models' own values come from `fills.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

GB = 10**9


@dataclass(frozen=True)
class Version:
    """A model as it was filled: itself, or with parameters of another size or link."""

    model: str
    what: str = ""
    """What differs from the model, in words."""
    changes: tuple[tuple[str, str], ...] = ()
    host_ns: int = 0
    """What the host takes from the end of a command to the next."""
    scale: int = 4
    """Size of the model over that of the version of it that is filled."""
    source: str = ""
    """Where its own size of cache comes from, as model files say it; empty: it is the model's."""

    @property
    def filled(self) -> Version:
        """What of it decides what a fill of it gives."""
        return replace(self, what="", source="")


@dataclass(frozen=True)
class Published:
    """A figure of a fill, what the model's value is, and the reference that has the figure."""

    version: Version
    what: str
    value: float | None
    """None: nobody here has seen it."""
    role: str
    """Begins with one of `ROLES`."""
    reference: str = ""
    """Empty: nobody here has seen the figure."""


ROLES = {
    "fitted": "a value was chosen so that the model gives it",
    "follows from fitted phases": "a mean over phases of which some were fitted",
    "informed": "a policy or a limit was chosen with it in view",
    "specified": "a value restates a specification that says the same",
    "predicted": "none of these",
}
"""What a value is, from what says least of a model to what says most."""

HOST_NS = 99_500
"""What the host of the reviews of 2020 and 2021 takes between commands: with it the 980 PRO writes
4000 MB/s: 1 MiB in 148 us on the link, 15 us in the controller, and this."""

ATOM, P1, QVO = (
    Version(name) for name in ("adata-atom-50-1tb", "crucial-p1-1tb", "samsung-870-qvo-1tb")
)
T500, S980PRO = Version("crucial-t500-2tb"), Version("samsung-980-pro-1tb", host_ns=HOST_NS)
S980 = Version("samsung-980-1tb", host_ns=HOST_NS)
EVO870 = Version("samsung-870-evo-4tb", host_ns=HOST_NS, scale=16)
EVO870_BEGINS = replace(EVO870, changes=(("partition_bytes", str(100 * GB)),), scale=2)
"""Its cache is so small that a small version has too few blocks of it."""
EVO_PLUS, S970PRO = Version("samsung-970-evo-plus-1tb"), Version("samsung-970-pro-1tb")
P31, SN770 = Version("skhynix-gold-p31-1tb"), Version("wd-black-sn770-1tb")
I660, NM790 = Version("intel-660p-1tb"), Version("lexar-nm790-2tb")
UNSEEN = (Version("hp-fx700-2tb"), Version("wd-blue-sn580-1tb"))
BLIND = ("SLC phase, MB/s", "SLC phase ends, GB", "behind the cache, MB/s", "mean, MB/s")
"""Of drives whose fills have not been seen."""

PUBLISHED = (
    Published(ATOM, "SLC phase, MB/s", 4500, "fitted", "[TPU]"),
    Published(ATOM, "SLC phase ends, GB", 280, "fitted", "[TPU]"),
    Published(ATOM, "second phase, MB/s", 2000, "fitted", "[TPU]"),
    Published(ATOM, "second phase ends, GB", 500, "fitted", "[TPU]"),
    Published(ATOM, "last phase, MB/s", 500, "fitted", "[TPU]"),
    Published(ATOM, "mean, MB/s", 800, "follows from fitted phases", "[TPU]"),
    Published(P1, "SLC phase, MB/s", 1600, "fitted", "[TPU]"),
    Published(P1, "SLC phase ends, GB", 140, "specified", "[TPU]"),
    Published(P1, "second phase, MB/s", 150, "fitted", "[TPU]"),
    Published(I660, "SLC phase, MB/s", 1800, "predicted", "[AT13512]"),
    Published(I660, "SLC phase ends, GB", None, "predicted, not seen"),
    Published(I660, "behind the cache, MB/s", 100, "predicted", "[AT13512]"),
    Published(QVO, "SLC phase, MB/s", 530, "specified", "[AT15887]"),
    Published(QVO, "SLC phase ends, GB", 42, "specified", "[AT15887]"),
    Published(QVO, "second phase, MB/s", 112, "informed", "[TPU]"),
    Published(QVO, "mean, MB/s", 116, "informed", "[TPU]"),
    Published(EVO870_BEGINS, "SLC phase, MB/s", 480, "predicted", "[TPU]"),
    Published(EVO870_BEGINS, "SLC phase ends, GB", 24, "fitted", "[TPU]"),
    Published(EVO870, "second phase, MB/s", 400, "informed", "[TPU]"),
    Published(EVO870, "mean, MB/s", 416, "informed", "[TPU]"),
    Published(T500, "SLC phase, MB/s", 4000, "fitted", "[TPU]"),
    Published(T500, "SLC phase ends, GB", 700, "predicted", "[TPU]"),
    Published(T500, "behind the cache, MB/s", 500, "fitted", "[TPU]"),
    Published(T500, "mean, MB/s", 639, "follows from fitted phases", "[TPU]"),
    Published(NM790, "SLC phase, MB/s", 4900, "predicted", "[TPU]"),
    Published(NM790, "SLC phase ends, GB", 280, "fitted", "[TPU]"),
    Published(NM790, "second phase, MB/s", 2500, "fitted", "[TPU]"),
    Published(NM790, "second phase ends, GB", 1300, "fitted", "[TPU]"),
    Published(NM790, "third phase, MB/s", 800, "fitted", "[TPU]"),
    Published(NM790, "mean, MB/s", 1450, "follows from fitted phases", "[TPU]"),
    Published(S970PRO, "mean, MB/s", 2700, "predicted", "[SSDWIKI]"),
    Published(EVO_PLUS, "SLC phase, MB/s", 3300, "predicted", "[DIGIT177943]"),
    Published(EVO_PLUS, "SLC phase ends, GB", 42, "specified", "[DIGIT177943]"),
    Published(S980PRO, "SLC phase, MB/s", 4000, "fitted (the host)", "[TPU]"),
    Published(S980PRO, "SLC phase ends, GB", 113, "specified", "[TPU]"),
    Published(S980PRO, "second phase, MB/s", 1500, "fitted", "[TPU]"),
    Published(S980PRO, "mean, MB/s", 1900, "follows from fitted phases", "[TPU]"),
    Published(S980, "SLC phase, MB/s", 2500, "predicted", "[TPU]"),
    Published(S980, "SLC phase ends, GB", 160, "specified", "[TPU]"),
    Published(S980, "second phase, MB/s", 500, "fitted", "[TPU]"),
    Published(S980, "mean, MB/s", 600, "follows from fitted phases", "[TPU]"),
    Published(P31, "SLC phase ends, GB", 103, "fitted", "[AT16012]"),
    Published(P31, "second phase, MB/s", None, "predicted, not seen"),
    Published(SN770, "SLC phase, MB/s", 4900, "fitted", "[TPU]"),
    Published(SN770, "SLC phase ends, GB", None, "predicted, not seen"),
    Published(SN770, "behind the cache, MB/s", None, "predicted, not seen"),
    Published(SN770, "mean, MB/s", None, "follows from fitted phases, not seen"),
    *(
        Published(version, what, None, "predicted, not seen")
        for version in UNSEEN
        for what in BLIND
    ),
)

BEGINS = ("partition_bytes", str(40 * GB))
"""Where the rate of the SLC phase is all that is asked for."""
NATIVE = ("slc_cache.when_full", "native")
"""Nothing is folded beside: what specifications mean by the rate behind the cache."""


def sized(
    version: Version, user_gb: int, dies_per_channel: int, cache_gb: int, source: str
) -> Version:
    """Another size of a drive: more or fewer dies, and its own cache with its source."""
    size = (
        ("user_capacity_bytes", str(512 * (97696368 + 1953504 * (user_gb - 50)))),
        ("flash.dies_per_channel", str(dies_per_channel)),
        ("slc_cache.max_bytes", str(cache_gb * GB)),
    )
    what = f"`{version.model.rpartition('-')[0]}`, {user_gb} GB"
    return Version(version.model, what, (*version.changes, *size), source=source)


def changed(version: Version, what: str, *changes: tuple[str, str], scale: int = 4) -> Version:
    """A version on a host that is always ready, with other parameters."""
    name = version.what or f"`{version.model}`"
    changes = (*version.changes, *changes)
    return Version(version.model, f"{name}{what}", changes, scale=scale, source=version.source)


def unfolded(version: Version) -> Version:
    """A version that folds nothing beside what is written."""
    return changed(version, ", nothing folded", NATIVE)


def begun(version: Version) -> Version:
    """A version whose first part is written."""
    return changed(version, ", at depth, first 40 GB, full size", BEGINS, scale=1)


DEEP = changed(S980PRO, " at depth")
PCIE3 = changed(S980PRO, " at PCI Express 3.0", ("link.bytes_per_s", "3400000000"))
MAP_IN_DRAM = (
    ("ftl.map_cache_bytes", "0"),
    ("ftl.host_memory_bytes", "0"),
    ("ftl.journal_updates_per_page", "2000"),
)
FX900 = Version(ATOM.model, "HP FX900 1 TB, as the Atom 50")
M480 = Version(
    ATOM.model,
    "MSI M480 Play 2 TB: flash of the Atom 50, 32 dies, DRAM",
    (
        ("user_capacity_bytes", "2000398934016"),
        ("flash.channel_count", "8"),
        ("slc_cache.max_bytes", str(200 * GB)),
        ("slc_cache.reserve_bytes", str(200 * GB)),
        ("slc_cache.fold_dies", "0"),
        *MAP_IN_DRAM,
    ),
    scale=8,
    source="fitted to [TPU]: 200 GB, and 200 GB kept free",
)
S980PRO_500 = sized(S980PRO, 500, 1, 94, "specified: 94 GB [AT16087]")
EVO_PLUS_500 = sized(EVO_PLUS, 500, 2, 22, "specified: 22 GB [DIGIT177943]")
EVO_PLUS_250 = sized(EVO_PLUS, 250, 1, 13, "specified: 13 GB [DIGIT177943]")
S970PRO_512 = sized(S970PRO, 512, 2, 0, "[SSDWIKI]: none")
S980_500 = sized(S980, 500, 2, 122, "specified: 122 GB [AT16504]")
S980_250 = sized(S980, 250, 1, 45, "specified: 45 GB [AT16504]")
P31_2000 = sized(P31, 2000, 8, 103, "assumed: as of 1 TB")

OTHERS = (
    Published(DEEP, "SLC phase, MB/s", 5000, "specified", "[AT16087]"),
    Published(DEEP, "SLC phase ends, GB", 170, "specified, 114", "[AT16087]"),
    Published(PCIE3, "SLC phase, MB/s", 3300, "predicted", "[AT16087]"),
    Published(PCIE3, "in the cache again, GB", 124, "predicted", "[AT16087]"),
    Published(unfolded(S980PRO), "second phase, MB/s", 2000, "specified", "[AT16087]"),
    Published(unfolded(S980PRO_500), "second phase, MB/s", 1000, "predicted", "[AT16087]"),
    Published(unfolded(EVO_PLUS), "second phase, MB/s", 1700, "specified", "[DIGIT177943]"),
    Published(unfolded(EVO_PLUS_500), "SLC phase, MB/s", 3200, "predicted", "[DIGIT177943]"),
    Published(unfolded(EVO_PLUS_500), "second phase, MB/s", 900, "predicted", "[DIGIT177943]"),
    Published(unfolded(EVO_PLUS_250), "SLC phase, MB/s", 2300, "specified", "[DIGIT177943]"),
    Published(unfolded(EVO_PLUS_250), "second phase, MB/s", 400, "predicted", "[DIGIT177943]"),
    Published(S970PRO_512, "mean, MB/s", 2300, "predicted", "[SSDWIKI]"),
    Published(begun(S980), "SLC phase, MB/s", 3000, "predicted", "[AT16504]"),
    Published(begun(S980_500), "SLC phase, MB/s", 2600, "predicted", "[AT16504]"),
    Published(begun(S980_250), "SLC phase, MB/s", 1300, "predicted", "[AT16504]"),
    Published(P31_2000, "mean, MB/s", 3052, "predicted", "[CDRLABS]"),
    Published(FX900, "mean, MB/s", 830, "follows from fitted phases", "[TPU]"),
    Published(M480, "second phase, MB/s", 3500, "predicted", "[TPU]"),
    Published(M480, "second phase ends, GB", 1600, "fitted", "[TPU]"),
    Published(M480, "third phase, MB/s", 1500, "predicted", "[TPU]"),
    Published(M480, "mean, MB/s", 3100, "predicted, ends fitted", "[TPU]"),
)

PICTURES = {
    "fill-curves": ("of TLC", (ATOM, T500, NM790, P31, SN770, UNSEEN[1])),
    "fill-curves-samsung": ("of Samsung", (EVO870, EVO_PLUS, S970PRO, S980, S980PRO)),
    "fill-curves-qlc": ("of QLC", (P1, I660, QVO, UNSEEN[0])),
}
"""Files of pictures, and what fills are in them."""
