"""Simulate a sitting from its seed: frames, inputs and truth one after another, each drawn when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine import EngineError, Play, Rules, deal_problems, profile, with_options
from synthetic.render.motion import Film
from tallybone.choices import Difficulty
from tallybone.simulate.game_script import ScriptStep, play_out
from tallybone.simulate.items import FramePlan, NowLying, Planned, SimulatedItem, TrueTable, TrueTile, TrueTiles
from tallybone.simulate.pushes import CameraPush
from tallybone.simulate.room import MARGIN_PX, WIDE_MARGIN_PX, Room, manners_of, pick_room
from tallybone.simulate.scenes import LOOKS
from tallybone.simulate.script import script
from tallybone.simulate.stage import TableStage
from vision.tracking.watch import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """The wishes for a simulated sitting.

    Attributes:
        rules: The game.
        players: Names, by seat.
        seed: Picks everything that is not given here.
        hands: How many hands are played at most; None for a whole match.
        look: A name of `scenes.LOOKS`; None for one that the seed picks.
        difficulty: How hard the table is to follow.
        fps: Frames in a second.
        plays: After how many plays it is left; None for when it is over.
        pushes: How the camera is pushed, in the order of the plays.
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
        """Refuse a game that cannot be played."""
        if problems := deal_problems(self.rules, len(self.players)):
            raise EngineError("; ".join(problems))


_NAMES = ("Ann", "Ben", "Cleo", "Dora", "Eve", "Finn", "Gus", "Hana")
# The look that the seed picks.
BY_SEED = "seed"
# Longer than any match: games without a target end after one hand, the others long before.
_MOST_HANDS = 200


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
    """Return the wishes of a command.

    Raises:
        EngineError: If so many cannot play this, an option cannot be, or there is no such look; all in plain words.
    """
    if look not in (BY_SEED, *LOOKS):
        raise EngineError(f'no look is called "{look}"; known: {", ".join((BY_SEED, *LOOKS))}')
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
    """One simulated sitting."""

    def __init__(self, wishes: SimulationSettings) -> None:
        """Pick the table; nothing is drawn yet."""
        self._wishes = wishes
        # Game, table, hands and noise each have their own: more noise does not deal other tiles.
        self._game_rng, room_rng, self._stage_rng, self._film_rng = np.random.default_rng(wishes.seed).spawn(4)
        self.manners = manners_of(wishes.difficulty)
        self.room: Room = pick_room(
            room_rng,
            rules=wishes.rules,
            players=len(wishes.players),
            look=wishes.look,
            manners=self.manners,
            margin_px=WIDE_MARGIN_PX if wishes.pushes else MARGIN_PX,
        )

    def plan(self) -> Iterator[Planned]:
        """Yield the sitting without drawing it; only once, because it is made as it goes."""
        wishes = self._wishes
        hands = (1 if wishes.rules.target is None else _MOST_HANDS) if wishes.hands is None else wishes.hands
        steps = play_out(self._game_rng, rules=wishes.rules, players=wishes.players, table=self.room.board, hands=hands)
        stage = TableStage(
            self.room, manners=self.manners, players=len(wishes.players), fps=wishes.fps, rng=self._stage_rng
        )
        return script(_until(steps, wishes.plays), stage, wishes.pushes)

    def items(self) -> Iterator[SimulatedItem]:
        """Yield the sitting as a camera and its players give it, each frame drawn when it is asked for."""
        yield TrueTable(0, self.room.look, self._wishes.difficulty.value)
        film = Film(self.room.scene, seed=self._wishes.seed, margin_px=self.room.margin_px, rng=self._film_rng)
        for planned in self.plan():
            match planned:
                case FramePlan(t_ns=t_ns, moment=moment):
                    yield Frame(film.picture(moment), t_ns)
                case NowLying(t_ns=t_ns, tiles=tiles, bump=bump):
                    seen = film.truth([one.placed for one in tiles], bump)
                    yield TrueTiles(
                        t_ns, tuple(TrueTile(t, one.zone) for t, one in zip(seen, tiles, strict=True)), bump
                    )
                case _:
                    yield planned


def _until(steps: Iterator[ScriptStep], plays: int | None) -> Iterator[ScriptStep]:
    """Yield the steps up to so many plays."""
    for step in steps:
        yield step
        if plays is not None and isinstance(step.event, Play):
            plays -= 1
            if plays == 0:
                return
