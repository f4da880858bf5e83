"""Which files of a crate import which others: read from `use` lines and paths, without a compiler.

A file imports the one that an imported name is defined in, whatever re-exports lie between. Modules
that only declare and re-export their children import nothing; neither do tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Name = tuple[str, ...]

TEXT = re.compile(
    r'r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\\n])'|//[^\n]*|/\*.*?\*/", re.DOTALL
)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod\s+(\w+)\s*([;{])")
TEST_FILE = re.compile(r'#\[cfg\(test\)\]\s*#\[path = "([^"]+)"\]')
PATH = re.compile(r"(?<![\w:.$])(\w+(?:::\w+)+)")
ROOTS = {("lib",), ("main",)}


@dataclass
class Module:
    """One file: its names for others, and its code without `use` lines, tests, texts, comments."""

    name: Name
    path: Path
    aliases: dict[str, Name] = field(default_factory=dict)
    imports: list[Name] = field(default_factory=list)
    reexports: list[tuple[str, Name]] = field(default_factory=list)
    body: str = ""


def without_tests(code: str) -> str:
    """Code without its modules of tests."""
    while found := TEST.search(code):
        end = found.end()
        depth = 1 if found[2] == "{" else 0
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        code = code[: found.start()] + code[end:]
    return code


def leaves(tree: str) -> Iterator[tuple[Name, str]]:
    """Every path that a `use` names, and its name here: `a::{b, c as d}` is a::b, b and a::c, d."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        parts = tuple(path.strip().split("::"))
        if parts[-1] == "self":
            parts = parts[:-1]
        yield parts, alias.strip() or parts[-1]
        return
    prefix = head.strip().removesuffix("::")
    depth, start = 0, 0
    inside = rest[: rest.rindex("}")]
    pieces = []
    for at, character in enumerate(inside):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append(inside[start:at])
            start = at + 1
    pieces.append(inside[start:])
    for piece in pieces:
        if piece.strip():
            yield from leaves(f"{prefix}::{piece.strip()}" if prefix else piece)


def module_of(path: Path, source: Path) -> Module:
    parts = path.relative_to(source).with_suffix("").parts
    name = parts[:-1] if parts[-1] == "mod" or parts in ROOTS else parts
    module = Module(name, path)
    code = TEXT.sub(
        lambda found: "" if found[0][0] == "/" else "0", path.read_text(encoding="utf-8")
    )
    code = without_tests(code)
    for is_public, tree in USE.findall(code):
        for target, alias in leaves(tree):
            module.aliases[alias] = target
            if is_public:
                module.reexports.append((alias, target))
            else:
                module.imports.append(target)
    module.body = USE.sub("", code)
    return module


class Crate:
    """Files of a crate by the names of their modules: `crate::merge::plan` is ("merge", "plan")."""

    def __init__(self, folder: Path) -> None:
        source = folder / "src"
        paths = sorted(source.rglob("*.rs"))
        tests = {
            path.parent / name
            for path in paths
            for name in TEST_FILE.findall(path.read_text(encoding="utf-8"))
        }
        self.source = source
        self.modules: dict[Name, Module] = {}
        for path in paths:
            if path not in tests:
                module = module_of(path, source)
                self.modules[module.name] = module

    def defines(
        self, module: Module, path: Name, seen: frozenset[Name] = frozenset()
    ) -> Module | None:
        """The module of this crate in which a path that is written in another one ends, if any."""
        here = module.name
        first, rest = path[0], path[1:]
        if first == "crate":
            at: Name = ()
        elif first in {"self", "super"}:
            at = here if first == "self" else here[:-1]
            while rest and rest[0] == "super":
                at, rest = at[:-1], rest[1:]
        elif (*here, first) in self.modules:
            at, rest = here, path
        elif first in module.aliases and module.aliases[first] not in seen:
            target = module.aliases[first]
            return (
                self.defines(module, (*target, *rest), seen | {target}) if target != path else None
            )
        else:
            return None
        for index, part in enumerate(rest):
            if (*at, part) in self.modules:
                at = (*at, part)
                continue
            found = self.modules[at]
            if part not in found.aliases or found.aliases[part] in seen:
                return found
            target = found.aliases[part]
            behind = self.defines(found, (*target, *rest[index + 1 :]), seen | {target})
            return found if behind is None else behind
        return self.modules.get(at)

    def imports(self, module: Module) -> set[str]:
        """Files that a file uses, itself aside."""
        named = [
            target
            for alias, target in module.reexports
            if re.search(rf"\b{re.escape(alias)}\b", module.body)
        ]
        written = [tuple(path.split("::")) for path in PATH.findall(module.body)]
        found = (self.defines(module, path) for path in [*module.imports, *named, *written])
        return {
            self.file(target) for target in found if target is not None and target is not module
        }

    def file(self, module: Module) -> str:
        return module.path.relative_to(self.source).as_posix()

    def graph(self) -> dict[str, set[str]]:
        return {self.file(module): self.imports(module) for module in self.modules.values()}


def circles(graph: dict[str, set[str]]) -> set[str]:
    """Files that import themselves through others."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        left = [start]
        while left:
            for target in graph[left.pop()] - found:
                found.add(target)
                left.append(target)
        return found

    return {name for name in graph if name in reached(name)}
