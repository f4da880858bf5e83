"""The queue of measurements, as programs meet it: bounded, told of, and gone with the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web import laboratory, wire
from web.conftest import Server, start
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from drivelab import database, procedures
from drivelab.errors import RequestError, WorkError
from drivelab.web import order as orders
from drivelab.web import work
from drivelab.web.jobs import Job, Jobs

QUICK = {"models": ["intel-x25-v-40gb"], "tests": ["power-idle"], "quick": True, "scale": 64}
LONG = {"models": QUICK["models"], "quick": False}
"""Minutes: it is never done before a test ends it."""
PATIENCE_S = 300


def post(server: Server, order: dict[str, Any]) -> wire.Answer:
    return wire.ask(server, "/api/jobs", "POST", json.dumps(order).encode())


@contextlib.contextmanager
def following(server: Server) -> Iterator[ClientConnection]:
    with connect(
        f"ws://127.0.0.1:{server.port}/socket/jobs",
        origin=server.origin,  # type: ignore[arg-type]
        subprotocols=["drivelab", f"token.{server.token}"],  # type: ignore[list-item]
        compression=None,
        open_timeout=PATIENCE_S,
    ) as line:
        yield line


def test_a_job_is_followed_to_its_run(server: Server, tmp_path: Path) -> None:
    with following(server) as line:
        assert json.loads(line.recv(PATIENCE_S)) == []
        asked = post(server, QUICK)
        assert asked.status == 202
        assert asked.json["command_line"].endswith("--quick --seed 1")
        seen = []
        while not seen or seen[-1]["state"] in ("waiting", "running"):
            seen += json.loads(line.recv(PATIENCE_S))
    assert seen[-1]["state"] == "done"
    [file] = tmp_path.rglob("results.duckdb")
    run = database.read(file, seen[-1]["run"], "FILE")
    assert run.document["drivelab"]["command_line"] == seen[-1]["command_line"]


def test_the_queue_takes_so_many_and_no_more(server: Server) -> None:
    answers = [post(server, LONG | {"seed": seed}) for seed in range(36)]
    statuses = [answer.status for answer in answers]
    assert statuses[:32] == [202] * 32
    assert statuses[-1] == 429
    assert "allowed: 32" in answers[-1].json["error"]
    for job in wire.ask(server, "/api/jobs").json:
        assert wire.ask(server, f"/api/jobs/{job['id']}", "DELETE").json["state"] == "cancelled"
    assert wire.ask(server, "/api/jobs/999", "DELETE").status == 404


def test_orders_that_belong_together_are_queued_all_or_none(server: Server) -> None:
    def together(*orders: dict[str, Any]) -> wire.Answer:
        return wire.ask(server, "/api/jobs/together", "POST", json.dumps(orders).encode())

    for wrong in ((), (LONG, LONG | {"models": ["nothing"]}), (LONG,) * 17, (LONG, {})):
        assert together(*wrong).status == 400
    assert wire.ask(server, "/api/jobs").json == []
    seeds = [job["order"]["seed"] for job in together(LONG, LONG | {"seed": 2}).json]
    assert seeds == [1, 2]
    for seed in range(3, 33):
        assert post(server, LONG | {"seed": seed}).status == 202
    # The first is at work, and 31 wait: for two there is no room, for one there is.
    assert together(LONG, LONG).status == 429
    assert together(LONG).status == 202
    assert len(wire.ask(server, "/api/jobs").json) == 33


def test_what_was_cancelled_or_left_alone_leaves_no_process_and_no_run(tmp_path: Path) -> None:
    server = start(tmp_path)
    post(server, LONG)
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    end = time.monotonic() + PATIENCE_S
    while not children.read_text() and time.monotonic() < end:
        time.sleep(0.1)
    [worker] = [Path("/proc") / pid for pid in children.read_text().split()]
    # Killed as a machine kills: nothing of the server runs any more.
    server.process.kill()
    server.stop()
    while worker.exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not worker.exists()
    assert list(tmp_path.rglob("results.duckdb")) == []


WORKER = """#!/bin/sh
read order
case "$order" in
  *'"seed": 1'*) echo 'no json' ;;
  *'"seed": 2'*) head -c 200000 /dev/zero | tr '\\0' x; echo ;;
  *) echo '{"runs": [7]}' ;;
esac
"""


@pytest.mark.parametrize("worker", [WORKER, None], ids=["says nonsense", "can't be started"])
def test_a_worker_that_fails_leaves_the_queue_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: str | None
) -> None:
    program = tmp_path / "worker"
    if worker is not None:
        program.write_text(worker)
        program.chmod(0o755)
    monkeypatch.setattr("drivelab.web.jobs.sys.executable", str(program))

    async def queued() -> list[dict[str, Any]]:
        jobs = Jobs(tmp_path / "lab.duckdb")
        for seed in (1, 2, 3):
            await jobs.add(orders.checked(QUICK | {"seed": seed}))
        async for records in jobs.changes():
            if all(job["state"] not in ("waiting", "running") for job in records):
                return records
        raise AssertionError

    found = laboratory.done(asyncio.wait_for(queued(), PATIENCE_S))
    states = ["failed", "failed", "failed" if worker is None else "done"]
    assert [job["state"] for job in found] == states
    assert all(job["error"] or job["run"] == 7 for job in found)


def test_what_a_review_measured_beside_a_test_that_fails_is_kept_and_the_page_told_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise WorkError("no meter")

    broken = procedures.PROCEDURES["power-states"]
    monkeypatch.setattr(type(broken), "measure", fails)
    order = orders.checked(QUICK | {"tests": ["power-idle", broken.id], "states": ["new"]})
    told = work.measure(order, tmp_path / "lab.duckdb", lambda *_: None)
    [run] = told["runs"]
    kept = database.read(tmp_path / "lab.duckdb", run, "FILE").document
    assert [test["id"] for test in kept["tests"]] == ["power-idle"]
    assert told["error"].startswith("intel-x25-v-40gb: failed in new: ")
    assert broken.id in told["error"]
    assert "no meter" in told["error"]

    many = work.told([f"drive: failed in new: test {number}" for number in range(11)])
    assert many.count("failed") == work.SENTENCES_MAX
    assert many.endswith("; and 3 more")

    job = Job(1, order)
    Jobs._hear(job, told)
    assert (job.record()["run"], job.record()["error"]) == (run, told["error"])


def test_a_change_while_a_page_takes_the_last_is_told(tmp_path: Path) -> None:
    async def told() -> list[str]:
        jobs = Jobs(tmp_path / "lab.duckdb")
        jobs._task = asyncio.create_task(asyncio.sleep(PATIENCE_S))  # Nothing is measured here.
        changes = jobs.changes()
        await anext(changes)
        [job] = await jobs.add(orders.checked(QUICK))
        await jobs.cancel(job["id"])
        found = await asyncio.wait_for(anext(changes), PATIENCE_S)
        await jobs.close()
        return [job["state"] for job in found]

    assert laboratory.done(told()) == ["cancelled"]


def test_numbers_of_jobs_are_those_of_one_server(tmp_path: Path) -> None:
    """A page that stays open over a new start tells jobs apart by them."""

    async def number() -> int:
        jobs = Jobs(tmp_path / "lab.duckdb")
        jobs._task = asyncio.create_task(asyncio.sleep(PATIENCE_S))
        [record] = await jobs.add(orders.checked(QUICK))
        await jobs.close()
        return int(record["id"])

    assert len({laboratory.done(number()) for _ in range(3)}) == 3


def test_a_drive_that_takes_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drivelab.schedule.usual_memory_bytes", lambda: 2**31)
    orders.plan(orders.checked(QUICK | {"scale": 1}))
    order = QUICK | {"scale": 1, "settings": ["flash.blocks_per_plane=65536"]}
    with pytest.raises(RequestError, match=r"of memory; allowed: \d"):
        orders.plan(orders.checked(order))


MESSAGES = (
    "x" * 70_000,
    b"\x00" * 70_000,
    "",
    "null",
    "{",
    "[" * 10_000,
    b"\xff" * 100,
    '{"id": 1, "cancel": true}',
    "<script>",
    "\u0000",
)


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_whatever_a_page_sends_the_server_goes_on(server: Server, message: str | bytes) -> None:
    with contextlib.suppress(ConnectionClosed), following(server) as line:
        line.recv(PATIENCE_S)
        for _ in range(20):
            line.send(message)
    assert wire.ask(server, "/api/jobs").json == []


def test_a_remaining_time_runs_backwards_only_where_the_work_takes_longer() -> None:
    class Watch:
        now_s = 0.0

        def seconds(self) -> float:
            return self.now_s

    watch: Any = Watch()
    order = orders.checked({"models": [laboratory.DRIVES[0]], "quick": True})
    job = Job(1, order, state="running", watch=watch)

    def left_s(now_s: float, share: float) -> float:
        watch.now_s, job.share = now_s, share
        told: float = job.record()["left_s"]
        return told

    assert left_s(10, 0.1) == 90
    # A slower part: by its share there would be 93 s, 97 s.
    assert left_s(12, 0.114) == 88
    assert left_s(15, 0.134) == 85
    # A faster one counts at once.
    assert left_s(20, 0.25) == 60
    # More than a quarter more is news.
    assert left_s(40, 0.3) == pytest.approx(93.3, abs=0.1)
    # Late, but nearly done: never nothing, and never less than that.
    assert left_s(136, 0.99) == 1.0
