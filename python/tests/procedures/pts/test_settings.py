from __future__ import annotations

from dataclasses import fields

from drivelab.procedures.pts.settings import ABRIDGED, CLIENT, ENTERPRISE, FULL, QUICK


def test_every_length_that_is_cut_is_said() -> None:
    names = [field.name for field in fields(FULL)]
    assert FULL.departures(*names) == ()
    for lengths in (ABRIDGED, QUICK):
        cut = [name for name in names if getattr(lengths, name) != getattr(FULL, name)]
        assert len(lengths.departures(*names)) == len(cut) > 0
        assert all(len(lengths.departures(name)) == 1 for name in cut)


def test_lengths_are_said_in_words() -> None:
    assert ABRIDGED.departures("stimulus_s") == ("A stimulus lasts 10 s instead of 1 min.",)
    assert QUICK.departures("precondition_fills") == (
        "Preconditioning writes 1 times the capacity, not 2 times.",
    )
    assert ABRIDGED.departures("random_fills") == (
        "The random part ends with 0.25 times the capacity written; full length: no limit.",
    )


def test_settings_are_those_of_the_standard() -> None:
    assert (ENTERPRISE.write_cache, CLIENT.write_cache) == (False, True)
    assert (ENTERPRISE.active_range_percent, CLIENT.active_range_percent) == (100, 75)
    assert (ENTERPRISE.queue_depth, ENTERPRISE.threads, ENTERPRISE.outstanding) == (32, 4, 128)
    assert (CLIENT.queue_depth, CLIENT.threads, CLIENT.outstanding) == (16, 2, 32)
    assert FULL.stimulus_s * 30 == FULL.spacing_s
