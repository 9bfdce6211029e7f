"""List Video4Linux cameras and their modes by querying the kernel, without capturing pictures."""

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
"""Sends a request to an open device, and writes the reply to the buffer. Raises OSError."""

# linux/videodev2.h. device_caps describes the node, and capabilities the whole device.
_QUERYCAP, _ENUM_FMT, _ENUM_SIZES, _ENUM_INTERVALS = 0x80685600, 0xC0405602, 0xC02C564A, 0xC034564B
_REQUEST_BUFFERS, _BUFFERS = 0xC0145608, struct.Struct("<IIIII")
_CAPABILITY, _FORMAT = struct.Struct("<16s32s32sIII12x"), struct.Struct("<III32sI16x")
_SIZE, _INTERVAL = struct.Struct("<IIIIIIIIIII"), struct.Struct("<IIIIIIIIIIIII")
_CAPTURE, _STREAMING, _OUTPUT, _M2M = 0x1, 0x04000000, 0x2 | 0x2000, 0x8000 | 0x4000
_CAPTURE_BUFFERS, _MAPPED, _DISCRETE = 1, 1, 1
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
        width_px: Width of the pictures.
        height_px: Height of the pictures.
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
        path: Path of the device.
        name: Name given by the manufacturer.
        bus: Port of the camera, such as usb-0000:00:14.0-1.
        modes: Supported modes.
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
        raise CameraError(
            f"{name}: no such camera: check that it is plugged in; `tallybone cameras` lists all"
        ) from None
    except PermissionError:
        raise CameraError(f"{name}: permission denied: run sudo usermod -aG video $USER, then log in again") from None
    except OSError as error:
        raise CameraError(f"{name}: it cannot be opened ({error.strerror})") from None
    try:
        # Requests zero buffers, which fails with EBUSY if another program has allocated some.
        ioctl(fd, _REQUEST_BUFFERS, bytearray(_BUFFERS.pack(0, _CAPTURE_BUFFERS, _MAPPED, 0, 0)))
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise CameraError(f"{name}: it is in use by another program") from None
    finally:
        os.close(fd)


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
    for index in range(_MOST):
        item = _enumerated(ioctl, fd, _ENUM_FMT, _FORMAT, (index, _CAPTURE_BUFFERS, 0, b"", 0))
        if item is None:
            return
        coding = int(item[4])
        for width_px, height_px in _sizes(fd, ioctl, coding):
            per_s = tuple(_rates(fd, ioctl, (coding, width_px, height_px)))
            yield NodeMode(coding_name(coding), width_px, height_px, per_s)


def _sizes(fd: int, ioctl: Ioctl, coding: int) -> Iterator[tuple[int, int]]:
    for index in range(_MOST):
        item = _enumerated(ioctl, fd, _ENUM_SIZES, _SIZE, (index, coding, *(0,) * 9))
        if item is None:
            return
        if item[2] != _DISCRETE:
            yield item[4], item[7]  # maximum of a range of sizes
            return
        yield item[3], item[4]


def _rates(fd: int, ioctl: Ioctl, mode: tuple[int, int, int]) -> Iterator[float]:
    for index in range(_MOST):
        item = _enumerated(ioctl, fd, _ENUM_INTERVALS, _INTERVAL, (index, *mode, *(0,) * 9))
        # An interval is a fraction in seconds. A range of intervals starts with the shortest.
        if item is None or item[5] == 0:
            return
        yield round(item[6] / item[5], 2)
        if item[4] != _DISCRETE:
            return


def _enumerated(
    ioctl: Ioctl, fd: int, request: int, layout: struct.Struct, fields: tuple[int | bytes, ...]
) -> tuple[int, ...] | None:
    """Return an item that the kernel enumerates by index, or None after the last one."""
    reply = bytearray(layout.pack(*fields))
    try:
        ioctl(fd, request, reply)
    except OSError:
        return None
    return layout.unpack(reply)


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("utf-8", "replace").strip()
