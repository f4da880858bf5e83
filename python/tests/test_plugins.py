"""Tests and states from elsewhere: found, told apart, refused in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import own
import pytest

from drivelab import plugins
from drivelab.errors import RequestError
from drivelab.procedures import PROCEDURES
from drivelab.states import STATES

STATE = '@dl.state(after="new")\ndef {name}(bench):\n    "Nothing."\n'
TEST = '@dl.test(group="mine"{more})\ndef {name}(bench):\n    "Nothing."\n    return []\n'
IMPORT = "import drivelab as dl\n"


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(RequestError) as caught:
        plugins.known([own.put(folder, text)])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_adds_its_tests_and_states_and_nothing_else_changes(tmp_path: Path) -> None:
    found = plugins.known([own.put(tmp_path)])
    assert set(found.tests) - set(PROCEDURES) == {"small-writes"}
    assert set(found.states) - set(STATES) == {"half-full"}
    # At the place that it declares.
    assert list(found.states)[:2] == ["new", "half-full"]
    assert [name for name in found.tests if name in PROCEDURES] == list(PROCEDURES)
    # Nothing stays: the next command knows only what it is given.
    assert set(plugins.known().tests) == set(PROCEDURES)


def test_the_order_of_files_and_a_file_given_twice_make_no_difference(tmp_path: Path) -> None:
    one = own.put(tmp_path)
    other = own.put(tmp_path, IMPORT + TEST.format(name="other", more=""), "other.py")
    found = plugins.known([one, other, one])
    again = plugins.known([other, one])
    assert set(found.tests) == set(again.tests) >= {"other", "small-writes"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (IMPORT + TEST.format(name="atto", more=""), 'test "atto" is there already, from drivelab'),
        (IMPORT + STATE.format(name="used"), 'state "used" is there already, from drivelab'),
        (
            IMPORT + TEST.format(name="power", more=""),
            "of tests and of groups, so they must differ",
        ),
        (
            IMPORT + TEST.format(name="mine", more=""),
            'test "mine" of group "mine": `--tests` takes',
        ),
        (IMPORT + TEST.format(name="x", more="").replace("mine", "atto"), "so they must differ"),
        (IMPORT + TEST.format(name="x", more=', states=["usde"]'), 'did you mean "used"?'),
        (IMPORT + TEST.format(name="x", more=", states=[]"), "states = []: allowed"),
        (IMPORT + '@dl.test(group="")\ndef x(bench):\n    "X."\n', "group = '': allowed"),
        (IMPORT + '@dl.test(group="g")\ndef x(bench): ...\n', 'test "x": needs a docstring'),
        (IMPORT + '@dl.test(group="g", name="A b")\ndef x(bench):\n    "X."\n', "allowed in names"),
        (IMPORT + '@dl.state(after="usd")\ndef x(bench):\n    "X."\n', 'did you mean "used"?'),
        (IMPORT + '@dl.state(colour="red")\ndef x(bench):\n    "X."\n', "allowed: other, new"),
        (IMPORT + '@dl.state(restored_by="X")\ndef x(bench):\n    "X."\n', "needs after=..."),
        (IMPORT + 'J = dl.Job(rw="randwrit")\n', '"own.py": line 2: Job: job "job": rw=randwrit'),
        ("x = 1\ny = 1 / 0\n", "can't be imported: line 2: ZeroDivisionError: division by zero"),
        ("def x(:\n", "can't be imported: line 1: SyntaxError"),
        (IMPORT + "@dl.test\ndef x(bench): ...\n", 'test(x): written as @dl.test(group="...")'),
        (IMPORT + "@dl.test()\ndef x(bench): ...\n", "line 2: group= is missing: written as @dl.t"),
        (IMPORT + "@dl.state\ndef x(bench): ...\n", "line 2: state(x): written as @dl.state()"),
        ("import nowhere_at_all\n", "line 1: ModuleNotFoundError: No module named"),
        ("raise SystemExit(0)\n", "can't be imported: line 1: SystemExit"),
        ("x = 1\n", "has no tests and no states"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    said = refusal(tmp_path, text)
    assert message in said
    assert said.startswith('--plugin "own.py": ')


def test_a_slip_in_a_file_that_is_imported_is_told_with_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slipped_beside.py").write_text("x = 1\ndef y(:\n")
    said = refusal(tmp_path, "\nimport slipped_beside\n")
    assert "line 2: SyntaxError: invalid syntax (slipped_beside.py, line 2)" in said


def test_two_files_with_a_test_of_one_name_are_refused(tmp_path: Path) -> None:
    text = IMPORT + TEST.format(name="same", more="")
    files = [own.put(tmp_path, text, "a.py"), own.put(tmp_path, text + "\n", "b.py")]
    with pytest.raises(RequestError, match=r'"b.py": test "same" is there already, from a.py, sha'):
        plugins.known(files)
    with pytest.raises(RequestError, match="there is no such file"):
        plugins.known([tmp_path / "nowhere.py"])


def test_a_file_that_another_imports_is_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    both = STATE.format(name="resting") + TEST.format(name="one", more="")
    one = own.put(tmp_path, IMPORT + both, "imported_by_another.py")
    text = IMPORT + "from imported_by_another import one, resting\n" + TEST
    other = own.put(tmp_path, text.format(name="other", more=", states=[resting]"), "other.py")
    for files in ([one, other], [other, one]):
        found = plugins.known(files)
        assert set(found.tests) - set(PROCEDURES) == {"one", "other"}
        assert set(found.states) - set(STATES) == {"resting"}
    # Two of one name in one file are two.
    twice = IMPORT + STATE.format(name="a") + STATE.format(name="b")
    twice = twice.replace('after="new"', 'after="new", name="same"')
    assert 'state "same" is there already, from own.py' in refusal(tmp_path, twice)


def test_a_file_is_known_by_what_is_in_it_not_by_where_it_is(tmp_path: Path) -> None:
    folders = tmp_path / "here", tmp_path / "there"
    for folder in folders:
        folder.mkdir()
    one, other = (plugins.known([own.put(folder)]).states["half-full"] for folder in folders)
    assert one.origin is not None
    assert one.origin == other.origin
    assert one.origin.file != getattr(other.origin, "file", "")


def installed(folder: Path, entry: str, module: str) -> subprocess.CompletedProcess[str]:
    """`drivelab list --tests` where a package with an entry point is on the path."""
    facts = folder / "my_tests-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-tests\nVersion: 1.2\n")
    (facts / "entry_points.txt").write_text(f"[drivelab.tests]\n{entry}\n")
    (facts / "top_level.txt").write_text("my_tests\n")
    (folder / "my_tests.py").write_text(module)
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from drivelab import cli; "
    code += "sys.exit(cli.run(['list', '--tests', '--json']))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_an_installed_package_brings_its_tests_with_its_name(tmp_path: Path) -> None:
    done = installed(tmp_path, "mine = my_tests:small_writes", own.OWN.replace(", half_full", ""))
    assert done.returncode == 0, done.stderr
    assert '"small-writes"' in done.stdout
    assert '"from": "my-tests 1.2, sha256 ' in done.stdout


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            "import nowhere_at_all\n",
            "can't be imported: my_tests.py, line 1: ModuleNotFoundError: No module named",
        ),
        (
            "x = 1\ndef y(:\n",
            "can't be imported: my_tests.py, line 2: SyntaxError: invalid syntax\n",
        ),
        ("small_writes = 3\n", "my_tests:small_writes holds no tests"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(
    tmp_path: Path, module: str, message: str
) -> None:
    done = installed(tmp_path, "mine = my_tests:small_writes", module)
    assert done.returncode == 2
    assert done.stderr.startswith('drivelab: my-tests 1.2, entry point "mine" of drivelab.tests: ')
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
