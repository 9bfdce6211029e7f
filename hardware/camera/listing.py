"""List the available cameras with the settings that open them, and the problems with others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hardware.camera.device import CameraError
from hardware.camera.picamera import PicameraLoader, picamera2, ribbon_cameras
from hardware.camera.v4l2 import NodeMode, Nodes, capture_nodes, lasting_name

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
    """Kind of connection of a camera."""

    PI = "pi"
    USB = "usb"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FoundCamera:
    """An available camera.

    Attributes:
        url: Setting that opens it.
        kind: Kind of connection.
        name: Name given by the manufacturer.
        device: Path of its device. None for a camera on a ribbon cable.
        lasting: Persistent path of the device, which does not depend on its number, or None.
        modes: Supported modes, if they can be listed without opening the camera.
    """

    url: str
    kind: CameraKind
    name: str
    device: Path | None = None
    lasting: Path | None = None
    modes: tuple[NodeMode, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundCameras:
    """Available cameras, and problems that hide others.

    Attributes:
        cameras: Available cameras, those on ribbon cables first.
        problems: Reasons why other cameras may be missing, with suggestions.
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
    """Return the available cameras, and the problems that hide others, without opening any camera.

    Args:
        nodes: Returns the Video4Linux devices.
        library: Returns the module picamera2.
        board: File with the model of the computer.
        lasting: Returns the persistent path of a device, or None.
    """
    problems = []
    cameras = []
    try:
        cameras += [
            FoundCamera(f"pi:{number}", CameraKind.PI, _pi_name(str(info.get("Model", "a camera"))))
            for number, info in enumerate(ribbon_cameras(library()))
        ]
    except CameraError as error:
        if _is_pi(board):  # picamera2 is not expected on other computers
            problems.append(str(error))
    listed = nodes()
    cameras += _video4linux_cameras(listed, lasting)
    problems += [
        f"{path}: permission denied: run sudo usermod -aG video $USER, then log in again" for path in listed.refused
    ]
    return FoundCameras(tuple(cameras), tuple(problems))


def _video4linux_cameras(nodes: Nodes, lasting: Callable[[Path], Path | None]) -> list[FoundCamera]:
    cameras = []
    usb = 0
    for node in nodes.cameras:
        url, kind = str(node.path), CameraKind.OTHER
        if node.is_usb:
            url, kind, usb = f"usb:{usb}", CameraKind.USB, usb + 1
        cameras.append(FoundCamera(url, kind, node.name, node.path, lasting(node.path), node.modes))
    return cameras


def _pi_name(sensor: str) -> str:
    """Return the product name of a sensor. Some sensors have suffixes, such as imx708_wide."""
    product = next((name for start, name in _SENSORS.items() if sensor.startswith(start)), None)
    return sensor if product is None else f"{product} ({sensor})"


def _is_pi(board: Path) -> bool:
    return board.is_file() and "Raspberry Pi" in board.read_text(errors="replace")
