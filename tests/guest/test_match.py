"""A whole match through a camera, pins, a microphone and a display of the kernel, judged by its truth."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.emulate.displays import EmulatedSerLcd
from tests.guest.guest import Guest
from tests.guest.table import players, set_table

pytestmark = [pytest.mark.slow, pytest.mark.guest]

# Time in which display and LEDs follow the page, on a kernel whose only processor also shows pictures and plays sounds.
_FOLLOWS_S, _SHOWS_S, _WRITES_S = 2.0, 8.0, 0.1
_NS_PER_S = 1_000_000_000


def test_a_match_is_right_through_all_parts_at_once(
    boot: Callable[[str], Guest], match: Path, measured: Callable[[str], None]
) -> None:
    guest = boot("match")
    folder = set_table(guest, match)
    guest.run(players(), 400)
    seen = [json.loads(line) for line in (folder / "seen.jsonl").read_text().splitlines()]
    truth = json.loads((folder / "match.json").read_text())["truth"]
    plays = [play for hand in json.loads((folder / "plays.json").read_text()) for play in hand]
    compared = [told(play) for play in plays if play["kind"] in _COMPARED]
    assert compared == list(true_plays(truth))
    assert seen[-1]["totals"] == truth[-1]["totals"]
    assert (seen[-1]["question"], seen[-1]["problems"]) == (None, [])
    assert list(late_displays(seen, (folder / "display.log").read_text())) == []
    assert list(late_leds(seen)) == []
    questions = {line["question"] for line in seen} - {None}
    problems = {problem for line in seen for problem in line["problems"]}
    measured(f"match: {len(compared)} plays, draws and passes right")
    measured(f"match: questions that answered themselves: {sorted(questions) or 'none'}")
    measured(f"match: problems reported meanwhile: {sorted(problems) or 'none'}")


_COMPARED = ("play", "draw", "knock")


def told(play: dict[str, Any]) -> tuple[object, ...]:
    """Return a play, draw or pass as the page shows it."""
    pips = play["pips"]
    return (play["kind"], play["seat"], None if pips is None else tuple(sorted(pips)), play["points"])


def true_plays(truth: Sequence[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yield what `told` should return."""
    for line in truth:
        event = line["event"]
        if event["is"] in _COMPARED:
            tile = event.get("tile")
            yield (event["is"], event["seat"], tile and (tile["low"], tile["high"]), line["points"])


def stretches(seen: Sequence[dict[str, Any]], what: str) -> Iterator[tuple[float, float, Any]]:
    """Yield for how long each value was shown by the page: its begin, its end and the value."""
    begin = seen[0]
    for line in seen[1:]:
        if line[what] != begin[what]:
            yield begin["monotonic_s"], line["monotonic_s"], begin[what]
            begin = line
    yield begin["monotonic_s"], seen[-1]["monotonic_s"], begin[what]


def late_displays(seen: Sequence[dict[str, Any]], log: str) -> Iterator[str]:
    """Yield the totals that the display did not show in time."""
    received = [(float(t_s), bytes.fromhex(data)) for t_s, data in (line.split() for line in log.splitlines())]
    times = [t_s for t_s, _ in received]
    for begin_s, end_s, totals in stretches(seen, "totals"):
        if end_s - begin_s < _FOLLOWS_S:
            continue
        display = EmulatedSerLcd(20, 4)
        for t_s, data in received[: bisect(times, begin_s)]:
            display.receive(data, round(t_s * _NS_PER_S))
        texts = []
        # The words of the play come first, and then the totals.
        for t_s, data in received[bisect(times, begin_s) : bisect(times, min(end_s, begin_s + _SHOWS_S))]:
            display.receive(data, round(t_s * _NS_PER_S))
            texts.append(" ".join(display.screen(round((t_s + _WRITES_S) * _NS_PER_S))))
        if not any(all(f" {total} " in f" {text} " for total in totals) for text in texts):
            yield f"{totals} at {begin_s:.1f} s, but the display showed: {texts}"


def late_leds(seen: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the turns for which the LED of the seat was not lit in time."""
    for begin_s, end_s, turn in stretches(seen, "turn"):
        lit = [line["lit"] for line in seen if begin_s <= line["monotonic_s"] <= begin_s + _FOLLOWS_S]
        if end_s - begin_s >= _FOLLOWS_S and any(turn) and turn not in lit:
            yield f"{turn} at {begin_s:.1f} s, but the LEDs were {lit}"
