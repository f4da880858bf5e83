from __future__ import annotations

import sys
import threading
import types
from typing import Any

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
            assert stage.cancelled.wait(60)

    def broken(progress: TaskProgress) -> None:
        assert running.wait(60)
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


class Handle:
    """What IPython's `display` gives: a place whose content can be changed."""

    def __init__(self, shown: list[str]) -> None:
        self._shown = shown

    def update(self, content: dict[str, str], *, raw: bool) -> None:
        assert raw
        self._shown[-1] = content["text/plain"]


@pytest.mark.parametrize("kernel", [object(), None], ids=["notebook", "terminal"])
def test_a_notebook_has_one_line_that_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: object
) -> None:
    shown: list[str] = []

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw and display_id  # noqa: PT018
        shown.append(content["text/plain"])
        return Handle(shown)

    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=kernel)
    ipython.display = types.SimpleNamespace(display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    for name in ("NOTEBOOK_FIRST_S", "NOTEBOOK_LINE_S"):
        monkeypatch.setattr(progress, name, 0.0)
    task = TaskProgress("half", is_test=True)
    with Bar(2.0) as bar:
        task.add(0.5)
        bar.show([task])
        if kernel is not None:
            assert shown == ["25 % done, 0 of 1 tests; about 0 s left | half"]
        task.add(0.5)
        bar.show([task])
    assert shown == ([] if kernel is None else ["took about 0 s"])
    with Bar(1.0, shown=False) as bar:
        bar.show([task])
    assert len(shown) == (kernel is not None)
    assert capsys.readouterr().err == ""
