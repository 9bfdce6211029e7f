"""Tests of converting driver timestamps, of either Linux clock, to game time."""

from __future__ import annotations

from hardware.camera.device import Clocks
from tests.hardware.camera.scene import MS, S

_SLEPT_NS = 7_200 * S
_NOW_NS, _GAME_NS = 50_000 * S, 123 * S


def _clocks(slept_ns: int = _SLEPT_NS) -> Clocks:
    return Clocks(lambda: _GAME_NS, monotonic=lambda: _NOW_NS, boot=lambda: _NOW_NS + slept_ns)


def test_a_timestamp_of_either_clock_keeps_its_age() -> None:
    for slept_ns in (0, 300 * MS, _SLEPT_NS):
        clocks = _clocks(slept_ns)
        assert clocks.game_ns(_NOW_NS - 40 * MS) == _GAME_NS - 40 * MS
    assert _clocks().game_ns(_NOW_NS + _SLEPT_NS - 40 * MS) == _GAME_NS - 40 * MS


def test_reading_clocks_in_sequence_never_gives_a_future_time() -> None:
    assert _clocks(0).game_ns(_NOW_NS + 1_000) == _GAME_NS


def test_a_timestamp_of_no_clock_is_rejected() -> None:
    for stamp_ns in (0, _NOW_NS - 60 * S, _NOW_NS + _SLEPT_NS + S):
        assert _clocks().game_ns(stamp_ns) is None


def test_the_default_clocks_are_those_of_the_machine() -> None:
    clocks = Clocks(lambda: _GAME_NS)
    assert abs((clocks.game_ns(clocks.monotonic() - 5 * MS) or 0) - (_GAME_NS - 5 * MS)) < S
    assert clocks.boot() >= clocks.monotonic() - S
