"""From levels of a pin, with their times, to presses: pure, so that a replay of the levels gives the same presses.

gpiozero's own debouncing drops edges and misfires with lgpio, and the kernel may drop an edge too. So samples come from
both edges and polling, in any number: a sample that says what the last one said never changes a result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

_NS_PER_MS = 1_000_000


class PressKind(StrEnum):
    """How a button was pressed."""

    SHORT = "short"
    LONG = "long"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True)
class PinSample:
    """The level of a pin at one time.

    Attributes:
        t_ns: When, by a monotonic clock.
        is_down: Whether the button is pressed.
    """

    t_ns: int
    is_down: bool


@dataclass(frozen=True, slots=True)
class PinPress:
    """A press of the button on a pin.

    Attributes:
        t_ns: When it was clear which kind it is; it does not depend on when samples were taken.
        down_ns: When the finger came down (first, with a double press).
        kind: Which kind.
    """

    t_ns: int
    down_ns: int
    kind: PressKind


@dataclass(frozen=True, slots=True)
class PressTiming:
    """What counts as what.

    Attributes:
        bounce_ns: A level counts when it has lasted so long.
        long_ns: A button that is held for so long is pressed long.
        double_ns: A second press that begins so soon after the first ended makes both a double one; 0 for no double
            presses, so that a short one is known when the finger leaves.
    """

    bounce_ns: int = 15 * _NS_PER_MS
    long_ns: int = 800 * _NS_PER_MS
    double_ns: int = 300 * _NS_PER_MS

    def __post_init__(self) -> None:
        if not 0 < self.bounce_ns < self.long_ns or self.double_ns < 0:
            raise ValueError(f"expected 0 < bounce_ns < long_ns and double_ns >= 0, but got {self}")


class _Phase(StrEnum):
    IDLE = "idle"
    DOWN = "down"
    RELEASED = "released"
    DONE = "done"
    """Said already; the finger is still down."""


@dataclass(frozen=True, slots=True)
class Debouncing:
    """Debouncing of one button so far. The first sample only sets its level."""

    level: bool | None = None
    level_ns: int = 0
    stable: bool = False
    now_ns: int = 0
    phase: _Phase = _Phase.IDLE
    down_ns: int = 0
    up_ns: int = 0


def feed(state: Debouncing, sample: PinSample, timing: PressTiming) -> tuple[Debouncing, tuple[PinPress, ...]]:
    """Return the next state, and the presses that are clear by the time of a sample.

    A sample that comes late, with a time before the last one, counts as of then.
    """
    t_ns = max(sample.t_ns, state.now_ns)
    if state.level is None:
        return Debouncing(
            sample.is_down, t_ns, sample.is_down, t_ns, _Phase.DONE if sample.is_down else _Phase.IDLE
        ), ()
    presses: list[PinPress] = []
    while (due := _due(state, timing)) is not None and due[0] <= t_ns:
        state, press = _happen(state, timing, due)
        presses += [] if press is None else [press]
    if sample.is_down != state.level:
        state = replace(state, level=sample.is_down, level_ns=t_ns)
    return replace(state, now_ns=t_ns), tuple(presses)


class _Due(StrEnum):
    EDGE = "edge"
    LONG = "long"
    SHORT = "short"


def _due(state: Debouncing, timing: PressTiming) -> tuple[int, _Due] | None:
    """Return what happens next if the level stays, and when."""
    coming: list[tuple[int, _Due]] = []
    # In the order of this list where two are due at once. An edge is known only after it has lasted: whatever depends
    # on one not having come waits as long.
    if state.level != state.stable:
        coming.append((state.level_ns + timing.bounce_ns, _Due.EDGE))
    if state.phase is _Phase.DOWN:
        coming.append((state.down_ns + timing.long_ns + timing.bounce_ns, _Due.LONG))
    if state.phase is _Phase.RELEASED:
        coming.append((state.up_ns + timing.double_ns + timing.bounce_ns, _Due.SHORT))
    return min(coming, key=lambda one: one[0], default=None)


def _happen(state: Debouncing, timing: PressTiming, due: tuple[int, _Due]) -> tuple[Debouncing, PinPress | None]:
    t_ns, what = due
    if what is _Due.LONG:
        return replace(state, phase=_Phase.DONE), PinPress(t_ns, state.down_ns, PressKind.LONG)
    if what is _Due.SHORT:
        return replace(state, phase=_Phase.IDLE), PinPress(t_ns, state.down_ns, PressKind.SHORT)
    state = replace(state, stable=not state.stable)
    if state.stable:
        if state.phase is _Phase.RELEASED:
            return replace(state, phase=_Phase.DONE), PinPress(t_ns, state.down_ns, PressKind.DOUBLE)
        return replace(state, phase=_Phase.DOWN, down_ns=state.level_ns), None
    if state.phase is not _Phase.DOWN:
        return replace(state, phase=_Phase.IDLE), None
    if timing.double_ns == 0:
        return replace(state, phase=_Phase.IDLE), PinPress(t_ns, state.down_ns, PressKind.SHORT)
    return replace(state, phase=_Phase.RELEASED, up_ns=state.level_ns), None
