"""What disturbs a camera over a table: hands that do nothing or push tiles, light that changes, bumps."""

from __future__ import annotations

from collections.abc import Iterator

from engine import Game
from tallybone.session.touching import Point
from tallybone.simulate.hands import slide
from tallybone.simulate.items import Planned, Zone
from tallybone.simulate.pushes import Pushed
from tallybone.simulate.stage import Stage

# A hand that does nothing takes so long, and stays so long; one that rests comes and goes in the last.
_IDLE_S, _STAYS_S = (0.7, 1.6), 0.3
_REST_S, _TO_REST_S = (1.5, 4.0), 1.0
_PUSH_S = 0.3
_MOST_PUSHED = 2
# What is a player's own side of the table reaches so far into the picture.
_OWN_SIDE_MM = 45.0


def disturb(stage: Stage, pushed: Pushed, game: Game) -> Iterator[Planned]:
    """Yield what disturbs before a play, if anything does."""
    manners = stage.manners
    seat = int(stage.rng.integers(len(game.players)))
    if stage.happens(manners.steps):
        stage.expose()
    if stage.happens(manners.bump):
        yield stage.push_camera()
        yield from stage.still(stage.drawn(manners.pause_s))
    if stage.happens(manners.idle):
        yield from _idle(stage, seat)
    if stage.happens(manners.rest):
        rests = stage.frames(stage.drawn(_REST_S))
        way = stage.gesture(seat, own_side(stage, seat), seconds=_TO_REST_S, stay=rests)
        stage.rest_beside((*way.come, *way.stay, *way.go))
    if stage.happens(manners.nudge):
        for _ in range(int(stage.rng.integers(1, _MOST_PUSHED + 1))):
            yield from _push(stage, pushed, game, seat)
        yield from stage.still(stage.drawn(manners.pause_s))


def own_side(stage: Stage, seat: int) -> Point:
    """Return a place on the table before a seat, a little inside the picture."""
    seen, (x, y) = stage.room.seen.grown(-_OWN_SIDE_MM), stage.room.body_mm(seat, 0.0)
    return (min(max(x, seen.left), seen.right), min(max(y, seen.top), seen.bottom))


def _idle(stage: Stage, seat: int) -> Iterator[Planned]:
    """Yield a hand that reaches somewhere and does nothing."""
    half_width, half_height = stage.room.board.width_mm / 2, stage.room.board.height_mm / 2
    at_mm = (stage.drawn((-half_width, half_width)), stage.drawn((-half_height, half_height)))
    way = stage.gesture(seat, at_mm, seconds=stage.drawn(_IDLE_S), stay=stage.frames(_STAYS_S))
    yield from stage.show((*way.come, *way.stay, *way.go))
    yield from stage.still(stage.drawn(stage.manners.pause_s))


def _push(stage: Stage, pushed: Pushed, game: Game, seat: int) -> Iterator[Planned]:
    """Yield a hand that pushes a tile of the layout, where one can be pushed."""
    found = pushed.push(game.layout, stage.look, stage.rng)
    if found is None:
        return
    before, after = found
    way = stage.gesture(seat, before.center_mm, seconds=stage.drawn(stage.manners.gesture_s))
    yield from stage.show((*way.come, *way.stay))
    rest = tuple(tile for tile in stage.lying[Zone.LAYOUT] if tile != before)
    stage.lying[Zone.LAYOUT] = rest
    yield from stage.show(slide(way, (before,), (after,), stage.frames(_PUSH_S)))
    yield stage.now_lie(Zone.LAYOUT, (*rest, after))
    yield from stage.show(way.go)
