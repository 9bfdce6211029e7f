"""Open `pi:0` in the guest as Tallybone does, and print what it gives as JSON.

    pi_camera.py COUNT [hold]

Prints the mode, the times, the sizes and the colours of COUNT pictures, and all states of the camera. With `hold`, the
light is locked and unlocked meanwhile. If the camera cannot be opened, prints the error.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import asdict
from itertools import groupby

import numpy as np

from hardware.camera.device import CameraDevice, CameraError, Pixels
from hardware.camera.open_device import open_device

_LONG_S, _PERIOD_S = 120.0, 0.005
_DARK, _BRIGHT = 60, 150
# Between two bars, colours are interpolated.
_EDGE_PX = 8


def main(count: int, holds: bool) -> dict[str, object]:
    """Return what the camera gives."""
    try:
        camera = open_device("pi:0", time.monotonic_ns)
    except CameraError as error:
        return {"error": str(error)}
    assert camera.mode is not None
    try:
        return {"mode": asdict(camera.mode)} | watch(camera, count, holds)
    finally:
        camera.close()


def watch(camera: CameraDevice, count: int, holds: bool) -> dict[str, object]:
    """Take pictures, and lock the light after a third and unlock it after two thirds of them."""
    times: list[int] = []
    sizes, colours, states = set(), set(), [camera.state.problem]
    end_s = time.monotonic() + _LONG_S
    while len(times) < count and time.monotonic() < end_s:
        picture = camera.take()
        if camera.state.problem != states[-1]:
            states.append(camera.state.problem)
        if picture is None:
            threading.Event().wait(_PERIOD_S)
            continue
        times.append(picture.t_ns)
        sizes.add((picture.image.shape, picture.grey.shape))
        colours.add(bars(picture.image))
        if holds and len(times) == count // 3:
            camera.hold_light()
        if holds and len(times) == 2 * count // 3:
            camera.free_light()
    return {"times": times, "now": time.monotonic_ns(), "sizes": [*sizes], "colours": [*colours], "states": states}


def bars(image: Pixels) -> str:
    """Return the colours along the middle row, from white on, as hexadecimal digits of blue, green and red."""
    row = image[len(image) // 2]
    clear = ((row < _DARK) | (row > _BRIGHT)).all(axis=1)
    runs = [(f"{key}", len([*run])) for key, run in groupby((row[clear] > _BRIGHT) @ np.array([4, 2, 1]))]
    found = [key for key, length_px in runs if length_px > _EDGE_PX]
    begin = found.index("7")
    around = found[begin:] + found[:begin]  # the pattern may begin anywhere, even within white
    return "".join(colour for colour, _ in groupby(around)).rstrip("7")


if __name__ == "__main__":
    json.dump(main(int(sys.argv[1]), "hold" in sys.argv[2:]), sys.stdout)
