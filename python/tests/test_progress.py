from __future__ import annotations

import threading

import pytest

from drivelab import progress
from drivelab.errors import WorkError
from drivelab.progress import Bar, Crew, TaskProgress, run_alone


class Stage:
    def __init__(self) -> None:
        self.fraction = 0.0
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        self.cancelled.set()


def test_stages_add_up() -> None:
    task, stage = TaskProgress("x"), Stage()
    with task.stage(0.25, Stage()):
        pass
    with task.stage(0.5, stage):
        stage.fraction = 0.5
        assert task.fraction == 0.5
    assert task.fraction == 0.75
    task.finish()
    assert task.fraction == 1


def test_a_failure_stops_the_other_tasks() -> None:
    stage, running = Stage(), threading.Event()

    def long(progress: TaskProgress) -> None:
        with progress.stage(1.0, stage):
            running.set()
            assert stage.cancelled.wait(10)

    def broken(progress: TaskProgress) -> None:
        running.wait(10)
        raise WorkError("broken")

    with Bar(1, shown=False) as bar, pytest.raises(WorkError, match="broken"), Crew(2, bar) as crew:
        crew.wait(
            crew.submit(TaskProgress("long"), long), crew.submit(TaskProgress("broken"), broken)
        )
    assert stage.cancelled.is_set()


def test_what_starts_after_the_end_is_cancelled_at_once() -> None:
    task, part, stage = TaskProgress("x"), TaskProgress("part"), Stage()
    task.cancel()
    task.follow(part, 0.5)
    with part.stage(1.0, stage):
        assert stage.cancelled.is_set()


def test_one_task_gives_its_result() -> None:
    assert run_alone("x", lambda progress: 42, shown=False) == 42


def test_a_log_hears_how_many_tests_are_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Off a terminal there is no bar: whoever redirected it would wait for minutes unknowing."""
    monkeypatch.setattr(progress, "FIRST_LINE_S", 0.0)
    tasks = [
        TaskProgress(name, 2.0, is_test=name != "preparing") for name in ("preparing", "a", "b")
    ]
    with Bar(6.0) as bar:
        tasks[0].finish()
        tasks[1].finish()
        bar.show(tasks)
        bar.show(tasks)
    said = capsys.readouterr().err
    assert said.startswith("drivelab: 67 % done, 1 of 2 tests; about 0 s left\n")
    assert said.count("\n") == 1


def test_short_work_says_nothing_to_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar(1.0) as bar:
        bar.show([TaskProgress("a", is_test=True)])
    assert capsys.readouterr().err == ""
