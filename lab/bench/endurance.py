"""Check that a table that is always on does not leak: 24 hours of matches, compressed.

    python -m lab.bench.endurance [--hours 24] [--json FILE]    # Ctrl-C ends it early, with its figures

One process is the table: `tallybone serve` with its page, a quota for recordings, a score display (emulated behind a
pty) and systemd's watchdog. Its clock advances by a tenth of a second, or one picture, in each iteration of its loop.
Another process is the players: they start, score, end and resume matches while viewers come and go. The reader sees an
empty table, because reading tiles is not part of this test. Memory, handles and threads are recorded every ten minutes.
The exit code is 1 if any of them grows between the second and the last quarter, or if systemd would have restarted the
table.
"""

from __future__ import annotations

import gc
import json
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from io import StringIO
from pathlib import Path
from statistics import median
from typing import cast

import httpx
import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from hardware.camera.device import CameraMode, NoCamera, Picture
from hardware.part import Clock
from lab.bench.material.harness import options_of
from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedSerLcd
from tallybone.cli.serve import serve
from tallybone.serve.options import Environment, ServeOptions
from tallybone.terminal import StopRequest, stop_requested
from tests.tallybone.serve.served import Blind

_PIN = "246813"
_NS_PER_S = 1_000_000_000
_TURN_NS = _NS_PER_S // 10
_NOTED_EVERY_NS = 600 * _NS_PER_S
_WATCHDOG_S = 30
_KEEP_BYTES = 20_000_000
# Maximum growth between the second quarter and the last.
_MAX_GROWTH = {"memory_mb": 4.0, "blocks": 5000, "handles": 2, "threads": 1}
_MODE = CameraMode(128, 72, 10.0, "MJPG")


@dataclass(frozen=True, slots=True)
class Noted:
    """Resources at a moment: resident memory, blocks allocated by Python, file handles and threads."""

    hour: float
    memory_mb: float
    blocks: int
    handles: int
    threads: int


@dataclass(slots=True)
class Day:
    """Clock of the table, and the recorded resources."""

    hours: float
    stop: StopRequest
    turns: int = 0
    noted: list[Noted] = field(default_factory=list)
    page: StringIO = field(default_factory=StringIO)
    people: subprocess.Popen[str] | None = None
    fed_ns: int | None = None
    longest_ns: int = 0

    def clock(self) -> int:
        """Return the time, which advances only with the table's loop."""
        return self.turns * _TURN_NS

    @property
    def is_requested(self) -> bool:
        """True at the end of the day. The table checks it in each iteration, which advances the clock."""
        self.turns += 1
        if self.people is None and "page http" in self.page.getvalue():
            url = self.page.getvalue().partition("page ")[2].split()[0]
            self.people = subprocess.Popen(
                [sys.executable, "-m", "lab.bench.endurance", "--people", url], stdout=subprocess.PIPE, text=True
            )
        if self.clock() >= len(self.noted) * _NOTED_EVERY_NS:
            self.noted.append(_note(self.clock()))
            print(f"  {self.noted[-1]}", flush=True)
        return self.stop.is_requested or self.clock() >= self.hours * 3600 * _NS_PER_S

    def was_fed(self) -> None:
        """Record a sign of life to systemd."""
        if self.fed_ns is not None:
            self.longest_ns = max(self.longest_ns, self.clock() - self.fed_ns)
        self.fed_ns = self.clock()


class TurningCamera(NoCamera):
    """A camera that delivers a picture of an empty table in each iteration."""

    mode = _MODE

    def __init__(self, clock: Clock) -> None:
        """Stamp pictures with *clock*."""
        super().__init__()
        self._clock, self._last_ns = clock, -1
        self._image = np.full((_MODE.height_px, _MODE.width_px, 3), 90, np.uint8)

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return a picture if the clock has advanced, else None."""
        now_ns = self._clock()
        if now_ns <= self._last_ns:
            return None
        self._last_ns = now_ns
        return Picture(now_ns, self._image, self._image[:, :, 0])


def main(argv: Sequence[str] | None = None) -> int:
    args = options_of(__doc__, arguments=argv, hours=24.0, json=Path, people=(str, None))
    if args.people is not None:
        _be_people(args.people)
        return 0
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, stop_requested() as stop:
        day = Day(args.hours, stop)
        code = _pass(day, Path(folder))
    if args.json is not None:
        args.json.write_text(json.dumps([asdict(figures) for figures in day.noted], indent=1))
    print(f"{day.clock() / 3600 / _NS_PER_S:.1f} h in {time.monotonic() - began_s:.0f} s, exit code {code}")
    problems = list(_grown(day.noted))
    if day.longest_ns > _WATCHDOG_S * _NS_PER_S or day.fed_ns is None:
        problems.append("systemd would have started it anew")
    print(f"longest time between two signs of life: {day.longest_ns / _NS_PER_S:.1f} s of {_WATCHDOG_S}")
    for problem in problems or ["nothing grows, no false restart"]:
        print(problem)
    return 1 if problems or code else 0


def _pass(day: Day, folder: Path) -> int:
    """Run the table until the end of the day, and return its exit code."""
    display = PtyPort(EmulatedSerLcd(16, 2, baud=9600), folder / "display")
    display.plug()
    config = folder / "table.toml"
    config.write_text(f'[[hardware.displays]]\ndriver = "serlcd-16x2"\nurl = "{folder / "display"}"\n')
    address = folder / "systemd"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(address))
        listening = threading.Thread(target=_listen, args=(systemd, day), daemon=True)
        listening.start()
        environment = {
            "XDG_STATE_HOME": str(folder),
            "NOTIFY_SOCKET": str(address),
            "WATCHDOG_USEC": str(_WATCHDOG_S * 1_000_000),
        }
        world = Environment(
            clock=day.clock,
            out=day.page,
            err=sys.stderr,
            environment=environment,
            home=folder,
            load=lambda max_pips: Blind(),
            open_device=lambda source, clock: TurningCamera(clock),
            pin=_PIN,
            stop=lambda: nullcontext(cast(StopRequest, day)),
        )
        options = ServeOptions(at="127.0.0.1:0", camera="usb:0", config=config, keep=_KEEP_BYTES)
        try:
            return serve(options, world)
        finally:
            if day.people is not None:
                day.people.terminate()
                counted, _ = day.people.communicate()
                print(counted.strip().splitlines()[-1] if counted.strip() else "nobody came")
            display.close()


def _listen(systemd: socket.socket, day: Day) -> None:
    """Receive the signs of life, like systemd."""
    while True:
        if b"WATCHDOG=1" in systemd.recv(4096):
            day.was_fed()


def _note(t_ns: int) -> Noted:
    status = Path("/proc/self/status").read_text()
    memory_kb = int(status.partition("VmRSS:")[2].split()[0])
    handles = sum(1 for _ in Path("/proc/self/fd").iterdir())
    gc.collect()
    blocks = sys.getallocatedblocks()
    return Noted(
        round(t_ns / 3600 / _NS_PER_S, 2), round(memory_kb / 1024, 1), blocks, handles, threading.active_count()
    )


def _grown(noted: Sequence[Noted]) -> list[str]:
    """Describe the resources that grew between the second quarter and the last."""
    quarter = len(noted) // 4
    if quarter < 1:
        return ["too short to tell what grows"]
    before, after = noted[quarter : 2 * quarter], noted[-quarter:]
    problems = []
    for name, most in _MAX_GROWTH.items():
        was, now = (median(getattr(figures, name) for figures in part) for part in (before, after))
        print(f"{name}: {was:g} in the second quarter, {now:g} in the last")
        if now - was > most:
            problems.append(f"{name} grows from {was:g} to {now:g}")
    return problems


def _be_people(url: str) -> None:
    """Play and watch matches until the process is terminated."""
    threading.Thread(target=_view, args=(url.replace("http", "ws") + "/api/v1/live",), daemon=True).start()
    chance, matches = random.Random(1), 0
    with httpx.Client(base_url=f"{url}/api/v1", timeout=60) as client:
        while True:
            with suppress(httpx.HTTPError):
                _play(client, chance)
                matches += 1
                print(f"{matches} matches", flush=True)


def _play(client: httpx.Client, chance: random.Random) -> None:
    """Play a match of a few minutes, end it, resume it, and end it again."""
    game = {"game": chance.choice(("bones", "draw", "allfives")), "players": ["Ann", "Ben"]}
    client.post("/match", json=game)
    client.post("/login", json={"pin": _PIN, "name": "Zoe"})
    for number in range(30):
        action: dict[str, object] = {"type": "points", "seat": chance.randint(0, 1), "points": 1, "why": "a test"}
        client.post("/actions", json={"action": {"type": "press", "button": "next"} if number % 10 == 0 else action})
        for path in ("/state", "/health", "/recordings", "/picture.jpg")[: chance.randint(0, 4)]:
            client.get(path)
        threading.Event().wait(chance.uniform(0.0, 0.4))
        if number == 15:
            client.post("/match/end", json={})
            client.post("/match/goes_on", json={})
            client.post("/login", json={"pin": _PIN, "name": "Zoe"})
    client.post("/match/end", json={})


def _view(url: str) -> None:
    """Connect a few viewers at a time, each for a short while."""
    chance = random.Random(2)
    while True:
        with suppress(OSError, TimeoutError, EOFError, WebSocketException), ExitStack() as leaving:
            viewers = [leaving.enter_context(connect(url)) for _ in range(chance.randint(1, 4))]
            for viewer in viewers:
                with suppress(TimeoutError):
                    viewer.recv(timeout=chance.uniform(0.1, 1.0))


if __name__ == "__main__":
    sys.exit(main())
