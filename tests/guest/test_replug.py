"""Display, camera and GPIO chip unplugged during a match: each is reported, comes back, and the match goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from tests.guest.guest import Guest
from tests.guest.table import inside, players, set_table

pytestmark = [pytest.mark.slow, pytest.mark.guest]

_ROUNDS = int(os.environ.get("TALLYBONE_GUEST_REPLUGS", "1"))
# Between two plays, with points scored before and after.
_UNPLUGGED_S, _UNTIL_S = 38.5, 58.0
_TIMES = {"display": 10, "camera": 4, "pins": 1}


def test_parts_come_back_in_a_match(boot: Callable[[str], Guest], match: Path, measured: Callable[[str], None]) -> None:
    guest = boot("replug")
    folder = set_table(guest, match)
    guest.run(players(0.0, _UNPLUGGED_S), 200)
    guest.run(inside("replug.py", _ROUNDS), 600 * _ROUNDS)
    guest.run(players(_UNPLUGGED_S, _UNTIL_S), 100)
    lines = [json.loads(line) for line in (folder / "replugged.jsonl").read_text().splitlines()]
    for part, number in _TIMES.items():
        times = [line for line in lines if line["part"] == part]
        assert len(times) == number * _ROUNDS
        assert all(line["text"] for line in times)
        reported_s, back_s = ([line[what] for line in times] for what in ("reported_s", "back_s"))
        measured(
            f"{part}: {len(times)} times unplugged, reported after {median(reported_s):.0f} s, at most "
            f"{max(reported_s):.0f} s; back after {median(back_s):.0f} s, at most {max(back_s):.0f} s"
        )
    truth = json.loads((folder / "match.json").read_text())["truth"]
    seen = json.loads((folder / "seen.jsonl").read_text().splitlines()[-1])
    assert seen["totals"] == [line["totals"] for line in truth if line["t_s"] < _UNTIL_S - 5][-1]
    assert seen["question"] is None
