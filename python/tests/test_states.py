from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import MODEL_NAME, OVERRIDES, small_model

import drivelab as dl
from drivelab import model, states
from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, derive_seed
from drivelab.states import STATES, ImageCopy
from drivelab.states.image_writes import image_requests
from drivelab.targets import EngineTarget
from drivelab.targets.account import Account, AccountedTarget
from drivelab.workload import WRITE

X25_M_BYTES = 80_026_361_856


def test_the_image_is_50_gb_of_ascending_writes_that_do_not_overlap() -> None:
    requests = image_requests(X25_M_BYTES, 1)
    assert requests.byte_count == pytest.approx(50e9, abs=4 * KIB)
    end = requests.lba + requests.sector_count
    assert (requests.lba[1:] >= end[:-1]).all()
    assert int(end[-1]) * 512 <= X25_M_BYTES
    assert (requests.op == WRITE).all()


def test_the_image_has_the_mix_of_extents_that_it_claims() -> None:
    # Wide gaps: extents that touch would look like one.
    image = ImageCopy(density=0.7)
    requests = image_requests(X25_M_BYTES, 1, image)
    end = requests.lba + requests.sector_count
    starts = np.append(True, requests.lba[1:] != end[:-1])
    extents = np.add.reduceat(requests.sector_count.astype(np.int64) * 512, np.flatnonzero(starts))
    # Extents that happen to touch look like one: each size is seen a little less than there is.
    for size_bytes, share in image.extents:
        seen = extents[extents == size_bytes].sum() / image.image_bytes
        assert 0.7 * share < seen <= 1.02 * share


@given(st.integers(1, 3 * 2**30), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_the_image_fits_drives_of_any_size(capacity_sectors: int, seed: int) -> None:
    capacity_bytes = capacity_sectors * 512 % (20 * 10**9)
    requests = image_requests(capacity_bytes, seed)
    assert len(requests) > 0 or capacity_bytes < 4 * MIB
    if len(requests):
        assert int((requests.lba + requests.sector_count).max()) * 512 <= capacity_bytes
        assert int(requests.lba.min()) * 512 >= MIB
        assert int(requests.sector_count.max()) * 512 <= ImageCopy().write_bytes
        assert int(requests.sector_count.min()) > 0


def test_one_seed_is_one_image() -> None:
    one, two, other = (image_requests(10**9, seed) for seed in (1, 1, 2))
    assert (one.lba == two.lba).all()
    assert len(one) != len(other) or (one.lba != other.lba).any()


def test_descriptions_say_what_the_constants_are() -> None:
    text = states.STATES["used"].description
    assert "50.0 GB" in text
    assert "35 % in 8 MiB" in text


def test_descriptions_say_what_was_done_in_place_of_a_secure_erase() -> None:
    for name, start in (("new", "trim of the whole export"), ("used", "new state (trim of")):
        text = STATES[name].described("trim of the whole export", X25_M_BYTES)
        assert text.startswith(start)
        text = STATES[name].described("secure erase of every block", X25_M_BYTES)
        assert text == STATES[name].description


def test_what_is_said_to_be_copied_to_a_drive_is_what_is_copied() -> None:
    """Of a 64th of a drive a report said 50 GB, more than forty times what it holds."""
    for capacity_bytes in (X25_M_BYTES // 64, X25_M_BYTES, 2 * X25_M_BYTES):
        text = STATES["used"].described("secure erase", capacity_bytes)
        [said] = re.findall(r"image of ([\d.]+) (GB|MB)", text)
        said_bytes = float(said[0]) * {"GB": 1e9, "MB": 1e6}[said[1]]
        assert said_bytes == pytest.approx(image_requests(capacity_bytes, 1).byte_count, rel=0.01)


def seeds(name: str) -> int:
    return derive_seed(1, name)


@cache
def prepared(name: str) -> EngineTarget:
    """A drive in a state, made from a new one; tests look at it, or clone it."""
    # The X25-M G1 itself takes no trims.
    trims = model.load(MODEL_NAME, (*OVERRIDES, ("ftl.trim_supported", "true")))
    target = EngineTarget(trims, 1)
    STATES[name].prepare(target, seeds, TaskProgress(name))
    return target


def test_a_state_is_the_same_from_its_parents_snapshot() -> None:
    whole = prepared("tortured-pass")
    parent = prepared("tortured")
    copy = parent.clone()
    STATES["tortured-pass"].advance(copy, seeds, TaskProgress("pass"))
    assert copy.counters() == whole.counters()
    assert copy.now_ns == whole.now_ns > parent.now_ns


def test_trim_frees_everything() -> None:
    assert prepared("tortured").counters()["valid_units"] > 0
    trimmed = prepared("tortured-trimmed").counters()
    assert trimmed["valid_units"] == 0
    assert trimmed["host_trim_bytes"] == small_model().user_capacity_bytes // 512 * 512


def test_a_pass_after_torture_writes_everything_once_more() -> None:
    before, after = (prepared(name).counters() for name in ("tortured", "tortured-pass"))
    written = after["host_write_bytes"] - before["host_write_bytes"]
    assert written == pytest.approx(small_model().user_capacity_bytes, rel=1e-3)


def test_every_state_comes_after_its_parents() -> None:
    order = states.parts([STATES["tortured-trimmed-twice"], STATES["used"]])
    assert [state.name for state in order] == [
        "written-repeating",
        "tortured",
        "tortured-trimmed",
        "tortured-trimmed-twice",
        "used",
    ]
    for state in STATES.values():
        assert state.description
        assert state.lineage[-1] is state


def test_states_are_selected_in_the_order_of_reports() -> None:
    chosen = states.select(["tortured", "new"])
    assert [state.name for state in chosen] == ["new", "tortured"]


def test_an_unknown_state_is_refused_with_the_nearest() -> None:
    with pytest.raises(RequestError, match=r'"usde" is unknown; did you mean "used"\?'):
        states.find("usde")


@pytest.mark.parametrize("name", ["crucial-t500-2tb", "samsung-980-1tb", "intel-660p-1tb"])
def test_a_drive_that_was_trimmed_has_its_slc_cache_again(name: str) -> None:
    """Whatever it keeps in pauses: a burst that fits in is as fast as on a new drive."""
    burst = dl.Job(rw="write", bs="1m", iodepth=4, io_size="8%")
    new, trimmed = (
        dl.Drive(name, scale="1/64").prepare(state, progress=False).run(burst, progress=False)
        for state in ("new", "used-trimmed")
    )
    rates = [result.summary["mib_per_s"][0] for result in (new, trimmed)]
    assert rates[1] > 0.95 * rates[0]


def test_looking_whether_a_drive_still_writes_changes_nothing() -> None:
    """Torture of a drive whose bits go wrong stops now and then to look."""
    drive = model.load(MODEL_NAME, (*OVERRIDES, ("flash.bit_errors", "true")))
    counts = []
    for looks in (True, False):
        target = EngineTarget(drive, 1)
        step = states.steps.Torture(minutes=1)
        job_target = target if looks else AccountedTarget(target, Account())
        states.steps.torture(job_target, 1, TaskProgress("torture"), 1.0, step)
        counts.append((target.now_ns, target.counters()))
    assert counts[0] == counts[1]
