"""Simulate a sitting from a seed: lazily generated frames, inputs and ground truth, and a recording of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import cv2
import numpy as np

import engine
from engine import EngineError, Event, NewHand, Play, Rules, changed_options, deal_problems, profile, with_options
from lab.matches import game_script
from lab.matches.room import LOOKS, MARGIN_PX, WIDE_MARGIN_PX, Room, manners_of, pick_room
from lab.matches.stage import CameraPush, LayoutPositions, PushTime, TableStage, slide
from lab.render.paint import STRAIGHT, Film
from tallybone.choices import Difficulty, TileSet
from tallybone.clock import software
from tallybone.json_values import to_json
from tallybone.recording.format import Pictures, SittingStart, Topic
from tallybone.recording.reader import write_input
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.places import Point
from vision.reading import Face
from vision.tracking.watch import Frame

# Script a match in front of a camera, with hands, sounds, button presses and disturbances.


# Time with an empty table before the first hand, and after the last hand with its tiles still on the table.
_BEFORE_S = 1.5
_AFTER_S = 2.5
# Pause after a knock. A tile played sooner could explain the knock (session.feeding.KNOCK_WAITS_NS).
_AFTER_KNOCK_S = (2.3, 3.2)
# Pause before a knock or press, in which the player looks at the table.
_LOOKS_S = (0.7, 1.2)
# Pause after the boneyard is laid out.
_COUNTED_S = (1.3, 2.0)
_HURRIED_S = 0.1
# Duration of a gesture with many tiles, and number of gestures to lay out the boneyard and to clear the table.
_MANY_S = (1.2, 1.8)
_LAYING_GESTURES = 2
_SWEEPS = 3
# Probability that the sensor reports the seat of a knock, and that the knocking hand is visible.
_KNOWS_SIDE = 0.8
_KNOCKS_IN_SIGHT = 0.6

# Duration of an idle gesture and of its stay at the destination, then of a hand's rest and of the gesture that brings
# it.
_IDLE_S = (0.7, 1.6)
_STAYS_S = 0.3
_REST_S = (1.5, 4.0)
_TO_REST_S = 1.0
_PUSH_S = 0.3
_MAX_PUSHED = 2
# Distance from the border of the picture at which a hand touches the player's own side of the table.
_OWN_SIDE_MM = 45.0


def script(
    steps: Iterator[game_script.ScriptStep], stage: TableStage, pushes: tuple[CameraPush, ...]
) -> Iterator[game_script.Planned]:
    """Yield the items of a match in order of time, with *pushes* of the camera."""
    yield from stage.still(_BEFORE_S)
    director = _Director(stage, pushes)
    state = engine.State()
    for step in steps:
        yield from director.act(step, state)
        yield director.truth_of(step.event, state, step.state)
        yield from director.pause(step.event)
        state = step.state
    yield from stage.still(_AFTER_S)
    yield game_script.TrueRecord(stage.between_ns, engine.format_record(engine.record_of(state)))


@dataclass(slots=True)
class _Director:
    """Converts the steps of a game to the players' actions.

    Attributes:
        positions: Positions of the tiles of the layout.
        has_boneyard: True if the boneyard of this hand is on the table.
    """

    stage: TableStage
    pushes: tuple[CameraPush, ...]
    plays: int = 0
    positions: LayoutPositions = field(default_factory=LayoutPositions)
    has_boneyard: bool = False

    def act(self, step: game_script.ScriptStep, before: engine.State) -> Iterator[game_script.Planned]:
        """Yield the players' actions in a step."""
        event, rng = step.event, self.stage.rng
        match event:
            case engine.NewHand():
                yield from self._begin_hand(_game(step.state))
            case engine.Lead(seat=seat):
                yield from self._lead(_game(before), seat)
            case engine.Play():
                yield from disturb(self.stage, self.positions, _game(before))
                yield from self._play(event, step)
            case engine.Stack(seat=seat, on=on):
                yield from self._press(Press(Button.STACK))
                # A tile that is stacked on its copy.
                stage = self.stage
                tile = replace(self.positions.tiles[on], height_mm=stage.look.thickness_mm)
                yield from stage.put(
                    seat, (tile,), game_script.Zone.LAYOUT, seconds=stage.drawn(stage.manners.gesture_s)
                )
            case engine.Draw():
                yield from self._draw(event)
            case engine.Knock(seat=seat):
                yield from self._knock(seat)
            case engine.Call(seat=seat):
                yield from self._press(Press(Button.CALL, seat))
            case engine.Decline(seat=seat):
                yield from self._press(Press(Button.DONE, seat))
            case engine.HandEnd():
                yield from self._press(Press(Button.HAND_END))
            case engine.Redeal():
                yield from self._press(Press(Button.REDEAL))
            case engine.Reveal(seat=seat, tiles=tiles):
                pips = tuple((tile.high, tile.low) if rng.random() < 0.5 else (tile.low, tile.high) for tile in tiles)
                yield from self._reveal(seat, pips)
            case engine.Abandon():
                yield self.stage.enter(event)
            case _:
                assert isinstance(event, engine.MatchStart)  # scripts have no other events

    def truth_of(self, event: engine.Event, before: engine.State, after: engine.State) -> game_script.TrueEvent:
        """Return the ground truth of a completed step. *before* and *after* are the states of the match around it."""
        totals = _game(after).totals
        was = 0 if before.game is None else sum(before.game.totals)
        return game_script.TrueEvent(self.stage.between_ns, event, sum(totals) - was, totals, self.stage.last_motion_ns)

    def pause(self, event: engine.Event) -> Iterator[game_script.Planned]:
        """Yield the pause after a step, if its event needs one."""
        stage, manners = self.stage, self.stage.manners
        match event:
            case engine.Knock():
                yield from stage.still(stage.drawn(_AFTER_KNOCK_S))
            case engine.Play() if stage.happens(manners.hurry):
                yield from stage.still(_HURRIED_S)
            case engine.Play() | engine.Draw() | engine.Stack() | engine.Reveal():
                yield from stage.still(stage.drawn(manners.pause_s))
            case _:
                pass

    def _begin_hand(self, game: engine.Game) -> Iterator[game_script.Planned]:
        """Yield clearing the table and laying out the boneyard for a new hand."""
        stage, rng = self.stage, self.stage.rng
        seats = len(game.players)
        if any(stage.outside.values()):
            yield from self._clear(seats)
            yield from stage.still(stage.drawn(_LOOKS_S))
        self.positions = LayoutPositions()
        assert game.hand is not None  # a hand has begun
        boneyard = stage.room.boneyard(game.hand.boneyard, rng) if game.hand.boneyard else None
        self.has_boneyard = boneyard is not None
        if boneyard is not None:
            seat = int(rng.integers(seats))
            middle = (len(boneyard) + 1) // _LAYING_GESTURES
            for part in (boneyard[:middle], boneyard[middle:]):
                if part:
                    yield from stage.put(
                        seat, part, game_script.Zone.BONEYARD, seconds=stage.drawn(_MANY_S), is_lifting=False
                    )
            yield from stage.still(stage.drawn(_COUNTED_S))

    def _clear(self, seats: int) -> Iterator[game_script.Planned]:
        """Yield the clearing of the table in up to three sweeps, from left to right."""
        stage = self.stage
        tiles = [tile for zone_tiles in stage.outside.values() for tile in zone_tiles]
        tiles.sort(key=lambda tile: tile.center_mm[0])
        count = -(-len(tiles) // _SWEEPS)
        for first in range(0, len(tiles), count):
            seat = int(stage.rng.integers(seats))
            part = tiles[first : first + count]
            yield from stage.take(seat, part, seconds=stage.drawn(_MANY_S), is_lifting=False)

    def _lead(self, game: engine.Game, seat: engine.Seat) -> Iterator[game_script.Planned]:
        """Yield a look at the table, then the leader as input from the page, unless the rules determine the leader."""
        # The button is not used: it steps through the seats, and its effect depends on whether the new hand was already
        # detected, which a script cannot know.
        assert game.hand is not None  # a hand has begun
        if game.hand.turn != seat:
            yield from self.stage.still(self.stage.drawn(_LOOKS_S))
            yield self.stage.enter(engine.Lead(seat))

    def _press(self, press: Press) -> Iterator[game_script.Planned]:
        """Yield a look at the table, then a button press."""
        yield from self.stage.still(self.stage.drawn(_LOOKS_S))
        yield self.stage.enter(press)

    def _play(self, play: engine.Play, step: game_script.ScriptStep) -> Iterator[game_script.Planned]:
        """Yield the play of a tile, sometimes with an audible slam."""
        stage = self.stage
        layout, laid = _game(step.state).layout, step.laid[-1]
        node = layout.find(laid.node)
        assert node is not None  # just played
        tile = self.positions.place(node, laid)
        self.plays += 1
        slam = self._heard(play.seat) if stage.happens(stage.manners.slam) else None
        seconds = stage.drawn(stage.manners.gesture_s)
        for push in self.pushes:
            if push.play == self.plays:
                stage.push_as(push, seconds)
                if push.when is PushTime.BEFORE:
                    yield from stage.still(stage.drawn(stage.manners.pause_s))
        yield from stage.put(play.seat, (tile,), game_script.Zone.LAYOUT, seconds=seconds, heard=slam)

    def _draw(self, draw: engine.Draw) -> Iterator[game_script.Planned]:
        """Yield tiles drawn from the boneyard."""
        # Without a visible boneyard, yield a button press for each unforced one.
        stage = self.stage
        for _ in range(draw.tiles):
            if self.has_boneyard:
                (*_, last) = stage.outside[game_script.Zone.BONEYARD]
                yield from stage.take(draw.seat, (last,), seconds=stage.drawn(stage.manners.gesture_s))
            elif not draw.forced:  # the rules count forced draws
                yield from self._press(Press(Button.DRAW, draw.seat))

    def _knock(self, seat: engine.Seat) -> Iterator[game_script.Planned]:
        """Yield a knock, sometimes with a hand at the player's own side of the table."""
        stage = self.stage
        yield from stage.still(stage.drawn(_LOOKS_S))
        if not stage.happens(_KNOCKS_IN_SIGHT):
            yield stage.enter(self._heard(seat))
            return
        gesture = stage.gesture(seat, own_side(stage, seat), seconds=stage.manners.gesture_s[0], stay=1)
        yield from stage.show(gesture.come)
        yield stage.enter(self._heard(seat))
        yield from stage.show((*gesture.stay, *gesture.go))

    def _heard(self, seat: engine.Seat) -> KnockHeard:
        return KnockHeard(seat if self.stage.happens(_KNOWS_SIDE) else None)

    def _reveal(self, seat: engine.Seat, pips: tuple[tuple[int, int], ...]) -> Iterator[game_script.Planned]:
        """Yield a hand that is shown. If its zone has no room, yield the sum of its pips as an input instead."""
        stage = self.stage
        if not pips:
            return
        tiles = stage.room.opened(seat, pips, stage.rng)
        if tiles is None:
            yield from stage.still(stage.drawn(_LOOKS_S))
            yield stage.enter(engine.RevealPips(seat, sum(map(sum, pips))))
        else:
            yield from stage.put(seat, tiles, game_script.Zone.SEAT, seconds=stage.drawn(_MANY_S), is_lifting=False)


def _game(state: engine.State) -> engine.Game:
    assert state.game is not None  # a match has begun
    return state.game


def disturb(stage: TableStage, positions: LayoutPositions, game: engine.Game) -> Iterator[game_script.Planned]:
    """Yield random disturbances before a play, if any."""
    manners = stage.manners
    seat = int(stage.rng.integers(len(game.players)))
    if stage.happens(manners.steps):
        stage.expose()
    if stage.happens(manners.bump):
        yield stage.push_camera()
        yield from stage.still(stage.drawn(manners.pause_s))
    if stage.happens(manners.idle):
        # A hand that reaches for a random point and does nothing.
        half_width, half_height = stage.room.board.width_mm / 2, stage.room.board.height_mm / 2
        at_mm = (stage.drawn((-half_width, half_width)), stage.drawn((-half_height, half_height)))
        gesture = stage.gesture(seat, at_mm, seconds=stage.drawn(_IDLE_S), stay=stage.frames(_STAYS_S))
        yield from stage.show((*gesture.come, *gesture.stay, *gesture.go))
        yield from stage.still(stage.drawn(stage.manners.pause_s))
    if stage.happens(manners.rest):
        rests = stage.frames(stage.drawn(_REST_S))
        gesture = stage.gesture(seat, own_side(stage, seat), seconds=_TO_REST_S, stay=rests)
        stage.rest_beside((*gesture.come, *gesture.stay, *gesture.go))
    if stage.happens(manners.nudge):
        for _ in range(int(stage.rng.integers(1, _MAX_PUSHED + 1))):
            yield from _push(stage, positions, game, seat)
        yield from stage.still(stage.drawn(manners.pause_s))


def own_side(stage: TableStage, seat: int) -> Point:
    """Return a point on the table in front of a seat, slightly inside the picture."""
    seen, (x, y) = stage.room.seen.grown(-_OWN_SIDE_MM), stage.room.waiting_mm(seat, 0.0)
    return (min(max(x, seen.left), seen.right), min(max(y, seen.top), seen.bottom))


def _push(stage: TableStage, positions: LayoutPositions, game: engine.Game, seat: int) -> Iterator[game_script.Planned]:
    """Yield a hand that pushes a tile of the layout slightly, if any tile can be pushed."""
    pushed = positions.push(game.layout, stage.look, stage.rng)
    if pushed is None:
        return
    before, after = pushed
    gesture = stage.gesture(seat, before.center_mm, seconds=stage.drawn(stage.manners.gesture_s))
    yield from stage.show((*gesture.come, *gesture.stay))
    rest = tuple(tile for tile in stage.outside[game_script.Zone.LAYOUT] if tile != before)
    stage.outside[game_script.Zone.LAYOUT] = rest
    yield from stage.show(slide(gesture, before, after, stage.frames(_PUSH_S)))
    yield stage.set_tiles(game_script.Zone.LAYOUT, (*rest, after))
    yield from stage.show(gesture.go)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """Settings of a simulated sitting.

    Attributes:
        players: Names by seat.
        seed: Random seed of everything that is not set here.
        hands: Maximum number of hands. None for a whole match, or without a target a single hand.
        look: A key of `room.LOOKS`. None to choose by the seed.
        fps: Frames per second.
        plays: Number of plays after which the sitting stops. None to play all hands.
        pushes: Pushes of the camera, in the order of the plays.
    """

    rules: Rules
    players: tuple[str, ...]
    seed: int
    hands: int | None = None
    look: str | None = None
    difficulty: Difficulty = Difficulty.NORMAL
    fps: int = 10
    plays: int | None = None
    pushes: tuple[CameraPush, ...] = ()

    def __post_init__(self) -> None:
        if problems := deal_problems(self.rules, len(self.players)):
            raise EngineError("; ".join(problems))


_NAMES = ("Ann", "Ben", "Cleo", "Dora", "Eve", "Finn", "Gus", "Hana")
# Name that selects a look by the seed.
BY_SEED = "seed"
# Maximum number of hands in a whole match, more than any real one has. Without a target, a match is a single hand.
_MAX_HANDS = 200


def simulation_settings(
    game: str,
    *,
    players: int,
    seed: int,
    options: str = "",
    hands: int | None = None,
    look: str = BY_SEED,
    difficulty: Difficulty = Difficulty.NORMAL,
    fps: int = 10,
    plays: int | None = None,
    pushes: tuple[CameraPush, ...] = (),
) -> SimulationSettings:
    """Return settings for a game with default names.

    Raises:
        EngineError: If the game, the number of players, an option or the look is invalid.
    """
    if look not in (BY_SEED, *LOOKS):
        raise EngineError(f'unknown look "{look}"; known: {", ".join((BY_SEED, *LOOKS))}')
    if not 1 <= players <= len(_NAMES):
        raise EngineError(f"players: expected 1 to {len(_NAMES)}, got {players}")
    rules = with_options(profile(game), options)
    return SimulationSettings(
        rules=rules,
        players=_NAMES[:players],
        seed=seed,
        hands=hands,
        look=None if look == BY_SEED else look,
        difficulty=difficulty,
        fps=fps,
        plays=plays,
        pushes=pushes,
    )


class Simulation:
    """A simulated sitting."""

    def __init__(self, settings: SimulationSettings) -> None:
        self._settings = settings
        # Separate generators for game, table, hands and noise make them independent of each other.
        self._game_rng, room_rng, self._stage_rng, self._film_rng = np.random.default_rng(settings.seed).spawn(4)
        self.manners = manners_of(settings.difficulty)
        self.room: Room = pick_room(
            room_rng,
            rules=settings.rules,
            players=len(settings.players),
            look=settings.look,
            manners=self.manners,
            margin_px=WIDE_MARGIN_PX if settings.pushes else MARGIN_PX,
        )

    def plan(self) -> Iterator[game_script.Planned]:
        """Return the items of the sitting without rendering frames.

        Call `plan` or `items` only once, because they consume state.
        """
        settings, players = self._settings, self._settings.players
        hands = (1 if settings.rules.target is None else _MAX_HANDS) if settings.hands is None else settings.hands
        steps = game_script.play_out(
            self._game_rng, rules=settings.rules, players=players, table=self.room.board, hands=hands
        )
        stage = TableStage(self.room, manners=self.manners, players=len(players), fps=settings.fps, rng=self._stage_rng)
        return script(_until(steps, settings.plays), stage, settings.pushes)

    def items(self) -> Iterator[game_script.SimulatedItem]:
        """Yield the items of the sitting. Each frame is rendered on demand."""
        yield game_script.TrueTable(0, self.room.look, self._settings.difficulty.value)
        film = Film(self.room.scene, seed=self._settings.seed, margin_px=self.room.margin_px, rng=self._film_rng)
        for planned in self.plan():
            match planned:
                case game_script.FramePlan(t_ns=t_ns, moment=moment):
                    yield Frame(film.picture(moment), t_ns)
                case game_script.TilesPlan(t_ns=t_ns, tiles=tiles, bump=bump):
                    seen = film.truth([tile.placed for tile in tiles], bump)
                    true = tuple(
                        game_script.TrueTile(exact, tile.zone) for exact, tile in zip(seen, tiles, strict=True)
                    )
                    yield game_script.TrueTiles(t_ns, true, bump)
                case _:
                    yield planned


def _until(steps: Iterator[game_script.ScriptStep], plays: int | None) -> Iterator[game_script.ScriptStep]:
    """Yield steps up to play number *plays*, or all steps for None."""
    for step in steps:
        yield step
        if plays is not None and isinstance(step.event, Play):
            plays -= 1
            if plays == 0:
                return


# Fixed date, because the same seed must give the same file.
_STARTED_AT = datetime(2000, 1, 1, tzinfo=UTC)
_JPEG_QUALITY = 85
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """Amount of recorded data.

    Attributes:
        plays: Number of plays, without stacks.
    """

    frames: int = 0
    seconds: float = 0.0
    plays: int = 0
    hands: int = 0


def start_of(simulation: Simulation, settings: SimulationSettings) -> SittingStart:
    """Return the header of the recording of a simulated sitting."""
    rules = settings.rules
    return SittingStart(
        started_at=_STARTED_AT,
        players=settings.players,
        rules=rules.name,
        options=tuple(changed_options(rules).items()),
        tile_set=TileSet.to(rules.max_pips).value,
        seed=settings.seed,
        software=software(),
        pictures=Pictures.MOVING,
        zones=simulation.room.zones,
    )


def record(items: Iterable[game_script.SimulatedItem], writer: RecordingWriter) -> Iterator[RecordingSummary]:
    """Write items as they arrive, and yield a summary after each.

    Raises:
        RecordingError: If an item cannot be written.
    """
    frames = plays = hands = 0
    t_ns = 0
    for item in items:
        match item:
            case Frame(image=image, t_ns=t_ns):
                _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
                writer.frame(t_ns, data.tobytes())
                frames += 1
            case game_script.SimulatedInput(t_ns=t_ns, value=value):
                write_input(writer, value, t_ns)
            case _:
                t_ns = item.t_ns
                writer.write(Topic.TRUTH, t_ns, truth_line(item))
                if isinstance(item, game_script.TrueEvent):
                    plays, hands = plays + isinstance(item.event, Play), hands + isinstance(item.event, NewHand)
        yield RecordingSummary(frames, t_ns / _NS_PER_S, plays, hands)


def truth_line(
    item: game_script.TrueTable | game_script.TrueTiles | game_script.TrueEvent | game_script.TrueRecord,
) -> dict[str, Any]:
    """Return an item of the ground truth as a JSON object."""
    match item:
        case game_script.TrueTable(look=look, difficulty=difficulty):
            return {"kind": "table", "look": look, "difficulty": difficulty}
        case game_script.TrueTiles(tiles=tiles, bump=bump):
            line: dict[str, Any] = {"kind": "tiles", "tiles": [_tile_line(tile) for tile in tiles]}
            return line if bump == STRAIGHT else line | {"bump": [round(number, 4) for number in bump]}
        case game_script.TrueEvent():
            return {
                "kind": "event",
                "event": to_json(item.event, Event),
                "points": item.points,
                "totals": list(item.totals),
                "ended_ns": item.ended_ns,
            }
        case game_script.TrueRecord(dgr=dgr):
            return {"kind": "record", "dgr": dgr}


def _tile_line(true: game_script.TrueTile) -> dict[str, Any]:
    return {
        "pips": [half.pips for half in true.tile.halves],
        "face": "down" if true.tile.face is Face.DOWN else "up",
        "zone": true.zone.value,
        "corners_px": [[round(x, 1), round(y, 1)] for x, y in true.tile.corners_px],
    }
