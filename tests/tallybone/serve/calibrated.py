"""A table in calibration, with its page, in a thread that runs until the end of the block."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tallybone.calibrate.guide.course import GuideCourse, GuideSettings
from tallybone.calibrate.lens_and_table import ReadTiles
from tallybone.calibrate.look import CalibrationCamera
from tallybone.store.calibration_file import Calibration, load_calibration
from tallybone.web.calibration.routes import CalibratingPage
from tests.tallybone.calibrate.bare_table import LENS, GreyLook, table_below
from tests.tallybone.web.true_table import PIN

MEASURED = Calibration(LENS, table_below())
_PAUSE_S, _PATIENCE_S = 0.005, 30.0


@dataclass(slots=True)
class Calibrated:
    """A table in calibration: the address of its page, and its calibration file."""

    url: str
    into: Path

    @property
    def kept(self) -> Calibration:
        return load_calibration(self.into)

    @contextmanager
    def client(self, *, knows_pin: bool = True) -> Iterator[httpx.Client]:
        with httpx.Client(base_url=f"{self.url}/api/v1", timeout=_PATIENCE_S) as client:
            if knows_pin:
                assert client.post("/login", json={"pin": PIN, "name": "Zoe"}).status_code == 204
            yield client


@contextmanager
def at_calibration(
    into: Path,
    calibration: Calibration = MEASURED,
    *,
    look: CalibrationCamera | None = None,
    read_tiles: ReadTiles = lambda _: (),
    camera: str = "usb:0",
    microphone: str | None = None,
) -> Iterator[Calibrated]:
    """Yield a table whose calibration runs until the end of the block."""
    settings = GuideSettings(camera, into, microphone=microphone, asks_always=True)
    course = GuideCourse(settings, look or GreyLook(), calibration, read_tiles, time.monotonic_ns)
    over, pause = threading.Event(), threading.Event()

    def run() -> None:
        while not over.is_set():
            page.turn()
            pause.wait(_PAUSE_S)

    with closing(course), closing(CalibratingPage("127.0.0.1:0", course, camera, time.monotonic_ns, pin=PIN)) as page:
        thread = threading.Thread(target=run, name="table")
        thread.start()
        try:
            yield Calibrated(page.text.partition("page ")[2].partition("/#")[0], into)
        finally:
            over.set()
            thread.join()
