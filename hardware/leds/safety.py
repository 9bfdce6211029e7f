"""Turn the LEDs off when the program ends for any reason except SIGKILL or a power cut."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hardware.leds.lamps import Lamps

# SIGINT raises KeyboardInterrupt and needs no handler. SIGHUP is sent when the terminal is closed.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def off_at_exit(lamps: Lamps) -> Iterator[Lamps]:
    """Yield LEDs that are turned off and closed when the block or the program ends.

    Signals are handled only if called from the main thread, the only one in which Python allows handlers to be set.
    """
    atexit.register(lamps.close)
    before: dict[signal.Signals, Any] = {}

    def end(number: int, frame: FrameType | None) -> None:
        lamps.close()
        previous = before[signal.Signals(number)]
        if callable(previous):
            previous(number, frame)
        else:  # Die from the signal, to give the parent process the right exit status.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    if threading.current_thread() is threading.main_thread():
        for ending in _ENDING:
            before[ending] = signal.getsignal(ending)
            if before[ending] is not signal.SIG_IGN:
                signal.signal(ending, end)
    try:
        yield lamps
    finally:
        lamps.close()
        atexit.unregister(lamps.close)
        for ending, previous in before.items():
            signal.signal(ending, previous)
