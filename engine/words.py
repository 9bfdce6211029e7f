"""Outcomes in the players' words, one line each, for terminal, display and page."""

from collections.abc import Sequence
from typing import assert_never

from engine.events import RedealReason, Seat
from engine.outcomes import (
    Blocked,
    Counted,
    Drew,
    Ending,
    HandOver,
    HandStarted,
    Irregular,
    MatchOver,
    MatchStarted,
    Must,
    Outcome,
    Passed,
    Placed,
    Redealt,
    Revised,
    Scored,
    ShowHands,
    Turn,
)

_MUST = {
    Must.LEAD_HIGHEST_DOUBLE: "lead the highest double",
    Must.LEAD_ANY: "lead any tile",
    Must.PLAY_OR_DRAW: "play, or draw",
    Must.PLAY_OR_KNOCK: "play, or knock",
    Must.DRAW_OR_END: "nothing fits: draw, or end the hand",
}

_REDEAL = {
    RedealReason.TOO_MANY_DOUBLES: "too many doubles in one hand",
    RedealReason.NO_DOUBLE: "nobody holds a double",
    RedealReason.MISDEAL: "misdeal",
}

_ENDING = {
    Ending.BLOCKED_BY_PROOF: "the game is blocked, nothing fits any more",
    Ending.BLOCKED_BY_KNOCKS: "the game is blocked, everybody knocked",
    Ending.CALLED: "the hand is ended",
}


def describe(outcome: Outcome, players: Sequence[str]) -> str:
    """Return what *outcome* says to the table, where *players* are the names by seat."""
    match outcome:
        case MatchStarted():
            return "match: " + ", ".join(outcome.players)
        case HandStarted():
            return f"hand {outcome.number}, {_tiles(outcome.boneyard)} in the boneyard"
        case Redealt():
            return f"{_REDEAL[outcome.reason]}: everybody draws again"
        case Turn():
            return f"{_name(outcome.seat, players)}: {_MUST[outcome.must]}"
        case Placed():
            return f"{players[outcome.seat]} plays {outcome.tile}"
        case Counted():
            return f"count {outcome.count}"
        case Scored():
            return f"{players[outcome.seat]} scores {outcome.points} ({outcome.because})"
        case Drew():
            return f"{players[outcome.seat]} draws {_tiles(outcome.tiles)}, {outcome.left} left"
        case Passed():
            return f"{players[outcome.seat]} knocks"
        case Blocked():
            return f"blocked: nothing fits, {_tiles(outcome.boneyard)} in the boneyard"
        case ShowHands():
            names = ", ".join(players[seat] for seat in outcome.seats)
            return f"{_ended(outcome.ending, outcome.out, players)}; lay your tiles open: {names}"
        case HandOver():
            result = outcome.result
            if result.winner is None:
                return result.arithmetic
            return f"{players[result.winner]} wins the hand: {result.arithmetic}"
        case MatchOver():
            return f"{players[outcome.winner]} wins the match with {outcome.totals[outcome.winner]}"
        case Irregular():
            return outcome.problem.words + ("" if outcome.stands else " (does not count)")
        case Revised():
            return "corrected: " + ", ".join(
                f"{name} {total}" for name, total in zip(players, outcome.after, strict=False)
            )
        case _:
            assert_never(outcome)


def _ended(ending: Ending, out: Seat | None, players: Sequence[str]) -> str:
    return f"{players[out]} is out" if out is not None else _ENDING[ending]


def _name(seat: Seat | None, players: Sequence[str]) -> str:
    return "roll call" if seat is None else players[seat]


def _tiles(number: int) -> str:
    return "1 tile" if number == 1 else f"{number} tiles"
