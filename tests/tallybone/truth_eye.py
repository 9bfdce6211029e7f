"""An eye that sees what is there, as far as a test wants it to: truth of rendered scenes, without any picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from engine import BONES, NewHand, Redeal, Rules
from synthetic.render.truth import truth_of
from synthetic.render.view import view_of
from tallybone.session.touching import halves_of
from tallybone.simulate.game_script import ScriptStep, play_out
from tallybone.simulate.scenes import DemoTable, pick_table
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
    """The game that `tallybone demo --seed` plays, and its table."""
    rng = np.random.default_rng(seed)
    table = pick_table(rng, rules)
    return table, play_out(rng, rules=rules, players=players, table=table.board, hands=hands)


@cache
def game(seed: int) -> tuple[DemoTable, tuple[ScriptStep, ...]]:
    """One hand of a demo, played once for all tests."""
    table, steps = script(seed)
    return table, tuple(steps)


def newest_tile(table: DemoTable, step: ScriptStep) -> SeenTile:
    """The tile that was laid last, as a perfect eye sees it."""
    assert step.state.game is not None
    scene = table.scene(step.state.game.layout, step.laid)
    newest = truth_of(scene, view_of(scene.camera)).shown[len(step.laid) - 1]
    # A tile that is stacked beside it stands a little before it.
    assert min(newest.visible) > 0.8, "the camera does not see the tile whole"
    return newest.tile


def shaken(tile: SeenTile, noise: np.random.Generator, noise_px: float) -> SeenTile:
    """The same tile, every point of it missed by a few pixels."""

    def miss(point: PointPx) -> PointPx:
        return (point[0] + noise.normal(0, noise_px), point[1] + noise.normal(0, noise_px))

    a, b, c, d = (miss(corner) for corner in tile.corners_px)
    first, second = (replace(half, center_px=miss(half.center_px)) for half in halves_of(tile))
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


def placed(*tiles: SeenTile, before: tuple[SeenTile, ...] = ()) -> TableView:
    """A view in which tiles are new."""
    return TableView((*before, *tiles), (), tuple(Change(ChangeKind.PLACED, tile) for tile in tiles))


def views(
    seed: int, hands: int = 1, noise_px: float = 1.5, rules: Rules = BONES, players: tuple[str, ...] = PLAYERS
) -> Iterator[TableView]:
    """What the eye sees of each picture of a demo, the empty table first."""
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
