"""Rename players, and let two of them change places between hands."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from engine.game.closing import GameUpdate
from engine.phrases import both, phrase
from engine.state.events import Rename, Seat, Swap
from engine.state.match import NO_COURSE, Chance, Game, Phase
from engine.state.outcomes import Renamed, Swapped
from engine.state.problems import Problem, ProblemKind, impossible
from engine.value import changed, replaced_at

T = TypeVar("T")


def rename_problems(game: Game, action: Rename) -> Iterator[Problem]:
    """Yield the problems with a name: it is empty, or another player has it."""
    name = action.name.strip()
    others = (other for seat, other in enumerate(game.players) if seat != action.seat)
    if not name:
        yield impossible(ProblemKind.WRONG_NAME, phrase("each player needs a name"))
    elif any(name_key(name) == name_key(other) for other in others):
        yield impossible(ProblemKind.WRONG_NAME, phrase("two players have the same name"))


def swap_problems(game: Game, action: Swap) -> Iterator[Problem]:
    """Yield the problems with a swap: it is not between hands, or it would change the teams."""
    seats, hand = (action.seat, action.other), game.hand
    # Before the lead, a player has passed or drawn, or got fewer tiles than others.
    has_begun = hand is not None and (hand.course != NO_COURSE or len(set(hand.sizes)) > 1)
    if not 0 <= action.other < len(game.players) or action.seat == action.other:
        yield impossible(ProblemKind.NO_SUCH_SEAT, phrase("two players must change places"))
    elif not any(set(seats) <= set(side) for side in game.sides) and game.rules.partners:
        names = both((game.players[action.seat], game.players[action.other]))
        text = phrase("{names} are in different teams: only partners can change places", names=names)
        yield impossible(ProblemKind.WRONG_SEAT, text)
    elif game.phase in (Phase.PLAY, Phase.REVEAL) or (game.phase is Phase.LEAD and has_begun):
        yield impossible(ProblemKind.NOT_NOW, phrase("players can change places between hands: finish this hand first"))


def name_key(name: str) -> str:
    """Return a name without differences in case and spaces, and without invisible characters.

    >>> name_key("Ann Lee") == name_key(" ann  LEE"), name_key("Ann") == name_key("Anna")
    (True, False)
    """
    return " ".join("".join(sign for sign in name.casefold() if sign.isprintable() or sign.isspace()).split())


def name_problems(names: Sequence[str]) -> tuple[str, ...]:
    """Return the problem with the names of a match, if two of them are the same. Empty otherwise."""
    are_unique = len({name_key(name) for name in names}) == len(names)
    return () if are_unique else (phrase("two players have the same name"),)


def rename(game: Game, action: Rename) -> GameUpdate:
    """Return the match with another name for a seat. Its score stays."""
    before, name = game.players[action.seat], action.name.strip()
    return changed(game, players=replaced_at(game.players, action.seat, name)), (Renamed(action.seat, before, name),)


def swap(game: Game, action: Swap) -> GameUpdate:
    """Return the match after two players change places, each with their score and the tiles that they were dealt.

    The winner of the last hand, and the player to lead, stay the same persons.
    """
    one, other, hand = action.seat, action.other, game.hand

    def with_exchanged(old: T, *by_seat: str) -> T:
        return changed(old, **{name: exchanged(getattr(old, name), one, other) for name in by_seat})

    def moved(seat: Seat | None) -> Seat | None:
        return other if seat == one else one if seat == other else seat

    def moved_chance(chance: Chance | None) -> Chance | None:
        return None if chance is None else changed(chance, seat=moved(chance.seat), victim=moved(chance.victim))

    if hand is not None:
        hand = with_exchanged(hand, "sizes", "scores_before", "claims", "held", "holdings")
        hand = changed(hand, turn=moved(hand.turn), out=moved(hand.out))
        hand = changed(hand, chance=moved_chance(hand.chance), lapsed=moved_chance(hand.lapsed))
    game = with_exchanged(game, "players", "scores", "totals")
    game = changed(game, hand=hand, hand_winner=moved(game.hand_winner), winner=moved(game.winner))
    return game, (Swapped(one, other),)


def exchanged(values: Sequence[T], one: int, other: int) -> tuple[T, ...]:
    """Return *values* with two of them exchanged.

    >>> exchanged("abc", 0, 2)
    ('c', 'b', 'a')
    """
    new = list(values)
    new[one], new[other] = new[other], new[one]
    return tuple(new)
