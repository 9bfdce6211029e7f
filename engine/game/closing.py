"""Seat the players, and end a hand or match: reveal hands, score the winner, check the target.

See docs/reference/rules.md 2.4 and 2.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from engine.phrases import both, phrase
from engine.rules.rules import MatchEnd, PartnersMode, TargetTest, TieBreak
from engine.state.events import Holding, Rename, Seat, Swap, settle, winners
from engine.state.match import NO_COURSE, Chance, Game, Hand, Phase
from engine.state.outcomes import (
    Abandoned,
    Ending,
    Forfeited,
    HandOver,
    MatchOver,
    Outcome,
    Problem,
    ProblemKind,
    Reason,
    Renamed,
    Scored,
    ShowHands,
    Swapped,
    impossible,
)
from engine.value import changed, replaced_at

GameUpdate = tuple[Game, tuple[Outcome, ...]]
"""The match after an action, and its outcomes."""


def prepend(before: tuple[Outcome, ...], then: GameUpdate) -> GameUpdate:
    """Return *then* with the outcomes *before* inserted in front."""
    return then[0], (*before, *then[1])


def close_hand(game: Game, hand: Hand, ending: Ending, out: Seat | None) -> GameUpdate:
    """Return the match in the phase REVEAL. A seat that is out has nothing to show."""
    holdings = tuple(Holding(0, (), 0) if seat == out else None for seat in range(len(game.players)))
    hand = changed(hand, turn=None, ending=ending, out=out, holdings=holdings)
    return changed(game, phase=Phase.REVEAL, hand=hand), (ShowHands(ending, out, _hidden(hand)),)


def reveal(game: Game, hand: Hand, seat: Seat, holding: Holding) -> GameUpdate:
    """Return the match after *seat* shows its tiles. The hand is counted once all are shown.

    If a tie depends on tiles of which only the pip total is known, the seats concerned must show them first.
    Uncalled points of the last play are forfeited.
    """
    hand, lost = forfeit(hand)
    hand = changed(hand, holdings=replaced_at(hand.holdings, seat, holding))
    game, rule, mode = changed(game, hand=hand), game.rules.hand_points, partners_mode(game)
    to_show = _hidden(hand)
    if not to_show and rule.tie is TieBreak.LIGHTEST_TILE and mode is not PartnersMode.TEAM_TOTAL:
        holdings = _shown(hand)
        best = winners(holdings, hand.out, rule, mode)
        to_show = tuple(at for at in best if len(best) > 1 and holdings[at].tiles is None)
    if to_show:
        assert hand.ending is not None  # the phase is REVEAL
        return game, (*lost, ShowHands(hand.ending, hand.out, to_show))
    return prepend(lost, count_hand(game, hand))


def abandon_hand(game: Game, hand: Hand) -> GameUpdate:
    """Return the match ready for the next deal. Points already scored stay, and nobody wins the hand."""
    hand, lost = forfeit(hand)
    game = changed(game, phase=Phase.DEAL, hand=changed(hand, turn=None), hand_winner=None)
    return game, (*lost, Abandoned(hand.number))


def forfeit(hand: Hand) -> tuple[Hand, tuple[Outcome, ...]]:
    """Return the hand without uncalled points, and `Forfeited` if there were any.

    The points are kept as `lapsed`, for a late call that players accept.
    """
    chance = hand.chance
    if chance is None or chance.called:
        return hand, ()
    return changed(hand, chance=None, lapsed=chance), (Forfeited(chance.seat, chance.points),)


def count_hand(game: Game, hand: Hand) -> GameUpdate:
    """Return the match after the hand is counted and its winner scores."""
    assert hand.ending is not None  # the phase is REVEAL
    result = settle(_shown(hand), hand.out, game.rules.hand_points, partners_mode(game))
    game = changed(game, phase=Phase.DEAL, hand_winner=result.winner)
    over = HandOver(hand.ending, result)
    if result.winner is None:
        return game, (over,)
    return prepend((over,), pay(game, result.winner, result.points, Reason.BONUS, result.arithmetic))


def partners_mode(game: Game) -> PartnersMode | None:
    """Return the partnership mode, or None if everybody plays alone."""
    return game.rules.partners_mode if game.rules.partners else None


def pay(game: Game, seat: Seat, points: int, reason: Reason, because: str) -> GameUpdate:
    """Return the match after *seat* scores *points*. `conclude` ends it."""
    if points == 0:
        return game, ()
    scores = replaced_at(game.scores, seat, (*game.scores[seat], points))
    totals = replaced_at(game.totals, seat, game.totals[seat] + points)
    return changed(game, scores=scores, totals=totals), (Scored(seat, points, reason, because),)


def conclude(game: Game, outcomes: tuple[Outcome, ...]) -> GameUpdate:
    """Return the match, won if its phase and totals say so, with *outcomes* up to the points that won it.

    Without a target, the winner of a hand wins the match. A hand without a winner does not end it.
    """
    scored = [(at, outcome.seat) for at, outcome in enumerate(outcomes, 1) if isinstance(outcome, Scored)]
    last, by = scored[-1] if scored else (len(outcomes), None)
    is_between_hands = game.phase is Phase.DEAL and game.hand is not None
    winner = None
    if game.rules.target is None:
        winner = game.hand_winner if is_between_hands else None
    elif is_between_hands or game.rules.match_end is MatchEnd.IMMEDIATE:
        winner = winning_leader(game, by)
    return (game, outcomes) if winner is None else prepend(outcomes[:last], win(game, winner, continues=game))


def winning_leader(game: Game, by: Seat | None = None) -> Seat | None:
    """Return the player with the highest total if that meets the target. None after a tie.

    Of partners it is *by*, otherwise the first.
    """
    target, leaders = game.rules.target, _leading_sides(game)
    if target is None or len(leaders) != 1:
        return None
    (side,) = leaders
    needed = target if game.rules.target_test is TargetTest.REACH else target + 1
    return None if game.side_total(side[0]) < needed else by if by in side else side[0]


def close_match(game: Game) -> GameUpdate:
    """Return the match ended with the present totals. A tie has no winner."""
    leaders = _leading_sides(game)
    return win(game, leaders[0][0] if len(leaders) == 1 else None, continues=None)


def win(game: Game, seat: Seat | None, *, continues: Game | None) -> GameUpdate:
    """Return the match won by *seat* and its partner, or by nobody if *seat* is None.

    *continues* is the match if a correction takes back the win. None if nothing can.
    """
    hand = None if game.hand is None else changed(game.hand, turn=None)
    partners = [at for side in game.sides if seat in side for at in side if at != seat]
    game = changed(game, phase=Phase.MATCH_OVER, hand=hand, winner=seat, other=continues)
    return game, (MatchOver(seat, game.totals, *partners),)


def _leading_sides(game: Game) -> list[tuple[Seat, ...]]:
    totals = [game.side_total(side[0]) for side in game.sides]
    return [side for side, total in zip(game.sides, totals, strict=True) if total == max(totals)]


def _hidden(hand: Hand) -> tuple[Seat, ...]:
    return tuple(Seat(seat) for seat, holding in enumerate(hand.holdings) if holding is None)


def _shown(hand: Hand) -> tuple[Holding, ...]:
    """Return the tiles of all seats, which have shown them."""
    return tuple(holding for holding in hand.holdings if holding is not None)


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
