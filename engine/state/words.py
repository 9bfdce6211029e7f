"""Describe outcomes in one line each, for the terminal, displays and the page."""

from collections.abc import Sequence
from typing import assert_never

from engine.phrases import Phrase, both, listed, phrase
from engine.rules.rules import Rules
from engine.state import outcomes
from engine.state.events import RedealReason
from engine.state.hand import Chance
from engine.state.layout import Port
from engine.state.outcomes import Abandoned, HandOver, HandStarted, MatchOver, MatchStarted, Must, Redealt, ShowHands
from engine.state.problems import tiles_text

_MUST = {
    Must.LEAD_HIGHEST_DOUBLE: phrase("lead the highest double"),
    Must.LEAD_SET_DOUBLE: phrase("lead the highest double of the set"),
    Must.LEAD_ANY: phrase("lead any tile"),
    Must.LEAD_DOUBLE: phrase("lead any double, or knock"),
    Must.RACE: phrase("the first to play the highest double leads"),
    Must.DRAW_A_DOUBLE: phrase("nobody has a double: draw one tile"),
    Must.PLAY_OR_DRAW: phrase("play, or draw"),
    Must.PLAY_OR_KNOCK: phrase("play, or knock"),
    Must.DRAW_OR_END: phrase("no tile fits: draw, or end the hand"),
    Must.PLAY_AGAIN: phrase("play again, or end your turn"),
    Must.BREAK_OR_DRAW: phrase("break the spell, or draw"),
    Must.BREAK_OR_KNOCK: phrase("break the spell, or knock"),
    Must.START_ARM_OR_DRAW: phrase("start an arm of the starter, or draw"),
    Must.START_ARM_OR_KNOCK: phrase("start an arm of the starter, or knock"),
}

_REDEAL = {
    RedealReason.TOO_MANY_DOUBLES: phrase("too many doubles in one hand"),
    RedealReason.NO_DOUBLE: phrase("nobody has a double"),
    RedealReason.MISDEAL: phrase("misdeal"),
}

_ENDING = {
    outcomes.Ending.BLOCKED_BY_PROOF: phrase("the hand is blocked: no tile fits"),
    outcomes.Ending.BLOCKED_BY_KNOCKS: phrase("the hand is blocked: everybody knocked"),
    outcomes.Ending.CALLED: phrase("the hand was ended"),
}

_LEADER = {
    Must.LEAD_ANY: phrase("by lot"),
    Must.LEAD_DOUBLE: phrase("the chosen player"),
    Must.RACE: phrase("everybody"),
}


def describe(outcome: outcomes.Outcome, players: Sequence[str]) -> Phrase:
    """Return a description of *outcome*. *players* are the names by seat."""
    match outcome:
        case MatchStarted() | HandStarted() | Redealt() | ShowHands() | Abandoned() | HandOver() | MatchOver():
            return _of_the_match(outcome, players)
        case outcomes.Renamed():
            return phrase("{before} is now {after}", before=outcome.before, after=outcome.after)
        case outcomes.Swapped():
            return phrase("{names} change places", names=both((players[outcome.seat], players[outcome.other])))
        case outcomes.Turn():
            return _to_do(outcome, players)
        case outcomes.Placed():
            return phrase("{name} plays {tile}", name=players[outcome.seat], tile=outcome.tile)
        case outcomes.Stacked():
            return phrase("{name} stacks {tile}", name=players[outcome.seat], tile=outcome.tile)
        case outcomes.Counted():
            return phrase("count {sum}", sum=outcome.count)
        case outcomes.Scored():
            return _paid(outcome, players)
        case outcomes.Claimable():
            return _to_call(outcome, players)
        case outcomes.Forfeited():
            return phrase("{name} did not call {points}: forfeited", name=players[outcome.seat], points=outcome.points)
        case outcomes.Drew() | outcomes.ForcedDraw():
            taken = {"name": players[outcome.seat], "tiles": tiles_text(outcome.tiles), "left": outcome.left}
            if isinstance(outcome, outcomes.ForcedDraw):
                return phrase("{name} must take {tiles}, {left} left", **taken)
            return phrase("{name} draws {tiles}, {left} left", **taken)
        case outcomes.Spelled():
            return _spell(outcome.arm, players[outcome.caster], is_on=outcome.is_on)
        case outcomes.Turned():
            return phrase("play reverses: to the left") if outcome.clockwise else phrase("play reverses: to the right")
        case outcomes.Skipped():
            return phrase("{name} loses a turn", name=players[outcome.seat])
        case outcomes.Declined():
            return phrase("{name} does not play again", name=players[outcome.seat])
        case outcomes.Passed():
            if outcome.instead_of_leading:
                return phrase("{name} has no double to lead", name=players[outcome.seat])
            return phrase("{name} knocks", name=players[outcome.seat])
        case outcomes.Blocked():
            return phrase("blocked: no tile fits, {tiles} in the boneyard", tiles=tiles_text(outcome.boneyard))
        case outcomes.Revised():
            totals = (listed((name, str(total)), " ") for name, total in zip(players, outcome.after, strict=False))
            return phrase("corrected: {totals}", totals=listed(totals))
        case outcomes.Irregular():
            words = outcome.problem.words
            return listed([words]) if outcome.stands else phrase("{words} (does not count)", words=words)
        case _:
            assert_never(outcome)


def sum_of(chance: Chance, rules: Rules) -> Phrase:
    """Return the arithmetic behind the points of a play or a stack."""
    if chance.loss > chance.worth:
        return phrase("{sum}, doubled for a double", sum=chance.count)
    if chance.loss or rules.play_divisor == 1:
        return listed([str(chance.count)])
    return phrase("{sum}, divided by {divisor}", sum=chance.count, divisor=rules.play_divisor)


def _of_the_match(
    outcome: MatchStarted | HandStarted | Redealt | ShowHands | Abandoned | HandOver | MatchOver, players: Sequence[str]
) -> Phrase:
    """Describe the start or end of a hand or match."""
    match outcome:
        case MatchStarted():
            return phrase("match: {names}", names=listed(outcome.players))
        case HandStarted():
            tiles = tiles_text(outcome.boneyard)
            return phrase("hand {hand}, {tiles} in the boneyard", hand=outcome.number, tiles=tiles)
        case Redealt():
            return phrase("{why}: everybody draws a new hand", why=_REDEAL[outcome.reason])
        case ShowHands():
            names = listed(players[seat] for seat in outcome.seats)
            out = outcome.out
            why = _ENDING[outcome.ending] if out is None else phrase("{name} is out", name=players[out])
            return phrase("{why}; lay your tiles open: {names}", why=why, names=names)
        case Abandoned():
            return phrase("hand {hand} was abandoned and does not count", hand=outcome.number)
        case HandOver():
            result = outcome.result
            if result.winner is None:
                return result.arithmetic
            name = players[result.winner]
            return phrase("{name} wins the hand: {sum}", name=name, sum=result.arithmetic)
        case MatchOver():
            if outcome.winner is None:
                return phrase("the match is over with nobody ahead")
            name, points = players[outcome.winner], outcome.totals[outcome.winner]
            if outcome.partner is None:
                return phrase("{name} wins the match with {points}", name=name, points=points)
            names = both((name, players[outcome.partner]))
            points += outcome.totals[outcome.partner]
            return phrase("{names} win the match with {points}", names=names, points=points)
        case _:
            assert_never(outcome)


def _to_do(turn: outcomes.Turn, players: Sequence[str]) -> Phrase:
    """Describe the task of the player to move, or how the leader is decided."""
    name = _LEADER.get(turn.must, phrase("all players")) if turn.seat is None else players[turn.seat]
    if turn.must is Must.DRAW_A_DOUBLE and turn.extra:
        return phrase("{name}: if you drew a double, lead it; otherwise the next player draws", name=name)
    return phrase("{name}: {what}", name=name, what=_MUST[turn.must])


def _paid(scored: outcomes.Scored, players: Sequence[str]) -> Phrase:
    """Describe points scored or lost."""
    values = {"name": players[scored.seat], "points": abs(scored.points), "why": scored.because}
    if scored.reason is outcomes.Reason.ADJUST:
        if scored.points < 0:
            return phrase("{name} loses {points} by hand ({why})", **values)
        return phrase("{name} gets {points} by hand ({why})", **values)
    if scored.points < 0:
        return phrase("{name} loses {points} ({why})", **values)
    return phrase("{name} scores {points} ({why})", **values)


def _to_call(chance: outcomes.Claimable, players: Sequence[str]) -> Phrase:
    """Describe points that a player can call."""
    values = {"name": players[chance.seat], "points": chance.points, "sum": chance.because}
    if chance.steals_from is None:
        return phrase("{name}: call {points} ({sum})", **values)
    return phrase("{name}: call {points}, stolen from {other} ({sum})", other=players[chance.steals_from], **values)


def _spell(arm: Port | None, caster: str, *, is_on: bool) -> Phrase:
    """Describe a spell that was cast or broken."""
    if not is_on:
        return phrase("{name}'s spell has ended", name=caster)
    if arm is None:
        return phrase("{name} casts a spell: all six arms must be started", name=caster)
    return phrase("{name} casts a spell: the next tile must go on arm {arm}", name=caster, arm=arm)
