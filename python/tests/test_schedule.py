from __future__ import annotations

import threading
from typing import Any

import pytest

from drivelab import model as models
from drivelab import schedule
from drivelab.progress import Bar, Crew, TaskProgress
from drivelab.schedule import Piece, Snapshot


class Fake:
    """A drive that knows how many of it there are."""

    lock = threading.Lock()
    alive = 0
    most = 0

    def __init__(self) -> None:
        with Fake.lock:
            Fake.alive += 1
            Fake.most = max(Fake.most, Fake.alive)
        self.used = False

    def clone(self) -> Fake:
        assert not self.used
        return Fake()

    def use(self) -> None:
        assert not self.used
        self.used = True

    def drop(self) -> None:
        with Fake.lock:
            Fake.alive -= 1


def pieces_of(model: int, tests: int, log: list[str]) -> list[Piece]:
    """A state with tests, and a second state after it with as many."""

    def prepare(name: str) -> Any:
        def work(drive: Any, progress: TaskProgress) -> Any:
            found = Fake() if drive is None else drive()
            log.append(name)
            return found

        return work

    def test(name: str) -> Any:
        def work(drive: Any, progress: TaskProgress) -> None:
            found = drive()
            found.use()
            log.append(name)
            found.drop()

        return work

    made: list[Piece] = []
    before: Piece | None = None
    for state in ("a", "b"):
        users = tests + (state == "a")
        piece = Piece(
            TaskProgress(state),
            model * 4 + (2 if before else 0),
            10,
            prepare(f"{model}{state}"),
            before.result if before else None,
            Snapshot(users),
            before,
        )
        made.append(piece)
        made += [
            Piece(
                TaskProgress("test"),
                model * 4 + 1,
                10,
                test(f"{model}{state}{index}"),
                piece.result,
                None,
                piece,
            )
            for index in range(tests)
        ]
        before = piece
    return made


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("memory_bytes", [1, 20, 35, 1000])
def test_everything_is_done_within_the_memory(workers: int, memory_bytes: int) -> None:
    Fake.alive = Fake.most = 0
    log: list[str] = []
    pieces = [piece for model in range(3) for piece in pieces_of(model, 5, log)]
    with Bar(1, shown=False) as bar, Crew(workers, bar) as crew:
        schedule.run(pieces, crew, workers, memory_bytes)
    assert sorted(log) == sorted(
        f"{model}{state}{index}"
        for model in range(3)
        for state in "ab"
        for index in ("", *range(5))
    )
    # The last test of a state works on the snapshot itself.
    assert Fake.alive == 0
    assert Fake.most <= max(2, memory_bytes // 10)


def test_a_failure_ends_everything() -> None:
    def broken(drive: Any, progress: TaskProgress) -> None:
        raise ValueError("broken")

    piece = Piece(TaskProgress("x"), 0, 1, broken)
    with (
        pytest.raises(ValueError, match="broken"),
        Bar(1, shown=False) as bar,
        Crew(2, bar) as crew,
    ):
        schedule.run([piece], crew, 2, 10)


def test_room_is_a_quarter_of_the_machine_and_enough_for_every_drive_of_half_a_terabyte() -> None:
    room = schedule.usual_memory_bytes()
    assert room >= schedule.MEMORY_BYTES
    # A snapshot, and the copy that a test runs on.
    small = [model for model in models.load_all() if model.user_capacity_bytes <= 512 * 10**9]
    assert len(small) > 40
    assert all(2 * model.memory_bytes <= schedule.MEMORY_BYTES for model in small)
