"""Open a camera by its setting: `pi:0`, `usb:0` or `/dev/video0`, with optional requests after commas."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hardware.camera.device import CameraDevice, CameraError, CameraRequest, OpenFeed
from hardware.camera.fake import NoCamera
from hardware.camera.picamera import PicameraFeed
from hardware.camera.sensor_time import Clocks
from hardware.camera.v4l2 import V4l2Feed
from hardware.camera.v4l2_nodes import Nodes, capture_nodes, lasting_name, usb_camera
from hardware.camera.watched import WatchedCamera
from hardware.clock import Clock

_WHERE = re.compile(r"(?:pi|usb):\d{1,3}|/dev/.+|none")
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})")


@dataclass(frozen=True, slots=True)
class CameraUrl:
    """A parsed camera setting.

    Attributes:
        where: `pi:N`, `usb:N`, a path in /dev, or `none`.
        request: Requested mode.
    """

    where: str
    request: CameraRequest

    @classmethod
    def parse(cls, text: str) -> CameraUrl:
        """Parse a camera setting.

        >>> CameraUrl.parse("pi:0,size=1920x1080,rate=15")
        CameraUrl(where='pi:0', request=CameraRequest(width_px=1920, height_px=1080, per_s=15.0))

        Raises:
            CameraError: If the setting is invalid. The message contains the expected form.
        """
        where, *options = text.split(",")
        if not _WHERE.fullmatch(where):
            raise CameraError(f"{text}: expected pi:0, usb:0, a path such as /dev/video0, or none")
        request = CameraRequest()
        try:
            for option in options:
                request = _with_option(request, option)
        except ValueError as error:
            raise CameraError(f"{text}: {error}") from None
        return cls(where, request)


def is_device(text: str) -> bool:
    """Return True if a setting names a camera device or `none`, rather than a file or a simulated table."""
    return text.startswith(("pi:", "usb:", "/dev/")) or is_no_camera(text)


def is_no_camera(text: str) -> bool:
    """Return True if a setting is `none`."""
    return text.partition(",")[0] == "none"


def open_device(text: str, clock: Clock) -> CameraDevice:
    """Open a camera, and reopen it after failures. A USB camera is found again even if its number changes.

    Args:
        text: Setting for `CameraUrl.parse`.
        clock: Monotonic clock for the timestamps of pictures.

    Raises:
        CameraError: If there is no such camera, or it cannot be used. The message suggests a fix.
    """
    url = CameraUrl.parse(text)
    if url.where == "none":
        return NoCamera()
    return WatchedCamera(url.where, _opener(url, Clocks(clock)), clock)


def _opener(url: CameraUrl, clocks: Clocks) -> OpenFeed:
    kind, _, number = url.where.partition(":")
    if kind == "pi":
        return lambda: PicameraFeed(int(number), url.request, clocks)
    path = Path(url.where)
    camera = CameraPath(url.where, lambda: path if path.is_absolute() else _usb(int(number), capture_nodes()))
    return lambda: V4l2Feed(camera.now(), url.where, url.request, clocks)


def _usb(number: int, nodes: Nodes) -> Path | None:
    """Return the device of a USB camera, or the first inaccessible device, so that its error is reported, or None."""
    return usb_camera(number, nodes) or next(iter(nodes.refused), None)


def _with_option(request: CameraRequest, option: str) -> CameraRequest:
    """Return a request with an option such as "rate=20" applied.

    Raises:
        ValueError: If the option is unknown or invalid.
    """
    key, _, value = option.partition("=")
    if key == "size" and (match := _SIZE.fullmatch(value)):
        return replace(request, width_px=int(match[1]), height_px=int(match[2]))
    if key == "rate" and value.isdecimal():
        return replace(request, per_s=float(value))
    raise ValueError(f"expected size=1280x720 or rate=20 after the comma, got {option or 'nothing'}")


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
