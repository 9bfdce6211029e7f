"""Show the pictures of a match on a v4l2loopback device, at their times.

    camera.py FOLDER DEVICE

FOLDER is made by match.py. While it contains the file `held`, the pictures from that second of the match repeat, as
the last ones do: a table would take equal pictures for a frozen camera. Else the file `began` tells when the match
began, on the monotonic clock.
"""

from __future__ import annotations

import fcntl
import json
import struct
import sys
import threading
import time
from bisect import bisect
from pathlib import Path

_SET_FORMAT, _OUTPUT, _NO_FIELD, _MJPG = 0xC0D05605, 2, 1, struct.unpack("<I", b"MJPG")[0]
_HELD_S, _PERIOD_S = 0.3, 0.1


def main(folder: Path, device: Path) -> None:
    """Show pictures until this process is killed."""
    match = json.loads((folder / "match.json").read_text())
    times, (width, height) = match["pictures_s"], match["size_px"]
    mode = struct.pack("<IIIIIIII", width, height, _MJPG, _NO_FIELD, 0, width * height * 2, 0, 0)
    with device.open("wb", buffering=0) as camera:
        fcntl.ioctl(camera, _SET_FORMAT, bytearray(struct.pack("<I4x", _OUTPUT) + mode.ljust(200, b"\0")))
        while True:
            at_s = seconds_of_match(folder)
            if at_s > times[-1]:
                at_s = times[-1] - at_s % _HELD_S
            camera.write((folder / f"{max(0, bisect(times, at_s) - 1):05}.jpg").read_bytes())
            threading.Event().wait(_PERIOD_S)


def seconds_of_match(folder: Path) -> float:
    """Return the time of the match for which the table is shown."""
    now_s = time.monotonic()
    try:
        return float((folder / "held").read_text()) + now_s % _HELD_S
    except FileNotFoundError:
        return now_s - float((folder / "began").read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
