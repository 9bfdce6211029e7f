"""A walk through the parts of a table with somebody at the page: what it says and asks, what he answers."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from hardware.config.config import HardwareConfig
from hardware.parts import OpensParts
from tallybone.serve.hardware_steps import Steps, walked
from tallybone.serve.hardware_walk import Result, Walk

_NS_PER_S = 1_000_000_000
# Whoever has closed the page answers no more, and the table is wanted by others.
_NOBODY_AFTER_NS = 60 * _NS_PER_S
_MOST_CHARACTERS = 20_000
LEAVES = "q"
"""The key that ends a walk."""


@dataclass(frozen=True, slots=True)
class TestState:
    """How a test stands.

    Attributes:
        is_running: Whether there is one.
        words: All that it has said so far.
        keys: The answers that it takes now; those of `hardware_walk.Walk`.
        results: What came of each part.
    """

    __test__ = False  # it is no test of pytest

    is_running: bool = False
    words: str = ""
    keys: str = ""
    results: tuple[Result, ...] = ()


class PartsTest:
    """One test at a time. The table walks in its own thread; any other asks how it stands, and answers."""

    def __init__(self, clock: Callable[[], int]) -> None:
        """Have no test yet; *clock* is monotonic, in nanoseconds."""
        self._clock, self._lock = clock, threading.Lock()
        self._state, self._typed = TestState(), queue.SimpleQueue[str]()
        self._asked_ns = 0

    @property
    def state(self) -> TestState:
        """How it stands; whoever asks is there to answer."""
        self._asked_ns = self._clock()
        return self._state

    def answer(self, key: str) -> bool:
        """Answer with a key; False where it is none that is asked for."""
        with self._lock:
            state = self._state
            if not state.is_running or key not in (*state.keys, LEAVES):
                return False
            self._typed.put(key)
            return True

    def run(self, hardware: HardwareConfig, opener: OpensParts, meanwhile: Callable[[], bool]) -> None:
        """Walk through *hardware*; *meanwhile* is called often, and says whether the walk goes on."""
        self._typed = queue.SimpleQueue()
        self._asked_ns = self._clock()
        self._change(TestState(is_running=True))
        results: list[Result] = []
        steps = Steps(
            opener, Walk(_Answers(self._typed, self._is_wanted, meanwhile), self._say, self._ask), self._clock
        )
        try:
            for result in walked(hardware, steps):
                results.append(result)
                self._change(replace(self._state, keys="", results=tuple(results)))
        finally:
            self._change(TestState(words=self._state.words, results=tuple(results)))

    def _is_wanted(self) -> bool:
        return self._clock() - self._asked_ns < _NOBODY_AFTER_NS

    def _say(self, words: str) -> None:
        self._change(replace(self._state, words=(self._state.words + words)[-_MOST_CHARACTERS:]))

    def _ask(self, keys: str) -> None:
        self._change(replace(self._state, keys=keys))

    def _change(self, state: TestState) -> None:
        with self._lock:
            self._state = state


class _Answers:
    """Keys that somebody presses on the page."""

    def __init__(
        self, typed: queue.SimpleQueue[str], is_wanted: Callable[[], bool], meanwhile: Callable[[], bool]
    ) -> None:
        self._typed, self._is_wanted, self._meanwhile = typed, is_wanted, meanwhile
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether nobody answers any more."""
        return self._is_over

    def pressed(self, wait_s: float) -> str:
        """Return the key that was pressed, after up to so many seconds."""
        self._is_over = not self._meanwhile() or not self._is_wanted()
        try:
            return self._typed.get(timeout=wait_s)
        except queue.Empty:
            return ""
