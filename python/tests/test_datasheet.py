"""What `show` says of a drive by arithmetic, held against the engine and against round numbers."""

from __future__ import annotations

import json

import pytest

import drivelab as dl
from drivelab import cli, datasheet, model

SCALE = "1/64"
DRIVES = (
    "intel-x25-m-g1-80gb",
    "corsair-nova-128gb",
    "crucial-m4-256gb",
    "corsair-force-gs-240gb",
    "micron-7450-pro-960gb",
    "crucial-t500-2tb",
    "intel-660p-1tb",
)


def values(name: str) -> dict[str, float]:
    return {fact.key: fact.value for fact in datasheet.facts(model.load(name))}


@pytest.mark.parametrize("name", DRIVES)
def test_no_drive_is_faster_than_its_limits(name: str) -> None:
    limits = values(name)
    drive = dl.Drive(name, scale=SCALE)
    buffer_bytes = int(drive.model.value("write_buffer.size_bytes") or 0)
    size = max(1 << 26, drive.capacity_bytes // 50, 16 * buffer_bytes) >> 20 << 20
    job = dl.Job(rw="write", bs="512k", iodepth=8, size=size)
    written = drive.run(job, keep=True, progress=False)
    mb_per_s = written.summary["mib_per_s"][0] * (1 << 20) / 1e6
    program = limits.get("slc_program_mb_per_s", limits["native_program_mb_per_s"])
    ways = ("bus_mb_per_s", "write_path_mb_per_s", "link_mb_per_s")
    least = min(program, *(limits[key] for key in ways if key in limits))
    # What is in the buffer at the end was written without having been programmed.
    assert mb_per_s <= least / (1 - buffer_bytes / size) * 1.01
    if least == program and name not in ("crucial-m4-256gb", "intel-x25-m-g1-80gb"):
        # Firmware limits those two.
        assert mb_per_s > 0.8 * least
    reads = [limits[key] for key in limits if key.endswith("_4k_us")]
    if not reads:
        assert drive.model.family == "compressed-map"
        return
    rested = written.drive.idle("1h")
    job = dl.Job(rw="randread", bs="4k", size=size, io_size="20m", norandommap=True)
    found = rested.run(job, progress=False).summary["latency_mean_us"][0]
    assert min(reads) * 0.999 < found < max(reads) * 1.001


def test_the_limits_of_a_drive_are_what_its_parts_multiply_to() -> None:
    found = values("crucial-t500-2tb")
    # 16 dies; a word line of three pages of six planes, 2400 MB/s and an eighth more of out-of-band
    # bytes on the bus, 300 ns for the command, then 2 ms.
    word_line, page = 3 * 6 * 16384, 6 * 16384
    native_s = word_line * 1.125 / 2.4e9 + 2.0003e-3
    assert found["native_die_mb_per_s"] == pytest.approx(word_line / native_s / 1e6)
    assert found["native_program_mb_per_s"] == pytest.approx(16 * word_line / native_s / 1e6)
    slc_s = page * 1.125 / 2.4e9 + 345.3e-6
    assert found["slc_program_mb_per_s"] == pytest.approx(16 * page / slc_s / 1e6)
    assert found["bus_mb_per_s"] == pytest.approx(4 * 2400 / 1.125)
    assert found["link_mb_per_s"] == pytest.approx(7100)
    assert found["firmware_read_iops"] == pytest.approx(1e9 / 870)
    assert found["slc_cache_gb"] == pytest.approx(730.0, abs=0.1)


def test_what_takes_no_time_is_said_to_be_no_limit() -> None:
    rates = [("link.bytes_per_s", "0"), ("flash.bus_bytes_per_s", "0")]
    name = "intel-x25-m-g1-80gb"
    # Its frames of 8 KiB take time still: 2.2 us each.
    found = {fact.key: fact for fact in datasheet.facts(model.load(name, rates))}
    assert found["link_mb_per_s"].value == pytest.approx(8192 / 2.2)
    rates.append(("link.frame_overhead_ns", "0"))
    found = {fact.key: fact for fact in datasheet.facts(model.load(name, rates))}
    for key, rate in (("link_mb_per_s", rates[0]), ("bus_mb_per_s", rates[1])):
        assert (found[key].value, found[key].text) == (None, "no limit")
        assert found[key].why.startswith(f"{rate[0]} = 0: ")


def test_every_model_has_facts_or_is_no_flash_drive() -> None:
    for item in model.load_all():
        found = datasheet.facts(item)
        assert bool(found) != (item.family in ("hard-disk", "raid-0")), item.name
        assert all(fact.value is None or fact.value > 0 for fact in found), item.name
        assert all(fact.title and fact.why for fact in found), item.name
        assert len({fact.key for fact in found}) == len(found), item.name


def test_every_kind_of_page_has_its_line() -> None:
    """Four of QLC, three of TLC; a cache's own beside them."""
    known = {
        name: {key for key in values(name) if key.endswith("_4k_us")}
        for name in ("intel-660p-1tb", "micron-7450-pro-960gb", "intel-x25-m-g1-80gb")
    }
    lines = {name: {key.removesuffix("_4k_us") for key in found} for name, found in known.items()}
    native = {"read", "read_middle", "read_upper"}
    assert lines["intel-660p-1tb"] == {*native, "read_top", "slc_read"}
    assert lines["micron-7450-pro-960gb"] == native
    assert lines["intel-x25-m-g1-80gb"] == {"read"}
    assert values("corsair-force-gs-240gb")["parity_percent"] == 100 / 32


def test_show_tells_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["show", "crucial-t500-2tb"]) == 0
    told = capsys.readouterr().out
    assert "Programs of all dies, SLC mode" in told
    assert "4019 MB/s" in told
    assert cli.run(["show", "crucial-t500-2tb", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert {"key", "title", "value", "unit", "why"} == set(record["datasheet"][0])
    assert record["datasheet_absence"] is None


@pytest.mark.parametrize(
    ("name", "why"),
    [("wd-velociraptor-300gb", "a hard disk"), ("ocz-apex-60gb", "an array")],
)
def test_a_drive_without_one_says_why(
    name: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["show", name]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "by arithmetic" in line]
    assert len(told) == 1
    assert told[0].startswith(f"No limits by arithmetic: {why} has no flash")
    assert len(told[0]) <= 80
    assert cli.run(["show", name, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["datasheet"] is None
    assert why in record["datasheet_absence"]


def test_parity_takes_its_share() -> None:
    plain = values("samsung-pm9a3-960gb")
    one_in = 16
    changed = model.load("samsung-pm9a3-960gb", [("ftl.parity_stripe_pages", str(one_in))])
    found = {fact.key: fact.value for fact in datasheet.facts(changed)}
    assert found["parity_percent"] == 100 / one_in
    assert found["native_program_mb_per_s"] == plain["native_program_mb_per_s"]
    # Less spare area, and a program in so many is parity.
    assert found["fifo_write_amplification"] > plain["fifo_write_amplification"] / (1 - 1 / one_in)
