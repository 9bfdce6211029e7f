"""The paths of statistics: of one recorded game, and of everybody over all of them."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

from collections.abc import Callable
from dataclasses import dataclass, replace

from fastapi import APIRouter

from engine import EngineError
from tallybone.plain_text import names_of
from tallybone.replay.figures import GameFigures, PlayerFigures, figures_of, players_in
from tallybone.web.one_at_a_time import OneAtATime
from tallybone.web.recordings import Name
from tallybone.web.shelf import NoRecordingError, Shelf

# So long is counted for one answer; the next one goes on.
_WORKS_NS = 1_500_000_000
_PLACES = 2


@dataclass(frozen=True, slots=True)
class PlayerShown:
    """A player over all games: sums, and averages with two places."""

    name: str
    games: int
    won: int
    hands: int
    plays: int
    points: int
    points_per_hand: float
    points_per_play: float
    knocks_per_hand: float
    best: int


@dataclass(frozen=True, slots=True)
class StatisticsShown:
    """Everybody who played; *left* recordings are not counted yet: ask again."""

    players: tuple[PlayerShown, ...]
    games: int
    left: int


class Counting:
    """Counts the games on a shelf, each once until it changes. Not for several threads."""

    def __init__(self, shelf: Shelf, clock: Callable[[], int]) -> None:
        """Count what is on *shelf*; *clock* is monotonic, in nanoseconds."""
        self._shelf, self._clock = shelf, clock
        self._known: dict[tuple[str, int], GameFigures | None] = {}

    def one(self, name: str) -> GameFigures:
        """Return the figures of a recording, with names as they are shown."""
        found = figures_of(self._shelf.opened(name).game)
        return replace(found, players=names_of(found.players))

    def all(self) -> StatisticsShown:
        """Return the figures of all games that were counted, and count more until it is time to answer."""
        surveys, _ = self._shelf.listed()
        # What goes on with another recording holds all of that one's log.
        whole = {one.start.continues for one in surveys if one.start is not None}
        wanted = [(one.path.name, one.size_bytes) for one in surveys if one.path.name not in whole]
        until_ns = self._clock() + _WORKS_NS
        known = {key: self._known[key] for key in wanted if key in self._known}
        for key in wanted:
            if self._clock() > until_ns:
                break
            if key not in known:
                known[key] = self._counted(key[0])
        self._known = known
        games = [one for one in known.values() if one is not None]
        return StatisticsShown(tuple(_shown(one) for one in players_in(games)), len(games), len(wanted) - len(known))

    def _counted(self, name: str) -> GameFigures | None:
        try:
            return self.one(name)
        except (EngineError, NoRecordingError, OSError):
            return None


def statistics_routes(shelf: Shelf, work: OneAtATime, clock: Callable[[], int]) -> APIRouter:
    """Return the paths of statistics."""
    router = APIRouter()
    counting = Counting(shelf, clock)

    @router.get("/statistics")
    async def statistics() -> StatisticsShown:
        """Everybody who played at this table, over all its recordings."""
        return await work.do(counting.all)

    @router.get("/recordings/{name}/statistics")
    async def statistics_of(name: Name) -> GameFigures:
        """The figures of one recorded game."""
        return await work.do(lambda: counting.one(name))

    return router


def _shown(one: PlayerFigures) -> PlayerShown:
    averages = (one.points_per_hand, one.points_per_play, one.knocks_per_hand)
    per_hand, per_play, knocks = (round(average, _PLACES) for average in averages)
    return PlayerShown(
        one.name, one.games, one.won, one.hands, one.plays, one.points, per_hand, per_play, knocks, one.best
    )
