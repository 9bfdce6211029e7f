"""Tests of debouncing: levels with times become presses, independently of bounce and polling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.buttons.panel import Debouncing, PinPress, PinSample, PressKind, PressTiming, feed

_MS = 1_000_000
_TIMING = PressTiming(bounce_ns=15 * _MS, long_ns=800 * _MS, double_ns=300 * _MS)
_PLAIN = PressTiming(bounce_ns=15 * _MS, long_ns=800 * _MS, double_ns=0)


def presses_of(samples: list[PinSample], timing: PressTiming = _TIMING) -> list[PinPress]:
    state = Debouncing()
    found: list[PinPress] = []
    for sample in samples:
        state, presses = feed(state, sample, timing)
        found += presses
    return found


def _samples(*changes_ms: int, until_ms: int = 10_000) -> list[PinSample]:
    """Return samples of a button that is up, then changes at the given times."""
    samples = [PinSample(0, is_down=False)]
    samples += [PinSample(t_ms * _MS, is_down=index % 2 == 0) for index, t_ms in enumerate(changes_ms)]
    return [*samples, PinSample(until_ms * _MS, is_down=len(changes_ms) % 2 == 1)]


def test_short_presses_are_decided_once_no_second_one_can_follow() -> None:
    assert presses_of(_samples(100, 200)) == [PinPress((200 + 300 + 15) * _MS, 100 * _MS, PressKind.SHORT)]
    assert presses_of(_samples(100, 200), _PLAIN) == [PinPress(215 * _MS, 100 * _MS, PressKind.SHORT)]
    assert [press.kind for press in presses_of(_samples(100, 200, 600, 700))] == [PressKind.SHORT] * 2


def test_long_and_double_presses_are_decided_while_held() -> None:
    expected = [PinPress((100 + 800 + 15) * _MS, 100 * _MS, PressKind.LONG)]
    assert presses_of(_samples(100)) == expected
    assert presses_of(_samples(100, 2000)) == expected
    assert presses_of(_samples(100, 200, 350, 450)) == [PinPress(365 * _MS, 100 * _MS, PressKind.DOUBLE)]
    assert presses_of(_samples(100, 200, 350, 3000)) == [PinPress(365 * _MS, 100 * _MS, PressKind.DOUBLE)]


def test_bounces_and_spikes_are_no_presses() -> None:
    assert len(presses_of(_samples(100, 101, 103, 104, 108, 200, 201, 205, 206, 209))) == 1
    assert presses_of(_samples(100, 105, 2000, 2014)) == []


def test_a_dropped_edge_or_late_poll_gives_the_same_press() -> None:
    down_edge_dropped = [
        PinSample(0, is_down=False),
        PinSample(110 * _MS, is_down=True),
        PinSample(120 * _MS, is_down=True),
    ]
    up = [PinSample(200 * _MS, is_down=False), PinSample(900 * _MS, is_down=False)]
    assert [press.kind for press in presses_of([*down_edge_dropped, *up])] == [PressKind.SHORT]
    assert presses_of(
        [PinSample(0, is_down=False), PinSample(100 * _MS, is_down=True), PinSample(5000 * _MS, is_down=False)]
    ) == [PinPress(915 * _MS, 100 * _MS, PressKind.LONG)]


def test_a_button_held_at_the_start_was_not_pressed_and_impossible_timing_is_rejected() -> None:
    held = [PinSample(0, is_down=True), PinSample(2000 * _MS, is_down=True), PinSample(2100 * _MS, is_down=False)]
    assert presses_of([*held, PinSample(3000 * _MS, is_down=False)]) == []
    pressed_later = [
        PinSample(3100 * _MS, is_down=True),
        PinSample(3200 * _MS, is_down=False),
        PinSample(4000 * _MS, is_down=False),
    ]
    assert len(presses_of([*held, *pressed_later])) == 1
    with pytest.raises(ValueError, match="0 < bounce_ns < long_ns"):
        PressTiming(bounce_ns=900 * _MS)


_CHANGES = st.lists(st.integers(1, 600), max_size=12).map(lambda gaps: [sum(gaps[: n + 1]) for n in range(len(gaps))])


@given(changes=_CHANGES, poll_times_ms=st.lists(st.integers(0, 9000), max_size=40))
def test_polling_more_often_never_changes_the_presses(changes: list[int], poll_times_ms: list[int]) -> None:
    plain = _samples(*changes)
    levels = [(sample.t_ns, sample.is_down) for sample in plain]
    more = [PinSample(t * _MS, [down for t_ns, down in levels if t_ns <= t * _MS][-1]) for t in poll_times_ms]
    merged = sorted([*plain, *more], key=lambda sample: sample.t_ns)
    assert presses_of(merged) == presses_of(plain)


@given(changes=_CHANGES)
def test_presses_are_at_most_one_per_down_edge_and_chronological(changes: list[int]) -> None:
    found = presses_of(_samples(*changes))
    assert len(found) <= (len(changes) + 1) // 2
    assert [press.t_ns for press in found] == sorted(press.t_ns for press in found)
    assert all(press.down_ns < press.t_ns for press in found)
