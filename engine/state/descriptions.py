"""Describe outcomes in one line each, for the terminal, displays and the page."""

from collections.abc import Sequence
from typing import assert_never

from engine.phrases import Phrase, both, listed, phrase
from engine.rules.rules import Rules
from engine.state import outcomes
from engine.state.events import RedealReason
from engine.state.match import Chance
from engine.state.outcomes import Must, tiles_text

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
    seat = getattr(outcome, "seat", None)
    name = "" if seat is None else players[seat]
    match outcome:
        case outcomes.Turn():
            return _to_do(outcome, players)
        case outcomes.Placed(tile=tile):
            return phrase("{name} plays {tile}", name=name, tile=tile)
        case outcomes.Stacked(tile=tile):
            return phrase("{name} stacks {tile}", name=name, tile=tile)
        case outcomes.Counted(count=count):
            return phrase("count {sum}", sum=count)
        case outcomes.Scored():
            return _paid(outcome, name)
        case outcomes.Claimable(points=points, because=why, steals_from=victim):
            if victim is None:
                return phrase("{name}: call {points} ({sum})", name=name, points=points, sum=why)
            values = {"points": points, "other": players[victim], "sum": why}
            return phrase("{name}: call {points}, stolen from {other} ({sum})", name=name, **values)
        case outcomes.Forfeited(points=points):
            return phrase("{name} did not call {points}: forfeited", name=name, points=points)
        case outcomes.Drew(tiles=tiles, left=left):
            return phrase("{name} draws {tiles}, {left} left", name=name, tiles=tiles_text(tiles), left=left)
        case outcomes.ForcedDraw(tiles=tiles, left=left):
            return phrase("{name} must take {tiles}, {left} left", name=name, tiles=tiles_text(tiles), left=left)
        case outcomes.Spelled(caster=caster, is_on=False):
            return phrase("{name}'s spell has ended", name=players[caster])
        case outcomes.Spelled(caster=caster, arm=None):
            return phrase("{name} casts a spell: all six arms must be started", name=players[caster])
        case outcomes.Spelled(caster=caster, arm=arm):
            return phrase("{name} casts a spell: the next tile must go on arm {arm}", name=players[caster], arm=arm)
        case outcomes.Turned(clockwise=clockwise):
            return phrase("play reverses: to the left") if clockwise else phrase("play reverses: to the right")
        case outcomes.Skipped():
            return phrase("{name} loses a turn", name=name)
        case outcomes.Declined():
            return phrase("{name} does not play again", name=name)
        case outcomes.Passed(instead_of_leading=True):
            return phrase("{name} has no double to lead", name=name)
        case outcomes.Passed():
            return phrase("{name} knocks", name=name)
        case _:
            return _of_the_match(outcome, players)


def sum_of(chance: Chance, rules: Rules) -> Phrase:
    """Return the arithmetic behind the points of a play or a stack."""
    if chance.loss > chance.worth:
        return phrase("{sum}, doubled for a double", sum=chance.count)
    if chance.loss or rules.play_divisor == 1:
        return listed([str(chance.count)])
    return phrase("{sum}, divided by {divisor}", sum=chance.count, divisor=rules.play_divisor)


def _of_the_match(outcome: outcomes.OfMatch | outcomes.OfHand, players: Sequence[str]) -> Phrase:
    match outcome:
        case outcomes.MatchStarted():
            return phrase("match: {names}", names=listed(outcome.players))
        case outcomes.HandStarted(number=number, boneyard=boneyard):
            return phrase("hand {hand}, {tiles} in the boneyard", hand=number, tiles=tiles_text(boneyard))
        case outcomes.Redealt(reason=reason):
            return phrase("{why}: everybody draws a new hand", why=_REDEAL[reason])
        case outcomes.Blocked(boneyard=boneyard):
            return phrase("blocked: no tile fits, {tiles} in the boneyard", tiles=tiles_text(boneyard))
        case outcomes.ShowHands(ending=ending, out=out, seats=seats):
            why = _ENDING[ending] if out is None else phrase("{name} is out", name=players[out])
            hidden = listed(players[seat] for seat in seats)
            return phrase("{why}; lay your tiles open: {names}", why=why, names=hidden)
        case outcomes.Abandoned(number=number):
            return phrase("hand {hand} was abandoned and does not count", hand=number)
        case outcomes.HandOver(result=result):
            if result.winner is None:
                return result.arithmetic
            return phrase("{name} wins the hand: {sum}", name=players[result.winner], sum=result.arithmetic)
        case outcomes.MatchOver(winner=winner, totals=totals, partner=partner):
            if winner is None:
                return phrase("the match is over with nobody ahead")
            if partner is None:
                return phrase("{name} wins the match with {points}", name=players[winner], points=totals[winner])
            names, points = both((players[winner], players[partner])), totals[winner] + totals[partner]
            return phrase("{names} win the match with {points}", names=names, points=points)
        case outcomes.Renamed(before=before, after=after):
            return phrase("{before} is now {after}", before=before, after=after)
        case outcomes.Swapped(seat=seat, other=other):
            return phrase("{names} change places", names=both((players[seat], players[other])))
        case outcomes.Revised(after=after):
            each = (listed((name, str(total)), " ") for name, total in zip(players, after, strict=False))
            return phrase("corrected: {totals}", totals=listed(each))
        case outcomes.Irregular(problem=problem, stands=stands):
            return listed([problem.text]) if stands else phrase("{words} (does not count)", words=problem.text)
        case _:
            assert_never(outcome)


def _to_do(turn: outcomes.Turn, players: Sequence[str]) -> Phrase:
    """Describe the task of the player to move, or how the leader is decided."""
    name = _LEADER.get(turn.must, phrase("all players")) if turn.seat is None else players[turn.seat]
    if turn.must is Must.DRAW_A_DOUBLE and turn.extra:
        return phrase("{name}: if you drew a double, lead it; otherwise the next player draws", name=name)
    return phrase("{name}: {what}", name=name, what=_MUST[turn.must])


def _paid(scored: outcomes.Scored, name: str) -> Phrase:
    values = {"name": name, "points": abs(scored.points), "why": scored.because}
    if scored.reason is outcomes.Reason.ADJUST:
        if scored.points < 0:
            return phrase("{name} loses {points} by hand ({why})", **values)
        return phrase("{name} gets {points} by hand ({why})", **values)
    if scored.points < 0:
        return phrase("{name} loses {points} ({why})", **values)
    return phrase("{name} scores {points} ({why})", **values)
