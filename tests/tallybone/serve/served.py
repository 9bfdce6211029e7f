"""A served table for tests. Everything is real except the camera, whose pictures are given, and the reader."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from hardware.camera.device import CameraError, CameraMode, Picture
from hardware.part import Clock
from tallybone.cli.serve import serve
from tallybone.doctor.machine import read_machine, run
from tallybone.serve.camera import OpenDevice
from tallybone.serve.options import Environment, ServeOptions
from tallybone.terminal import StopRequest
from tests.hardware.fakes import FakeCamera
from tests.tallybone.web.true_table import PIN
from tests.waiting import PATIENCE_S, until
from vision.arrays import Image
from vision.networks.detector import Focus
from vision.poses import Poses
from vision.reader.candidates import Filter
from vision.reader.reader import Reader
from vision.reading import Reading, SeenTile

API = "/api/v1"


@dataclass(frozen=True, slots=True, eq=False)
class Blind(Reader):
    """A reader that finds no tiles, without networks and delays."""

    detector: Any = None
    refiner: Any = None
    halves: Any = None
    pips: Any = None
    hard_cases: Any = None
    max_pips: int | None = 6

    def read(self, image: Image, plausible: Filter | None = None, focus: Focus | None = None) -> Reading:
        return Reading(image.shape[1], image.shape[0], (), ())

    def read_again(self, image: Image, poses: Poses) -> tuple[SeenTile, ...]:
        return ()


@dataclass(slots=True)
class Plugs:
    """A camera port, with or without a camera."""

    device: FakeCamera | None = field(default_factory=lambda: FakeCamera(CameraMode(128, 72, 20.0, "MJPG")))

    def open(self, source: str, clock: Clock) -> FakeCamera:
        if self.device is None:
            raise CameraError(f"{source}: no such camera: check that it is plugged in?")
        return self.device

    def show(self, level: int = 90) -> None:
        """Show the camera a uniform grey."""
        assert self.device is not None
        image = np.full((72, 128, 3), level, np.uint8)
        self.device.show(Picture(time.monotonic_ns(), image, image[:, :, 0]))


@dataclass(slots=True)
class Served:
    """A served table."""

    url: str
    out: StringIO
    plugs: Plugs
    state_folder: Path

    @contextmanager
    def client(self, *, knows_pin: bool = True) -> Iterator[httpx.Client]:
        with httpx.Client(base_url=self.url + API, timeout=PATIENCE_S) as client:
            if knows_pin:
                assert client.post("/login", json={"pin": PIN, "name": "Zoe"}).status_code == 204
            yield client


@contextmanager
def at_served_table(
    folder: Path,
    *,
    plugs: Plugs | None = None,
    pin: str | None = PIN,
    environment: dict[str, str] | None = None,
    open_device: OpenDevice | None = None,
    clock: Clock = time.monotonic_ns,
    load: Callable[[int], Reader] = lambda max_pips: Blind(),
    root: Path = Path("/"),
    **options: Any,
) -> Iterator[Served]:
    """Yield a table that is served until the end of the block. *options* are those of `serve`."""
    plugs, stop_request, out, codes = plugs or Plugs(), StopRequest(), StringIO(), []
    serve_environment = Environment(
        clock=clock,
        out=out,
        err=out,
        is_terminal=False,
        environment={"XDG_STATE_HOME": str(folder), **(environment or {})},
        home=folder,
        load=load,
        machine=lambda: read_machine(root, run),
        root=root,
        open_device=open_device or plugs.open,
        pin=pin,
        stop=lambda: nullcontext(stop_request),
    )
    serve_options = ServeOptions(at="127.0.0.1:0", **({"camera": "usb:0"} | options))
    thread = threading.Thread(target=lambda: codes.append(serve(serve_options, serve_environment)), name="table")
    thread.start()
    try:
        until(lambda: "page http" in out.getvalue() or not thread.is_alive())
        assert "page http" in out.getvalue(), out.getvalue()
        url = out.getvalue().partition("page ")[2].split()[0]
        # The address is printed before the page has a state.
        until(lambda: httpx.get(f"{url}{API}/state", timeout=PATIENCE_S).status_code == 200)
        yield Served(url, out, plugs, folder / "tallybone")
    finally:
        stop_request.is_requested = True
        thread.join()
        assert codes == [0], out.getvalue()
