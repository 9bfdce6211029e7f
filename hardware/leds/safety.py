"""All LEDs off when the program ends, whatever ends it; only SIGKILL and a power cut are faster."""

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

# Ctrl-C raises KeyboardInterrupt and needs nothing here. SIGHUP comes when the terminal is closed.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def off_at_exit(lamps: Lamps) -> Iterator[Lamps]:
    """Yield LEDs that are turned off and closed when this block, or the program, ends.

    Signals are looked after only where this is the main thread, because Python allows it nowhere else.
    """
    atexit.register(lamps.close)
    before: dict[signal.Signals, Any] = {}

    def end(number: int, frame: FrameType | None) -> None:
        lamps.close()
        previous = before[signal.Signals(number)]
        if callable(previous):
            previous(number, frame)
        else:  # die of it, so that whoever started the program is told why it ended
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
