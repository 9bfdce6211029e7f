"""Tests of supervised parts: reopening after failures, and closing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hardware.part import PartState
from hardware.table import SupervisedPart

_SOON_S = 5.0


class Part:
    """A part that counts its calls."""

    def __init__(self, *, opens: bool, works_for: int = 0) -> None:
        self.opens, self.works_for = opens, works_for
        self.opened = self.used = self.closed = self.uses_left = 0
        self.enough = threading.Event()

    def open(self) -> Part:
        self.opened += 1
        if self.opened == 20:
            self.enough.set()
        if not self.opens:
            raise OSError("not there")
        self.uses_left = self.works_for
        return self

    def use(self, opened: Part) -> PartState:
        self.used += 1
        if self.uses_left == 0:
            raise OSError("gone")
        self.uses_left -= 1
        return PartState()

    def close(self) -> None:
        self.closed += 1


@contextmanager
def supervised(part: Part, *back_off_s: float) -> Iterator[SupervisedPart[Part]]:
    supervisor = SupervisedPart("lamp", part.open, part.use, 0.0, back_off_s=back_off_s)
    try:
        yield supervisor
    finally:
        supervisor.close()


def test_a_missing_part_is_retried_less_and_less_often() -> None:
    part = Part(opens=False)
    with supervised(part, 0.001, 0.001, 0.2) as supervisor:
        threading.Event().wait(0.5)
        assert (supervisor.name, supervisor.state) == ("lamp", PartState("not there"))
    assert 3 <= part.opened <= 6
    assert (part.used, part.closed) == (0, 0)


def test_a_part_is_retried_soon_only_if_it_worked() -> None:
    part = Part(opens=True, works_for=1)
    with supervised(part, 0.001, _SOON_S):
        assert part.enough.wait(_SOON_S)
    part = Part(opens=True)
    with supervised(part, 0.001, 0.001, 0.2):
        threading.Event().wait(0.5)
    assert 3 <= part.opened <= 6


def test_every_opened_part_is_closed() -> None:
    part = Part(opens=True, works_for=3)
    with supervised(part, 0.001):
        assert part.enough.wait(_SOON_S)
    assert part.closed == part.opened >= 20


def test_closing_does_not_wait_for_a_hanging_part() -> None:
    gate = threading.Event()
    began = time.perf_counter()
    part = Part(opens=True)

    def hang() -> Part:
        gate.wait(60.0)
        return part

    supervisor = SupervisedPart("lamp", hang, part.use, 0.01)
    supervisor.close(0.1)
    assert time.perf_counter() - began < _SOON_S
    gate.set()
