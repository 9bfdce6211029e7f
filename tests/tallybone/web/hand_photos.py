"""Rendered photos of hands, and a table at the end of a hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import cv2

from engine import Game, Phase
from tests.tallybone.web.true_table import TrueTable
from tests.vision.tables import CAMERA, Looks, lay, table_with
from vision.arrays import Image


@cache
def hand_photo(*pips: tuple[int, int], seed: int = 7) -> Image:
    """Return a photo of up to ten tiles in two rows, shape (720, 960, 3), BGR."""
    camera = replace(CAMERA, width_px=960, height_px=720, px_per_mm=2.1)
    tiles = [lay(*pair, (at % 5 - 2) * 75, (at // 5) * 80 - 60, at * 37 % 60 - 30) for at, pair in enumerate(pips)]
    return table_with(tiles, Looks(camera=camera, seed=seed)).image


def jpeg_of_hand(pips: Iterable[tuple[int, int]], seed: int = 7) -> bytes:
    """Return a photo of tiles as JPEG."""
    return cv2.imencode(".jpg", hand_photo(*pips, seed=seed))[1].tobytes()


def game_of(table: TrueTable) -> Game:
    """Return the game of a table, whose match has begun."""
    game = table.live.session.state.game
    assert game is not None
    return game


def end_hand(table: TrueTable) -> Game:
    """Play until the hands are to be counted."""
    table.play(2)
    while game_of(table).phase is not Phase.REVEAL:
        table.play(1)
    return game_of(table)
