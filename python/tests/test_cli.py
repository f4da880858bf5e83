from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small import MODEL_NAME

from drivelab import cli, model_layers
from drivelab.errors import nearest

PROGRAM = [sys.executable, "-c", "from drivelab.cli import main; main()"]


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_explains_itself_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([command, "--help"]) == 0
    help_text = capsys.readouterr().out
    assert f"Example: drivelab {command}" in help_text
    for name_of_a_type in ("<int", "<str", "<path", "<list", "<float"):
        assert name_of_a_type not in help_text


def test_every_command_can_be_the_first_that_is_loaded() -> None:
    """Modules that import each other in a circle work only if another came before."""
    code = "import sys; from drivelab import cli; sys.exit(cli.run([sys.argv[1], '--help']))"
    for command in cli.COMMANDS:
        done = subprocess.run([sys.executable, "-c", code, command], capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)


def test_help_has_every_command_whole_in_its_group(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.run(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    at = 0
    for title, commands in cli.GROUPS.items():
        at = lines.index(f"{title}:", at)
        for name, command in commands.items():
            at += 1
            assert lines[at].split(maxsplit=1) == [name, command.summary]
            assert command.summary.endswith(".")


@pytest.mark.parametrize(
    "words",
    [
        ["review", "--wrkers", "3"],
        ["shw"],
        ["--bla"],
        ["show"],
        ["review", MODEL_NAME, "--workers", "0"],
        ["review", MODEL_NAME, "--workers", "x"],
        ["show", MODEL_NAME, "b"],
    ],
)
def test_wrong_options_are_one_line_that_says_where_to_look(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith("drivelab: ")
    assert "--help" in said.err


@pytest.mark.parametrize(("value", "limit"), [("0", "1"), ("65", "64"), ("many", "integer")])
def test_a_number_that_can_t_be_is_named_with_its_limit(
    value: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["review", MODEL_NAME, "--workers", value]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in ("--workers", value, limit)), said


def test_a_file_that_is_no_model_says_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bin.dat").write_bytes(bytes(range(128, 256)))
    Path("x.txt").write_text("a =\n")
    for file, reason in (("bin.dat", "not UTF-8 text"), ("x.txt", "TOML parse error at line 1")):
        assert cli.run(["show", file]) == 2
        said = capsys.readouterr().err
        assert reason in said
        assert said.count("\n") == 1
        assert MODEL_NAME not in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('base = "intel-x25"\n', 'own.toml: base = "intel-x25": model "intel-x25" is unknown'),
        ("members = ['x25']\n", 'own.toml: members: model "x25" is unknown'),
        (
            "[flash]\n[flash]\n",
            "at line 2, column 2: duplicate key: [flash]",
        ),
        *(
            (
                f"size = {size}\n",
                ": whole numbers of TOML go from -9223372036854775808 to 9223372036854775807: "
                f"size = {size}",
            )
            for size in ("12345678901234567890", "9" * 20, "-" + "9" * 20, "9" * 50)
        ),
        ("[flash]\nread_ns = -1\n", "own.toml: flash.read_ns = -1: must be"),
        ('base = "intel-x25-m-g1-80gb"\nspare_ratio = 0.1\n', "own.toml: name is missing: name on"),
    ],
)
def test_a_wrong_model_file_is_named_with_the_key(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text, encoding="utf-8")
    assert cli.run(["show", str(own)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"drivelab: {own}: ")
    assert told in said


def test_commands_of_served_drives_load_nothing_of_the_laboratory() -> None:
    """A server and its clients start often; all of the laboratory takes a second to load."""
    modules = ", ".join(f"drivelab.commands.{name}" for name in ("served", "images", "fault"))
    heavy = "{'numpy', 'scipy', 'pydantic', 'duckdb', 'vl_convert'}"
    code = f"import sys, drivelab.cli, {modules}; print({heavy} & {{*sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.stdout == "set()\n", loaded.stderr


def test_published_figures_are_read_by_who_needs_them() -> None:
    code = "import drivelab.plugins; from drivelab.figures.published import published"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(published.cache_info().currsize)"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "0\n", done.stderr


def test_list_and_show_print_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["list", "--json"]) == 0
    assert MODEL_NAME in [item["name"] for item in json.loads(capsys.readouterr().out)]
    assert cli.run(["show", MODEL_NAME, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["user_capacity_bytes"] == 80026361856
    assert all({"key", "value", "unit", "source"} <= set(item) for item in found["parameters"])


def test_settings_change_the_model_and_its_hash(capsys: pytest.CaptureFixture[str]) -> None:
    hashes = set()
    for words in ([], ["--set", "ftl.victim_selection=fifo"]):
        assert cli.run(["show", MODEL_NAME, "--json", *words]) == 0
        hashes.add(json.loads(capsys.readouterr().out)["hash"])
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        # A name's end counts for nothing where it wasn't written.
        ("samsung-990-pro", ["samsung-970-pro-1tb", "samsung-980-pro-1tb"]),
        ("crucial-m5", ["crucial-m4-256gb"]),
        ("hpothetical", ["hypothetical"]),
        # The beginning is missing, or both.
        ("sn770", ["wd-black-sn770-1tb"]),
        ("X25_E", ["intel-x25-e-32gb", "intel-x25-e-64gb"]),
        # The whole name is the nearest.
        ("intel-x25-m-g1-160gb", ["intel-x25-m-g2-160gb"]),
        ("zzz", []),
        ("", []),
    ],
)
def test_who_mistypes_a_drive_is_told_the_nearest(word: str, meant: list[str]) -> None:
    said = nearest(word, model_layers.known_names())
    assert re.findall('"(.*?)"', said) == meant


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "intel-x25m-g1-80gb"], f'did you mean "{MODEL_NAME}"'),
        (["show", "intel-x25m"], f'did you mean "{MODEL_NAME}", "intel-x25-m-g2-80gb" or'),
        # A letter is wrong, and the end is missing.
        (["show", "intel-x25-m-g9"], f'did you mean "{MODEL_NAME}", "intel-x25-m-g2-80gb" or'),
        (["show", f"{MODEL_NAME}@8610"], "no firmware variants"),
        (["show", "nowhere/model.toml"], "there is no such file"),
        (["show", "/tmp"], 'model "/tmp": is a folder; give the name of a file'),
        (["show", "/dev/null"], 'model "/dev/null": is not a file'),
        (["runs", "/dev/null"], 'FILE "/dev/null": is not a file'),
        (
            ["show", MODEL_NAME, "--set", "flash.channel_count=0"],
            f"drivelab: set for {MODEL_NAME}: flash.channel_count = 0: must be a whole number",
        ),
        (
            ["show", "intel-x25-v-40gb-raid0-x2", "--set", "member.flash.channel_count=0"],
            "drivelab: set for intel-x25-v-40gb: flash.channel_count = 0: must be a whole number",
        ),
        (["show", MODEL_NAME, "--set", "spare"], "expected KEY=VALUE"),
        (
            ["show", MODEL_NAME, "--set", "spare_ratio=0.1", "--set", "user_capacity_bytes=7e10"],
            "--set spare_ratio=0.1 and --set user_capacity_bytes=7e10: give one of them",
        ),
        (
            ["example", "--set", "flash.read_ns=1", "--set", "flash.read_ns=2"],
            "--set flash.read_ns=1 and --set flash.read_ns=2: give one of them",
        ),
        (["show", MODEL_NAME, "--set", "ftl.victim_selecton=fifo"], "ftl.victim_selection"),
        (["show", MODEL_NAME, "--set", "ftl.victim_selection=fifp"], "fifp"),
        (["show", MODEL_NAME, "--set", "flash.dies_per_channel=0"], "flash.dies_per_channel"),
        (
            ["show", MODEL_NAME, "--set", "user_capacity_bytes=99999999999999"],
            "user_capacity_bytes",
        ),
        (["show"], "MODEL"),
        (["shw"], "shw"),
        (["review", MODEL_NAME, "--tests", "acces-time"], 'did you mean "access-time"'),
        (["review", "hypothetical"], "20480 bytes are too small for a review"),
        (["review", MODEL_NAME, MODEL_NAME], "asked for twice"),
        (["run", "a.fio", "--drive", "a", "--drive", "b"], "--drive is given more than once"),
        (
            ["export", "a", "--json"],
            "option '--json' requires an argument; see drivelab export --help",
        ),
        (
            ["show", "hypothetical", "--scale", "1/2", "--set", "scale_divisor=4"],
            "--scale 1/2 and --set scale_divisor=4: give one of them",
        ),
        (["review", MODEL_NAME, "--workers", "0"], "--workers"),
        (["review", MODEL_NAME, "--out", "/proc/nowhere"], '--out "/proc/nowhere"'),
        (["run", "nowhere.fio", "--drive", MODEL_NAME], "nowhere.fio"),
        (["run", "nowhere.fio"], "--drive"),
        (["replay", "nowhere.trace", "--drive", MODEL_NAME], "nowhere.trace"),
        (["run", "x.fio", "--drive", MODEL_NAME, "--data", "zeroes"], '--data "zeroes"'),
        (["replay", "x", "--drive", MODEL_NAME, "--data", "zeros:1"], "stands alone"),
        (["figures", "--drive", "hypothetical"], "no published figure"),
        (["figures", "--results", "nowhere.json"], "nowhere.json"),
    ],
)
def test_wrong_requests_end_with_2_and_a_message(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err


def test_a_model_of_ones_own_is_a_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from drivelab.model_layers import models_folder

    own = tmp_path / "own.toml"
    text = (models_folder() / "hypothetical.toml").read_text(encoding="utf-8")
    own.write_text(text.replace('"hypothetical"', '"own"'), encoding="utf-8")
    assert cli.run(["show", str(own), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "own"
    own.write_text(text.replace("pages_per_block", "pages_per_blok"), encoding="utf-8")
    assert cli.run(["show", str(own)]) == 2
    assert "pages_per_blok" in capsys.readouterr().err


def test_a_refused_review_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.run(["review", MODEL_NAME, "--tests", "nothing", "--out", str(out)]) == 2
    assert not out.exists()


def test_a_reader_that_leaves_ends_the_command_quietly() -> None:
    command = subprocess.Popen(
        [*PROGRAM, "show", MODEL_NAME], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None
    command.stdout.close()
    assert command.stderr is not None
    complaint = command.stderr.read()
    command.stderr.close()
    assert command.wait(300) == cli.PIPE_CLOSED
    assert complaint == b""


def test_ctrl_c_ends_a_review_soon_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    started = "from drivelab.cli import main; print('started', flush=True); main()"
    command = subprocess.Popen(
        [sys.executable, "-c", started, "review", MODEL_NAME, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert command.stdout is not None
    assert command.stdout.readline() == "started\n"
    time.sleep(2)
    command.send_signal(signal.SIGINT)
    _, complaint = command.communicate(timeout=300)
    assert command.returncode == cli.INTERRUPTED
    assert complaint.strip() == "drivelab: interrupted"
    assert not out.exists()


def test_show_says_what_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["show", "intel-x25-m-g1-80gb"]) == 0
    line = next(
        line for line in capsys.readouterr().out.splitlines() if "flash.channel_count" in line
    )
    assert "1 to 1024" in line


def test_a_base_is_no_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["show", "intel-x25-m-g1-80gb", "--set", "base=x"]) == 2
    assert "base can't be changed" in capsys.readouterr().err


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "drivelab"]
    found = subprocess.run([*command, "show", "nothing"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("drivelab: ")
    printed = subprocess.run([*command, "list"], capture_output=True, text=True, check=True).stdout
    assert "intel-x25-m-g1-80gb" in printed
