"""Outcomes in the players' words, one line each, for terminal, display and page."""

from collections.abc import Sequence
from typing import assert_never

from engine.events import RedealReason, Seat
from engine.layout import Port
from engine.outcomes import (
    Abandoned,
    Blocked,
    Claimable,
    Counted,
    Declined,
    Drew,
    Ending,
    ForcedDraw,
    Forfeited,
    HandOver,
    HandStarted,
    Irregular,
    MatchOver,
    MatchStarted,
    Must,
    Outcome,
    Passed,
    Placed,
    Reason,
    Redealt,
    Revised,
    Scored,
    ShowHands,
    Skipped,
    Spelled,
    Stacked,
    Turn,
    Turned,
)
from engine.problems import tiles_text

_MUST = {
    Must.LEAD_HIGHEST_DOUBLE: "lead the highest double",
    Must.LEAD_SET_DOUBLE: "lead the highest double of the set",
    Must.LEAD_ANY: "lead any tile",
    Must.LEAD_DOUBLE: "lead any double, or knock",
    Must.RACE: "first to lay the highest double leads",
    Must.DRAW_A_DOUBLE: "nobody has a double: draw one tile",
    Must.PLAY_OR_DRAW: "play, or draw",
    Must.PLAY_OR_KNOCK: "play, or knock",
    Must.DRAW_OR_END: "nothing fits: draw, or end the hand",
    Must.PLAY_AGAIN: "play again, or say that you do not",
    Must.BREAK_OR_DRAW: "break the spell, or draw",
    Must.BREAK_OR_KNOCK: "break the spell, or knock",
    Must.START_ARM_OR_DRAW: "start an arm of the starter, or draw",
    Must.START_ARM_OR_KNOCK: "start an arm of the starter, or knock",
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
        case MatchStarted() | HandStarted() | Redealt() | ShowHands() | Abandoned() | HandOver() | MatchOver():
            return _of_the_match(outcome, players)
        case Turn():
            name = _nobody_yet(outcome.must) if outcome.seat is None else players[outcome.seat]
            if outcome.must is Must.DRAW_A_DOUBLE and outcome.extra:
                return f"{name}: lead what you drew if it is a double, else the next player draws"
            return f"{name}: {_MUST[outcome.must]}"
        case Placed():
            return f"{players[outcome.seat]} plays {outcome.tile}"
        case Stacked():
            return f"{players[outcome.seat]} stacks {outcome.tile}"
        case Counted():
            return f"count {outcome.count}"
        case Scored():
            return _paid(outcome, players)
        case Claimable():
            taken = "" if outcome.steals_from is None else f", taken from {players[outcome.steals_from]}"
            return f"{players[outcome.seat]}: call {outcome.points}{taken} ({outcome.because})"
        case Forfeited():
            return f"{players[outcome.seat]} did not call {outcome.points}: forfeited"
        case Drew():
            return f"{players[outcome.seat]} draws {tiles_text(outcome.tiles)}, {outcome.left} left"
        case ForcedDraw():
            return f"{players[outcome.seat]} has to take {tiles_text(outcome.tiles)}, {outcome.left} left"
        case Spelled():
            return _spell(outcome.arm, players[outcome.caster], is_on=outcome.is_on)
        case Turned():
            return "play turns round: to the left" if outcome.clockwise else "play turns round: to the right"
        case Skipped():
            return f"{players[outcome.seat]} loses this turn"
        case Declined():
            return f"{players[outcome.seat]} does not play again"
        case Passed():
            what = "has no double to lead" if outcome.instead_of_leading else "knocks"
            return f"{players[outcome.seat]} {what}"
        case Blocked():
            return f"blocked: nothing fits, {tiles_text(outcome.boneyard)} in the boneyard"
        case Revised():
            return "corrected: " + ", ".join(
                f"{name} {total}" for name, total in zip(players, outcome.after, strict=False)
            )
        case Irregular():
            return outcome.problem.words + ("" if outcome.stands else " (does not count)")
        case _:
            assert_never(outcome)


def _of_the_match(
    outcome: MatchStarted | HandStarted | Redealt | ShowHands | Abandoned | HandOver | MatchOver, players: Sequence[str]
) -> str:
    """Return what begins or ends a hand or a match."""
    match outcome:
        case MatchStarted():
            return "match: " + ", ".join(outcome.players)
        case HandStarted():
            return f"hand {outcome.number}, {tiles_text(outcome.boneyard)} in the boneyard"
        case Redealt():
            return f"{_REDEAL[outcome.reason]}: everybody draws again"
        case ShowHands():
            names = ", ".join(players[seat] for seat in outcome.seats)
            return f"{_ended(outcome.ending, outcome.out, players)}; lay your tiles open: {names}"
        case Abandoned():
            return f"hand {outcome.number} is given up and not counted"
        case HandOver():
            result = outcome.result
            if result.winner is None:
                return result.arithmetic
            return f"{players[result.winner]} wins the hand: {result.arithmetic}"
        case MatchOver():
            if outcome.winner is None:
                return "the match is over, and nobody is ahead"
            winners = [players[seat] for seat in (outcome.winner, outcome.partner) if seat is not None]
            points = outcome.totals[outcome.winner] + (
                0 if outcome.partner is None else outcome.totals[outcome.partner]
            )
            return " and ".join(winners) + f" win{'s' if len(winners) == 1 else ''} the match with {points}"
        case _:
            assert_never(outcome)


def _paid(scored: Scored, players: Sequence[str]) -> str:
    """Return who got how many points for what, or lost them."""
    name, reason = players[scored.seat], scored.because
    if scored.reason is Reason.ADJUST:
        return f"{name} {'gets' if scored.points >= 0 else 'loses'} {abs(scored.points)} by hand ({reason})"
    if scored.points < 0:
        return f"{name} loses {-scored.points} ({reason})"
    return f"{name} scores {scored.points} ({reason})"


def _spell(arm: Port | None, caster: str, *, is_on: bool) -> str:
    """Return that a spell is cast or lifted."""
    where = "all six arms have to be started" if arm is None else f"the next tile goes on arm {arm}"
    return f"{caster} casts a spell: {where}" if is_on else f"the spell of {caster} is over"


def _nobody_yet(must: Must) -> str:
    """Return how the leader is found where nobody knows him yet."""
    names = {Must.LEAD_ANY: "by lot", Must.LEAD_DOUBLE: "the chosen player", Must.RACE: "everybody"}
    return names.get(must, "roll call")


def _ended(ending: Ending, out: Seat | None, players: Sequence[str]) -> str:
    """Return why a hand is over."""
    return f"{players[out]} is out" if out is not None else _ENDING[ending]
