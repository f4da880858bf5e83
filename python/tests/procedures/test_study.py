"""Large drives get fewer points in studies, and the results say so."""

from drivelab.procedures.fill_level import LEVELS, PROCEDURES, QUICK_LEVELS
from drivelab.procedures.study import FEWER_POINTS_BYTES

STUDY = PROCEDURES[0]


def test_a_large_drive_gets_fewer_points_unless_all_are_asked_for() -> None:
    small, large = FEWER_POINTS_BYTES, FEWER_POINTS_BYTES + 1
    assert STUDY.points(LEVELS, QUICK_LEVELS, small, False) == LEVELS
    assert STUDY.points(LEVELS, QUICK_LEVELS, large, False) == QUICK_LEVELS
    assert STUDY.unabridged().points(LEVELS, QUICK_LEVELS, large, False) == LEVELS
    assert STUDY.cost_on(large, False) < STUDY.unabridged().cost_on(large, False)


def test_what_was_left_out_is_said() -> None:
    assert STUDY.cut_notes(FEWER_POINTS_BYTES, False) == ()
    assert STUDY.unabridged().cut_notes(FEWER_POINTS_BYTES + 1, False) == ()
    (note,) = STUDY.cut_notes(FEWER_POINTS_BYTES + 1, False)
    assert "--unabridged" in note
    assert "128 GB" in note
