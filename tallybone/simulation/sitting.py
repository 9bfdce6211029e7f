"""A simulated sitting from its seed: frames, inputs and truth one after another, drawn as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine import EngineError, Rules, deal_problems
from tallybone.choices import Difficulty
from tallybone.game_script import play_out
from tallybone.simulation.difficulty import manners_of
from tallybone.simulation.items import Item, NowLying, Planned, Shot, TrueTable, TrueTile, TrueTiles
from tallybone.simulation.room import MARGIN_PX, Room, pick_room
from tallybone.simulation.script import script
from tallybone.simulation.stage import Stage
from vision.render.motion import Film
from vision.watch import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a simulated sitting is asked for.

    Attributes:
        rules: The game.
        players: Names, by seat.
        seed: Picks everything that is not said here.
        hands: How many hands are played at most; None for a whole match.
        look: A name of `demo_scene.LOOKS`; None for one that the seed picks.
        difficulty: How hard the table is to follow.
        fps: Frames in a second.
    """

    rules: Rules
    players: tuple[str, ...]
    seed: int
    hands: int | None = None
    look: str | None = None
    difficulty: Difficulty = Difficulty.NORMAL
    fps: int = 10

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if problems := deal_problems(self.rules, len(self.players)):
            raise EngineError("; ".join(problems))


# Longer than any match: games without a target end after one hand, the others long before.
_MOST_HANDS = 200


class Simulation:
    """One simulated sitting."""

    def __init__(self, wishes: Wishes) -> None:
        """Pick the table; nothing is drawn yet."""
        self._wishes = wishes
        # Game, table, hands and noise each have their own: more noise does not deal other tiles.
        self._game_rng, room_rng, self._stage_rng, self._film_rng = np.random.default_rng(wishes.seed).spawn(4)
        self.manners = manners_of(wishes.difficulty)
        self.room: Room = pick_room(
            room_rng, rules=wishes.rules, players=len(wishes.players), look=wishes.look, manners=self.manners
        )

    def plan(self) -> Iterator[Planned]:
        """Yield the sitting without drawing it; only once, because it is made as it goes."""
        wishes = self._wishes
        hands = (1 if wishes.rules.target is None else _MOST_HANDS) if wishes.hands is None else wishes.hands
        steps = play_out(self._game_rng, rules=wishes.rules, players=wishes.players, table=self.room.board, hands=hands)
        stage = Stage(self.room, manners=self.manners, players=len(wishes.players), fps=wishes.fps, rng=self._stage_rng)
        return script(steps, stage)

    def items(self) -> Iterator[Item]:
        """Yield the sitting as a camera and its players give it, each frame drawn when it is asked for."""
        yield TrueTable(0, self.room.look, self._wishes.difficulty.value)
        film = Film(self.room.scene, seed=self._wishes.seed, margin_px=MARGIN_PX, rng=self._film_rng)
        for planned in self.plan():
            match planned:
                case Shot(t_ns=t_ns, moment=moment):
                    yield Frame(film.picture(moment), t_ns)
                case NowLying(t_ns=t_ns, tiles=tiles, bump=bump):
                    seen = film.truth([one.placed for one in tiles], bump)
                    yield TrueTiles(t_ns, tuple(TrueTile(t, one.zone) for t, one in zip(seen, tiles, strict=True)))
                case _:
                    yield planned
