"""Play a match in the guest, as people do: begin it on the page, and choose the leader by a button.

    players.py FOLDER PINS [SECONDS]

FOLDER is made by match.py, and PINS is the folder of gpio-sim's lines. With SECONDS, the match that a power cut has
ended goes on from that time. Writes to FOLDER: the unfinished match that the page offers to offered.jsonl, what page
and LEDs show, whenever it changes, to seen.jsonl, the time of the match to position, at the end all plays to
plays.json.
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

from hardware.display.emulation.serlcd import EmulatedSerLcd

_PAGE = "http://localhost:8080"
_NEXT_PIN, _SEAT_PINS = 24, (5, 6)
_PRESS_S, _LOOKS_S, _AFTER_S, _PERIOD_S = 0.1, 1.0, 6.0, 0.3
# Time to shuffle the tiles. On this kernel, a table takes up to 15 s until it reads its first picture.
_BEFORE_S = 20.0
_wait = threading.Event().wait
_opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def ask(path: str, body: dict[str, object] | None = None) -> Any:
    """Return the answer of the page."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Origin": _PAGE}
    with _opener.open(urllib.request.Request(f"{_PAGE}/api/v1/{path}", data, headers), timeout=60) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def offered() -> Any:
    """Return the unfinished match that the page offers, as soon as there is a page."""
    while True:
        with contextlib.suppress(OSError):
            answer = ask("match")
            if not answer["is_looking"]:
                return answer
        _wait(_PERIOD_S)


def screen(log: Path) -> tuple[str, ...]:
    """Return the text on the display."""
    display = EmulatedSerLcd(20, 4)
    for line in log.read_text().splitlines() if log.exists() else ():
        t_s, data = line.split()
        display.receive(bytes.fromhex(data), round(float(t_s) * 1e9))
    return display.screen(time.monotonic_ns())


@dataclass(frozen=True)
class Players:
    """The players of a match in *folder*, and the folder of the pins."""

    folder: Path
    pins: Path

    def sign_in(self) -> None:
        """Read the PIN of the page on the display, the only place that shows it, and enter it."""
        while not (found := re.search(r"PIN (\d+)", " ".join(screen(self.folder / "display.log")))):
            _wait(_PERIOD_S)
        ask("login", {"pin": found[1], "name": "lab"})

    def play(self, match: dict[str, Any], from_s: float) -> None:
        """Let the match go on from a time, press what belongs to it, and write what page and LEDs show."""
        leads, shown, pressed_s = [lead for lead in match["leads"] if lead[0] > from_s], None, 0.0
        began_s = time.monotonic() - from_s
        (self.folder / "began").write_text(f"{began_s}")
        (self.folder / "held").unlink()
        with (self.folder / "seen.jsonl").open("a", 1) as seen:
            while (now_s := time.monotonic() - began_s) < match["pictures_s"][-1] + _AFTER_S:
                now = self.see()
                if leads and now["hand"] is not None:
                    if now["turn"][leads[0][1]]:
                        leads.pop(0)
                    elif now_s > pressed_s + _LOOKS_S:  # the button steps through the players
                        self.press(_NEXT_PIN)
                        pressed_s = now_s
                if now != shown:
                    shown = now
                    seen.write(json.dumps({"t_s": now_s, "monotonic_s": time.monotonic(), **now}) + "\n")
                (self.folder / "position.new").write_text(f"{now_s}")
                (self.folder / "position.new").replace(self.folder / "position")
                _wait(_PERIOD_S)

    def see(self) -> dict[str, Any]:
        """Return what page and LEDs show."""
        state = ask("state")
        return {
            "hand": state["match"]["hand"],
            "totals": [player["total"] for player in state["players"]],
            "turn": [int(player["turn"]) for player in state["players"]],
            "lit": [int((self.pins / f"sim_gpio{pin}/value").read_text()) for pin in _SEAT_PINS],
            "question": state["question"] and state["question"]["words"],
            "problems": state["problems"],
        }

    def press(self, pin: int) -> None:
        """Press a button."""
        pull = self.pins / f"sim_gpio{pin}/pull"
        pull.write_text("pull-down")
        _wait(_PRESS_S)
        pull.write_text("pull-up")


def main(folder: Path, pins: Path, from_s: float | None) -> None:
    """Play to the end of the match."""
    match = json.loads((folder / "match.json").read_text())
    with (folder / "offered.jsonl").open("a") as file:
        file.write(json.dumps(offered()) + "\n")
    players = Players(folder, pins)
    players.sign_in()
    if from_s is None:
        ask("match", {"game": match["game"], "options": {}, "players": match["players"]})
    else:
        ask("match/goes_on", {})
    _wait(_BEFORE_S)
    players.play(match, from_s or 0.0)
    hands = range(1, ask("state")["match"]["hand"] + 1)
    (folder / "plays.json").write_text(json.dumps([ask(f"plays?hand={hand}") for hand in hands]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]) if sys.argv[3:] else None)
