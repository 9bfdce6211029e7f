"""One setting that says which camera: `pi:0`, `usb:0`, `/dev/video0`, with what is wished of it behind commas."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hardware.camera.device import CameraDevice, CameraError, CameraWish, OpenFeed
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
    """Which camera, and what is wished of it.

    Attributes:
        where: `pi:N`, `usb:N`, a path in /dev, or `none`.
        wish: What it is asked for.
    """

    where: str
    wish: CameraWish

    @classmethod
    def parse(cls, text: str) -> CameraUrl:
        """Return what a text means.

        >>> CameraUrl.parse("pi:0,size=1920x1080,rate=15")
        CameraUrl(where='pi:0', wish=CameraWish(width_px=1920, height_px=1080, per_s=15.0))

        Raises:
            CameraError: If it means no camera; it says what was expected.
        """
        where, *wishes = text.split(",")
        if not _WHERE.fullmatch(where):
            raise CameraError(f"{text}: expected pi:0, usb:0, a path such as /dev/video0, or none")
        wish = CameraWish()
        try:
            for said in wishes:
                wish = _with(wish, said)
        except ValueError as error:
            raise CameraError(f"{text}: {error}") from None
        return cls(where, wish)


def is_device(text: str) -> bool:
    """Return whether a text is meant as a camera that is plugged in, rather than as a file or a simulated table."""
    return text.startswith(("pi:", "usb:", "/dev/")) or is_no_camera(text)


def is_no_camera(text: str) -> bool:
    """Return whether a text says that no camera is wanted."""
    return text.partition(",")[0] == "none"


def open_device(text: str, clock: Clock) -> CameraDevice:
    """Open a camera and keep it open: a USB camera that was unplugged is found again, under another number too.

    Args:
        text: As `CameraUrl.parse` takes it.
        clock: Monotonic; its pictures are stamped with it.

    Raises:
        CameraError: If there is no such camera, or it cannot be used now; it says what helps.
    """
    url = CameraUrl.parse(text)
    if url.where == "none":
        return NoCamera()
    return WatchedCamera(url.where, _opener(url, Clocks(clock)), clock)


def _opener(url: CameraUrl, clocks: Clocks) -> OpenFeed:
    kind, _, number = url.where.partition(":")
    if kind == "pi":
        return lambda: PicameraFeed(int(number), url.wish, clocks)
    path = Path(url.where)
    camera = CameraPath(url.where, lambda: path if path.is_absolute() else _usb(int(number), capture_nodes()))
    return lambda: V4l2Feed(camera.now(), url.where, url.wish, clocks)


def _usb(number: int, nodes: Nodes) -> Path | None:
    """Return the device of a USB camera, or one that this user may not use: then that is what has to be said."""
    return usb_camera(number, nodes) or next(iter(nodes.refused), None)


def _with(wish: CameraWish, said: str) -> CameraWish:
    """Return a wish with one more thing in it.

    Raises:
        ValueError: If it is none.
    """
    key, _, value = said.partition("=")
    if key == "size" and (match := _SIZE.fullmatch(value)):
        return replace(wish, width_px=int(match[1]), height_px=int(match[2]))
    if key == "rate" and value.isdecimal():
        return replace(wish, per_s=float(value))
    raise ValueError(f"expected size=1280x720 or rate=20 behind the comma, got {said or 'nothing'}")


class CameraPath:
    """Where a camera of Video4Linux is now: looked up once, then known by its lasting name, never by its number.

    Args:
        name: What people call it.
        find: Returns its device, or None.
        lasting: Returns its lasting name, if it has one.
    """

    def __init__(
        self, name: str, find: Callable[[], Path | None], lasting: Callable[[Path], Path | None] = lasting_name
    ) -> None:
        self._name, self._find, self._lasting = name, find, lasting
        self._known: Path | None = None

    def now(self) -> Path:
        """Return its device.

        Raises:
            CameraError: If it is not there.
        """
        if self._known is not None:
            return self._known
        path = self._find()
        if path is None:
            raise CameraError(
                f"{self._name}: there is no such camera: is it plugged in? `tallybone cameras` lists them"
            )
        self._known = self._lasting(path)
        return path
