"""`tallybone cameras`: which cameras there are, and the setting that opens each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import groupby
from typing import TextIO

from hardware.camera.listing import CameraKind, FoundCamera, FoundCameras, find_cameras
from hardware.camera.v4l2_nodes import NodeMode
from tallybone.terminal import printable, quiet_libraries

_MOST_SIZES = 4
_NOTHING = """\
No camera was found. What helps:
  USB camera      plug it in, into a port of its own rather than a hub. `lsusb` lists it if its cable works
  Pi camera       power off, push the ribbon cable in on both ends, contacts to the right side; then
                  `rpicam-hello --list-cameras`. A Pi 5 and a Zero need the narrow cable
  no camera here  tallybone play --camera simulated, or a video, a recording or a folder of pictures
"""


def list_cameras(
    *,
    as_json: bool = False,
    find: Callable[[], FoundCameras] = find_cameras,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Print the cameras that are there.

    Args:
        as_json: Print a line of JSON per camera instead of a sentence.
        find: What finds them.
        out: Where they go, by default stdout.
        err: Where problems go, by default stderr.

    Returns:
        The exit code: 0, or 1 if there is none.
    """
    out, err = out or sys.stdout, err or sys.stderr
    with quiet_libraries():  # libcamera tells stderr its version
        found = find()
    for camera in found.cameras:
        out.write((format_line(camera) if as_json else sentence(camera)) + "\n")
    for problem in found.problems:
        err.write(f"tallybone cameras: {printable(problem)}\n")
    if not found.cameras:
        err.write(_NOTHING)
    return 0 if found.cameras else 1


def format_line(camera: FoundCamera) -> str:
    """Return a camera as one line of JSON, without a line end."""
    return json.dumps(
        {
            "url": camera.url,
            "kind": camera.kind.value,
            "name": camera.name,
            "device": None if camera.device is None else str(camera.device),
            "lasting": None if camera.lasting is None else str(camera.lasting),
            "modes": [
                {"coding": mode.coding, "width": mode.width_px, "height": mode.height_px, "per_s": list(mode.per_s)}
                for mode in camera.modes
            ],
        }
    )


def sentence(camera: FoundCamera) -> str:
    """Return a camera in words."""
    where = "" if camera.device is None else f" at {camera.lasting or camera.device}"
    if camera.kind is CameraKind.PI:
        gives = "any size up to that of its sensor"
    else:
        gives = "; ".join(
            _sizes(coding, tuple(modes)) for coding, modes in groupby(camera.modes, lambda one: one.coding)
        )
    return printable(f"{camera.url:<12} {camera.name}{where}: {gives or 'it does not say which sizes'}")


def _sizes(coding: str, modes: tuple[NodeMode, ...]) -> str:
    """Return the sizes of a coding, the largest first, each with the most pictures a second."""
    largest = sorted(modes, key=lambda mode: (-mode.width_px * mode.height_px, mode.width_px))
    said = [
        f"{mode.width_px}x{mode.height_px}" + (f" {max(mode.per_s):g}/s" if mode.per_s else "")
        for mode in largest[:_MOST_SIZES]
    ]
    if len(largest) > _MOST_SIZES:
        said.append(f"and {len(largest) - _MOST_SIZES} smaller")
    return f"{coding} {', '.join(said)}"
