"""Tests and states from elsewhere: of installed packages, and of files named on the command line.

A package names them as entry points of the groups `drivelab.tests` and `drivelab.states`: the test
or state itself, or a module with several. Nothing is registered when a file is imported: what a
command knows is what it was given, whatever was imported before, in whatever order.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from drivelab import asides, paths, procedures, states
from drivelab.errors import RequestError, nearest
from drivelab.procedures import PROCEDURES, Procedure, group_name
from drivelab.states import STATES, State
from drivelab.traits import Origin

TESTS, STATES_GROUP = "drivelab.tests", "drivelab.states"
"""Groups of entry points."""


@dataclass(frozen=True)
class Known:
    """The tests and states that there are to choose from, by name, in the order of reports."""

    tests: Mapping[str, Procedure]
    states: Mapping[str, State]


BUILT_IN = Known(PROCEDURES, STATES)
"""What comes with drivelab."""


def known(files: Sequence[Path] = ()) -> Known:
    """What comes with drivelab, with installed packages, and with these files.

    Raises RequestError for a file or package that can't be loaded, for one without tests and
    states, and for a name that there is already.
    """
    found: list[tuple[str, Procedure | State]] = []
    for group, kind in ((TESTS, Procedure), (STATES_GROUP, State)):
        for entry in sorted(entry_points(group=group), key=lambda item: (item.name, item.value)):
            found += [(_entry_text(entry), item) for item in _of_entry(entry, kind)]
    named = [paths.checked("--plugin", path) for path in files]
    for file in dict.fromkeys(path.resolve() for path in named):
        found += [(f'--plugin "{file.name}"', item) for item in of_file(file)]
    return _together(found)


def find_state(name: str, option: str) -> State:
    """A state by name, of drivelab or of an installed package; raises RequestError."""
    return states.find(name, option, STATES if name in STATES else known().states)


def find_test(name: str, option: str) -> Procedure:
    """A test by name, of drivelab or of an installed package; raises RequestError."""
    tests = PROCEDURES if name in PROCEDURES else known().tests
    if name not in tests:
        hint = nearest(name, tests)
        raise RequestError(f'{option} "{name}" is unknown{hint} `drivelab list --tests` has all.')
    return tests[name]


def of_file(file: Path) -> list[Procedure | State]:
    """The tests and states of a Python file; raises RequestError."""
    where = f'--plugin "{file.name}"'
    if not file.is_file():
        raise RequestError(f'--plugin "{file}": {paths.missing(file)}')
    paths.of_text("--plugin", file)
    # Two files of one name are two modules.
    name = f"drivelab_plugin_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise RequestError(f"{where}: expected a Python file, NAME.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with asides.aside():
            spec.loader.exec_module(module)
    except RequestError as error:
        raise RequestError(f"{where}: {failure_text(error, str(file))}") from None
    except (Exception, SystemExit) as error:
        raise RequestError(f"{where}: {_import_failure(error, str(file))}") from None
    found = [*_in(module, Procedure), *_in(module, State)]
    if not found:
        raise RequestError(f"{where}: has no tests and no states; see @dl.test and @dl.state")
    origin = origin_of(str(file), file.name)
    return [item if item.origin else replace(item, origin=origin) for item in found]


Reference = str | tuple[str, Origin, str]
"""A state as other processes are told of it: its name, or also its origin and its module."""


def reference(state: State) -> Reference:
    """A state for another process; raises RequestError for one that only this program has."""
    if state.origin is None:
        return state.name
    module = getattr(state.step, "module", "")
    if module == "__main__" or not Path(state.origin.file).is_file():
        raise RequestError(
            f'state "{state.name}": it is made in the program itself, which other processes can\'t '
            "import; put it in a file of its own and import that"
        )
    return state.name, state.origin, module


def referred(known: Reference) -> State:
    """The state of a reference; raises RequestError if it isn't here, or is another one now."""
    if isinstance(known, str):
        return states.find(known)
    name, origin, module = known
    # Another file may go by the module's name here.
    for place in (partial(_of_module, module), partial(of_file, Path(origin.file))):
        for item in place():
            if isinstance(item, State) and (item.name, item.origin) == (name, origin):
                return item
    raise RequestError(f'state "{name}": {origin.file} has changed since this drive was stored')


def _of_module(name: str) -> list[Procedure | State]:
    try:
        return list(_in(importlib.import_module(name), State))
    except (Exception, SystemExit):
        # Its file is tried next, and says what is wrong with it.
        return []


def origin_of(file: str, place: str) -> Origin:
    """The origin of what a file makes; without a file, as in a notebook, its name stands for it."""
    path = Path(file)
    content = path.read_bytes() if path.is_file() else file.encode()
    return Origin(place, hashlib.sha256(content).hexdigest(), file)


def _of_entry(entry: EntryPoint, kind: type[Procedure] | type[State]) -> list[Any]:
    where = _entry_text(entry)
    try:
        with asides.aside():
            loaded = entry.load()
    except (Exception, SystemExit) as error:
        file = _file_of(entry.module)
        text = failure_text(error, file)
        name = f"{Path(file).name}, " if text.startswith("line ") else ""
        raise RequestError(f"{where}: can't be imported: {name}{text}") from None
    found = list(_in(loaded, kind)) if isinstance(loaded, ModuleType) else [loaded]
    word = "tests" if kind is Procedure else "states"
    if not found or not all(isinstance(item, kind) for item in found):
        raise RequestError(f"{where}: {entry.value} holds no {word}")
    place = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    file = getattr(sys.modules.get(entry.module), "__file__", None) or entry.value
    return [item if item.origin else replace(item, origin=origin_of(file, place)) for item in found]


def _file_of(module: str) -> str:
    """The file of a module that couldn't be imported, "" if it isn't there either."""
    try:
        spec = importlib.util.find_spec(module)
    except (Exception, SystemExit):
        # The package that it is in couldn't be imported.
        return ""
    return (spec.origin if spec is not None else None) or ""


def _entry_text(entry: EntryPoint) -> str:
    owner = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "a package"
    return f'{owner}, entry point "{entry.name}" of {entry.group}'


def _import_failure(error: BaseException, file: str) -> str:
    return f"can't be imported: {failure_text(error, file)}"


def failure_text(error: BaseException, file: str) -> str:
    """What went wrong in somebody else's file, and in which line of it."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == file and error.lineno:
        lines.append(error.lineno)
    at = f"line {lines[-1]}: " if lines else ""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, SyntaxError) and error.filename and error.filename != file:
        # A file that this one imports.
        said = f"{said} ({Path(error.filename).name}, line {error.lineno})"
    # What the laboratory refuses is told in words of its own.
    kind = "" if isinstance(error, RequestError) else f"{type(error).__name__}: "
    return f"{at}{kind}{(said or 'no message').splitlines()[0]}"


def raised_in(error: BaseException, file: str) -> bool:
    """Whether a file raised an error itself, and not what it called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == file


def _in(module: ModuleType, kind: type[Any]) -> Iterator[Any]:
    """What a module holds of a kind, in order, each once; not what comes with drivelab."""
    own = {*PROCEDURES.values()} if kind is Procedure else {*STATES.values()}
    seen: list[Any] = []
    for value in vars(module).values():
        if isinstance(value, kind) and value not in own and value not in seen:
            seen.append(value)
            yield value


def _together(found: Iterable[tuple[str, Procedure | State]]) -> Known:
    tests, by_name = dict(PROCEDURES), dict(STATES)
    for where, item in found:
        if isinstance(item, State):
            if _same(by_name.get(item.name), item):
                continue
            _refuse(where, "state", item.name, by_name.get(item.name))
            by_name[item.name] = item
        else:
            if _same(tests.get(item.id), item):
                continue
            _refuse(where, "test", item.id, tests.get(item.id))
            tests[item.id] = item
    groups = {procedures.ALL, *map(group_name, procedures.groups_of(tests))}
    for where, item in found:
        if isinstance(item, State):
            continue
        if item.id in groups or group_name(item.group) in (*tests, procedures.ALL):
            raise RequestError(
                f'{where}: test "{item.id}" of group "{item.group}": `--tests` takes names '
                "of tests and of groups, so they must differ"
            )
        for name in item.states:
            if name not in by_name:
                hint = nearest(name, by_name)
                raise RequestError(f'{where}: test "{item.id}": state "{name}" is unknown{hint}')
    order = procedures.groups_of(tests)
    ranked = sorted(tests.values(), key=lambda test: order.index(test.group))
    return Known(
        {test.id: test for test in ranked},
        dict(sorted(by_name.items(), key=lambda pair: (pair[1].traits.order, pair[0]))),
    )


def _same(one: Procedure | State | None, other: Procedure | State) -> bool:
    """Whether two of one name are one, perhaps loaded twice: as a file, and by an import of it."""
    if one is None or one == other:
        return one is not None
    # One file may hold two functions for one name.
    ours, theirs = (getattr(getattr(x, "step", x), "function", None) for x in (one, other))
    if ours is None or theirs is None or ours.__qualname__ != theirs.__qualname__:
        return False
    return one.origin is not None and one.origin == other.origin


def _refuse(where: str, word: str, name: str, other: Procedure | State | None) -> None:
    """Raises RequestError for a name that there is already."""
    if other is not None:
        place = "drivelab" if other.origin is None else other.origin.text
        raise RequestError(f'{where}: {word} "{name}" is there already, from {place}; rename yours')
