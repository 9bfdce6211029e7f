"""Hit four piezos of an MCP3008, let the bus hang, and light a strip. Print what the table noticed, as JSON."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

from hardware.knock.drivers.piezo import SpiKnockSensor
from hardware.leds.drivers.strip import Strip, open_spi
from hardware.part import Rgb

_BUS = Path("/sys/devices/platform/lab-spi")
_wait = threading.Event().wait


def main() -> None:
    """Print the seats of the knocks, the state of the hanging bus, the seats after it, and the bytes of the strip."""
    sensor = SpiKnockSensor((0, 1, 2, 3), clock=time.monotonic_ns, seats=(0, 1, 2, 3))
    sensor.start()
    _wait(1)
    sensor.read()

    def seats_of(hits: tuple[tuple[int, int], ...]) -> list[int | None]:
        seats = []
        for channel, level in hits:
            (_BUS / "hit").write_text(f"{channel} {level} 30")
            _wait(0.7)
            seats += [knock.seat for knock in sensor.read()]
        return seats

    seats = seats_of(((0, 700), (2, 900), (3, 500), (1, 650)))
    (_BUS / "hang").write_text("1")
    _wait(2)
    while_hung = [knock.seat for knock in sensor.read()]
    (_BUS / "hang").write_text("0")
    _wait(1)
    sensor.read()
    after = seats_of(((0, 800),))
    sensor.close()
    strip = Strip(4, open_spi(0, 1))
    strip.write((Rgb(255, 0, 0),) * 4)
    sent = (_BUS / "sent").read_text().strip()
    strip.release()
    json.dump({"seats": seats, "while hung": while_hung, "after": after, "strip": sent}, sys.stdout)


if __name__ == "__main__":
    main()
