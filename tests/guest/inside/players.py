"""Play a match in the guest, as people do: begin it on the page, and choose the leader by a button.

    players.py FOLDER [FROM [UNTIL]]

FOLDER is made by match.py. FROM is the time, in seconds of the match, from which it goes on, after a power cut or after
the UNTIL of the time before. At the end, the tiles lie still.

Writes to FOLDER: the unfinished match that the page offers to offered.jsonl, what page and LEDs show, whenever it
changes, to seen.jsonl, the time of the match to position, at the end all plays to plays.json.
"""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import re
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.emulate.displays import EmulatedSerLcd

_PAGE = "http://localhost:8080"
# The chip has another number each time that it is plugged in.
_CHIPS = Path("/sys/devices/platform/gpio-sim.0")
_NEXT_PIN, _SEAT_PINS = 24, (5, 6)
_PRESS_S, _LOOKS_S, _AFTER_S, _PERIOD_S = 0.1, 1.0, 6.0, 0.3
# The tiles lie still until the table has read them: on this kernel, the first reading takes it up to 15 s. A power cut
# may have come while a hand was over them, and they cannot be read before it moves on.
_SHUFFLES_S, _READS_S = 10.0, 20.0
_HAS_READ = re.compile(r'^tallybone_stage_seconds_count{stage="read"} [1-9]', re.MULTILINE)
_wait = threading.Event().wait
_opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def ask(path: str, body: dict[str, object] | None = None) -> Any:
    """Return the answer of the page."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Origin": _PAGE}
    with _opener.open(urllib.request.Request(f"{_PAGE}/api/v1/{path}", data, headers), timeout=60) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def metrics() -> str:
    """Return the counters of the table."""
    with _opener.open(f"{_PAGE}/metrics", timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def offered() -> Any:
    """Return the unfinished match that the page offers, as soon as there is a page."""
    while True:
        with contextlib.suppress(OSError):
            answer = ask("match")
            if not answer["is_looking"]:
                return answer
        _wait(_PERIOD_S)


def screen(log: Path, since_s: float = 0.0) -> tuple[str, ...]:
    """Return the text on the display, which is on since a time."""
    display = EmulatedSerLcd(20, 4)
    for line in log.read_text().splitlines() if log.exists() else ():
        t_s, data = line.split()
        if float(t_s) >= since_s:
            display.receive(bytes.fromhex(data), round(float(t_s) * 1e9))
    return display.screen(time.monotonic_ns())


@dataclass(frozen=True)
class Players:
    """The players of a match in *folder*."""

    folder: Path

    def sign_in(self) -> None:
        """Read the PIN of the page on the display, the only place that shows it, and enter it."""
        while not (found := re.search(r"PIN (\d+)", " ".join(screen(self.folder / "display.log")))):
            _wait(_PERIOD_S)
        ask("login", {"pin": found[1], "name": "lab"})

    def play(self, match: dict[str, Any], from_s: float, until_s: float) -> None:
        """Let the match go on between two times, press what belongs to it, and write what page and LEDs show."""
        leads, shown = [lead for lead in match["leads"] if lead[0] > from_s], None
        began_s = self.go_on(from_s)
        with (self.folder / "seen.jsonl").open("a", 1) as seen:
            while (now_s := time.monotonic() - began_s) < until_s:
                if leads and now_s >= leads[0][0]:
                    began_s = self.lead(*leads.pop(0))
                now = self.see()
                if now != shown:
                    shown = now
                    seen.write(json.dumps({"t_s": now_s, "monotonic_s": time.monotonic(), **now}) + "\n")
                self.write("position", now_s)
                _wait(_PERIOD_S)
        self.write("held", until_s)

    def lead(self, at_s: float, seat: int) -> float:
        """Hold the match until the table has a new hand and shows, after presses of a button, who leads."""
        self.write("held", at_s)
        while (now := self.see())["hand"] is None or not now["turn"][seat]:
            if now["hand"] is not None:
                self.press(_NEXT_PIN)  # it steps through the players
            _wait(_LOOKS_S)
        return self.go_on(at_s)

    def go_on(self, from_s: float) -> float:
        """Let the match go on from a time. Return the time of its beginning on the monotonic clock."""
        began_s = time.monotonic() - from_s
        self.write("began", began_s)
        (self.folder / "held").unlink()
        return began_s

    def write(self, name: str, seconds: float) -> None:
        """Write a time to a file, which others read at any moment."""
        new = self.folder / f"{name}.new"
        new.write_text(f"{seconds}")
        new.replace(self.folder / name)

    def lit(self) -> list[int]:
        """Return which LEDs of seats are lit."""
        return [int(line.read_text()) for pin in _SEAT_PINS for line in _CHIPS.glob(f"gpiochip*/sim_gpio{pin}/value")]

    def see(self) -> dict[str, Any]:
        """Return what page and LEDs show."""
        state = ask("state")
        return {
            "hand": state["match"]["hand"],
            "totals": [player["total"] for player in state["players"]],
            "turn": [int(player["turn"]) for player in state["players"]],
            "lit": self.lit(),
            "question": state["question"] and state["question"]["text"],
            "problems": state["problems"],
        }

    def press(self, pin: int) -> None:
        """Press a button."""
        pull = next(_CHIPS.glob(f"gpiochip*/sim_gpio{pin}/pull"))
        pull.write_text("pull-down")
        _wait(_PRESS_S)
        pull.write_text("pull-up")


def main(folder: Path, from_s: float = 0.0, until_s: float | None = None) -> None:
    """Play to a time, or to the end of the match."""
    match = json.loads((folder / "match.json").read_text())
    left = offered()
    with (folder / "offered.jsonl").open("a") as file:
        file.write(json.dumps(left) + "\n")
    players = Players(folder)
    if not from_s:
        players.sign_in()
        ask("match", {"game": match["game"], "options": {}, "players": match["players"]})
        _wait(_SHUFFLES_S)
    elif left["left"] is not None:
        players.sign_in()
        ask("match/goes_on", {})
    began_s = time.monotonic()
    while not _HAS_READ.search(metrics()) and time.monotonic() < began_s + _READS_S:
        _wait(_PERIOD_S)
    players.play(match, from_s, match["pictures_s"][-1] + _AFTER_S if until_s is None else until_s)
    hands = range(1, ask("state")["match"]["hand"] + 1)
    (folder / "plays.json").write_text(json.dumps([ask(f"plays?hand={hand}") for hand in hands]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(float, sys.argv[2:]))
