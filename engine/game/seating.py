"""Rename players, and let two of them change places between hands."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from engine.game.closing import GameUpdate
from engine.phrases import both, phrase
from engine.state.events import Rename, Seat, Swap
from engine.state.hand import NO_COURSE, Chance
from engine.state.match import Game, Phase
from engine.state.outcomes import Renamed, Swapped
from engine.state.problems import Problem, ProblemKind, impossible
from engine.value import changed

T = TypeVar("T")


def rename_problems(game: Game, action: Rename) -> Iterator[Problem]:
    """Yield the problems with a name: it is empty, or another player has it."""
    name = action.name.strip()
    others = (other for seat, other in enumerate(game.players) if seat != action.seat)
    if not name:
        yield impossible(ProblemKind.WRONG_NAME, phrase("each player needs a name"))
    elif any(same_name(name, other) for other in others):
        yield impossible(ProblemKind.WRONG_NAME, phrase("two players have the same name"))


def swap_problems(game: Game, action: Swap) -> Iterator[Problem]:
    """Yield the problems with a swap: it is not between hands, or it would change the teams."""
    seats = (action.seat, action.other)
    if not 0 <= action.other < len(game.players) or action.seat == action.other:
        yield impossible(ProblemKind.NO_SUCH_SEAT, phrase("two players must change places"))
    elif not any(set(seats) <= set(side) for side in game.sides) and game.rules.partners:
        names = both((game.players[action.seat], game.players[action.other]))
        words = phrase("{names} are in different teams: only partners can change places", names=names)
        yield impossible(ProblemKind.WRONG_SEAT, words)
    elif game.phase in (Phase.PLAY, Phase.REVEAL) or _has_begun(game):
        yield impossible(ProblemKind.NOT_NOW, phrase("players can change places between hands: finish this hand first"))


def same_name(one: str, other: str) -> bool:
    """Return True if two names differ at most in case and spaces.

    >>> same_name("Ann Lee", " ann  LEE"), same_name("Ann", "Anna")
    (True, False)
    """
    return name_key(one) == name_key(other)


def name_key(name: str) -> str:
    """Return a name without differences in case and spaces, and without invisible characters."""
    return " ".join("".join(sign for sign in name.casefold() if sign.isprintable() or sign.isspace()).split())


def name_problems(names: Sequence[str]) -> tuple[str, ...]:
    """Return the problem with the names of a match, if two of them are the same. Empty otherwise."""
    are_unique = len({name_key(name) for name in names}) == len(names)
    return () if are_unique else (phrase("two players have the same name"),)


def rename(game: Game, action: Rename) -> GameUpdate:
    """Return the match with another name for a seat. Its score stays."""
    before, name = game.players[action.seat], action.name.strip()
    players = tuple(name if seat == action.seat else old for seat, old in enumerate(game.players))
    return changed(game, players=players), (Renamed(action.seat, before, name),)


def swap(game: Game, action: Swap) -> GameUpdate:
    """Return the match after two players change places, each with their score and the tiles that they were dealt.

    The winner of the last hand, and the player to lead, stay the same persons.
    """
    one, other = action.seat, action.other
    seats = tuple(Seat(seat) for seat in exchanged(range(len(game.players)), one, other))
    hand = game.hand
    if hand is not None:
        hand = changed(
            hand,
            sizes=exchanged(hand.sizes, one, other),
            scores_before=exchanged(hand.scores_before, one, other),
            claims=exchanged(hand.claims, one, other),
            held=exchanged(hand.held, one, other),
            holdings=exchanged(hand.holdings, one, other),
            chance=_moved_chance(hand.chance, seats),
            lapsed=_moved_chance(hand.lapsed, seats),
            turn=_moved(hand.turn, seats),
            out=_moved(hand.out, seats),
        )
    after = changed(
        game,
        players=exchanged(game.players, one, other),
        scores=exchanged(game.scores, one, other),
        totals=exchanged(game.totals, one, other),
        hand=hand,
        hand_winner=_moved(game.hand_winner, seats),
        winner=_moved(game.winner, seats),
    )
    return after, (Swapped(one, other),)


def exchanged(values: Sequence[T], one: int, other: int) -> tuple[T, ...]:
    """Return *values* with two of them exchanged.

    >>> exchanged("abc", 0, 2)
    ('c', 'b', 'a')
    """
    new = list(values)
    new[one], new[other] = new[other], new[one]
    return tuple(new)


def _has_begun(game: Game) -> bool:
    """Return True if a player has passed or drawn before the lead, or got fewer tiles than others."""
    hand = game.hand
    if hand is None or game.phase is not Phase.LEAD:
        return False
    return hand.course != NO_COURSE or len(set(hand.sizes)) > 1


def _moved(seat: Seat | None, seats: tuple[Seat, ...]) -> Seat | None:
    return None if seat is None else seats[seat]


def _moved_chance(chance: Chance | None, seats: tuple[Seat, ...]) -> Chance | None:
    return None if chance is None else changed(chance, seat=seats[chance.seat], victim=_moved(chance.victim, seats))
