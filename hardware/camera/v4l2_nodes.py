"""List Video4Linux cameras and their modes by asking the kernel, without opening a picture."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from hardware.camera.device import CameraError

Ioctl: TypeAlias = Callable[[int, int, bytearray], object]
"""Asks the kernel something about an open device; the answer is put into the bytes. Raises OSError."""

# linux/videodev2.h. device_caps says what a node is; its other capabilities are those of the whole part.
_QUERYCAP, _ENUM_FMT, _ENUM_SIZES, _ENUM_INTERVALS = 0x80685600, 0xC0405602, 0xC02C564A, 0xC034564B
_REQUEST_BUFFERS, _BUFFERS = 0xC0145608, struct.Struct("<IIIII")
_CAPABILITY, _FORMAT = struct.Struct("<16s32s32sIII12x"), struct.Struct("<III32sI16x")
_SIZE, _INTERVAL = struct.Struct("<IIIIIIIIIII"), struct.Struct("<IIIIIIIIIIIII")
_CAPTURE, _STREAMING, _OUTPUT, _M2M = 0x1, 0x04000000, 0x2 | 0x2000, 0x8000 | 0x4000
_CAPTURE_BUFFERS, _MAPPED, _DISCRETE = 1, 1, 1
_BIG_ENDIAN = 1 << 31
# Parts of a Pi between its ribbon cable and libcamera: raw pictures, scalers, codecs. Its cameras are pi:N.
_OF_A_PI = re.compile(r"unicam|bcm2835-(isp|codec)|rp1-cfe|pispbe|rpivid|rpi-hevc")
_MOST = 64
_NUMBER = re.compile(r"video(\d+)")


@dataclass(frozen=True, slots=True, order=True)
class NodeMode:
    """A size that a camera gives.

    Attributes:
        coding: How its pictures come over the wire, such as MJPG.
        width_px: Their width.
        height_px: Their height.
        per_s: How many a second it can give, most first; none where it does not say.
    """

    coding: str
    width_px: int
    height_px: int
    per_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CaptureNode:
    """A camera of Video4Linux.

    Attributes:
        path: Its device.
        name: What its maker calls it.
        bus: Where it is plugged in, such as usb-0000:00:14.0-1.
        modes: What it gives.
    """

    path: Path
    name: str
    bus: str
    modes: tuple[NodeMode, ...]

    @property
    def is_usb(self) -> bool:
        """Whether it is a USB camera."""
        return self.bus.startswith("usb-")


@dataclass(frozen=True, slots=True)
class Nodes:
    """What was found.

    Attributes:
        cameras: Cameras in the order of their numbers.
        refused: Devices that this user may not use.
    """

    cameras: tuple[CaptureNode, ...]
    refused: tuple[Path, ...]


def capture_nodes(folder: Path = Path("/dev"), ioctl: Ioctl = fcntl.ioctl) -> Nodes:
    """Return the cameras: no metadata nodes, no codecs, and nothing of the Pi's own."""
    numbered = [(int(match[1]), path) for path in folder.glob("video*") if (match := _NUMBER.fullmatch(path.name))]
    cameras, refused = [], []
    for _, path in sorted(numbered):
        try:
            fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except PermissionError:
            refused.append(path)
            continue
        except OSError:  # it has just been unplugged
            continue
        try:
            camera = _camera(path, fd, ioctl)
        finally:
            os.close(fd)
        if camera is not None:
            cameras.append(camera)
    return Nodes(tuple(cameras), tuple(refused))


def usb_camera(number: int, nodes: Nodes) -> Path | None:
    """Return the device of a USB camera, counted from 0 in the order of their devices; None if there are fewer."""
    cameras = [camera.path for camera in nodes.cameras if camera.is_usb]
    return cameras[number] if number < len(cameras) else None


def lasting_name(path: Path, folder: Path = Path("/dev/v4l/by-id")) -> Path | None:
    """Return the name in /dev/v4l/by-id that means this device now, and the same camera under its next number too."""
    links = sorted(folder.glob("*")) if folder.is_dir() else []
    return next((link for link in links if link.resolve() == path.resolve()), None)


def coding_name(fourcc: int) -> str:
    """Return the name of a pixel format as v4l2-ctl writes it: four letters, and -BE where its bytes are big-endian.

    >>> coding_name(0x47504A4D), coding_name(0xA0363159)
    ('MJPG', 'Y16 -BE')
    """
    letters = (fourcc & ~_BIG_ENDIAN).to_bytes(4, "little").decode("ascii", "replace")
    return f"{letters}-BE" if fourcc & _BIG_ENDIAN else letters.rstrip("\0 ")


def require_usable(path: Path, name: str, ioctl: Ioctl = fcntl.ioctl) -> None:
    """Refuse a device that is not there, may not be used, or is in use: OpenCV says none of it, the last after 10 s.

    Raises:
        CameraError: Then; it says what to do.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except FileNotFoundError:
        raise CameraError(
            f"{name}: there is no such camera: is it plugged in? `tallybone cameras` lists them"
        ) from None
    except PermissionError:
        raise CameraError(f"{name}: it may not be used: sudo usermod -aG video $USER, then log in again") from None
    except OSError as error:
        raise CameraError(f"{name}: it cannot be opened ({error.strerror})") from None
    try:
        # No buffers are asked for; whoever else has some is protected from even that.
        ioctl(fd, _REQUEST_BUFFERS, bytearray(_BUFFERS.pack(0, _CAPTURE_BUFFERS, _MAPPED, 0, 0)))
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise CameraError(f"{name}: it is in use by another program") from None
    finally:
        os.close(fd)


def _camera(path: Path, fd: int, ioctl: Ioctl) -> CaptureNode | None:
    answer = bytearray(_CAPABILITY.size)
    try:
        ioctl(fd, _QUERYCAP, answer)
    except OSError:
        return None
    driver, card, bus, _, _, abilities = _CAPABILITY.unpack(answer)
    is_camera = abilities & _CAPTURE and abilities & _STREAMING and not abilities & (_OUTPUT | _M2M)
    if not is_camera or _OF_A_PI.match(_text(driver)):
        return None
    return CaptureNode(path, _text(card), _text(bus), tuple(_modes(fd, ioctl)))


def _modes(fd: int, ioctl: Ioctl) -> Iterator[NodeMode]:
    for index in range(_MOST):
        answer = _asked(ioctl, fd, _ENUM_FMT, _FORMAT, (index, _CAPTURE_BUFFERS, 0, b"", 0))
        if answer is None:
            return
        coding = int(answer[4])
        for width_px, height_px in _sizes(fd, ioctl, coding):
            per_s = tuple(_rates(fd, ioctl, (coding, width_px, height_px)))
            yield NodeMode(coding_name(coding), width_px, height_px, per_s)


def _sizes(fd: int, ioctl: Ioctl, coding: int) -> Iterator[tuple[int, int]]:
    for index in range(_MOST):
        answer = _asked(ioctl, fd, _ENUM_SIZES, _SIZE, (index, coding, *(0,) * 9))
        if answer is None:
            return
        if answer[2] != _DISCRETE:
            yield answer[4], answer[7]  # any up to this one
            return
        yield answer[3], answer[4]


def _rates(fd: int, ioctl: Ioctl, what: tuple[int, int, int]) -> Iterator[float]:
    for index in range(_MOST):
        answer = _asked(ioctl, fd, _ENUM_INTERVALS, _INTERVAL, (index, *what, *(0,) * 9))
        # An interval is a fraction of a second. One that is not discrete begins with the shortest.
        if answer is None or answer[5] == 0:
            return
        yield round(answer[6] / answer[5], 2)
        if answer[4] != _DISCRETE:
            return


def _asked(
    ioctl: Ioctl, fd: int, request: int, shape: struct.Struct, given: tuple[int | bytes, ...]
) -> tuple[int, ...] | None:
    """Return one of a list that the kernel tells by index; None after the last."""
    answer = bytearray(shape.pack(*given))
    try:
        ioctl(fd, request, answer)
    except OSError:
        return None
    return shape.unpack(answer)


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("utf-8", "replace").strip()
