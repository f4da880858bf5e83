"""From which round on a drive that is worn out is as it stays."""

from __future__ import annotations

import pytest

from drivelab.procedures.wear_rounds import Rounds


def rounds(amplifications: list[float], erases: float = 2, retired: int = 0) -> Rounds:
    """Rounds with these write amplifications, each of so many mean erases."""
    counters = []
    written = programmed = 0.0
    for number, amplification in enumerate([0.0, *amplifications]):
        written += 1000 if number else 0
        programmed += 1000 * amplification
        counters.append(
            {
                "host_write_bytes": written,
                "program_bytes_host": programmed,
                "erase_count_mean": erases * number,
                "blocks_retired": retired * number,
            }
        )
    return Rounds(tuple(counters))


@pytest.mark.parametrize(
    ("amplifications", "warm_up"),
    [
        ([7.1, 7.2, 7.1], (1, True)),
        ([6.0, 6.8, 6.9, 6.8], (2, True)),
        ([14.6, 24.0, 29.6, 33.5, 35.7, 37.4], (4, True)),
        # What falls hasn't settled either.
        ([9.0, 7.0, 6.9, 6.8], (2, True)),
        # Never seen to settle: the last is the best that there is.
        ([14.6, 24.0, 29.6], (2, False)),
        ([14.6, 24.0], (1, False)),
        ([14.6], (0, False)),
    ],
)
def test_it_is_settled_when_a_round_costs_what_the_one_before_did(
    amplifications: list[float], warm_up: tuple[int, bool]
) -> None:
    assert rounds(amplifications).warm_up() == warm_up


def test_a_drive_lives_on_what_was_free_until_every_block_was_erased() -> None:
    # 0.4 erases a round: the third is the first behind one.
    assert rounds([2.0, 2.0, 2.0, 5.0, 5.1], erases=0.4).warm_up() == (4, True)


def test_blocks_that_are_retired_make_rounds_costlier_for_good() -> None:
    assert rounds([7.0, 8.0, 9.5, 12.0], retired=3).warm_up() == (1, False)
