"""List the available cameras, each with the setting that opens it, and explain why others are not found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hardware.camera.device import CameraError
from hardware.camera.picamera_library import PicameraLoader, found, picamera2
from hardware.camera.v4l2_nodes import NodeMode, Nodes, capture_nodes, lasting_name

_SENSORS = {
    "ov5647": "Camera Module 1",
    "imx219": "Camera Module 2",
    "imx708": "Camera Module 3",
    "imx477": "High Quality Camera",
    "imx296": "Global Shutter Camera",
    "imx500": "AI Camera",
}
_BOARD = Path("/proc/device-tree/model")


class CameraKind(StrEnum):
    """How a camera is connected."""

    PI = "pi"
    USB = "usb"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FoundCamera:
    """A camera that is there.

    Attributes:
        url: The setting that opens it.
        kind: How it is connected.
        name: What its maker calls it.
        device: Its device, where it has one of its own.
        lasting: A name of that device that does not change with its number, where there is one.
        modes: What it gives, as far as it says before it is opened.
    """

    url: str
    kind: CameraKind
    name: str
    device: Path | None = None
    lasting: Path | None = None
    modes: tuple[NodeMode, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundCameras:
    """What was found.

    Attributes:
        cameras: Those of the Pi first.
        problems: What kept others from being found, and what mends it.
    """

    cameras: tuple[FoundCamera, ...]
    problems: tuple[str, ...]


def find_cameras(
    nodes: Callable[[], Nodes] = capture_nodes,
    library: PicameraLoader = picamera2,
    *,
    board: Path = _BOARD,
    lasting: Callable[[Path], Path | None] = lasting_name,
) -> FoundCameras:
    """Return the cameras that are there, without opening any.

    Args:
        nodes: Returns those of Video4Linux.
        library: What gives the module picamera2.
        board: The file that says what computer this is.
        lasting: Returns the lasting name of a device.
    """
    problems = []
    cameras = []
    try:
        cameras += [
            FoundCamera(f"pi:{number}", CameraKind.PI, _pi_name(str(info.get("Model", "a camera"))))
            for number, info in enumerate(found(library()))
        ]
    except CameraError as error:
        if _is_pi(board):  # elsewhere nobody misses it
            problems.append(str(error))
    listed = nodes()
    cameras += _of_video4linux(listed, lasting)
    problems += [f"{path} may not be used: sudo usermod -aG video $USER, then log in again" for path in listed.refused]
    return FoundCameras(tuple(cameras), tuple(problems))


def _of_video4linux(nodes: Nodes, lasting: Callable[[Path], Path | None]) -> list[FoundCamera]:
    cameras = []
    usb = 0
    for node in nodes.cameras:
        url, kind = str(node.path), CameraKind.OTHER
        if node.is_usb:
            url, kind, usb = f"usb:{usb}", CameraKind.USB, usb + 1
        cameras.append(FoundCamera(url, kind, node.name, node.path, lasting(node.path), node.modes))
    return cameras


def _pi_name(sensor: str) -> str:
    """Return what a sensor is sold as; some say more than its name, such as imx708_wide."""
    sold = next((name for start, name in _SENSORS.items() if sensor.startswith(start)), None)
    return sensor if sold is None else f"{sold} ({sensor})"


def _is_pi(board: Path) -> bool:
    return board.is_file() and "Raspberry Pi" in board.read_text(errors="replace")
