"""Contract tests of all buttons: none, virtual, fake, and gpiozero on mock pins."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from hardware.buttons.drivers.gpio import GpioButtons
from hardware.buttons.panel import (
    ButtonError,
    ButtonPress,
    Buttons,
    Debouncing,
    PinSample,
    PressKind,
    PressTiming,
    VirtualButtons,
    feed,
)
from hardware.libraries import PinError, PinLibrary, install_command, open_pins
from tests.hardware.fakes import FakeButtons

_MS = 1_000_000
_NAMES = ("call:0", "undo")
_PINS = {"call:0": 17, "undo": 27}


class Clock:
    def __init__(self) -> None:
        self.t_ns = 0

    def __call__(self) -> int:
        return self.t_ns


@dataclass
class Table:
    """Buttons, and a function to tap them."""

    buttons: Buttons
    tap: Callable[[str], None]
    """Press a button briefly, and wait until the press is decided."""


def _mock() -> Table:
    factory, clock = open_pins(PinLibrary.MOCK), Clock()
    buttons = GpioButtons(_PINS, factory, timing=PressTiming(double_ns=0), clock=clock)

    def tap(name: str) -> None:
        pin = factory.pin(_PINS[name])
        clock.t_ns += 100 * _MS
        pin.drive_low()
        clock.t_ns += 100 * _MS
        pin.drive_high()
        clock.t_ns += 100 * _MS

    return Table(buttons, tap)


def _virtual(kind: type[VirtualButtons]) -> Table:
    buttons = kind(_NAMES)
    return Table(buttons, lambda name: buttons.press(name, 5))


_FACTORIES: dict[str, Callable[[], Table]] = {
    "virtual": lambda: _virtual(VirtualButtons),
    "fake": lambda: _virtual(FakeButtons),
    "gpiozero": _mock,
}


@pytest.fixture(params=_FACTORIES)
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    table = _FACTORIES[request.param]()
    yield table
    table.buttons.close()


def test_each_press_is_read_once_in_order(table: Table) -> None:
    assert table.buttons.read() == ()
    for name in table.buttons.names:
        table.tap(name)
    read = table.buttons.read()
    assert [press.button for press in read] == list(table.buttons.names)
    assert all(press.press.kind is PressKind.SHORT for press in read)
    assert table.buttons.read() == ()
    assert table.buttons.state.problem is None


def test_closed_buttons_cannot_be_read_but_closed_again(table: Table) -> None:
    table.buttons.close()
    table.buttons.close()
    with pytest.raises(ButtonError, match="are closed"):
        table.buttons.read()


def test_unknown_buttons_and_unread_presses_are_errors() -> None:
    with pytest.raises(ButtonError, match="there is no button redo; there are call:0, undo"):
        VirtualButtons(_NAMES).press("redo", 1)
    fake = FakeButtons(_NAMES)
    fake.press("undo", 3, PressKind.LONG)
    with pytest.raises(AssertionError, match=r"never read: .*undo"):
        fake.check_all_read()
    fake.read()
    fake.check_all_read()
    fake.break_down("a wire is off")
    assert fake.state.problem == "a wire is off"


def test_recorded_samples_reproduce_the_presses() -> None:
    factory, clock = open_pins(PinLibrary.MOCK), Clock()
    recorded: list[tuple[str, PinSample]] = []
    timing = PressTiming()
    buttons = GpioButtons(_PINS, factory, timing=timing, clock=clock, tap=lambda *sample: recorded.append(sample))
    read: list[ButtonPress] = []
    pin = factory.pin(17)
    for gap_ms in (50, 3, 2, 100, 200, 90, 700, 1200, 60, 500):
        clock.t_ns += gap_ms * _MS
        pin.drive_low() if pin.state else pin.drive_high()
        read += buttons.read()
    clock.t_ns += 2000 * _MS
    read += buttons.read()
    states = dict.fromkeys(_PINS, Debouncing())
    replayed: list[ButtonPress] = []
    for name, sample in recorded:
        states[name], presses = feed(states[name], sample, timing)
        replayed += [ButtonPress(name, press) for press in presses]
    assert replayed == read
    assert len(read) >= 2


def test_a_dropped_edge_is_found_by_polling_without_debouncing_of_gpiozero() -> None:
    factory, clock = open_pins(PinLibrary.MOCK), Clock()
    buttons = GpioButtons({"undo": 27}, factory, timing=PressTiming(double_ns=0), clock=clock)
    pin = factory.pin(27)
    pin.when_changed = None  # edges are no longer reported
    read: list[ButtonPress] = []
    for level, count in ((0, 5), (1, 5)):
        pin._change_state(level)
        for _ in range(count):
            clock.t_ns += 20 * _MS
            read += buttons.read()
    assert [press.button for press in read] == ["undo"]
    factory = open_pins(PinLibrary.MOCK)
    GpioButtons({"undo": 27}, factory)
    assert factory.pin(27).bounce is None


def test_rejects_a_shared_pin_and_a_pin_in_use() -> None:
    factory = open_pins(PinLibrary.MOCK)
    with pytest.raises(ButtonError, match="each button needs a pin of its own"):
        GpioButtons({"a": 4, "b": 4}, factory)
    first = GpioButtons({"a": 4}, factory)
    with pytest.raises(ButtonError, match="the button b cannot have pin 4"):
        GpioButtons({"c": 5, "b": 4}, factory)
    first.close()
    GpioButtons({"c": 5, "b": 4}, factory).close()


def test_a_missing_pin_library_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lgpio", None)
    monkeypatch.delitem(sys.modules, "gpiozero.pins.lgpio", raising=False)
    with pytest.raises(PinError, match="need lgpio: sudo apt install python3-lgpio"):
        open_pins(PinLibrary.LGPIO)
    monkeypatch.setitem(sys.modules, "gpiozero.pins.mock", None)
    with pytest.raises(PinError, match=re.escape(install_command("pi"))):
        open_pins(PinLibrary.MOCK)
