"""USB and other Video4Linux cameras, read by OpenCV."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np

from hardware.camera import device

Ioctl: TypeAlias = Callable[[int, int, bytearray], object]
"""Sends a request to an open device, and writes the reply to the buffer. Raises OSError."""

# linux/videodev2.h. device_caps describes the node, and capabilities the whole device.
_QUERYCAP = 0x80685600
_ENUM_FMT = 0xC0405602
_ENUM_SIZES = 0xC02C564A
_ENUM_INTERVALS = 0xC034564B
_REQUEST_BUFFERS = 0xC0145608
_BUFFERS = struct.Struct("<IIIII")
_CAPABILITY = struct.Struct("<16s32s32sIII12x")
_FORMAT = struct.Struct("<III32sI16x")
_SIZE = struct.Struct("<IIIIIIIIIII")
_INTERVAL = struct.Struct("<IIIIIIIIIIIII")
_CAPTURE = 0x1
_STREAMING = 0x04000000
_OUTPUT = 0x2 | 0x2000
_M2M = 0x8000 | 0x4000
_SET_CONTROL = 0xC008561C
_CONTROL = struct.Struct("<Ii")
_POWER_LINE_FREQUENCY = 0x00980918
_MAINS = {"off": 0, "50": 1, "60": 2}
_CAPTURE_BUFFERS = 1
_MAPPED = 1
_DISCRETE = 1
_BIG_ENDIAN = 1 << 31
# Internal devices of a Raspberry Pi: raw capture, scalers and codecs. Its ribbon cameras are opened as pi:N instead.
_OF_A_PI = re.compile(r"unicam|bcm2835-(isp|codec)|rp1-cfe|pispbe|rpivid|rpi-hevc")
_MOST = 64
_NUMBER = re.compile(r"video(\d+)")


@dataclass(frozen=True, slots=True, order=True)
class NodeMode:
    """A picture format and size supported by a camera.

    Attributes:
        coding: Pixel format, such as MJPG.
        per_s: Supported frame rates, highest first. Empty if the camera does not list them.
    """

    coding: str
    width_px: int
    height_px: int
    per_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CaptureNode:
    """A Video4Linux camera.

    Attributes:
        name: Name given by the manufacturer.
        bus: Port of the camera, such as usb-0000:00:14.0-1.
    """

    path: Path
    name: str
    bus: str
    modes: tuple[NodeMode, ...]

    @property
    def is_usb(self) -> bool:
        """True for a USB camera."""
        return self.bus.startswith("usb-")


@dataclass(frozen=True, slots=True)
class Nodes:
    """Video4Linux devices of this machine.

    Attributes:
        cameras: Cameras in the order of their device numbers.
        refused: Devices without access permission.
    """

    cameras: tuple[CaptureNode, ...]
    refused: tuple[Path, ...]


def capture_nodes(folder: Path = Path("/dev"), ioctl: Ioctl = fcntl.ioctl) -> Nodes:
    """Return the cameras, without metadata nodes, codecs and internal devices of a Raspberry Pi."""
    numbered = [(int(match[1]), path) for path in folder.glob("video*") if (match := _NUMBER.fullmatch(path.name))]
    cameras, refused = [], []
    for _, path in sorted(numbered):
        try:
            fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except PermissionError:
            refused.append(path)
            continue
        except OSError:  # just unplugged
            continue
        try:
            camera = _camera(path, fd, ioctl)
        finally:
            os.close(fd)
        if camera is not None:
            cameras.append(camera)
    return Nodes(tuple(cameras), tuple(refused))


def usb_camera(number: int, nodes: Nodes) -> Path | None:
    """Return the device of USB camera *number*, counted from 0 in device order, or None."""
    cameras = [camera.path for camera in nodes.cameras if camera.is_usb]
    return cameras[number] if number < len(cameras) else None


def lasting_name(path: Path, folder: Path = Path("/dev/v4l/by-id")) -> Path | None:
    """Return the persistent path of a device in /dev/v4l/by-id, which stays valid if its number changes, or None."""
    links = sorted(folder.glob("*")) if folder.is_dir() else []
    return next((link for link in links if link.resolve() == path.resolve()), None)


def coding_name(fourcc: int) -> str:
    """Return the name of a pixel format as in v4l2-ctl: four letters, with the suffix -BE if it is big-endian.

    >>> coding_name(0x47504A4D), coding_name(0xA0363159)
    ('MJPG', 'Y16 -BE')
    """
    letters = (fourcc & ~_BIG_ENDIAN).to_bytes(4, "little").decode("ascii", "replace")
    return f"{letters}-BE" if fourcc & _BIG_ENDIAN else letters.rstrip("\0 ")


def require_usable(path: Path, name: str, ioctl: Ioctl = fcntl.ioctl) -> None:
    """Check that a device exists, is accessible and is not in use.

    OpenCV reports none of these errors, and notices a device in use only after 10 s.

    Raises:
        CameraError: If the check fails. The message suggests a fix.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except FileNotFoundError:
        raise device.CameraError(
            f"{name}: no such camera: check that it is plugged in; `tallybone cameras` lists all"
        ) from None
    except PermissionError:
        raise device.CameraError(
            f"{name}: permission denied: run sudo usermod -aG video $USER, then log in again"
        ) from None
    except OSError as error:
        raise device.CameraError(f"{name}: it cannot be opened ({error.strerror})") from None
    try:
        # Requests zero buffers, which fails with EBUSY if another program has allocated some.
        ioctl(fd, _REQUEST_BUFFERS, bytearray(_BUFFERS.pack(0, _CAPTURE_BUFFERS, _MAPPED, 0, 0)))
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise device.CameraError(f"{name}: it is in use by another program") from None
    finally:
        os.close(fd)


def set_mains(path: Path, mains: str, ioctl: Ioctl = fcntl.ioctl) -> bool:
    """Set the mains frequency ("50", "60" or "off"). Return False if the camera has no such setting."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        try:
            ioctl(fd, _SET_CONTROL, bytearray(_CONTROL.pack(_POWER_LINE_FREQUENCY, _MAINS[mains])))
        finally:
            os.close(fd)
    except OSError:
        return False
    return True


def _camera(path: Path, fd: int, ioctl: Ioctl) -> CaptureNode | None:
    reply = bytearray(_CAPABILITY.size)
    try:
        ioctl(fd, _QUERYCAP, reply)
    except OSError:
        return None
    driver, card, bus, _, _, capabilities = _CAPABILITY.unpack(reply)
    is_camera = capabilities & _CAPTURE and capabilities & _STREAMING and not capabilities & (_OUTPUT | _M2M)
    if not is_camera or _OF_A_PI.match(_text(driver)):
        return None
    return CaptureNode(path, _text(card), _text(bus), tuple(_modes(fd, ioctl)))


def _modes(fd: int, ioctl: Ioctl) -> Iterator[NodeMode]:
    for item in _enumerated(ioctl, fd, _ENUM_FMT, _FORMAT, _CAPTURE_BUFFERS, 0, b"", 0):
        coding = int(item[4])
        for width_px, height_px in _sizes(fd, ioctl, coding):
            per_s = tuple(_rates(fd, ioctl, (coding, width_px, height_px)))
            yield NodeMode(coding_name(coding), width_px, height_px, per_s)


def _sizes(fd: int, ioctl: Ioctl, coding: int) -> Iterator[tuple[int, int]]:
    for item in _enumerated(ioctl, fd, _ENUM_SIZES, _SIZE, coding, *(0,) * 9):
        if item[2] != _DISCRETE:
            yield item[4], item[7]  # maximum of a range of sizes
            return
        yield item[3], item[4]


def _rates(fd: int, ioctl: Ioctl, mode: tuple[int, int, int]) -> Iterator[float]:
    for item in _enumerated(ioctl, fd, _ENUM_INTERVALS, _INTERVAL, *mode, *(0,) * 9):
        # An interval is a fraction in seconds. A range of intervals starts with the shortest.
        if item[5] == 0:
            return
        yield round(item[6] / item[5], 2)
        if item[4] != _DISCRETE:
            return


def _enumerated(
    ioctl: Ioctl, fd: int, request: int, layout: struct.Struct, *fields: int | bytes
) -> Iterator[tuple[int, ...]]:
    """Yield the items that the kernel enumerates by index, the first field of *layout*."""
    for index in range(_MOST):
        reply = bytearray(layout.pack(index, *fields))
        try:
            ioctl(fd, request, reply)
        except OSError:
            return
        yield layout.unpack(reply)


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("utf-8", "replace").strip()


_NS_PER_MS = 1_000_000
# Maximum number of old pictures queued in a driver, as some ignore CAP_PROP_BUFFERSIZE.
_MAX_STALE = 5
# Maximum number of consecutive damaged JPEG images. Single ones are common over USB.
_MAX_DAMAGED = 10
_EXPOSURE_BY_HAND = 1.0
_EXPOSURE_BY_CAMERA = 3.0

log = logging.getLogger(__name__)

OpenCapture: TypeAlias = Callable[[Path], Any]
"""Opens a device and returns a cv2.VideoCapture."""


def open_capture(path: Path) -> Any:
    """Return an OpenCV capture, which may have failed to open."""
    return cv2.VideoCapture(str(path), cv2.CAP_V4L2)


class V4l2Feed:
    """An open Video4Linux camera.

    Args:
        path: Device, such as /dev/video0.
        name: Name used in messages.
        request: Requested mode.
        clocks: Clocks for the timestamps of pictures.
        opens: Opens the device.
        ioctl: Function like `fcntl.ioctl`.

    Raises:
        CameraError: If the camera cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        request: device.CameraRequest,
        clocks: device.Clocks,
        opens: OpenCapture = open_capture,
        ioctl: Ioctl = fcntl.ioctl,
    ) -> None:
        self._name, self._clocks = name, clocks
        require_usable(path, name, ioctl)
        self._video = opens(path)
        if not self._video.isOpened():
            self._video.release()
            raise device.CameraError(f"{name}: cannot open it: check that it is a camera")
        video = self._video
        # MJPG first, because the available sizes depend on it. Raw pictures would exceed the bandwidth of USB 2.
        video.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        video.set(cv2.CAP_PROP_FRAME_WIDTH, request.width_px)
        video.set(cv2.CAP_PROP_FRAME_HEIGHT, request.height_px)
        video.set(cv2.CAP_PROP_FPS, request.per_s)
        # A single buffer stalls the camera during decoding, and many buffers contain old pictures.
        video.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        size_px = (round(video.get(cv2.CAP_PROP_FRAME_WIDTH)), round(video.get(cv2.CAP_PROP_FRAME_HEIGHT)))
        per_s = video.get(cv2.CAP_PROP_FPS)
        coding = int(video.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little", signed=False)
        self.mode = device.CameraMode(
            *size_px, per_s if per_s > 0 else request.per_s, coding.decode("ascii", "replace").strip("\0 ")
        )
        self._period_ns = round(device.NS_PER_S / self.mode.per_s)
        self._grabbed_ns: int | None = None
        # Settings of the previous program persist in the camera.
        self.free_light()
        if request.mains is not None and not set_mains(path, request.mains, ioctl):
            log.warning("%s has no setting for the mains frequency, so mains=%s is ignored", name, request.mains)

    def grab(self) -> int:
        """Wait for a new picture and return its time. Skips old pictures queued in the driver."""
        # Grab the newest picture from the driver without decoding it.
        t_ns = 0
        for _ in range(_MAX_STALE):
            before_ns = self._clocks.game()
            if not self._video.grab():
                raise device.CameraError(f"{self._name} stopped sending pictures: check that it is plugged in")
            now_ns = self._clocks.game()
            # The driver may not report the age of the picture.
            stamp_ms = self._video.get(cv2.CAP_PROP_POS_MSEC)
            age_ns = self._clocks.age_ns(round(stamp_ms * _NS_PER_MS)) if stamp_ms > 0 else None
            t_ns = now_ns - (age_ns or 0)
            # A picture is new if grabbing it had to wait, or if its age is known and is at most one period.
            has_waited = now_ns - before_ns >= self._period_ns // 4
            if has_waited or (age_ns is not None and age_ns <= self._period_ns):
                break
        self._grabbed_ns = t_ns
        return self._grabbed_ns

    def read(self) -> device.Picture:
        """Decode the grabbed picture. If it is damaged, grab the next one, up to ten in total.

        Raises:
            CameraError: If all are damaged, or no picture arrives.
        """
        for _ in range(_MAX_DAMAGED):
            t_ns = self.grab() if self._grabbed_ns is None else self._grabbed_ns
            self._grabbed_ns = None
            is_decoded, image = self._video.retrieve()
            if is_decoded and image is not None and image.ndim == 3:
                picture: device.Pixels = np.asarray(image, np.uint8)
                return device.Picture(t_ns, picture, device.reduced_to_grey(picture))
        raise device.CameraError(f"{self._name} sends only damaged pictures: try another cable or USB port")

    def hold_light(self) -> None:
        """Lock exposure, white balance and focus at their current values."""
        video = self._video
        exposure = video.get(cv2.CAP_PROP_EXPOSURE)
        video.set(cv2.CAP_PROP_AUTO_EXPOSURE, _EXPOSURE_BY_HAND)
        if exposure > 0:
            video.set(cv2.CAP_PROP_EXPOSURE, exposure)
        # The colour temperature is not set: most cameras keep the current one but report an outdated value.
        video.set(cv2.CAP_PROP_AUTO_WB, 0)
        video.set(cv2.CAP_PROP_AUTOFOCUS, 0)

    def free_light(self) -> None:
        """Enable automatic exposure, white balance and focus."""
        self._video.set(cv2.CAP_PROP_AUTO_EXPOSURE, _EXPOSURE_BY_CAMERA)
        self._video.set(cv2.CAP_PROP_AUTO_WB, 1)
        self._video.set(cv2.CAP_PROP_AUTOFOCUS, 1)

    def close(self) -> None:
        """Release the camera, with automatic settings for the next program."""
        self.free_light()
        self._video.release()
