"""gpiozero pin factory on libgpiod (package `gpiod`), for systems without lgpio, such as Debian 13.

gpiozero 2.0 has no factory of its own for libgpiod. This one follows `gpiozero.pins.lgpio`, and uses version 2 of the
kernel's GPIO character device, so edges carry the kernel's timestamps and debouncing is done by the kernel.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import gpiod
from gpiod.line import Bias, Direction, Edge, Value
from gpiozero.exc import (
    PinFixedPull,
    PinInvalidBounce,
    PinInvalidFunction,
    PinInvalidPull,
    PinInvalidState,
    PinPWMFixedValue,
    PinSetInput,
)
from gpiozero.pins.local import LocalPiFactory, LocalPiPin

_NS_PER_S = 1_000_000_000
_DIRECTIONS = {"input": Direction.INPUT, "output": Direction.OUTPUT}
_PULLS = {"up": Bias.PULL_UP, "down": Bias.PULL_DOWN, "floating": Bias.DISABLED}
_EDGES = {"both": Edge.BOTH, "rising": Edge.RISING, "falling": Edge.FALLING}
_FLOATING = gpiod.LineSettings(direction=Direction.INPUT, bias=Bias.DISABLED)


def header_chip() -> Path:
    """Return the GPIO chip with the pins of the header. It is the pin controller: gpiochip0 on most models.

    Raises:
        OSError: If there is no chip, or it cannot be opened.
    """
    paths = sorted(Path("/dev").glob("gpiochip*"), key=lambda path: (len(path.name), path.name))
    for path in paths:
        with gpiod.Chip(str(path)) as chip:
            if chip.get_info().label.startswith("pinctrl-"):
                return path
    raise FileNotFoundError(f"none of {len(paths)} GPIO chips has the pins of a header")


class GpiodFactory(LocalPiFactory):  # type: ignore[misc]
    """Pins of a Raspberry Pi, driven through the character device of its GPIO chip, such as /dev/gpiochip0.

    Raises:
        PinUnknownPi: If this is not a Raspberry Pi.
        OSError: If the chip cannot be opened.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pin_class = GpiodPin
        self._get_board_info()
        self._chip = gpiod.Chip(str(header_chip()))
        self.watcher = _EdgeWatcher()

    def request(self, number: int, settings: gpiod.LineSettings) -> gpiod.LineRequest:
        """Request a line of the chip for this process. Raises OSError if it is in use."""
        return self._chip.request_lines({number: settings}, consumer="gpiozero")

    def is_connected(self) -> bool:
        """Return True if the chip still responds."""
        try:
            self._chip.get_line_info(0)
        except (OSError, gpiod.ChipClosedError):
            return False
        return True

    def close(self) -> None:
        """Turn all pins into floating inputs, and release them and the chip."""
        pins = list(self.pins.values())
        super().close()
        self._release(pins)

    def discard(self) -> None:
        """Release the pins and the chip as they are, if the chip has disappeared."""
        pins = list(self.pins.values())
        self.pins.clear()
        self._reservations.clear()
        self._release(pins)

    def _release(self, pins: list[GpiodPin]) -> None:
        for pin in pins:
            pin.release()
        self.watcher.stop()
        self._chip.close()


class GpiodPin(LocalPiPin):  # type: ignore[misc]
    """Pin of a `GpiodFactory`. PWM is done in software, by a thread for each dimmed pin."""

    def __init__(self, factory: GpiodFactory, info: Any) -> None:
        super().__init__(factory, info)
        self._lock = threading.RLock()
        self._settings = _FLOATING
        self._edges = "both"
        self._pwm: _Pwm | None = None
        self._request = factory.request(self._number, self._settings)

    def close(self) -> None:
        """Turn the pin into a floating input. It stays requested, like a pin of lgpio, until the factory is closed."""
        self._set_frequency(None)
        with contextlib.suppress(OSError):  # the chip has disappeared
            self._configure(_FLOATING)

    def release(self) -> None:
        """Release the line as it is."""
        self._set_frequency(None)
        with self._lock:
            self._unwatch()
            self._request.release()

    def write(self, *, is_high: bool) -> None:
        """Set the level of an output."""
        with self._lock:
            if self._request:
                self._request.set_value(self._number, Value(is_high))

    def deliver(self) -> None:
        """Report the edges that have arrived. Called by the thread of the factory."""
        while self._request and self._request.wait_edge_events(0):
            for event in self._request.read_edge_events():
                self._call_when_changed(event.timestamp_ns / _NS_PER_S, event.event_type is event.Type.RISING_EDGE)

    def output_with_state(self, state: bool) -> None:  # noqa: FBT001 - gpiozero's signature
        """Turn the pin into an output with an initial level."""
        self._configure(gpiod.LineSettings(direction=Direction.OUTPUT, output_value=Value(bool(state))))

    def _configure(self, settings: gpiod.LineSettings) -> None:
        with self._lock:
            if self._request:
                self._request.reconfigure_lines({self._number: settings})
                self._settings = settings

    def _get_function(self) -> str:
        return "output" if self._settings.direction is Direction.OUTPUT else "input"

    def _set_function(self, value: str) -> None:
        if value not in _DIRECTIONS:
            raise PinInvalidFunction(f'invalid function "{value}" for pin {self!r}')
        self._configure(_FLOATING if value == "input" else gpiod.LineSettings(direction=Direction.OUTPUT))

    def _get_state(self) -> float:
        if self._pwm is not None:
            return self._pwm.duty
        with self._lock:
            return bool(self._request.get_value(self._number).value)

    def _set_state(self, value: float) -> None:
        if self._pwm is not None:
            if not 0 <= value <= 1:
                raise PinInvalidState(f'invalid state "{value}" for pin {self!r}')
            self._pwm.set(value)
        elif self._get_function() == "input":
            raise PinSetInput(f"cannot set state of pin {self!r}")
        else:
            self.write(is_high=bool(value))

    def _get_pull(self) -> str:
        return next((pull for pull, bias in _PULLS.items() if bias is self._settings.bias), "floating")

    def _set_pull(self, value: str) -> None:
        if self._get_function() != "input":
            raise PinFixedPull(f"cannot set pull on non-input pin {self!r}")
        if self.info.pull not in (value, ""):
            raise PinFixedPull(f"{self!r} has a physical pull-{self.info.pull} resistor")
        if value not in _PULLS:
            raise PinInvalidPull(f'invalid pull "{value}" for pin {self!r}')
        self._configure(replace(self._settings, bias=_PULLS[value]))

    def _get_frequency(self) -> float | None:
        return None if self._pwm is None else self._pwm.hz

    def _set_frequency(self, value: float | None) -> None:
        duty = 0.0
        if self._pwm is not None:
            duty = self._pwm.duty
            self._pwm.stop()
            self._pwm = None
        if value:
            if self._get_function() != "output":
                raise PinPWMFixedValue(f"cannot start PWM on pin {self!r}")
            self._pwm = _Pwm(self, value)
            self._pwm.set(duty)

    def _get_bounce(self) -> float | None:
        return self._settings.debounce_period.total_seconds() or None

    def _set_bounce(self, value: float | None) -> None:
        if value is not None and value < 0:
            raise PinInvalidBounce("bounce must be 0 or greater")
        self._configure(replace(self._settings, debounce_period=timedelta(seconds=value or 0)))

    def _get_edges(self) -> str:
        return self._edges

    def _set_edges(self, value: str) -> None:
        callback: Any = self._get_when_changed()
        self.when_changed = None
        self._edges = value
        self.when_changed = callback

    def _enable_event_detect(self) -> None:
        self._configure(replace(self._settings, edge_detection=_EDGES[self._edges]))
        self._factory.watcher.add(self._request.fd, self)

    def _disable_event_detect(self) -> None:
        with self._lock:
            self._unwatch()
        with contextlib.suppress(OSError):  # the chip has disappeared
            self._configure(replace(self._settings, edge_detection=Edge.NONE))

    def _unwatch(self) -> None:
        if self._request:
            self._factory.watcher.remove(self._request.fd)


class _EdgeWatcher:
    """A thread that reports the edges of all pins of a factory. It starts with the first pin."""

    def __init__(self) -> None:
        self._epoll, self._stop = select.epoll(), os.eventfd(0)
        self._epoll.register(self._stop, select.EPOLLIN)
        self._pins: dict[int, GpiodPin] = {}
        self._thread: threading.Thread | None = None

    def add(self, fd: int, pin: GpiodPin) -> None:
        """Report the edges of a pin."""
        self._pins[fd] = pin
        self._epoll.register(fd, select.EPOLLIN)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="gpiod edges", daemon=True)
            self._thread.start()

    def remove(self, fd: int) -> None:
        """Report no more edges of a pin. Do nothing if they are not reported."""
        if self._pins.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def stop(self) -> None:
        """End the thread. Further calls do nothing."""
        if self._epoll.closed:
            return
        os.eventfd_write(self._stop, 1)
        if self._thread not in (None, threading.current_thread()):
            self._thread.join()
        self._epoll.close()
        os.close(self._stop)

    def _run(self) -> None:
        while True:
            for fd, _ in self._epoll.poll():
                if fd == self._stop:
                    return
                pin = self._pins.get(fd)
                try:
                    if pin is not None:
                        pin.deliver()
                except (OSError, gpiod.RequestReleasedError):
                    # The chip has disappeared: its lines stay readable, and `is_connected` tells the parts.
                    self.remove(fd)


class _Pwm:
    """A thread that dims an output by switching it *hz* times a second. It sleeps while the output is on or off."""

    def __init__(self, pin: GpiodPin, hz: float) -> None:
        self.hz, self.duty = hz, 0.0
        self._pin, self._ended = pin, threading.Event()
        self._thread: threading.Thread | None = None

    def set(self, duty: float) -> None:
        """Set the share of the time for which the output is high, from 0 to 1."""
        self.duty = duty
        if duty in (0, 1):
            self.stop()
            self._pin.write(is_high=duty == 1)
        elif self._thread is None:
            self._ended.clear()
            self._thread = threading.Thread(target=self._run, name="gpiod PWM", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread. Further calls do nothing."""
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # the chip has disappeared
            while not self._ended.is_set():
                on_s = self.duty / self.hz
                self._pin.write(is_high=True)
                self._ended.wait(on_s)
                self._pin.write(is_high=False)
                self._ended.wait(1 / self.hz - on_s)
