from __future__ import annotations

from collections.abc import Mapping

from drivelab.procedures.measured import Measured
from drivelab.procedures.pts.convergence import Convergence, Tracked, until_steady

FAST = Tracked("fast", "fast reads", "IOPS")
SLOW = Tracked("slow", "slow writes", "IOPS")


def converge(values: list[tuple[float, float]], rounds_max: int = 25) -> Convergence:
    def one_round(index: int, share: float) -> Mapping[str, float]:
        assert 0 < share < 1
        fast, slow = values[min(index, len(values)) - 1]
        return {"fast": fast, "slow": slow}

    return until_steady((FAST, SLOW), rounds_max, "a round", 1.0, one_round)


def test_the_slowest_variable_decides() -> None:
    found = converge([(100, 900), (100, 700), (100, 500), (100, 100), (100, 100)])
    assert found.steady
    assert len(found.history) == 8
    assert (found.window.start, found.window.stop) == (4, 9)
    assert found.average("slow") == 100
    assert found.notes() == ()


def test_a_drive_that_never_gets_steady_is_said_to_be_so() -> None:
    found = converge([(100, 1000 / index) for index in range(1, 40)])
    assert not found.steady
    assert len(found.history) == 25
    (note,) = found.notes()
    assert "Not steady after 25 rounds: slow writes." in note
    assert found.record()["reached"] is False


def test_too_few_rounds_are_not_a_steady_state() -> None:
    found = converge([(100, 100)], rounds_max=3)
    assert not found.steady
    assert found.verdicts == ()
    (note,) = found.notes()
    assert "Not steady after 3 rounds: fast reads, slow writes." in note
    assert found.average("slow") == 100


def test_rounds_end_when_the_stimulus_does() -> None:
    found = until_steady((FAST,), 25, "a round", 1.0, lambda *_: None)
    assert found.history == ()
    assert found.average("fast") is None
    assert not found.steady


def test_tables_and_plots_agree_and_hold_the_box() -> None:
    found = converge([(100, 200), (100, 120), (100, 100)])
    record = Measured(tables=found.tables(), charts=found.charts()).found()
    tables = {table["name"]: table["rows"] for table in record["tables"]}
    assert len(tables["convergence"]) == 2 * len(found.history)
    lines = {row["line"] for row in tables["window"]}
    assert {"average + 10 %", "average - 10 %", "slow writes, line"} <= lines
    assert all(abs(row["percent"]) <= 20 for row in tables["window"])
    slow = next(row for row in tables["steady_state"] if row["variable"] == "slow writes")
    assert slow["excursion"] <= slow["allowed_excursion"] == 0.2 * slow["average"]
    assert slow["slope_excursion"] <= slow["allowed_slope_excursion"]
    assert slow["verdict"] == "steady"


def test_progress_of_rounds_never_reaches_the_end_too_early() -> None:
    shares: list[float] = []

    def one_round(index: int, share: float) -> Mapping[str, float]:
        shares.append(share)
        return {"fast": float(index)}

    until_steady((FAST,), 25, "a round", 0.8, one_round)
    assert len(shares) == 25
    assert 0.75 < sum(shares) < 0.8


def test_a_window_that_does_not_count_yet_is_not_steady() -> None:
    def level(_: int, share: float) -> Mapping[str, float]:
        return {"fast": 100.0}

    late = iter([False] * 6 + [True] * 9)
    found = until_steady((FAST,), 25, "a round", 1.0, level, lambda: next(late))
    assert (found.steady, len(found.history)) == (True, 7)
    never = until_steady((FAST,), 9, "a round", 1.0, level, lambda: False)
    assert (never.steady, len(never.history)) == (False, 9)
    assert "Not steady after 9 rounds" in never.notes()[0]
