"""Levels with times become presses, whatever the contacts bounce and however often somebody looks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.buttons.debounce import Debouncing, PinPress, PinSample, PressKind, PressTiming, feed

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
    """Return a button that is up, goes down, goes up, ... at these times."""
    samples = [PinSample(0, is_down=False)]
    samples += [PinSample(t_ms * _MS, is_down=index % 2 == 0) for index, t_ms in enumerate(changes_ms)]
    return [*samples, PinSample(until_ms * _MS, is_down=len(changes_ms) % 2 == 1)]


def test_a_short_press_is_known_when_no_second_one_has_come() -> None:
    assert presses_of(_samples(100, 200)) == [PinPress((200 + 300 + 15) * _MS, 100 * _MS, PressKind.SHORT)]


def test_without_double_presses_a_short_one_is_known_when_the_finger_leaves() -> None:
    assert presses_of(_samples(100, 200), _PLAIN) == [PinPress(215 * _MS, 100 * _MS, PressKind.SHORT)]


def test_a_long_press_is_known_while_it_is_held_and_its_release_says_nothing() -> None:
    expected = [PinPress((100 + 800 + 15) * _MS, 100 * _MS, PressKind.LONG)]
    assert presses_of(_samples(100)) == expected
    assert presses_of(_samples(100, 2000)) == expected


def test_two_presses_soon_after_each_other_are_one_double_press() -> None:
    assert presses_of(_samples(100, 200, 350, 450)) == [PinPress(365 * _MS, 100 * _MS, PressKind.DOUBLE)]
    assert presses_of(_samples(100, 200, 350, 3000)) == [PinPress(365 * _MS, 100 * _MS, PressKind.DOUBLE)]


def test_two_presses_far_from_each_other_are_two_short_ones() -> None:
    assert [press.kind for press in presses_of(_samples(100, 200, 600, 700))] == [PressKind.SHORT] * 2


def test_bouncing_contacts_make_one_press() -> None:
    assert len(presses_of(_samples(100, 101, 103, 104, 108, 200, 201, 205, 206, 209))) == 1


def test_a_spike_is_no_press() -> None:
    assert presses_of(_samples(100, 105, 2000, 2014)) == []


def test_a_dropped_edge_is_made_up_for_by_the_next_look_at_the_pin() -> None:
    down_edge_dropped = [
        PinSample(0, is_down=False),
        PinSample(110 * _MS, is_down=True),
        PinSample(120 * _MS, is_down=True),
    ]
    up = [PinSample(200 * _MS, is_down=False), PinSample(900 * _MS, is_down=False)]
    assert [press.kind for press in presses_of([*down_edge_dropped, *up])] == [PressKind.SHORT]


def test_a_button_that_is_held_at_the_start_was_not_pressed() -> None:
    held = [PinSample(0, is_down=True), PinSample(2000 * _MS, is_down=True), PinSample(2100 * _MS, is_down=False)]
    assert presses_of([*held, PinSample(3000 * _MS, is_down=False)]) == []
    again = [
        PinSample(3100 * _MS, is_down=True),
        PinSample(3200 * _MS, is_down=False),
        PinSample(4000 * _MS, is_down=False),
    ]
    assert len(presses_of([*held, *again])) == 1


def test_a_look_that_comes_seconds_late_says_the_same() -> None:
    assert presses_of(
        [PinSample(0, is_down=False), PinSample(100 * _MS, is_down=True), PinSample(5000 * _MS, is_down=False)]
    ) == [PinPress(915 * _MS, 100 * _MS, PressKind.LONG)]


def test_impossible_timing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 < bounce_ns < long_ns"):
        PressTiming(bounce_ns=900 * _MS)


_CHANGES = st.lists(st.integers(1, 600), max_size=12).map(lambda gaps: [sum(gaps[: n + 1]) for n in range(len(gaps))])


@given(changes=_CHANGES, looks=st.lists(st.integers(0, 9000), max_size=40))
def test_looking_more_often_never_changes_what_was_pressed(changes: list[int], looks: list[int]) -> None:
    plain = _samples(*changes)
    levels = [(sample.t_ns, sample.is_down) for sample in plain]
    more = [PinSample(t * _MS, [down for at, down in levels if at <= t * _MS][-1]) for t in looks]
    both = sorted([*plain, *more], key=lambda sample: sample.t_ns)
    assert presses_of(both) == presses_of(plain)


@given(changes=_CHANGES)
def test_no_more_presses_than_times_down_and_their_times_never_go_back(changes: list[int]) -> None:
    found = presses_of(_samples(*changes))
    assert len(found) <= (len(changes) + 1) // 2
    assert [press.t_ns for press in found] == sorted(press.t_ns for press in found)
    assert all(press.down_ns < press.t_ns for press in found)
