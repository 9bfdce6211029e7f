"""List the available cameras, and open one by its setting.

A setting is `pi:0`, `usb:0`, `/dev/video0` or an address, with options after commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from hardware.camera.device import CameraDevice, CameraError, CameraRequest, CameraTurn, Clocks, NoCamera, OpenFeed
from hardware.camera.network import ADDRESSES, NetworkFeed, without_user
from hardware.camera.picamera import PicameraFeed, PicameraLoader, picamera2, ribbon_cameras
from hardware.camera.v4l2 import NodeMode, Nodes, V4l2Feed, capture_nodes, lasting_name, usb_camera
from hardware.camera.watched import WatchedCamera
from hardware.part import Clock

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
        # picamera2 is not expected on other computers
        if board.is_file() and "Raspberry Pi" in board.read_text(errors="replace"):
            problems.append(str(error))
    listed = nodes()
    usb = 0
    for node in listed.cameras:
        url, kind = str(node.path), CameraKind.OTHER
        if node.is_usb:
            url, kind, usb = f"usb:{usb}", CameraKind.USB, usb + 1
        cameras.append(FoundCamera(url, kind, node.name, node.path, lasting(node.path), node.modes))
    problems += [
        f"{path}: permission denied: run sudo usermod -aG video $USER, then log in again" for path in listed.refused
    ]
    return FoundCameras(tuple(cameras), tuple(problems))


def _pi_name(sensor: str) -> str:
    """Return the product name of a sensor. Some sensors have suffixes, such as imx708_wide."""
    product = next((name for start, name in _SENSORS.items() if sensor.startswith(start)), None)
    return sensor if product is None else f"{product} ({sensor})"


_WHERE = re.compile(r"(?:pi|usb):\d{1,3}|/dev/.+|none|(?:https?|rtsps?)://[^\s/]+\S*")
_DEVICES = ("pi:", "usb:", "/dev/")
_OPTIONS = re.compile(r"(.*?)((?:,(?:size|rate|rotate|flip|mains)=[^,]*)*)", re.DOTALL)
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})")


@dataclass(frozen=True, slots=True)
class CameraUrl:
    """A parsed camera setting.

    Attributes:
        where: `pi:N`, `usb:N`, a path in /dev, an address, or `none`.
        request: Requested mode.
    """

    where: str
    request: CameraRequest

    @classmethod
    def parse(cls, text: str) -> CameraUrl:
        """Parse a camera setting.

        >>> CameraUrl.parse("pi:0,rotate=180").request.orientation
        CameraTurn(rotate=180, flip=False)

        Raises:
            CameraError: If the setting is invalid. The message contains the expected form.
        """
        where, options = _split(text)
        if not _WHERE.fullmatch(where):
            raise CameraError(
                f"{without_user(text)}: expected pi:0, usb:0, a path such as /dev/video0, an address such as"
                " http://phone:8080/video, or none"
            )
        return cls(where, _request(text, options, is_only_turned=where.startswith(ADDRESSES)))


def parse_film(text: str) -> tuple[Path, CameraTurn]:
    """Parse the path of a video, recording or folder with the options rotate and flip.

    >>> parse_film("match.mcap,rotate=90")[1]
    CameraTurn(rotate=90, flip=False)

    Raises:
        CameraError: If an option is invalid.
    """
    where, options = _split(text)
    return Path(where), _request(text, options, is_only_turned=True).orientation


def is_device(text: str) -> bool:
    """Return True if a setting names a camera or `none`, rather than a file or a simulated table."""
    return text.startswith((*_DEVICES, *ADDRESSES)) or is_no_camera(text)


def is_no_camera(text: str) -> bool:
    """Return True if a setting is `none`."""
    return text.partition(",")[0] == "none"


def open_device(text: str, clock: Clock) -> CameraDevice:
    """Open a camera, and reopen it after failures. A USB camera is found again even if its number changes.

    Raises:
        CameraError: If there is no such camera, or it cannot be used. The message suggests a fix.
    """
    url = CameraUrl.parse(text)
    if url.where == "none":
        return NoCamera()
    opener, orientation = _opener(url, Clocks(clock)), url.request.orientation
    return WatchedCamera(without_user(url.where), opener, clock, orientation=orientation)


def _opener(url: CameraUrl, clocks: Clocks) -> OpenFeed:
    kind, _, number = url.where.partition(":")
    if kind == "pi":
        return lambda: PicameraFeed(int(number), url.request, clocks)
    if url.where.startswith(ADDRESSES):
        return lambda: NetworkFeed(url.where, clocks)

    def find() -> Path | None:
        if kind != "usb":
            return Path(url.where)
        nodes = capture_nodes()
        # Or the first inaccessible device, so that its error is reported.
        return usb_camera(int(number), nodes) or next(iter(nodes.refused), None)

    camera = CameraPath(url.where, find)
    return lambda: V4l2Feed(camera.now(), url.where, url.request, clocks)


def _split(text: str) -> tuple[str, list[str]]:
    """Return the camera of a setting, and its options. An address or the name of a file may contain commas."""
    if text.startswith(_DEVICES) or is_no_camera(text):
        where, *options = text.split(",")
        return where, options
    found = _OPTIONS.fullmatch(text)
    assert found is not None  # both parts may be empty
    return found[1], found[2].split(",")[1:]


def _request(text: str, options: list[str], *, is_only_turned: bool) -> CameraRequest:
    """Return the request with options, which are only rotate and flip for a source without other settings."""
    request = CameraRequest()
    try:
        for option in options:
            request = _with_option(request, option)
        if is_only_turned and request != CameraRequest(orientation=request.orientation):
            raise ValueError("size, rate and mains can be set only for cameras of this computer")
    except ValueError as error:
        raise CameraError(f"{without_user(text)}: {error}") from None
    return request


def _with_option(request: CameraRequest, option: str) -> CameraRequest:
    """Return a request with an option such as "rate=20" applied."""
    key, _, value = option.partition("=")
    if key == "size" and (match := _SIZE.fullmatch(value)):
        return replace(request, width_px=int(match[1]), height_px=int(match[2]))
    if key == "rate" and value.isdecimal():
        return replace(request, per_s=float(value))
    if key == "rotate" and value in ("0", "90", "180", "270"):
        return replace(request, orientation=replace(request.orientation, rotate=int(value)))
    if key == "flip" and value in ("yes", "no"):
        return replace(request, orientation=replace(request.orientation, flip=value == "yes"))
    if key == "mains" and value in ("50", "60", "off"):
        return replace(request, mains=value)
    expected = "size=1280x720, rate=20, rotate=180, flip=yes or mains=50"
    raise ValueError(f"expected {expected} after the comma, got {option or 'nothing'}")


class CameraPath:
    """Path of a Video4Linux camera. Once found, the camera is identified by its persistent path instead of its number.

    Args:
        name: Name used in messages.
        find: Returns its device, or None.
        lasting: Returns the persistent path of a device, or None.
    """

    def __init__(
        self, name: str, find: Callable[[], Path | None], lasting: Callable[[Path], Path | None] = lasting_name
    ) -> None:
        self._name, self._find, self._lasting = name, find, lasting
        self._known: Path | None = None

    def now(self) -> Path:
        """Return the persistent path if it is known, else find the device.

        Raises:
            CameraError: If the device is not found.
        """
        if self._known is not None:
            return self._known
        path = self._find()
        if path is None:
            raise CameraError(
                f"{self._name}: no such camera: check that it is plugged in; `tallybone cameras` lists all"
            )
        self._known = self._lasting(path)
        return path
