"""What commands print: JSON documents, text, messages, and commands as one types them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import failures, output, standard_streams
from drivelab.documents import to_json
from drivelab.model import Model
from drivelab.text.layout import Part

if TYPE_CHECKING:
    from drivelab.review import Plan
    from drivelab.subject import Subject


def document(value: Any) -> None:
    """Prints one JSON document."""
    text = to_json(value, ascii_only=not standard_streams.holds_all_letters())
    with output.standard():
        sys.stdout.write(text)


def parts(found: Iterable[Part]) -> None:
    """Prints lines and tables."""
    # rich is loaded only where something is laid out.
    from drivelab.text import terminal

    made = list(found)
    with output.standard():
        terminal.show(made)


def width() -> int:
    """Columns that there are for it."""
    from drivelab.text import terminal

    return terminal.width()


def plain(text: str, *, now: bool = False) -> None:
    """Prints text to standard output; `now`: a reader has it before the command goes on."""
    with output.standard():
        sys.stdout.write(text)
        if now:
            sys.stdout.flush()


def message(text: str) -> None:
    """Prints a message to standard error, in one piece: other threads write there, too."""
    sys.stderr.write(f"{text}\n")


def messages(texts: Iterable[str]) -> None:
    """Prints messages to standard error, those that are empty left out."""
    for text in filter(None, texts):
        message(text)


def model_notes(subjects: Sequence[Subject]) -> None:
    """Says on standard error how small versions of drives differ from these by more than 5 %, and
    what was stated of drives without effect."""
    for subject in subjects:
        if isinstance(subject, Model):
            for note in subject.notes:
                message(f"{subject.name}: {note}")


def replaced_results(folder: Path, *names: str) -> None:
    """Says that earlier results will be gone, if a folder has a file of one of these names."""
    if any((folder / name).exists() for name in names):
        message(f"{folder}: the results there will be replaced")


def longer_tests(plan: Plan) -> None:
    """Says on standard error that tests of so many seconds or bytes are longer ones of small
    versions."""
    for model in plan.models:
        fixed = any(each.procedure.has_fixed_length for each in plan.measurements[model.name])
        if fixed and isinstance(model, Model) and model.scale > 1:
            message(
                f"{model.name}: at this scale: tests of a fixed length don't scale their seconds, "
                f"nor bytes as far as there is room: {model.scale} times as large a share of it"
            )


def failed_tests(results: Mapping[str, Any]) -> None:
    """Says on standard error which tests of a review have no result, and why."""
    messages(failures.sentences(results.get("failed", ())))


def command_line(words: Sequence[str], seed: int | None) -> str:
    """A command as one types it, with its seed if it draws anything."""
    return shlex.join([*words, *(["--seed", str(seed)] if seed is not None else [])])


def option_words(options: Mapping[str, object]) -> list[str]:
    """Options as one types them, those without a value left out."""
    given = ((option, str(value)) for option, value in options.items() if value is not None)
    return [word for pair in given for word in pair]
