"""Unplug parts of a table during a match, and plug them in again.

    replug.py FOLDER ROUNDS

The tiles lie still meanwhile. Writes a line for each time to FOLDER/replugged.jsonl: the part, the problems shown on
the page, and the seconds until they appeared and until all was well again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.guest.inside.players import Players, screen

_PATIENCE_S, _LOOKS_S = 60.0, 0.2
_PARTS = {
    "display": (10, "displays", "display_unplug", "display_plug"),
    # The device goes only when nobody has it open, so first its pictures stop.
    "camera": (
        *(4, "camera", "pkill -f [i]nside/camera.py; until camera_unplug 2>/dev/null; do sleep 0.3; done"),
        "camera_plug; show_match",
    ),
    "pins": (1, "leds", "pins_unplug", "pins_plug"),
}
"""Times in a round, a word of its problems, and how to unplug and plug each part."""


def main(folder: Path, rounds: int) -> None:
    """Replug all parts in each round."""
    table = Players(folder)
    turn, totals = table.see()["turn"], table.see()["totals"]

    def problems(word: str) -> list[str]:
        return [text for text in table.see()["problems"] if word in text]

    def is_right(part: str, word: str, plugged_s: float) -> bool:
        if problems(word):
            return False
        if part == "display":
            # Provisional totals are marked.
            shown = " ".join(screen(folder / "display.log", plugged_s)).replace("*", "").split()
            return all(f"{total}" in shown for total in totals)
        return part != "pins" or table.lit() == turn

    with (folder / "replugged.jsonl").open("a", 1) as file:
        for part, (times, word, unplug, plug) in _PARTS.items():
            for _ in range(times * rounds):
                unplugging = shell(unplug)
                reported_s = until(partial(problems, word))
                text = problems(word)
                assert unplugging.wait(_PATIENCE_S) == 0, part
                plugged_s = time.monotonic()
                assert shell(plug).wait(_PATIENCE_S) == 0, part
                back_s = until(partial(is_right, part, word, plugged_s))
                line = {"part": part, "text": text, "reported_s": reported_s, "back_s": back_s}
                file.write(json.dumps(line) + "\n")


def shell(command: str) -> subprocess.Popen[bytes]:
    """Begin to run functions of parts.sh."""
    return subprocess.Popen(["bash", "-c", f". /source/tests/lab/inside/parts.sh; {command}"])


def until(condition: Callable[[], object]) -> float:
    """Wait for a condition, and return the seconds."""
    began_s = time.monotonic()
    while not condition():
        assert time.monotonic() - began_s < _PATIENCE_S, "it takes too long"
        threading.Event().wait(_LOOKS_S)
    return time.monotonic() - began_s


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(float(sys.argv[2])))
