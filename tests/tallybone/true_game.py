"""A recording with its truth, without realistic pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from engine import BONES, MatchStart, NewHand, Redeal
from lab.matches.game_script import ScriptStep, TrueEvent, TrueTable, TrueTile, TrueTiles, Zone
from lab.matches.simulation import truth_line
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.reader import write_input
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recorded_game import BEGINS_NS, SECOND
from tests.tallybone.recording.sittings import START
from tests.tallybone.truth_eye import PLAYERS, script, views
from vision.reading import SeenTile
from vision.tracking.table_view import Change, TableView

STILL_NS = 300_000_000
"""Time without motion before the frame of a tile."""


def record_true_game(path: Path, seed: int = 1, hands: int = 1) -> tuple[TableView, ...]:
    """Record a game with its truth and one input per second, and return the views of its frames."""
    seen = tuple(views(seed, hands))
    start = SittingStart(started_at=START.started_at, players=PLAYERS, rules=BONES.name, tile_set="double-6")
    with RecordingWriter(path, start) as writer:
        _write_truth(writer, TrueTable(BEGINS_NS, "classic-felt", "easy"))
        writer.frame(BEGINS_NS, _JPEG)
        frame = at = 1
        totals: tuple[int, ...] = (0,) * len(PLAYERS)
        for step in script(seed, hands)[1]:
            t_ns = BEGINS_NS + at * SECOND
            before, totals = totals, totals_of(step)
            _write_truth(
                writer, TrueEvent(t_ns - STILL_NS, step.event, sum(totals) - sum(before), totals, t_ns - STILL_NS)
            )
            if step.is_seen:
                _write_truth(
                    writer, TrueTiles(t_ns - STILL_NS, tuple(TrueTile(t, Zone.LAYOUT) for t in seen[frame].tiles))
                )
            elif not isinstance(step.event, MatchStart):
                write_input(writer, step.event, t_ns)
            is_cleared = isinstance(step.event, NewHand | Redeal) and frame > 1
            if step.is_seen or (is_cleared and frame < len(seen) and not seen[frame].tiles):
                writer.frame(t_ns, _JPEG)
                frame += 1
            at += 1
    return seen


def totals_of(step: ScriptStep) -> tuple[int, ...]:
    """Return the totals after a step."""
    assert step.state.game is not None
    return step.state.game.totals


def with_pips(view: TableView, tile: SeenTile, pips: tuple[int, int]) -> TableView:
    """Return a view with one tile confidently misread."""
    first, second = (
        replace(half, pips=number, confidence=1.0, chances=tuple(float(n == number) for n in range(7)))
        for half, number in zip(tile.halves, pips, strict=True)
    )
    wrong = replace(tile, halves=(first, second))
    tiles = tuple(wrong if each == tile else each for each in view.tiles)
    changes = tuple(replace(change, tile=wrong) if change.tile == tile else change for change in view.changes)
    return replace(view, tiles=tiles, changes=changes)


def without(seen: Iterable[TableView], tile: SeenTile) -> Iterator[TableView]:
    """Yield the views without a tile."""
    for view in seen:
        changes: tuple[Change, ...] = tuple(change for change in view.changes if change.tile != tile)
        yield replace(view, tiles=tuple(each for each in view.tiles if each != tile), changes=changes)


def _write_truth(writer: RecordingWriter, true: TrueTable | TrueTiles | TrueEvent) -> None:
    writer.write(Topic.TRUTH, true.t_ns, truth_line(true))


_JPEG = bytes(cv2.imencode(".jpg", np.full((48, 64, 3), 90, np.uint8))[1].tobytes())
