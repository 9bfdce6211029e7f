"""Power cuts during a match: nothing that was shown is lost, and the table comes back by itself."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from tests.guest.guest import Guest
from tests.guest.table import PARTS, players, set_table
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.guest]

# A first cut needs a match that goes on. Of the later ones, half come after some seconds of play, and half while the
# match is resumed.
_FIRST_S, _PLAYS_S, _RESUMES_S, _COMES_S = 12.0, (1.0, 6.0), (0.0, 10.0), 120.0
_CUTS = int(os.environ.get("TALLYBONE_GUEST_CUTS", "4"))


def test_no_points_are_lost_in_power_cuts(
    boot: Callable[[str], Guest], match: Path, measured: Callable[[str], None]
) -> None:
    rng, pause = random.Random(1), threading.Event()
    back_s: list[float] = []
    while len(back_s) < _CUTS:
        guest = boot("power")
        folder = set_table(guest, match)
        last_s = json.loads((folder / "match.json").read_text())["pictures_s"][-1] - _PLAYS_S[1]
        guest.begin(players(), "players")
        wait_for_play(guest, _FIRST_S)
        while len(back_s) < _CUTS and position(folder) < last_s:
            if len(back_s) % 2:
                pause.wait(rng.uniform(*_RESUMES_S))
            else:
                wait_for_play(guest, position(folder) + rng.uniform(*_PLAYS_S))
            guest.cut_power()
            back_s.append(check_what_is_offered(guest, folder))
        guest.cut_power()
    measured(
        f"{len(back_s)} power cuts, no points lost; page back after {median(back_s):.0f} s, at most {max(back_s):.0f} s"
    )


def check_what_is_offered(guest: Guest, folder: Path) -> float:
    """Switch the power on again, and return the seconds until the page is there. Then, the match goes on.

    The page must offer the match with the totals that it showed, or those of a play since.
    """
    seen = [json.loads(line) for line in (folder / "seen.jsonl").read_text().splitlines() if line.endswith("}")]
    (folder / "held").write_text((folder / "position").read_text())
    for name in ("offered.jsonl", "display.log"):
        (folder / name).unlink()
    seconds = guest.start()
    plug = "pins_plug; display_plug; camera_plug; write_display; show_match; play_match\n"
    guest.begin(PARTS + plug + players(position(folder)), "players")
    offered = folder / "offered.jsonl"
    seconds += until(lambda: offered.exists() and offered.read_text().endswith("\n"), _COMES_S)
    left = json.loads(offered.read_text())["left"]
    assert left["totals"] in possible(seen[-1]["totals"], folder), (left, seen[-1])
    return seconds


def possible(totals: list[int], folder: Path) -> list[list[int]]:
    """Return totals, and the next ones in the true match. Totals with a question to the table may have no next ones."""
    truth = [line["totals"] for line in json.loads((folder / "match.json").read_text())["truth"]]
    later = [after for after in truth[truth.index(totals) :] if after != totals] if totals in truth else []
    return [totals, *later[:1]]


def position(folder: Path) -> float:
    """Return the time of the match."""
    try:
        return float((folder / "position").read_text())
    except FileNotFoundError:
        return 0.0


def wait_for_play(guest: Guest, until_s: float) -> None:
    """Wait for a time of the match."""
    log = guest.share / "out/players.log"
    until(lambda: position(guest.share / "match") >= until_s, _COMES_S, seen=lambda: log.exists() and log.read_text())
