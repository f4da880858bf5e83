"""What is to be compared: stored results as far as they are wanted, and the review of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import model as models
from drivelab import plugins, spans, stored, suitability
from drivelab import review as laboratory
from drivelab.comparison.runs import as_review
from drivelab.comparison.sides import Source
from drivelab.errors import RequestError
from drivelab.procedures.study import Study

Remark = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """What is compared of each side; the defaults are those of the stored results."""

    tests: Sequence[str]
    states: Sequence[str]
    quick: bool
    seed: int | None
    sets: Sequence[str]
    workers: int
    repeat: int | None
    memory_bytes: int
    plugin_files: Sequence[Path]
    known: plugins.Known


def stored_side(text: str) -> Source:
    """Stored results, all of them."""
    return Source(text, as_review(stored.read(*stored.split(text), "SIDE")))


def drive_names(text: str, kept: Source | None) -> list[str]:
    """The drives of a side: of stored results all their models, otherwise the one it names."""
    if kept is None:
        return [text]
    return [f"{model['name']} of {text}" for model in kept.document["models"]]


def plan(
    asked: Sequence[str],
    stored_sides: Sequence[Source],
    wanted: Wanted,
    command_line: Callable[[int], str],
    remark: Remark,
) -> laboratory.Plan:
    """The review of the models `asked` for, all in one run; tests, seed, scale and quick are those
    of stored results.

    Options say otherwise where they are given. `command_line` gives that of a seed, `remark` hears
    what can't be measured. Raises RequestError for what can't be.
    """
    loaded = _loaded(asked, stored_sides, wanted, remark)
    own = stored_sides[0].document["drivelab"] if stored_sides else {}
    seed = wanted.seed if wanted.seed is not None else int(own.get("seed", 1))
    quick = wanted.quick or own.get("quick") is True
    span_bytes = own.get("span_bytes")
    measurements = {
        model.name: _measurements(model, stored_sides, wanted, quick, span_bytes, remark)
        for model in loaded
    }
    found = laboratory.Plan(
        models=loaded,
        measurements=measurements,
        command_line=command_line(seed),
        seed=seed,
        quick=quick,
        workers=wanted.workers,
        memory_bytes=wanted.memory_bytes,
        span_bytes=span_bytes,
        keeps_on=True,
    )
    laboratory.check(found)
    return found


def _loaded(
    asked: Sequence[str], stored_sides: Sequence[Source], wanted: Wanted, remark: Remark
) -> list[models.Model]:
    """The models `asked` for, at the scale of the stored results unless another was asked for.

    Hard disks have none: what may be compared with what is `check_plan`'s to say.
    """
    stated = list(models.split_overrides(wanted.sets))
    loaded = [models.load(name, stated) for name in asked]
    found = {scale: source for source in stored_sides for scale in _scales(source)}
    if models.SCALE in dict(stated) or len(found) != 1 or 1 in found:
        return loaded
    [(scale, source)] = found.items()
    if not all(model.is_disk for model in loaded):
        said = f"a small version, 1/{scale}; models are reviewed at that scale, too"
        remark(f'SIDE "{source.text}": {said}')
    scaled = [*stated, (models.SCALE, str(scale))]
    return [
        model if model.is_disk else models.load(name, scaled)
        for name, model in zip(asked, loaded, strict=True)
    ]


def _scales(source: Source) -> list[int]:
    """N of 1/N of the drives of stored results, each once."""
    found = (
        {item["key"]: item["value"] for item in model.get("parameters") or ()}.get(models.SCALE)
        for model in source.document["models"]
    )
    return list(dict.fromkeys(int(scale or 1) for scale in found))


def _measurements(
    model: models.Model,
    stored_sides: Sequence[Source],
    wanted: Wanted,
    quick: bool,
    span_bytes: int | None,
    remark: Remark,
) -> list[laboratory.Measurement]:
    """What a review measures, or what was measured of the stored results, as long as they were."""
    unabridged = not quick and any(
        source.document["drivelab"].get("unabridged") is True for source in stored_sides
    )
    if not stored_sides or wanted.tests:
        return laboratory.plan_measurements(
            model,
            wanted.tests,
            wanted.states,
            remark,
            unabridged=unabridged,
            known=wanted.known,
            span_bytes=span_bytes,
        )
    pairs = dict.fromkeys(
        (str(test["id"]), str(test["state"]))
        for source in stored_sides
        for test in source.document["tests"]
    )
    return same_measurements(
        model,
        pairs,
        remark,
        unabridged=unabridged,
        known=wanted.known,
        span_bytes=span_bytes,
    )


def same_measurements(
    model: models.Model,
    names: Iterable[tuple[str, str]],
    remark: Remark,
    *,
    unabridged: bool = False,
    known: plugins.Known = plugins.BUILT_IN,
    span_bytes: int | None = None,
) -> list[laboratory.Measurement]:
    """What was measured of another drive, as (test, state), as far as this one can be measured so.

    A test that means nothing on the drive, or is too large for it, is left out with a message, as
    are states after TRIM on a drive that ignores it; nobody asked for them by name.
    """
    kind = "disk" if model.is_disk else "flash"
    pairs = [
        (known.tests[test], known.states[state])
        for test, state in names
        if test in known.tests and state in known.states
    ]
    spans.check_fits(model.name, model.user_capacity_bytes, span_bytes)
    capacity = spans.bounded(model.user_capacity_bytes, span_bytes)
    meant = [pair for pair in pairs if kind in pair[0].kinds]
    kept = [pair for pair in meant if span_bytes is None or not isinstance(pair[0], Study)]
    fitting = [pair for pair in kept if pair[0].fits(capacity)]
    what = "hard disks" if model.is_disk else "flash drives"
    has = "the drive has" if span_bytes is None else "the span"
    for before, after, reason in (
        (pairs, meant, f"they mean nothing on {what}"),
        (meant, kept, "they fill the whole drive, which --span bounds"),
        (kept, fitting, f"they use more than {has}"),
    ):
        if left_out := dict.fromkeys(
            test.id for test, state in before if (test, state) not in after
        ):
            remark(f"{model.name}: left out, as {reason}: {', '.join(left_out)}")
    if model.is_disk:
        fitting = suitability.once(fitting)
    elif not model.takes_trim:
        fitting = suitability.without_trim(model, fitting, remark)
    fitting = suitability.begun_new(model, fitting, remark)
    return [
        laboratory.Measurement(test.unabridged() if unabridged else test, state)
        for test, state in fitting
    ]


def check_plan(
    planned: laboratory.Plan | None, stored_sides: Sequence[Source], force: bool
) -> None:
    """Raises RequestError for a review that gives nothing to compare, before it takes its minutes:
    a quick one beside a whole one, one at another scale, or of a model that no stored test can be
    run on."""
    words = {True: "quick", False: "whole"}
    for source in stored_sides:
        quick = source.document["drivelab"].get("quick") is True
        if planned is not None and quick != planned.quick and not force:
            raise RequestError(
                f'SIDE "{source.text}": a {words[quick]} run, and models would be reviewed in a '
                f"{words[planned.quick]} one, which can't be compared; --force does it all the same"
            )
    if planned is not None and not force:
        _check_scales(planned, stored_sides)
    for name, items in planned.measurements.items() if planned is not None else ():
        if not items:
            raise RequestError(
                f'MODEL "{name}": nothing that was measured of the stored results can be '
                "measured on it; --tests chooses other tests"
            )


def _check_scales(planned: laboratory.Plan, stored_sides: Sequence[Source]) -> None:
    """Raises RequestError for a drive that isn't reviewed at the scale of the stored results."""
    models_at = {
        f'MODEL "{model.name}"': model.scale
        for model in planned.models
        if isinstance(model, models.Model)
    }
    for source in stored_sides:
        for scale in _scales(source):
            for name, own in models_at.items():
                if own != scale:
                    raise RequestError(
                        f'SIDE "{source.text}": at a scale of 1/{scale}, and {name} would be '
                        f"reviewed at 1/{own}, which can't be compared; --force does it all the "
                        "same"
                    )


def stored_repeat(stored_sides: Iterable[Source]) -> int:
    """How often the first of the stored results was repeated."""
    for source in stored_sides:
        return int((source.document["drivelab"].get("repeats") or {}).get("count", 1))
    return 1


def reviewed_sides(
    asked: Sequence[str], planned: laboratory.Plan, reviewed: Mapping[str, Any]
) -> dict[str, Source]:
    """The review as the sides that its models are."""
    return {
        text: Source("this run", reviewed, (model.name,))
        for text, model in zip(asked, planned.models, strict=True)
    }
