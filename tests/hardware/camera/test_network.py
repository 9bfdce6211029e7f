"""Tests of network cameras, with a real MJPEG server on this machine."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest

from hardware.camera.device import CameraError, Clocks, Light, Picture
from hardware.camera.network import NetworkFeed
from hardware.camera.open_device import open_device
from hardware.camera.watched import WatchedCamera

_PAUSE = threading.Event()


class Phone:
    """A phone that sends pictures of 160 x 120 as MJPEG. The top left quarter has the brightness `level`."""

    def __init__(self) -> None:
        self.level, self.visits, self.is_on = 200, 0, True
        phone = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != "/video" or not phone.is_on:
                    self.send_error(404)
                    return
                phone.visits += 1
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
                self.end_headers()
                try:
                    while phone.is_on:
                        data = phone.jpeg()
                        head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\n\r\n"
                        self.wfile.write(head.encode() + data + b"\r\n")
                        _PAUSE.wait(0.02)
                except OSError:
                    return

            def log_message(self, *args: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/video"

    def jpeg(self) -> bytes:
        image = np.random.default_rng().integers(60, 80, (120, 160, 3), np.uint8)
        image[:60, :80] = self.level
        return cv2.imencode(".jpg", image)[1].tobytes()


@pytest.fixture
def phone() -> Iterator[Phone]:
    phone = Phone()
    yield phone
    phone.is_on = False
    phone.server.shutdown()
    phone.server.server_close()


def _next(camera: WatchedCamera, level: int) -> Picture:
    """Return the next picture whose brightest corner is as bright as *level*."""
    end_s = time.monotonic() + 30
    while time.monotonic() < end_s:
        picture = camera.take()
        if picture is not None and abs(int(picture.image.max()) - level) < 12:
            return picture
        _PAUSE.wait(0.005)
    raise AssertionError(camera.state)


def test_pictures_of_a_phone_arrive_upright_and_current(phone: Phone) -> None:
    camera = open_device(f"{phone.address},rotate=90", time.monotonic_ns)
    assert isinstance(camera, WatchedCamera)
    picture = _next(camera, 200)
    assert picture.image.shape == (160, 120, 3)
    assert picture.image[10, 110, 0] > 180 > picture.image[10, 10, 0], "the bright corner is now at the top right"
    assert (camera.mode.width_px, camera.mode.height_px, camera.mode.coding) == (120, 160, "mjpeg")
    phone.level = 250
    assert _next(camera, 250).t_ns <= time.monotonic_ns()
    assert camera.state.problem is None
    camera.close()


@pytest.mark.slow
def test_a_phone_that_was_away_is_opened_again(phone: Phone) -> None:
    name = phone.address
    clocks = Clocks(time.monotonic_ns)
    camera = WatchedCamera(name, lambda: NetworkFeed(name, clocks), time.monotonic_ns, back_off_s=(0.01,))
    _next(camera, 200)
    phone.is_on = False
    end_s = time.monotonic() + 20
    while camera.state.problem is None and time.monotonic() < end_s:
        _PAUSE.wait(0.01)
    assert str(camera.state.problem).startswith(f"{name}: it cannot be opened (Server returned 404 Not Found)")
    phone.level, phone.is_on = 150, True
    _next(camera, 150)
    assert camera.state.problem is None
    assert phone.visits >= 2
    camera.close()


@pytest.mark.slow
def test_the_light_of_a_phone_is_locked_only_if_it_keeps_still(phone: Phone) -> None:
    camera = open_device(phone.address, time.monotonic_ns)
    assert isinstance(camera, WatchedCamera)
    camera.hold_light()
    _next(camera, 200)
    assert camera.light in (Light.HELD, Light.CANNOT_BE_HELD)
    camera.close()


@pytest.mark.parametrize("path", ["nowhere", "video"])
def test_an_address_without_a_camera_is_one_sentence_without_the_password(phone: Phone, path: str) -> None:
    host = phone.address.removeprefix("http://").removesuffix("/video")
    phone.is_on = False
    with pytest.raises(CameraError) as caught:
        open_device(f"http://ann:secret@{host}/{path}", time.monotonic_ns)
    reason = "it cannot be opened (Server returned 404 Not Found): check the address"
    assert str(caught.value) == f"http://{host}/{path}: {reason}"


def test_an_address_without_pyav_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(CameraError, match=r"rtsp://cam/live: a network camera needs av, which is not .*\[video\]'"):
        open_device("rtsp://cam/live", time.monotonic_ns)
