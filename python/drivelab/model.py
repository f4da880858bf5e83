"""Loads models: by name, by NAME@FIRMWARE, or by the path of a TOML file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from drivelab import _engine, disks, model_layers, parameters, sources, without_effect
from drivelab.errors import RequestError
from drivelab.model_texts import Overrides as Overrides
from drivelab.model_texts import Texts, check_apart
from drivelab.quantities import GIB

CELL_BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
"""Of a cell, by `flash.cell`: pages of a word line."""
MAP_ENTRY_BYTES, FLASH_UNIT_BYTES = 4, 4.125
"""Memory per map unit: an entry of the map; what is written beside the data, and a valid bit."""
COMPRESSED_UNIT_BYTES = 16
"""Memory per map unit of a drive that compresses: map, extent, places in lists of blocks."""
DISK_BYTES = 2**20
FAMILY_TITLES = dict(_engine.families())
"""Families in the order in which they are listed, in words."""


@dataclass(frozen=True)
class Model:
    """A checked model: the engine's own form and what it says about itself."""

    engine: _engine.Model
    texts: Texts
    description: dict[str, Any]
    request: str
    """What it was loaded by: a name or a path."""
    overrides: Overrides
    is_stored: bool = False
    """Whether its texts were kept with results, so that its file needn't be here."""

    def with_overrides(self, more: Overrides) -> Model:
        """The same model with more parameters overridden; raises RequestError."""
        if self.is_stored and not {"flash.part", "members"} & {key for key, _ in more}:
            plain = [(key, parameters.plain(key, value)) for key, value in more]
            texts = replace(self.texts, overrides=[*self.texts.overrides, *plain])
            return stored(texts, self.request)
        return load(self.request, (*self.overrides, *more))

    @property
    def name(self) -> str:
        """The model's name, as in results."""
        return self.engine.name

    @property
    def title(self) -> str:
        """The name that people read; a small version's says that it is one."""
        title = str(self.description.get("title") or self.name)
        return title if self.scale == 1 else f"{title} (1/{self.scale})"

    @property
    def scale(self) -> int:
        """Of a small version what it is a part of: N of 1/N."""
        return int(self.value("scale_divisor") or 1)

    @property
    def hash(self) -> str:
        """64 hexadecimal digits over every parameter, overrides included."""
        return self.engine.hash

    @property
    def user_capacity_bytes(self) -> int:
        """Bytes that the host can address."""
        return self.engine.user_capacity_bytes

    @property
    def raw_capacity_bytes(self) -> int:
        """Bytes of all flash pages."""
        return self.engine.raw_capacity_bytes

    @property
    def queue_depth(self) -> int:
        """Commands that the drive accepts at once."""
        return self.engine.queue_depth

    @property
    def family(self) -> str:
        """The mapping scheme, or what kind of drive it is."""
        return str(self.description.get("family") or "page-map")

    @property
    def is_disk(self) -> bool:
        """Whether it is a hard disk, or an array of nothing else: it has one state whatever was
        written before."""
        keys = (item["key"] for item in self.parameters)
        return disks.are_of_disks(self.family, keys)

    @property
    def takes_trim(self) -> bool:
        """Whether TRIM has an effect: not on hard disks, nor where firmware or driver drop it; on
        an array if it has on one of its drives."""
        return self.description["derived"]["trim_unit_bytes"] is not None

    def value(self, key: str) -> Any:
        """The value of a parameter, or None if the model has none of this key."""
        found = (item["value"] for item in self.parameters if item["key"] == key)
        return next(found, None)

    @property
    def endurance_cycles(self) -> int | None:
        """Erases that the flash is made for, of an array the least of its members'; None: not
        stated."""
        found = (item for item in self.parameters if item["key"].endswith("flash.endurance_cycles"))
        return min((item["value"] for item in found), default=None)

    @property
    def effective_spare_ratio(self) -> float | None:
        """Spare area over user capacity, less what the drive holds back; None of a hard disk."""
        ratio = self.description["derived"].get("effective_spare_ratio")
        return None if ratio is None else float(ratio)

    @cached_property
    def scale_remarks(self) -> list[str]:
        """How a small version differs from the drive by more than 5 %, made by `--scale` or
        cut down by hand. Kept: the drive as it comes is loaded for it, and every result asks."""
        found = list(self.description.get("scale_remarks") or [])
        return found + _held_back_remarks(self)

    @property
    def notes(self) -> list[str]:
        """What must be known to read any number of the drive."""
        return scale_notes(self.scale_remarks) + without_effect.remarks(self.parameters)

    @property
    def memory_bytes(self) -> int:
        """Memory that a drive takes when every unit of its map is in use, about."""
        if self.is_disk:
            return DISK_BYTES
        unit_bytes = int(self.value("ftl.map_unit_bytes") or 4096)
        user_units = self.user_capacity_bytes / unit_bytes
        if self.family == "compressed-map":
            return int(COMPRESSED_UNIT_BYTES * user_units)
        raw_units = self.raw_capacity_bytes / unit_bytes
        return int(MAP_ENTRY_BYTES * user_units + FLASH_UNIT_BYTES * raw_units)

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """Every parameter: key, value, unit, source, its role, default."""
        return list(self.description.get("parameters") or [])

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """Parameters without a default that the model could state and doesn't: `key`, `unit`, what
        is `allowed`, `help`, and what it `comes_to`, if that follows from what is stated."""
        return list(self.description["left_out"])

    @property
    def identity(self) -> dict[str, Any]:
        """What kind of drive it is, and what it cost; null where the model doesn't say.

        Costs are per GiB (2^30 bytes) of flash and of what the host can address, as the 2010
        reviews state them. A small version was never sold.
        """
        price = self.value("price_usd") if self.scale == 1 else None
        raw_bytes = None if self.is_disk else self.raw_capacity_bytes
        return {
            "family": self.family,
            "released": self.value("released"),
            "controller_name": self.value("controller_name"),
            "firmware": self.value("firmware"),
            "price_usd": price,
            "price_usd_per_gib_flash": price / (raw_bytes / GIB) if price and raw_bytes else None,
            "price_usd_per_gib_user": price / (self.user_capacity_bytes / GIB) if price else None,
        }

    def summary(self) -> dict[str, Any]:
        """What `list` prints of a model; capacities in bytes."""
        return {
            "name": self.name,
            "title": self.title,
            **self.identity,
            "user_capacity_bytes": self.user_capacity_bytes,
            "raw_capacity_bytes": self.raw_capacity_bytes,
            "queue_depth": self.queue_depth,
            "hash": self.hash,
        }

    def details(self) -> dict[str, Any]:
        """What `show` prints of a model."""
        return self.description | self.summary()


def scale_notes(remarks: Iterable[str]) -> list[str]:
    """What a small version has to say of itself, as notes of what was measured on it."""
    return [f"at this scale: {remark}" for remark in remarks]


SPARE_TOLERANCE_RATIO = 0.05
"""Effective spare area further off than this is told, as `--scale` tells it."""


BLOCKS_MADE = 400
"""Dies that were ever sold have more blocks; of the models that come along 497 at least."""


def _held_back_remarks(model: Model) -> list[str]:
    """That a drive which was made smaller holds back as much as before, of less.

    Its spare area before and after, all of it and the effective one, say what share of the flash is
    held back: that is another one, where the drive was only cut down. The drive before is the model
    that comes along, and lies under a file of one's own; a file that stands on none is held to the
    spare area that it states.
    """
    if model.scale != 1:
        return _held_back_remarks(model.with_overrides([("scale_divisor", "1")]))
    effective = model.effective_spare_ratio
    if effective is None:
        return []
    raw_ratio = model.raw_capacity_bytes / model.user_capacity_bytes
    expected, where = raw_ratio - 1, "the model states"
    why = "the rest is held back, of a drive cut down by hand as much as of a whole one"
    whole = _as_it_comes(model)
    if whole is None and not _has_small_dies(model):
        return []
    if whole is not None:
        before = whole.effective_spare_ratio
        if before is None or model.raw_capacity_bytes >= whole.raw_capacity_bytes:
            return []
        not_held_ratio = (1 + before) * whole.user_capacity_bytes / whole.raw_capacity_bytes
        expected, where = raw_ratio * not_held_ratio - 1, "the whole drive would have"
        why = "what is held back doesn't shrink with the drive"
    if abs(effective - expected) <= SPARE_TOLERANCE_RATIO * expected:
        return []
    return [
        f"effective spare area over user capacity: {effective:.4f}, where {where} {expected:.4f}: "
        f"{why}; --scale 1/N keeps it as it is at full size"
    ]


def _has_small_dies(model: Model) -> bool:
    """Whether dies have so few blocks as only those have that were cut down by hand. An array has
    none of its own: its members say themselves what they hold back."""
    return bool(model.description["derived"].get("blocks_per_die", BLOCKS_MADE) < BLOCKS_MADE)


def _as_it_comes(model: Model) -> Model | None:
    """The model that comes along, of which this is a form, by what its files are called or, as
    `show --toml` writes one file of all, by its name; None: it stands on none."""
    names = [Path(origin).stem for _, origin in model.texts.layers if Path(origin).name == origin]
    known = set(model_layers.known_names())
    found = [name for name in (model.name, *names) if name in known]
    return load(found[-1]) if found else None


def split_override(text: str) -> tuple[str, str]:
    """KEY=VALUE of a `--set` as a pair."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise RequestError(f'--set "{text}": expected KEY=VALUE, e.g. --set spare_ratio=0.28')
    if key.strip() == "base":
        raise RequestError(
            f"--set \"{text}\": a model's base can't be changed; ask for another MODEL instead"
        )
    return key.strip(), value.strip()


def split_overrides(texts: Iterable[str]) -> list[tuple[str, str]]:
    """KEY=VALUE of several `--set` as pairs; raises RequestError for two that say the same
    thing."""
    texts = list(texts)
    found = [split_override(text) for text in texts]
    words = (f"--set {text}" for text in texts)
    check_apart(zip((key for key, _ in found), words, strict=True))
    return found


SCALE = "scale_divisor"
"""The parameter of small versions that `--scale` sets."""


def set_words(settings: Iterable[str]) -> list[str]:
    """KEY=VALUE of several settings as words of a command line, a scale as people say it."""
    words: list[str] = []
    for text in settings:
        key, _, value = text.partition("=")
        words += ["--scale", f"1/{value}"] if key == SCALE else ["--set", text]
    return words


def scale_divisor(text: object, option: str = "--scale") -> str:
    """N of a scale 1/N; raises RequestError for one that isn't."""
    if not isinstance(text, str):
        raise RequestError(f'{option} = {text!r}: expected a text 1/N, e.g. {option}="1/64"')
    one, slash, divisor = text.partition("/")
    if (one.strip(), slash) != ("1", "/") or not divisor.strip().isdecimal() or not int(divisor):
        raise RequestError(
            f'{option} "{text}": expected 1/N, N a whole number from 1 on, e.g. {option} 1/64'
        )
    return str(int(divisor))


def scaled(overrides: Overrides, scale: object) -> list[tuple[str, str]]:
    """Overrides with a scale 1/N; raises RequestError for one that isn't, or is among them."""
    divisor = scale_divisor(scale, "scale")
    stated = dict(overrides).get(SCALE)
    if stated is not None:
        raise RequestError(
            f"scale = {scale!r} beside {SCALE} = {stated}: give one of them", "scale"
        )
    return [*overrides, (SCALE, divisor)]


def load(request: str, overrides: Overrides = ()) -> Model:
    """The model that a request names, with parameters overridden.

    Raises RequestError for an unknown name (with the nearest), an unreadable file, a model or an
    override that the engine refuses.
    """
    overrides = [(key, parameters.plain(key, value)) for key, value in overrides]
    return _parsed(model_layers.texts(request, tuple(overrides)), request, is_stored=False)


def stored(texts: Texts, request: str) -> Model:
    """The model of texts that were kept, of which `request` was the name or path then.

    Raises RequestError for texts that the engine refuses.
    """
    return _parsed(texts, request, is_stored=True)


def _parsed(texts: Texts, request: str, is_stored: bool) -> Model:
    engine = texts.parse()
    description = json.loads(engine.to_json())
    for parameter in description["parameters"]:
        parameter["role"] = sources.role_of(parameter["source"])
        if parameter["key"] == "scale_divisor" and parameter["value"] != 1:
            # A small version states its capacity in place of the ratio that it was cut from.
            whole = replace(texts, overrides=[*texts.overrides, ("scale_divisor", "1")])
            _parsed(whole, request, is_stored)
    description["left_out"] = list(_left_out(engine, description["left_out"]))
    return Model(engine, texts, description, request, tuple(texts.overrides), is_stored)


def _left_out(engine: _engine.Model, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    spare_ratio = round(engine.raw_capacity_bytes / engine.user_capacity_bytes - 1, 6)
    follows = {"user_capacity_bytes": engine.user_capacity_bytes, "spare_ratio": spare_ratio}
    for row in rows:
        # A model's base is its file's, and nobody else's to state; the scale is an option.
        if row["key"] not in ("base", "scale_divisor"):
            yield row | {"comes_to": follows.get(row["key"])}


def load_all() -> list[Model]:
    """All models that come with drivelab, by name."""
    return [load(name) for name in model_layers.known_names()]
