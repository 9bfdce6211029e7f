"""Write what arrives at a serial display to a file: lines of the time on the monotonic clock, and hexadecimal bytes.

    display.py DEVICE FILE

The device may disappear and come back.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import tty
from pathlib import Path

_AGAIN_S = 0.05


def main(device: str, file: Path) -> None:
    """Write until this process is killed."""
    with file.open("a", buffering=1) as log:
        while True:
            with contextlib.suppress(OSError):
                port = os.open(device, os.O_RDWR | os.O_NOCTTY)
                try:
                    tty.setraw(port)
                    while data := os.read(port, 4096):
                        log.write(f"{time.monotonic():.3f} {data.hex()}\n")
                finally:
                    os.close(port)
            threading.Event().wait(_AGAIN_S)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
