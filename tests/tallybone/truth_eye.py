"""Views with the true tiles of simulated scenes, without rendering pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from engine import BONES, Game, Hand, NewHand, Redeal, Rules, State
from lab.matches.game_script import ScriptStep, play_out
from lab.matches.room import DemoTable, pick_table
from lab.render.cover import truth_of
from lab.render.view import view_of
from tallybone.session.places import halves_of
from tallybone.session.session import Session
from vision.reading import PointPx, SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView

PLAYERS = ("Ann", "Ben")
PLAYERS_OF = {
    "bones": PLAYERS,
    "draw": PLAYERS,
    "allfives": PLAYERS,
    "block": ("Ann", "Ben", "Cleo"),
    "super": ("Ann", "Ben", "Cleo"),
    "twoset": ("Ann", "Ben", "Cleo", "Dora"),
    "cutthroat": ("Ann", "Ben", "Cleo", "Dora"),
}


def script(
    seed: int, hands: int = 1, rules: Rules = BONES, players: tuple[str, ...] = PLAYERS
) -> tuple[DemoTable, Iterator[ScriptStep]]:
    """Return the table and the steps of `tallybone demo --seed`."""
    rng = np.random.default_rng(seed)
    table = pick_table(rng, rules)
    return table, play_out(rng, rules=rules, players=players, table=table.board, hands=hands)


@cache
def game(seed: int) -> tuple[DemoTable, tuple[ScriptStep, ...]]:
    """Return a hand of the demo, cached for all tests."""
    table, steps = script(seed)
    return table, tuple(steps)


def newest_tile(table: DemoTable, step: ScriptStep) -> SeenTile:
    """Return the last tile as read by a perfect reader."""
    assert step.state.game is not None
    scene = table.scene(step.state.game.layout, step.laid)
    newest = truth_of(scene, view_of(scene.camera)).shown[len(step.laid) - 1]
    # A stacked tile next to it may cover a small part.
    assert min(newest.visible) > 0.8, "the tile is partly hidden"
    return newest.tile


def shaken(tile: SeenTile, noise: np.random.Generator, noise_px: float) -> SeenTile:
    """Return the tile with noise in all points."""

    def with_noise(point: PointPx) -> PointPx:
        return (point[0] + noise.normal(0, noise_px), point[1] + noise.normal(0, noise_px))

    a, b, c, d = (with_noise(corner) for corner in tile.corners_px)
    first, second = (replace(half, center_px=with_noise(half.center_px)) for half in halves_of(tile))
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


def placed(*tiles: SeenTile, before: tuple[SeenTile, ...] = ()) -> TableView:
    """Return a view with new tiles."""
    return TableView((*before, *tiles), (), tuple(Change(ChangeKind.PLACED, tile) for tile in tiles))


def views(
    seed: int, hands: int = 1, noise_px: float = 1.5, rules: Rules = BONES, players: tuple[str, ...] = PLAYERS
) -> Iterator[TableView]:
    """Yield the view of each picture of the demo, starting with the empty table."""
    noise = np.random.default_rng(seed + 1000)
    table, steps = script(seed, hands, rules, players)
    known: tuple[SeenTile, ...] = ()
    yield TableView((), (), ())
    for step in steps:
        if step.is_seen:
            tile = shaken(newest_tile(table, step), noise, noise_px)
            yield placed(tile, before=known)
            known = (*known, tile)
        elif isinstance(step.event, NewHand | Redeal) and known:
            yield TableView((), (), tuple(Change(ChangeKind.REMOVED, tile) for tile in known))
            known = ()


def game_of(source: Session | State) -> Game:
    """Return the game of a session or state that has one."""
    state = source.state if isinstance(source, Session) else source
    assert state.game is not None
    return state.game


def hand_of(source: Session | State) -> Hand:
    """Return the hand of a session or state that has one."""
    hand = game_of(source).hand
    assert hand is not None
    return hand
