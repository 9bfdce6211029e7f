"""Tests of listing Video4Linux cameras, from binary kernel responses."""

from __future__ import annotations

import errno
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from hardware.camera.v4l2 import NodeMode, Nodes, capture_nodes, usb_camera

_T = TypeVar("_T")
_CAPTURE, _META, _M2M, _OUTPUT, _STREAMING = 0x1, 0x800000, 0x8000, 0x2, 0x04000000
# Sizes of the structures in linux/videodev2.h, as encoded in each request number.
_SIZES = {0x80685600: 104, 0xC0405602: 64, 0xC02C564A: 44, 0xC034564B: 52}


@dataclass(frozen=True)
class Node:
    """Responses of a device."""

    driver: str
    card: str
    bus: str
    abilities: int
    modes: tuple[tuple[str, int, int, tuple[tuple[int, int], ...]], ...] = ()
    stepwise: bool = False


_WEBCAM = Node(
    "uvcvideo",
    "HD Pro Webcam C920",
    "usb-0000:01:00.0-1.2",
    _CAPTURE | _STREAMING,
    (
        ("MJPG", 1280, 720, ((1, 30), (1, 20), (2, 15))),
        ("MJPG", 640, 480, ((1, 30),)),
        ("YUYV", 640, 480, ((1, 30),)),
    ),
)


class Kernel:
    """Fake kernel that also checks the length of each request."""

    def __init__(self, folder: Path, nodes: dict[int, Node]) -> None:
        self.nodes: dict[int, Node] = {}  # by the inode of an open device
        for index, node in nodes.items():
            path = folder / f"video{index}"
            path.touch()
            self.nodes[path.stat().st_ino] = node

    def ioctl(self, fd: int, request: int, data: bytearray) -> None:
        assert len(data) == _SIZES[request]
        node = self.nodes[os.fstat(fd).st_ino]
        (index,) = struct.unpack_from("<I", data)
        match request:
            case 0x80685600:
                capabilities = node.abilities | _CAPTURE | _META  # capabilities of the whole hardware
                struct.pack_into(
                    "<16s32s32sIII",
                    data,
                    0,
                    *(text.encode() for text in (node.driver, node.card, node.bus)),
                    1,
                    capabilities,
                    node.abilities,
                )
            case 0xC0405602:
                codings = list(dict.fromkeys(mode[0] for mode in node.modes))
                struct.pack_into("<4s", data, 44, _at(codings, index).encode("latin-1"))
            case 0xC02C564A:
                coding = data[4:8].decode("latin-1")
                width, height = _at([mode[1:3] for mode in node.modes if mode[0] == coding], index)
                if node.stepwise:
                    struct.pack_into("<IIIIIII", data, 8, 3, 32, width, 2, 32, height, 2)
                else:
                    struct.pack_into("<III", data, 8, 1, width, height)
            case _:
                coding, size = data[4:8].decode("latin-1"), struct.unpack_from("<II", data, 8)
                (rates,) = [mode[3] for mode in node.modes if (mode[0], *mode[1:3]) == (coding, *size)]
                struct.pack_into("<III", data, 16, 1, *_at(list(rates), index))


def _at(items: list[_T], index: int) -> _T:
    if index >= len(items):
        raise OSError(errno.EINVAL, "Invalid argument")
    return items[index]


def _found(folder: Path, nodes: dict[int, Node]) -> Nodes:
    return capture_nodes(folder, Kernel(folder, nodes).ioctl)


def test_lists_a_webcam_with_its_sizes_and_rates(tmp_path: Path) -> None:
    (camera,) = _found(tmp_path, {0: _WEBCAM}).cameras
    assert (camera.path, camera.name, camera.bus) == (tmp_path / "video0", "HD Pro Webcam C920", "usb-0000:01:00.0-1.2")
    assert camera.is_usb
    assert camera.modes == (
        NodeMode("MJPG", 1280, 720, (30, 20, 7.5)),
        NodeMode("MJPG", 640, 480, (30,)),
        NodeMode("YUYV", 640, 480, (30,)),
    )


def test_metadata_codecs_and_internal_nodes_are_not_cameras(tmp_path: Path) -> None:
    nodes = {
        0: Node("unicam", "unicam", "platform:fe801000.csi", _CAPTURE | _STREAMING),
        1: Node("uvcvideo", "HD Pro Webcam C920", "usb-0000:01:00.0-1.2", _META | _STREAMING),
        10: Node("bcm2835-codec", "bcm2835-codec-decode", "platform:bcm2835-codec", _M2M | _STREAMING),
        14: Node("bcm2835-isp", "bcm2835-isp", "platform:bcm2835-isp", _CAPTURE | _STREAMING),
        15: Node("acme", "acme-scaler", "platform:acme", _CAPTURE | _OUTPUT | _STREAMING),
        19: Node("rpi-hevc-dec", "rpi-hevc-dec", "platform:rpi-hevc-dec", _M2M | _STREAMING),
        20: Node("pispbe", "pispbe", "platform:1000880000.pisp_be", _CAPTURE | _STREAMING),
        24: Node("rp1-cfe", "rp1-cfe", "platform:1f00110000.csi", _CAPTURE | _STREAMING),
    }
    assert _found(tmp_path, nodes) == Nodes((), ())


def test_usb_cameras_are_numbered_in_order_without_other_cameras(tmp_path: Path) -> None:
    card = Node("cx23885", "a card", "PCI:0000:03:00.0", _CAPTURE | _STREAMING)
    nodes = _found(tmp_path, {10: _WEBCAM, 2: _WEBCAM, 0: card})
    assert [camera.path.name for camera in nodes.cameras] == ["video0", "video2", "video10"]
    assert usb_camera(0, nodes) == tmp_path / "video2"
    assert usb_camera(1, nodes) == tmp_path / "video10"
    assert usb_camera(2, nodes) is None


def test_sizes_and_formats_of_other_cameras_are_named_as_in_v4l2_ctl(tmp_path: Path) -> None:
    any_size = Node(
        "vivid", "vivid", "platform:vivid", _CAPTURE | _STREAMING, (("YUYV", 3840, 2160, ()),), stepwise=True
    )
    (camera,) = _found(tmp_path, {0: any_size}).cameras
    assert camera.modes == (NodeMode("YUYV", 3840, 2160, ()),)
    big_endian = bytes((*b"Y16", ord(" ") | 0x80)).decode("latin-1")  # V4L2_PIX_FMT_Y16_BE: bit 31 is set
    deep = Node("vivid", "vivid", "platform:vivid", _CAPTURE | _STREAMING, (("Y16 ", 8, 6, ()), (big_endian, 8, 6, ())))
    (camera,) = _found(tmp_path, {0: deep}).cameras
    assert [mode.coding for mode in camera.modes] == ["Y16", "Y16 -BE"]


def test_other_files_are_skipped_and_an_inaccessible_device_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "video0").touch()
    (tmp_path / "videos").touch()
    assert capture_nodes(tmp_path) == Nodes((), ())
    (tmp_path / "video0").touch()

    def refuse(path: Path, flags: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert capture_nodes(tmp_path) == Nodes((), (tmp_path / "video0",))
