"""What docs/ says of commands, keys and tests, against the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drivelab import _engine, cli, model, procedures
from drivelab.comparison import document as compare_document
from drivelab.comparison.pairing import Metric
from drivelab.database import tables
from drivelab.procedures import PROCEDURES, document, group_name
from drivelab.served import faults
from drivelab.targets import EngineTarget
from drivelab.web import choice

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", ["tests", "states"])
def test_tables_are_what_the_command_prints(name: str) -> None:
    command = f"drivelab list --{name} --markdown"
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    wanted = f"<!-- {command} -->\n{document.table(tests=name == 'tests')}\n"
    assert wanted in text, f"renew the table in docs/{name}.md from `{command}`"


GROUPS = sorted({test.group for test in PROCEDURES.values()})


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_of_tests_has_a_page_that_names_them_all(group: str) -> None:
    page = DOCS / "tests" / f"{group_name(group)}.md"
    assert page.is_file(), f"write {page}: scope and limits first"
    text = page.read_text(encoding="utf-8")
    assert "scope and limits" in text.lower()
    names = [test.id for test in PROCEDURES.values() if test.group == group]
    assert [name for name in names if f"`{name}`" not in text] == []
    assert f"tests/{page.name}" in (DOCS / "tests.md").read_text(encoding="utf-8")


def test_the_groups_that_an_address_of_the_page_takes_are_listed() -> None:
    page = (DOCS / "web.md").read_text(encoding="utf-8")
    [row] = re.findall(r"^\| `test=` \|.*$", page, re.MULTILINE)
    listed = row.partition("group of tests: ")[2].partition(";")[0]
    assert re.findall(r"`([^`]*)`", listed) == [group_name(group) for group in procedures.GROUPS]
    parts = re.findall(r"^\| `(\w+)=1?` \|", page, re.MULTILINE)
    assert sorted(parts) == sorted(choice.PARTS)


def test_a_base_with_dram_becomes_a_drive_without_as_the_page_says() -> None:
    page = (DOCS / "your-own-drive.md").read_text(encoding="utf-8")
    [row] = re.findall(r"^\| DRAM or the host's memory \|.*$", page, re.MULTILINE)
    assert "2 MiB on the chip, 64 MiB of the host" in row
    said = {"ftl.map_cache_bytes": "2m", "ftl.host_memory_bytes": "64m"}
    said |= dict(re.findall(r"`([a-z_.]+) = (\d+)`", row))
    bases = re.search(r"^\| DRAM, TLC \| (.*) \|$", page, re.MULTILINE)
    assert bases is not None
    for name in re.findall(r"`([^`]*)`", bases[1]):
        assert model.load(name).value("ftl.map_cache_bytes") == 0
        assert model.load(name, list(said.items())).value("ftl.map_cache_bytes") == 1 << 21


def test_every_key_of_a_compared_metric_is_explained() -> None:
    metric = Metric("iops", "IOPS", "IOPS", "higher", (1.0, 2.0))
    compared = (DOCS / "compare.md").read_text(encoding="utf-8").partition("`metrics[]` (")[2]
    said = compared.partition("`left_out[]`")[0]
    keys = compare_document.metric_record(metric)
    assert [key for key in keys if f"`{key}`" not in said and f"`{key}[]`" not in said] == []


def test_the_page_of_job_files_has_every_option_of_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "fio-jobs.md").read_text(encoding="utf-8").partition("## ")[0]
    assert cli.run(["run", "--help"]) == 0
    options = set(re.findall(r"^ +(--[a-z]+)", capsys.readouterr().out, re.MULTILINE)) - {"--help"}
    assert {"--drive", "--state", "--repeat", "--plan"} <= options
    assert [option for option in sorted(options) if option not in page] == []


def test_the_page_of_results_says_which_layouts_are_read() -> None:
    page = " ".join((DOCS / "results.md").read_text(encoding="utf-8").split())
    *older, version = tables.READABLE
    assert version == tables.VERSION
    assert older == list(range(older[0], version))
    assert f"the version of these tables, {version}." in page
    assert f"Files of layout {older[0]} to {older[-1]} are read, not written to" in page


def test_the_page_of_power_says_in_which_states_tests_run() -> None:
    page = " ".join((DOCS / "tests" / "power.md").read_text(encoding="utf-8").split())
    tests = [test for test in PROCEDURES.values() if test.group == "power"]
    states = {test.states for test in tests if test.id != "power-states"}
    assert states == {("filled", "used"), ("new", "used")}
    assert PROCEDURES["power-states"].states == ("filled",)
    assert "`power-states` in `filled` alone" in page
    assert "Reads are measured in `filled` and `used`, the others in `new` and `used`" in page


KINDS = (
    ("samsung-980-1tb", ("flash.bit_errors", "true"), ("scale_divisor", "64")),
    ("corsair-force-f100-100gb", ("scale_divisor", "16")),
    ("jmicron-jmf602b-64gb", ("scale_divisor", "16")),
    ("wd-velociraptor-300gb",),
    ("intel-x25-v-40gb-raid0-x2", ("scale_divisor", "16")),
)
"""Drives that have all counters together, with what is set of them."""


def test_the_page_of_results_has_every_counter_and_no_other() -> None:
    section = (DOCS / "results.md").read_text(encoding="utf-8").partition("\n## Counters\n")[2]
    cells = re.findall(r"^\| (`.*?) \|", section.partition("\n## ")[0], re.MULTILINE)
    named = set()
    for name in re.findall(r"`([^`]+)`", ", ".join(cells)):
        before, _, rest = name.partition("{")
        words, _, after = rest.partition("}")
        named |= {f"{before}{word}{after}" for word in words.split(",")} if rest else {name}
    counted = set()
    for kind, *settings in KINDS:
        counted |= set(EngineTarget(model.load(kind, settings), 1).counters())
    assert named == counted


def fault_tables() -> list[str]:
    """The tables of docs/served-drives.md: kinds of faults, and their keys."""
    kinds = ["| kind | what happens | keys |", "|---|---|---|"]
    for name, kind in faults.KINDS.items():
        kinds.append(f"| `{name}` | {kind.help} | {', '.join(f'`{key}`' for key in kind.keys)} |")
    keys = ["| key | meaning | allowed |", "|---|---|---|"]
    keys += [f"| `{name}` | {key.help} | {key.allowed} |" for name, key in faults.KEYS.items()]
    return ["\n".join(kinds), "\n".join(keys)]


@pytest.mark.parametrize("index", [0, 1])
def test_the_page_of_served_drives_has_every_fault_and_key(index: int) -> None:
    text = (DOCS / "served-drives.md").read_text(encoding="utf-8")
    table = fault_tables()[index]
    assert table in text, f"put this table into docs/served-drives.md:\n{table}"


@pytest.mark.parametrize("family", [name for name, _ in _engine.families()])
def test_show_has_every_key_that_a_drive_of_its_family_takes(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = next(one for one in model.load_all() if one.family == family)
    with_errors = [[("flash.bit_errors", "true")]] if family == "page-map" else []
    for settings in ([], *with_errors):
        words = [word for key, value in settings for word in ("--set", f"{key}={value}")]
        assert cli.run(["show", found.name, *words]) == 0
        printed = capsys.readouterr().out
        one = found.with_overrides(settings)
        keys = {item["key"] for item in (*one.parameters, *one.left_out)}
        assert keys - {line.split(" ")[0] for line in printed.splitlines()} == set()
        # What has no effect is not listed, but told of.
        told = "With flash.bit_errors=true there are more" in printed
        assert told == (family == "page-map" and not settings)
