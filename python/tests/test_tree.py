"""Rules that the tree keeps: sizes, names, references, directions, sources."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rust_imports

from drivelab import model_layers, sources

ROOT = Path(__file__).resolve().parents[2]
FILE_BYTES_MAX = 1 << 20
SOURCE_LINES_MAX = 400

# A file is a noun of the field; these words say only that nobody found one.
EMPTY_WORDS = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}

# Each crate may use those before it.
CRATES = [
    "sim",
    "fuzz",
    "nand",
    "ftl",
    "controller",
    "drive",
    "workload",
    "capi",
    "image",
    "nbd",
    "python",
]

# What each folder of mapping schemes may import of the others.
SCHEMES: dict[str, set[str]] = {
    "page_map": set(),
    "compressed_map": set(),
    "merge": set(),
    "superblock_map": {"merge"},
    "log_block_map": {"merge"},
}

KEY = sources.KEY

# In Rust only comments cite (elsewhere a number in brackets is an index), with escaped brackets.
CITATION = re.compile(r"(?<![\w\])])\\?\[([A-Z]+[0-9]*|[0-9]{1,2})\\?\](?!\()")
RUST_COMMENT = re.compile(r"//.*")


def files() -> list[Path]:
    """Every file that git tracks: what a user writes beside them (reports, jobs) is his own."""
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def test_no_file_is_large() -> None:
    large = {name(path): path.stat().st_size for path in files()}
    assert {file: size for file, size in large.items() if size > FILE_BYTES_MAX} == {}


def test_no_source_file_is_long() -> None:
    lengths = {
        name(path): len(text(path).splitlines())
        for path in files()
        if path.suffix in {".css", ".js", ".py", ".rs"}
    }
    assert {file: count for file, count in lengths.items() if count > SOURCE_LINES_MAX} == {}


def test_file_names_are_nouns_of_the_field() -> None:
    empty = [
        name(path)
        for path in files()
        if EMPTY_WORDS & set(re.split(r"[^a-z]+", name(path).lower()))
    ]
    assert empty == []


def test_the_tree_refers_to_nothing_outside_it() -> None:
    # Put together here, so that this file doesn't find itself.
    outside = ["../" + "shared", "/" + "work/"]
    found = [
        f"{name(path)}: {place}" for path in files() for place in outside if place in text(path)
    ]
    assert found == []


def test_documents_name_files_that_exist() -> None:
    # A link, or a path between backquotes that begins with one of the tree's folders.
    link = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
    path_named = re.compile(r"`((?:\.ci|crates|docs|models|python|tools)/[a-z0-9_./@-]+)`")
    missing = []
    for document in (path for path in files() if path.suffix == ".md"):
        content = text(document)
        missing += [
            f"{name(document)}: {target}"
            for folder, found in ((document.parent, link), (ROOT, path_named))
            for target in found.findall(content)
            if not (folder / target).exists()
        ]
    assert missing == []


def test_crates_depend_one_way() -> None:
    manifests = sorted((ROOT / "crates").glob("*/Cargo.toml"))
    assert {manifest.parent.name for manifest in manifests} == set(CRATES)
    for manifest in manifests:
        crate = manifest.parent.name
        allowed = set(CRATES[: CRATES.index(crate)])
        tables = tomllib.loads(text(manifest))
        used = {
            dependency.removeprefix("drivelab-")
            for kind in ("dependencies", "dev-dependencies", "build-dependencies")
            for dependency in tables.get(kind, {})
            if dependency.startswith("drivelab-")
        }
        assert used <= allowed, f"{crate} uses {used - allowed}"


@pytest.mark.parametrize("crate", CRATES)
def test_every_file_of_a_crates_tests_is_run(crate: str) -> None:
    # Cargo looks for no others where files are modules of one program: one that is named nowhere
    # would never fail.
    folder = ROOT / "crates" / crate
    manifest = tomllib.loads(text(folder / "Cargo.toml"))
    if manifest["package"].get("autotests", True):
        return
    programs = {test["path"] for test in manifest["test"]}
    named = [
        (folder / program).parent / stem
        for program in programs
        for stem in re.findall(r"^mod (\w+);", text(folder / program), re.MULTILINE)
    ]
    modules = {f"{stem}.rs" for stem in named} | {f"{stem}/mod.rs" for stem in named}
    found = [*folder.glob("tests/*.rs"), *folder.glob("tests/*/mod.rs")]
    expected = {str(path) for path in found} - {str(folder / program) for program in programs}
    assert expected - modules == set()


@pytest.mark.parametrize("crate", CRATES)
def test_no_files_of_a_crate_import_each_other_in_a_circle(crate: str) -> None:
    assert rust_imports.circles(rust_imports.Crate(ROOT / "crates" / crate).graph()) == set()


def test_no_mapping_scheme_imports_another() -> None:
    graph = rust_imports.Crate(ROOT / "crates/ftl").graph()
    users = {file.split("/")[0] for file in graph}
    assert set(SCHEMES) <= users
    # What schemes share imports none of them; `untimed` turns the cranks of all.
    for file, imported in graph.items():
        folder = file.split("/")[0]
        used = {target.split("/")[0] for target in imported} & set(SCHEMES) - {folder}
        allowed = {"merge"} if file == "untimed.rs" else SCHEMES.get(folder, set())
        assert used <= allowed, f"{file} imports {used - allowed}"


PACKAGE = ROOT / "python/drivelab"
COMMAND_LINE = {"arguments.py", "cli.py", "completion.py", "__main__.py"}
SHOWS_PROGRESS = "progress.py"


def imported(path: Path) -> set[str]:
    """What a module imports, wherever in it, by full name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def library() -> Iterator[tuple[str, set[str]]]:
    """Modules below the command line, by their place in the package, with their imports."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] != "commands" and place.name not in COMMAND_LINE:
            yield place.as_posix(), imported(path)


def test_the_laboratory_imports_nothing_of_the_command_line() -> None:
    above = ("typer", "drivelab.commands", "drivelab.cli", "drivelab.arguments")
    found = [
        f"{place}: {name}" for place, names in library() for name in names if name.startswith(above)
    ]
    assert found == []


def test_how_text_gets_onto_a_screen_is_decided_in_one_place() -> None:
    users = {
        place for place, names in library() if any(name.split(".")[0] == "rich" for name in names)
    }
    assert users == {"text/terminal.py", SHOWS_PROGRESS}
    commands = [*(PACKAGE / "commands").glob("*.py"), *(PACKAGE / name for name in COMMAND_LINE)]
    assert not any(name.startswith("rich") for path in commands for name in imported(path))


def shipped_models() -> list[Path]:
    return sorted((ROOT / "models").rglob("*.toml"))


def test_the_package_holds_every_model() -> None:
    packaged = {path.name for path in model_layers.models_folder().rglob("*.toml")}
    assert packaged == {path.name for path in shipped_models()} != set()


def entries(table: dict[str, Any], section: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a model file with its dotted key, sections opened."""
    for key, entry in table.items():
        if isinstance(entry, dict) and "value" not in entry:
            yield from entries(entry, f"{section}{key}.")
        else:
            yield section + key, entry


@pytest.mark.parametrize("path", shipped_models(), ids=lambda path: path.stem)
def test_every_model_value_has_a_source(path: Path) -> None:
    cited = set()
    for key, entry in entries(tomllib.loads(text(path))):
        assert isinstance(entry, dict), f"{key} has no source"
        assert set(entry) == {"value", "source"}, key
        assert sources.role_of(entry["source"]) is not None, f"{key}: {entry['source']!r}"
        cited |= set(re.findall(KEY, entry["source"]))
    assert cited <= set(listed_references())


def listed_references() -> list[str]:
    """Keys that REFERENCES.md explains, brackets included."""
    return re.findall(f"^- ({KEY})", text(ROOT / "REFERENCES.md"), re.MULTILINE)


def citations(path: Path) -> set[str]:
    """Keys that a file cites, brackets included."""
    content = text(path)
    if path.suffix == ".rs":
        content = "\n".join(RUST_COMMENT.findall(content))
    return {f"[{key}]" for key in CITATION.findall(content)}


def test_references_are_explained_once_and_cited() -> None:
    listed = listed_references()
    assert sorted(set(listed)) == sorted(listed)
    cited = {
        key: name(path)
        for path in files()
        if path.suffix in {".rs", ".md", ".toml"} and path.name != "REFERENCES.md"
        for key in citations(path)
    }
    assert {key: file for key, file in cited.items() if key not in listed} == {}
    assert set(listed) - set(cited) == set()
