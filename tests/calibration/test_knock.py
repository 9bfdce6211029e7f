"""Where the limit between knocks and tiles is put, and when it is refused to put one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from calibration.errors import RefusedError
from calibration.knock import KnockKept, SoundHeard, fit_knock

TILES = (0.01, 0.02, 0.05, 0.02, 0.1, 0.03, 0.3, 0.02, 0.04, 0.01)


def heard(*chances: float, strength: float = 0.5) -> list[SoundHeard]:
    return [SoundHeard(at * 10**9, chance, strength) for at, chance in enumerate(chances)]


def fitted(*seats: Sequence[float], tiles: Sequence[float] = TILES) -> KnockKept:
    return fit_knock((), heard(*tiles), [heard(*seat) for seat in seats])


def test_the_limit_lies_between_the_likest_tile_and_the_weakest_knock() -> None:
    kept = fitted((0.9, 0.8, 0.95, 0.99, 0.85), (0.7, 0.9, 0.9, 0.9, 0.9))
    assert (kept.weakest, kept.likest) == (0.7, 0.3)
    assert kept.least_knock == pytest.approx(0.5)
    assert (kept.knocks, kept.found, kept.tiles, kept.passed) == (10, 10, 10, 0)
    assert kept.margin == pytest.approx(0.4)
    assert kept.classifier().least_knock == kept.least_knock


def test_the_limit_does_not_fall_to_where_taps_would_pass() -> None:
    assert fitted((0.99, 0.98, 0.97, 0.99, 0.99), tiles=(0.001,) * 10).least_knock > 0.5


def test_quiet_knocks_lower_the_limit() -> None:
    kept = fitted((0.4, 0.45, 0.5, 0.6, 0.6), tiles=(0.01,) * 10)
    assert 0.2 < kept.least_knock < 0.4
    assert kept.found == 5


def test_one_tile_of_twenty_may_pass_and_that_is_said() -> None:
    kept = fitted((0.9, 0.8, 0.95, 0.99, 0.85), tiles=(0.02,) * 19 + (0.97,))
    assert (kept.found, kept.passed) == (5, 1)
    assert kept.margin < 0


def test_of_more_sounds_the_five_loudest_are_the_knocks() -> None:
    sleeves = heard(0.01, 0.02, 0.01, strength=0.02)
    kept = fit_knock((), heard(*TILES), [[*sleeves, *heard(0.9, 0.8, 0.95, 0.99, 0.85)]])
    assert (kept.knocks, kept.found) == (5, 5)
    assert kept.strengths == (0.5,)


@pytest.mark.parametrize(
    ("quiet", "tiles", "seats", "reason"),
    [
        (5, 10, [(0.9,) * 5], "not quiet: 5 sudden sounds"),
        (0, 3, [(0.9,) * 5], "3 sounds of tiles"),
        (0, 10, [(0.9,) * 5, (0.9, 0.9)], "seat 2: 2 knocks"),
        (0, 10, [(0.01, 0.02, 0.01, 0.9, 0.9)], "only 2 of 5 knocks"),
    ],
)
def test_what_tells_nothing_is_refused_with_the_reason(
    quiet: int, tiles: int, seats: list[tuple[float, ...]], reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason):
        fit_knock(heard(*(0.1,) * quiet), heard(*(0.02,) * tiles), [heard(*seat) for seat in seats])


def test_knocks_that_sound_like_tiles_are_refused() -> None:
    with pytest.raises(RefusedError, match=r"only . of 5 knocks"):
        fitted((0.3, 0.4, 0.5, 0.6, 0.6), tiles=(0.02,) * 10 + (0.95, 0.9, 0.9))
