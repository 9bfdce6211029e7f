"""Measure the memory of a served table while phones send it large photos of hands.

    python -m lab.bench.photo_memory [--rounds 2] [--max-mb 400]

`tallybone serve` runs as a process of its own with a match whose hand has ended. It gets photos of 79, 50 and 16
megapixels, progressive JPEG and baseline. The memory of all its processes is added up every 20 ms, as proportional set
size (PSS): memory that processes share counts once. Exits with 1 if the peak is above --max-mb.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import httpx

from lab.bench.material.harness import options_of
from tallybone.doctor.examine import drawn_tiles

_ROOT = Path(__file__).resolve().parents[2]
_SIZES_PX = {79: (10280, 7710), 50: (8160, 6120), 16: (4608, 3456)}
_PATIENCE_S = 120.0


def main() -> None:
    given = options_of(__doc__, rounds=2, max_mb=400.0)
    with tempfile.TemporaryDirectory() as folder:
        peak_mb = measure(Path(folder), given.rounds, print)
    print(f"peak {peak_mb:.0f} MB")
    sys.exit(peak_mb > given.max_mb)


def photo_of(megapixels: int, *, is_progressive: bool) -> bytes:
    """Return a photo of tiles as JPEG."""
    image = cv2.resize(drawn_tiles()[:, 160:1120], _SIZES_PX[megapixels], interpolation=cv2.INTER_LINEAR)
    options = [cv2.IMWRITE_JPEG_QUALITY, 85, cv2.IMWRITE_JPEG_PROGRESSIVE, int(is_progressive)]
    return cv2.imencode(".jpg", image, options)[1].tobytes()


def measure(folder: Path, rounds: int, report: Callable[[str], object]) -> float:
    """Return the peak memory in MB of a table that gets all photos *rounds* times."""
    photos = {
        f"{megapixels} megapixels, {'progressive' if is_progressive else 'baseline'}": photo_of(
            megapixels, is_progressive=is_progressive
        )
        for megapixels in _SIZES_PX
        for is_progressive in (True, False)
    }
    pictures = folder / "pictures"
    pictures.mkdir()
    cv2.imwrite(str(pictures / "1.jpg"), drawn_tiles())
    with socket.create_server(("127.0.0.1", 0)) as free:
        at = f"127.0.0.1:{free.getsockname()[1]}"
    command = (sys.executable, "-m", "tallybone", "serve", "--at", at, "--camera", str(pictures))
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    log = folder / "log"
    with log.open("w") as out:
        table = subprocess.Popen(command, cwd=_ROOT, env=environment, stdout=out, stderr=out)
    try:
        with httpx.Client(base_url=f"http://{at}/api/v1", timeout=_PATIENCE_S) as client:
            _begin(client, log)
            meter = _Meter(table.pid)
            report(f"{meter.take():.0f} MB with a match, before the first photo")
            for number in range(rounds):
                for name, photo in photos.items():
                    began_s = time.perf_counter()
                    answer = client.post(
                        "/hands/1/photo", content=photo, headers={"content-type": "application/octet-stream"}
                    )
                    took_s = time.perf_counter() - began_s
                    answered = f"{len(answer.json())} tiles" if answer.is_success else answer.json()["error"]
                    peak_mb = meter.take()
                    report(
                        f"{number + 1}. {name}, {len(photo) >> 10} kB: peak {peak_mb:.0f} MB, {took_s:.1f} s,"
                        f" {answered}"
                    )
            meter.close()
            return meter.peak_mb
    finally:
        table.terminate()
        table.wait()


def _begin(client: httpx.Client, log: Path) -> None:
    """Log in, and play a hand to its end."""
    _until(lambda: re.search(r"PIN.{0,20}?(\d{6})", log.read_text()))
    pin = re.search(r"PIN.{0,20}?(\d{6})", log.read_text())
    assert pin is not None
    _until(lambda: _answers(client))
    client.post("/login", json={"pin": pin[1], "name": "Ann"}).raise_for_status()
    client.post("/match", json={"game": "block", "players": ["Ann", "Ben"]}).raise_for_status()
    _until(lambda: (client.get("/state").json() or {}).get("match"))
    for action in (
        {"type": "press", "button": "next", "seat": 0},
        {"type": "insert", "kind": "play", "seat": 0, "pips": [6, 6]},
        {"type": "press", "button": "hand_end", "seat": 0},
    ):
        client.post("/actions", json={"action": action}).raise_for_status()
    _until(lambda: client.get("/state").json()["match"]["phase"] == "reveal")


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/state").is_success
    except httpx.TransportError:
        return False


def _until(condition: Callable[[], object]) -> None:
    began_s = time.perf_counter()
    while not condition():
        assert time.perf_counter() - began_s < _PATIENCE_S, "the table does not get so far"
        threading.Event().wait(0.1)


class _Meter:
    """Adds up the memory of a process and all its children, every 20 ms."""

    def __init__(self, pid: int) -> None:
        self._pid, self._stops = pid, threading.Event()
        self.peak_mb = self._since_mb = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def take(self) -> float:
        """Return the peak since the last call, in MB."""
        threading.Event().wait(0.5)
        found, self._since_mb = self._since_mb, 0.0
        return found

    def close(self) -> None:
        """Stop."""
        self._stops.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stops.wait(0.02):
            found_mb = sum(_pss_kb(pid) for pid in _family(self._pid)) / 1024
            self._since_mb, self.peak_mb = max(self._since_mb, found_mb), max(self.peak_mb, found_mb)


def _family(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:  # it has ended
                continue
    return found


def _pss_kb(pid: int) -> int:
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return 0 if found is None else int(found[1])


if __name__ == "__main__":
    main()
