"""History, as its readers use it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import pytest
from playwright.sync_api import Page, expect
from web import laboratory, wire
from web.conftest import Server, fits, serious, serving, start
from web.test_compare import opened

from drivelab import _engine, cli, database
from drivelab.database import history
from drivelab.errors import RequestError
from drivelab.web.library import Library


@pytest.fixture
def two_runs(lab: Server, tmp_path: Path) -> Server:
    """A second run, of another drive, beside the first."""
    laboratory.record(tmp_path / "lab.duckdb", ["intel-x25-v-40gb"], ["power-idle"], states=["new"])
    return lab


def test_runs_are_filtered_tagged_and_found_by_their_tag(two_runs: Server, page: Page) -> None:
    opened(page, two_runs, "/history")
    rows = page.locator("tr[data-run]")
    expect(rows).to_have_count(2)
    field = page.get_by_label("Tag run 2")
    field.fill("before the fix")
    field.press("Enter")
    expect(page.get_by_role("button", name="Take before the fix off run 2")).to_be_visible()
    page.reload()
    page.get_by_role("searchbox").fill("before fix")
    expect(rows.locator("visible=true")).to_have_count(1)
    expect(page).to_have_url(re.compile("filter=before"))
    page.get_by_role("button", name="Take before the fix off run 2").click()
    expect(page.get_by_text("before the fix", exact=True)).to_have_count(0)


def test_a_test_is_chosen_at_once(standing_lab: Server, page: Page) -> None:
    opened(page, standing_lab, "/history")
    test = page.get_by_label("Test and state")
    wanted = "random-write-4k-qd3-aligned\nused"
    expect(test).not_to_have_value(wanted)
    test.select_option(wanted)
    expect(page).to_have_url(re.compile("random-write-4k-qd3-aligned"))
    expect(test).to_have_value(wanted)
    expect(page.locator(".course figcaption, .course h3").first).to_contain_text(
        "random-write-4k-qd3-aligned, used"
    )


def test_a_number_is_drawn_over_the_runs(two_runs: Server, page: Page, tmp_path: Path) -> None:
    opened(page, two_runs, "/history")
    page.get_by_label("Drive", exact=True).select_option(laboratory.DRIVES[0])
    page.get_by_label("Test and state").select_option("random-read-4k-qd32-aligned\nused")
    file = tmp_path / "lab.duckdb"
    names = (laboratory.DRIVES[0], "random-read-4k-qd32-aligned", "used", "mib_per_s")
    [row] = history.over_runs(file, *names, "FILE")
    canvas = page.locator(".course canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile(f"mean {row['value']:.3g}"))
    page.reload()
    expect(canvas).to_have_attribute("aria-label", re.compile(f"mean {row['value']:.3g}"))


def test_a_test_of_many_numbers_has_its_own(lab: Server, page: Page, tmp_path: Path) -> None:
    """Throughput, which it hasn't, would show nothing."""
    laboratory.record(tmp_path / "lab.duckdb", tests=["fill"], states=["new"])
    opened(page, lab, "/history")
    numbers = page.get_by_label("Number", exact=True)
    page.get_by_label("Test and state").select_option("fill\nnew")
    options = numbers.locator("option").all_text_contents()
    assert "Mean speed of the fill, MB/s" in options
    assert "Write amplification" in options
    assert "Throughput, MiB/s" not in options
    numbers.select_option("Mean speed of the fill, MB/s")
    names = (laboratory.DRIVES[0], "fill", "new", "value:mean_mb_per_s")
    [row] = history.over_runs(tmp_path / "lab.duckdb", *names, "FILE")
    canvas = page.locator(".course canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile(f"mean {row['value']:.3g}"))
    page.reload()
    expect(numbers).to_have_value("value:mean_mb_per_s")
    page.get_by_label("Test and state").select_option("random-read-4k-qd32-aligned\nused")
    expect(numbers).to_have_value("mib_per_s")


def test_what_an_address_asks_for_and_no_run_has_is_said(standing_lab: Server, page: Page) -> None:
    query = urlencode({"model": "intel-x25", "test": "x\nused", "number": "iops"})
    opened(page, standing_lab, f"/history?{query}")
    alerts = page.get_by_role("alert")
    expect(alerts).to_contain_text(
        ['model "intel-x25": no run here has it', 'test "x, used": no run here has it']
    )
    page.get_by_label("Drive", exact=True).select_option(laboratory.DRIVES[1])
    expect(alerts).to_have_count(0)


def test_a_report_opens_where_it_can_do_nothing_here(two_runs: Server, page: Page) -> None:
    opened(page, two_runs, "/history")
    with page.context.expect_page() as opening:
        page.get_by_role("button", name="Report of run 1").click()
    report = opening.value
    expect(report.get_by_role("heading", name="Findings")).to_be_visible()
    # Its scripts run: what they draw is there; but the token is out of their reach.
    report.get_by_role("link", name="Over time", exact=True).first.click()
    expect(report.locator("figure svg, figure canvas").first).to_be_visible()
    assert report.evaluate("origin") == "null"
    with pytest.raises(Exception, match=r"SecurityError|denied|sandboxed"):
        report.evaluate("localStorage.getItem('drivelab.token')")
    report.close()


def test_chosen_runs_are_compared(standing_lab: Server, page: Page) -> None:
    opened(page, standing_lab, "/history")
    page.get_by_label("Choose run 1").check()
    page.get_by_role("button", name="Compare the chosen").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page.locator(".chip")).to_contain_text(["run 1"] * len(laboratory.DRIVES))


def test_none_and_too_many_are_not_compared_and_why_is_seen(
    lab: Server, page: Page, tmp_path: Path
) -> None:
    for _ in range(2):
        laboratory.record(tmp_path / "lab.duckdb", tests=["power-idle"], states=["new"])
    opened(page, lab, "/history")
    button = page.get_by_role("button", name="Compare the chosen")
    button.click()
    told = page.locator(".filters output")
    expect(told).to_have_text("Choose runs first")
    for run in (1, 2, 3):
        page.get_by_label(f"Choose run {run}").check()
    button.click()
    expect(told).to_have_text("9 drives in the chosen runs; 6 at most are compared")
    page.get_by_label("Choose run 3").uncheck()
    button.click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page.locator(".chip")).to_have_count(6)


def test_axe_and_widths(two_runs: Server, page: Page) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        opened(page, two_runs, f"/history?model={laboratory.DRIVES[0]}")
        expect(page.locator(".course canvas")).to_be_visible()
        assert serious(page) == []
    for width in (360, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        fits(page, width)


TAGS = (
    *("x", {}, [1], [""], ["x" * 41], ["a\nb"], [f"t{i}" for i in range(21)]),
    *(None, [[]], ["\x00"], ["\ud800"]),
)


@pytest.mark.parametrize("tags", TAGS, ids=range(len(TAGS)))
def test_tags_are_short_words(standing_lab: Server, tags: object) -> None:
    found = wire.ask(standing_lab, "/api/history/1/tags", "POST", json.dumps(tags).encode())
    assert found.status == 400
    assert "tag" in found.json["error"]


@pytest.mark.parametrize("content", [None, b""])
def test_without_a_run_nothing_is_tagged_and_no_file_is_made(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "none.duckdb"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RequestError):
        history.tag(file, 1, ["a"], "FILE")
    assert (file.read_bytes() if file.exists() else None) == content
    server = start(tmp_path, tmp_path / "new.duckdb")
    assert wire.ask(server, "/api/history/1/tags", "POST", b'["a"]').status == 400
    assert wire.ask(server, "/api/history").json["runs"] == []
    server.stop()
    assert not (tmp_path / "new.duckdb").exists()


def test_tags_are_kept_beside_the_runs(measured: Path, tmp_path: Path) -> None:
    file = tmp_path / "lab.duckdb"
    file.write_bytes(measured.read_bytes())
    before = database.read(file, 1, "FILE")
    history.tag(file, 1, ["b", "a", "a "], "FILE")
    assert history.tags(file, "FILE") == {1: ["a", "b"]}
    history.tag(file, 1, [], "FILE")
    assert history.tags(file, "FILE") == {}
    assert database.read(file, 1, "FILE") == before
    with pytest.raises(RequestError, match="no run 7"):
        history.tag(file, 7, ["a"], "FILE")
    with pytest.raises(RequestError, match="allowed: mib_per_s"):
        history.over_runs(file, "a", "b", "c", "1; DROP TABLE runs", "FILE")


def test_what_is_of_another_kind_is_another_line(lab: Server, page: Page, tmp_path: Path) -> None:
    """A run over the first bytes, and the writes of a run that read as well."""
    file = tmp_path / "lab.duckdb"
    name, test = laboratory.DRIVES[0], "random-read-4k-qd32-aligned"
    laboratory.record(file, [name], [test], states=["used"], span_bytes=2**28)
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "INSERT INTO measurements SELECT * REPLACE ('write' AS direction) FROM measurements"
            f" WHERE run_id = 1 AND model = '{name}' AND test = '{test}' AND state = 'used'"
        )
    found = history.over_runs(file, name, test, "used", "mib_per_s", "FILE")
    kinds = [(row["run_id"], row["direction"], row["span_bytes"]) for row in found]
    assert sorted(kinds, key=str) == [(1, "read", None), (1, "write", None), (2, "read", 2**28)]
    assert len(history.over_runs(file, name, test, "used", "energy_j", "FILE")) == 2
    query = urlencode({"model": name, "test": f"{test}\nused", "number": "mib_per_s"})
    opened(page, lab, f"/history?{query}")
    page.get_by_text("As a table").click()
    cells = page.locator(".course table td:nth-child(2)")
    expect(cells).to_have_count(3)
    ends = [text.partition(", quick, ")[2] for text in cells.all_inner_texts()]
    assert sorted(ends) == ["read", "read, first 256\u00a0MiB", "write"]


def test_runs_that_were_made_otherwise_are_lines_of_their_own(
    lab: Server, page: Page, tmp_path: Path
) -> None:
    """A variation, another scale, whole tests, other files of one name, and a second engine."""
    file = tmp_path / "lab.duckdb"
    name, test = laboratory.DRIVES[0], "random-read-4k-qd32-aligned"
    chosen = {"names": [name], "tests": [test], "states": ["used"]}
    laboratory.record(file, **chosen, settings=["spare_ratio=0.28"])
    laboratory.record(file, **chosen, scale=128)
    laboratory.record(file, **chosen, quick=False)
    for _ in range(3):
        laboratory.record(file, **chosen)
    with duckdb.connect(str(file)) as connection:
        connection.execute("UPDATE models SET hash = 'f' || hash[2:] WHERE run_id = 6")
        connection.execute("UPDATE runs SET engine_version = '9.9.9' WHERE run_id = 7")
    found = history.over_runs(file, name, test, "used", "mib_per_s", "FILE")
    assert [row["settings"] for row in found[:2]] == [[], ["spare_ratio=0.28"]]
    assert [row["scale"] for row in found[:3]] == [64, 64, 128]
    assert [item.runs for item in Library(file).holdings() if item.changed] == [(2,)]
    query = urlencode({"model": name, "test": f"{test}\nused", "number": "mib_per_s"})
    opened(page, lab, f"/history?{query}")
    page.get_by_text("As a table").click()
    own = f"engine {found[0]['engine_version']}"
    kept = f"{own}, 1/64, quick, parameters {found[0]['hash'][:8]}, read"
    lines = [
        kept,
        f"{own}, 1/64, spare_ratio=0.28, quick, read",
        f"{own}, 1/128, quick, read",
        f"{own}, 1/64, read",
        kept,
        f"{own}, 1/64, quick, parameters f{found[0]['hash'][1:8]}, read",
        "engine 9.9.9, 1/64, quick, read",
    ]
    expect(page.locator(".course table td:nth-child(2)")).to_have_text(lines)
    # What is drawn are those lines, each with a name of its own.
    expect(page.locator(".course .plot")).to_contain_text("spare_ratio=0.28")
    told = re.compile(f"^([^;]*mean [^;]*(;|$)){{{len(set(lines))}}}$")
    expect(page.locator(".course canvas")).to_have_attribute("aria-label", told)


SMALL = ["--drive", "intel-x25-v-40gb", "--scale", "1/128"]
JOBS = """
[randwrite]
rw=randwrite
bs={bs}
io_size=1m
[reads]
rw=randread
bs=4k
io_size=1m
"""


@pytest.fixture
def unlike_jobs(tmp_path: Path) -> Path:
    """A database of a job file that was changed and run again, and of a trace replayed twice."""
    file, job, trace = (tmp_path / name for name in ("jobs.duckdb", "j.fio", "trace.csv"))
    recorded = ["--database", str(file), *SMALL]
    for bs, data in (("4k", "random"), ("64k", "random"), ("4k", "zeros"), ("4k", "random")):
        job.write_text(JOBS.format(bs=bs), encoding="utf-8")
        assert cli.run(["run", str(job), *recorded, "--data", data]) == 0
    trace.write_text("1000 0 0 8 0\n2000 0 8 8 0\n", encoding="utf-8")
    for words in ([], ["--pacing", "closed", "--queue-depth", "2"], ["--seed", "2"]):
        assert cli.run(["replay", str(trace), "--format", "mqsim", *recorded, *words]) == 0
    return file


def test_options_of_jobs_and_replays_are_told_with_their_numbers(unlike_jobs: Path) -> None:
    names = ("intel-x25-v-40gb", "randwrite reads", "new")
    found = history.over_runs(unlike_jobs, *names, "iops", "FILE")
    options = [row["options"] for row in found if row["job"] == "randwrite"]
    assert [(own["bs"], own["data"]) for own in options] == [
        *(("4k", "random"), ("64k", "random"), ("4k", "zeros"), ("4k", "random")),
    ]
    assert {row["options"]["bs"] for row in found if row["job"] == "reads"} == {"4k"}
    # A number of all jobs has the options of all.
    whole = history.over_runs(unlike_jobs, *names, "energy_j", "FILE")
    assert [row["options"]["randwrite: bs"] for row in whole] == ["4k", "64k", "4k", "4k"]
    assert {row["options"]["reads: bs"] for row in whole} == {"4k"}
    replays = history.over_runs(unlike_jobs, names[0], "trace.csv", "new", "iops", "FILE")
    assert [row["options"]["pacing"] for row in replays] == ["arrival", "closed", "arrival"]
    assert replays[0]["options"] == replays[2]["options"]


def test_unlike_jobs_of_one_name_are_lines_of_their_own(
    unlike_jobs: Path, tmp_path: Path, page: Page
) -> None:
    with serving(tmp_path, unlike_jobs) as server:
        cells = page.locator(".course table td:nth-child(2)")
        choice = {"model": "intel-x25-v-40gb", "number": "iops"}
        query = urlencode(choice | {"test": "randwrite reads\nnew"})
        opened(page, server, f"/history?{query}")
        page.get_by_text("As a table").click()
        made = f"engine {_engine.engine_version()}, 1/128"
        four, sixty_four = f"{made}, randwrite, bs=4k", f"{made}, randwrite, bs=64k"
        reads = f"{made}, reads, data="
        expect(cells).to_have_text(
            [
                *(f"{four}, data=random, write", f"{reads}random, read"),
                *(f"{sixty_four}, data=random, write", f"{reads}random, read"),
                *(f"{four}, data=zeros, write", f"{reads}zeros, read"),
                *(f"{four}, data=random, write", f"{reads}random, read"),
            ]
        )
        canvas = page.locator(".course canvas")
        expect(canvas).to_have_attribute("aria-label", re.compile("(mean .*){5}"))
        query = urlencode(choice | {"test": "trace.csv\nnew"})
        opened(page, server, f"/history?{query}")
        page.get_by_text("As a table").click()
        expect(cells).to_have_text(
            [
                *(f"{made}, pacing=arrival, write", f"{made}, pacing=closed, queue_depth=2, write"),
                f"{made}, pacing=arrival, write",
            ]
        )
        page.goto("about:blank")


def test_tables_before_layout_6_lack_the_span() -> None:
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE runs (run_id INTEGER)")
        assert database.span_sql(connection) == "NULL"
        connection.execute("ALTER TABLE runs ADD COLUMN span_bytes UBIGINT")
        assert database.span_sql(connection) == "r.span_bytes"


HOSTILE = (
    "/api/history/9999999999/report",
    f"/api/history/{'1' * 5000}/report",
    f"/api/history/{'1' * 5000}/tags",
    f"/api/history/1{'0' * 40}/tags",
    "/api/history/-1/report",
    "/api/history/1%27/report",
    "/api/history/0/report",
    "/report/",
    "/report/../api/jobs",
    "/report/" + "x" * 32,
    "/report/%00",
    "/api/history/number?model=%27&test=%27&state=%27&number=mib_per_s%27",
    "/api/history/number?number=value:%27%20OR%201=1",
)


def test_addresses_of_history_are_checked(tmp_path: Path, measured: Path) -> None:
    server = start(tmp_path, measured)
    answers = [wire.ask(server, path, "POST" if "/1" in path else "GET") for path in HOSTILE]
    last = answers.pop()
    assert last.json == []
    assert {answer.status for answer in answers} <= {400, 404, 405}
    assert all("content-security-policy" in answer.headers for answer in answers)
    assert wire.ask(server, "/api/history/1/report", "POST", token="").status == 401
    server.stop()
