"""Tests of the parts test run from the page."""

from __future__ import annotations

from collections.abc import Callable

from hardware.table import HardwareSettings, PartOpener, VirtualPanel
from tallybone.play.parts import with_panel
from tallybone.serve.parts_test import PartsTest, PartVerdict
from tests.tallybone.web.conftest import ManualClock

SECOND = 1_000_000_000
PARTS = with_panel(HardwareSettings(), 2)


def run_test(test: PartsTest, clock: ManualClock, meanwhile: Callable[[], bool]) -> None:
    test.run(PARTS, PartOpener(PARTS.pins, VirtualPanel(("next",)), clock), meanwhile)


def test_it_ends_if_its_state_is_not_requested_for_a_minute() -> None:
    clock = ManualClock()
    test = PartsTest(clock)
    looks = []

    def meanwhile() -> bool:
        clock.t_ns += 30 * SECOND
        looks.append(clock.t_ns)
        return True

    run_test(test, clock, meanwhile)
    assert len(looks) == 2
    state = test.state
    assert not state.is_running
    assert [result.outcome for result in state.results] == [PartVerdict.SKIPPED]
    assert "LED 1 of" in state.text


def test_it_continues_while_watched_and_ends_with_the_program() -> None:
    clock = ManualClock()
    test = PartsTest(clock)
    looks = []

    def meanwhile() -> bool:
        clock.t_ns += 30 * SECOND
        looks.append(test.state.is_running)
        return len(looks) < 4

    run_test(test, clock, meanwhile)
    assert looks == [True] * 4


def test_only_offered_keys_are_accepted() -> None:
    clock = ManualClock()
    test = PartsTest(clock)
    taken: dict[str, bool] = {}

    def meanwhile() -> bool:
        for key in "xyq":
            taken.setdefault(key, test.answer(key))
        return True

    assert not test.answer("y")
    run_test(test, clock, meanwhile)
    assert taken == {"x": False, "y": True, "q": True}
    assert not test.answer("q")
