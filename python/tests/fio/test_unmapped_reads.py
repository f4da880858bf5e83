"""What a run says of reads that found nothing mapped."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from small import MODEL_NAME, SETS

from drivelab import cli

MAP_IN_FLASH = [
    f"--set=ftl.{change}"
    for change in (
        *("trim_supported=true", "map_cache_bytes=8192", "journal_updates_per_page=0"),
        *("checkpoint_updates=0", "checkpoint_bytes=0"),
    )
]
UNMAPPED = "of the bytes read were not mapped (never written, or trimmed): they came from the map"


def test_reads_of_nothing_name_the_jobs_that_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.fio"
    jobs = "[writer]\nrw=write\nbs=64k\nsize=1m\n[reader]\nrw=randread\nbs=4k\nsize=64m\n"
    path.write_text(f"{jobs}io_size=2m\n", encoding="utf-8")
    assert cli.run(["run", str(path), "--drive", MODEL_NAME, *SETS]) == 0
    said = " ".join(capsys.readouterr().out.split())
    [line] = re.findall(rf"(\S+: [^:;]* %) {re.escape(UNMAPPED)}", said)
    assert re.fullmatch(r"reader: (more than )?\d\d %", line)
    # What isn't all of it is not told as all of it.
    assert "100 %" not in line
    assert "writer, reader" not in said


def test_a_map_in_flash_is_read_for_reads_of_nothing_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trimmed.fio"
    trim = "[t]\nrw=randtrim\nbs=64k\nsize=512m\nio_size=1g\nnorandommap=1\n"
    read = "[r]\nstonewall\nrw=randread\nbs=4k\nsize=512m\nio_size=2m\n"
    path.write_text(trim + read, encoding="utf-8")
    words = ["run", str(path), "--drive", MODEL_NAME, *SETS, "--state", "filled"]
    in_memory = ["--set=ftl.trim_supported=true"]
    for sets, how in (
        (in_memory, " alone, without a touch of flash"),
        (MAP_IN_FLASH, " alone, and at most its own lines were read from flash for them"),
    ):
        assert cli.run([*words, *sets]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert re.search(rf"r: \d\d % {re.escape(UNMAPPED + how)}", said)
        assert cli.run([*words, *sets, "--json"]) == 0
        group = json.loads(capsys.readouterr().out)["drivelab"]["groups"][1]
        assert 0.8 < group["unmapped_read_share"] < 0.95
        assert group["map_read_bytes"] < group["flash_read_bytes"]
        assert (group["map_read_bytes"] > 0) == (sets is MAP_IN_FLASH)
