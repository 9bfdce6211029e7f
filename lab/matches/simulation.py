"""Simulate a sitting from a seed: lazily generated frames, inputs and ground truth, and a recording of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import cv2
import numpy as np

from engine import EngineError, Event, NewHand, Play, Rules, changed_options, deal_problems, profile, with_options
from lab.matches.game_script import ScriptStep, play_out
from lab.matches.items import (
    FramePlan,
    Planned,
    SimulatedInput,
    SimulatedItem,
    TilesPlan,
    TrueEvent,
    TrueRecord,
    TrueTable,
    TrueTile,
    TrueTiles,
)
from lab.matches.room import LOOKS, MARGIN_PX, WIDE_MARGIN_PX, Room, manners_of, pick_room
from lab.matches.script import script
from lab.matches.stage import CameraPush, TableStage
from lab.render.motion import STRAIGHT, Film
from tallybone.choices import Difficulty, TileSet
from tallybone.clock import software
from tallybone.json_values import to_json
from tallybone.recording.format import Pictures, SittingStart, Topic
from tallybone.recording.reader import write_input
from tallybone.recording.writer import RecordingWriter
from vision.reading import Face
from vision.tracking.watch import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """Settings of a simulated sitting.

    Attributes:
        rules: Rules of the game.
        players: Names by seat.
        seed: Random seed of everything that is not set here.
        hands: Maximum number of hands. None for a whole match, or without a target a single hand.
        look: A key of `room.LOOKS`. None to choose by the seed.
        difficulty: Difficulty of following the table.
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
        """Reject rules that do not allow this number of players."""
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
        """Choose the table by the seed. Nothing is rendered yet."""
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

    def plan(self) -> Iterator[Planned]:
        """Return the items of the sitting without rendering frames.

        Call `plan` or `items` only once, because they consume state.
        """
        settings, players = self._settings, self._settings.players
        hands = (1 if settings.rules.target is None else _MAX_HANDS) if settings.hands is None else settings.hands
        steps = play_out(self._game_rng, rules=settings.rules, players=players, table=self.room.board, hands=hands)
        stage = TableStage(self.room, manners=self.manners, players=len(players), fps=settings.fps, rng=self._stage_rng)
        return script(_until(steps, settings.plays), stage, settings.pushes)

    def items(self) -> Iterator[SimulatedItem]:
        """Yield the items of the sitting. Each frame is rendered on demand."""
        yield TrueTable(0, self.room.look, self._settings.difficulty.value)
        film = Film(self.room.scene, seed=self._settings.seed, margin_px=self.room.margin_px, rng=self._film_rng)
        for planned in self.plan():
            match planned:
                case FramePlan(t_ns=t_ns, moment=moment):
                    yield Frame(film.picture(moment), t_ns)
                case TilesPlan(t_ns=t_ns, tiles=tiles, bump=bump):
                    seen = film.truth([tile.placed for tile in tiles], bump)
                    true = tuple(TrueTile(exact, tile.zone) for exact, tile in zip(seen, tiles, strict=True))
                    yield TrueTiles(t_ns, true, bump)
                case _:
                    yield planned


def _until(steps: Iterator[ScriptStep], plays: int | None) -> Iterator[ScriptStep]:
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
        frames: Number of frames.
        seconds: Duration of the sitting.
        plays: Number of plays, without stacks.
        hands: Number of hands started.
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


def record(items: Iterable[SimulatedItem], writer: RecordingWriter) -> Iterator[RecordingSummary]:
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
            case SimulatedInput(t_ns=t_ns, value=value):
                write_input(writer, value, t_ns)
            case _:
                t_ns = item.t_ns
                writer.write(Topic.TRUTH, t_ns, truth_line(item))
                if isinstance(item, TrueEvent):
                    plays, hands = plays + isinstance(item.event, Play), hands + isinstance(item.event, NewHand)
        yield RecordingSummary(frames, t_ns / _NS_PER_S, plays, hands)


def truth_line(item: TrueTable | TrueTiles | TrueEvent | TrueRecord) -> dict[str, Any]:
    """Return an item of the ground truth as a JSON object."""
    match item:
        case TrueTable(look=look, difficulty=difficulty):
            return {"kind": "table", "look": look, "difficulty": difficulty}
        case TrueTiles(tiles=tiles, bump=bump):
            line: dict[str, Any] = {"kind": "tiles", "tiles": [_tile_line(tile) for tile in tiles]}
            return line if bump == STRAIGHT else line | {"bump": [round(number, 4) for number in bump]}
        case TrueEvent():
            return {
                "kind": "event",
                "event": to_json(item.event, Event),
                "points": item.points,
                "totals": list(item.totals),
                "ended_ns": item.ended_ns,
            }
        case TrueRecord(dgr=dgr):
            return {"kind": "record", "dgr": dgr}


def _tile_line(true: TrueTile) -> dict[str, Any]:
    return {
        "pips": [half.pips for half in true.tile.halves],
        "face": "down" if true.tile.face is Face.DOWN else "up",
        "zone": true.zone.value,
        "corners_px": [[round(x, 1), round(y, 1)] for x, y in true.tile.corners_px],
    }
