"""Tests of the checks of the recording folder: space, speed and persistence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallybone.doctor.machine import Disk, check_disk
from tallybone.finding import Grade

GOOD = Disk("/var/lib/tallybone", "", 30_000_000_000, "ext4", (4.0, 5.0, 30.0))
OK, WARNING, PROBLEM = Grade.OK, Grade.WARNING, Grade.PROBLEM


def test_a_good_disk_is_ok() -> None:
    assert [finding.grade for finding in check_disk(GOOD)] == [OK, OK]
    assert "in 5 ms (median), at most 30 ms" in check_disk(GOOD)[1].text


@pytest.mark.parametrize(("free_bytes", "grade"), [(400_000_000, PROBLEM), (4_000_000_000, WARNING)])
def test_an_almost_full_disk_is_reported(free_bytes: int, grade: Grade) -> None:
    found = check_disk(replace(GOOD, free_bytes=free_bytes))[0]
    assert (found.grade, found.commands) == (grade, ("tallybone sessions --keep 5GB",))


@pytest.mark.parametrize("kind", ["tmpfs", "overlay"])
def test_a_volatile_folder_is_a_warning(kind: str) -> None:
    assert check_disk(replace(GOOD, kind=kind))[0].grade is WARNING


@pytest.mark.parametrize(("sync_ms", "grade"), [((5.0, 6.0, 1200.0), PROBLEM), ((120.0, 130.0, 140.0), WARNING)])
def test_a_slow_card_is_reported(sync_ms: tuple[float, ...], grade: Grade) -> None:
    assert check_disk(replace(GOOD, sync_ms=sync_ms))[1].grade is grade


def test_a_read_only_folder_is_a_problem() -> None:
    (found,) = check_disk(Disk("/nowhere", error="Permission denied"))
    assert (found.grade, found.text) == (PROBLEM, "/nowhere: Permission denied")
