"""What is wrong with a tile that was laid: on an end, on the starter, or on its copy. RULES.md 2.1 and 3."""

from collections.abc import Iterator

from engine.claims import broken_claims
from engine.events import Play, Stack
from engine.hand import Hand, LeadTile
from engine.judge_turn import turn_problems
from engine.layout import ARMS, OpenEnd, Spot, obstacle
from engine.problems import Problem, ProblemKind, Weight, illegal, impossible, not_now
from engine.questions import copies_left, ends_now, is_stackable
from engine.rules import NoDouble, Spinner
from engine.state import Game, Phase
from engine.tiles import Tile, set_name


def play_problems(game: Game, hand: Hand, action: Play) -> list[Problem]:
    """Return what is wrong with a tile laid on the table or against another.

    Nearly always nothing is, so what could be is first asked in a few comparisons.
    """
    if game.phase is not Phase.PLAY and game.phase is not Phase.LEAD:
        return [not_now(game.phase)]
    rules, tile, at, layout = game.rules, action.tile, action.at, hand.layout
    end = None if at is None else layout.end_at(at)
    found: list[Problem] = []
    if end is None or (action.inner is None and not tile.bit & end.fits):
        fault = obstacle(layout, tile, at, rules=rules, inner=action.inner)
        if fault is not None:
            found.append(impossible(ProblemKind.CANNOT_LIE_THERE, f"{tile}: {fault}"))
            end = None
    if hand.turn != action.seat and rules.refereed:
        found += turn_problems(game, hand, action.seat)
    if tile.bit & layout.gone(rules) or tile.high > rules.max_pips:
        found.append(_not_at_hand(game, tile))
    if not rules.refereed:
        return found
    if not layout.nodes:
        found += _lead_problems(game, hand, tile)
    elif at is not None and end is None:
        if not found or found[0].weight is not Weight.IMPOSSIBLE:
            found += _closed_problems(game, at, action)
    elif end is not None and (
        not tile.bit & end.fits or not end.playable or action.inner != end.number or hand.course.spell is not None
    ):
        found += _end_problems(hand, end, action)
    for claim in hand.claims[action.seat]:
        if claim.denied & tile.bit:
            found += broken_claims((claim,), game.players[action.seat], (tile,))
    return found


def stack_problems(game: Game, hand: Hand, action: Stack) -> Iterator[Problem]:
    """Yield what is wrong with a tile laid on top of another."""
    if game.phase is not Phase.PLAY:
        yield not_now(game.phase)
        return
    node = hand.layout.find(action.on)
    if node is None:
        yield impossible(ProblemKind.CANNOT_LIE_THERE, "the tile it should lie on is not on the table")
        return
    if not game.rules.cutthroat:
        yield illegal(ProblemKind.NO_STACKING, f"nobody stacks in {game.rules.name}")
    yield from turn_problems(game, hand, action.seat)
    if copies_left(game, action.tile) <= 0:
        yield _not_at_hand(game, action.tile)
    if node.tile != action.tile:
        yield impossible(ProblemKind.NOT_ITS_COPY, f"only a second {node.tile} can lie on the {node.tile}")
    elif node.id in hand.layout.stacked:
        yield illegal(ProblemKind.NO_STACKING, f"the {node.tile} has its copy on top already")
    elif not is_stackable(hand, node):
        yield illegal(ProblemKind.NO_STACKING, f"the {node.tile} has no open end, so nothing is stacked on it")
    if hand.chance is None:
        yield illegal(ProblemKind.NOTHING_TO_STEAL, "the play before scored nothing, so there is nothing to steal")
    elif not hand.chance.called:
        words = f"{game.players[hand.chance.seat]} has not called the points, so there is nothing to steal"
        yield illegal(ProblemKind.NOTHING_TO_STEAL, words)
    elif hand.chance.seat == action.seat:
        yield illegal(ProblemKind.NOTHING_TO_STEAL, "nobody steals from himself")
    yield from broken_claims(hand.claims[action.seat], game.players[action.seat], (action.tile,))


def _not_at_hand(game: Game, tile: Tile) -> Problem:
    """Return why *tile* cannot come out of anybody's hand."""
    rules = game.rules
    if tile.high > rules.max_pips:
        return illegal(ProblemKind.NOT_IN_SET, f"a {set_name(rules.max_pips)} set has no {tile}")
    both = "" if rules.copies == 1 else f", all {rules.copies} of them"
    return illegal(ProblemKind.ALREADY_USED, f"the {tile} is already on the table{both}")


def _lead_problems(game: Game, hand: Hand, tile: Tile) -> Iterator[Problem]:
    """Yield why *tile* may not be the first of the hand."""
    match hand.lead:
        case LeadTile.ANY:
            return
        case LeadTile.SET_DOUBLE:
            top = game.rules.max_pips
            if tile.low != top:
                yield illegal(ProblemKind.LEAD_NOT_A_DOUBLE, f"this hand is led with the {top}-{top}")
        case LeadTile.ANY_DOUBLE:
            if not tile.is_double:
                yield illegal(ProblemKind.LEAD_NOT_A_DOUBLE, "this hand is led with a double")
        case LeadTile.HIGHEST_DOUBLE | LeadTile.RACE:
            if not tile.is_double and game.rules.no_double is not NoDouble.HIGHEST_TILE:
                yield illegal(ProblemKind.LEAD_NOT_A_DOUBLE, "this hand is led with the highest double")


def _end_problems(hand: Hand, end: OpenEnd, action: Play) -> Iterator[Problem]:
    """Yield why the tile may not go on an open end."""
    if not end.playable:
        yield illegal(ProblemKind.TIP_CLOSED, "the spinner needs a tile on both sides first")
    yield from _number_problems(end.number, end.fits, action)
    spell = hand.course.spell
    if spell is not None and end not in ends_now(hand):
        where = "a new arm of the starter" if spell.arm is None else f"the end of arm {spell.arm}"
        yield illegal(ProblemKind.UNDER_A_SPELL, f"a spell is on: it has to be broken on {where}")


def _number_problems(number: int, fits: int, action: Play) -> Iterator[Problem]:
    """Yield why the tile does not match *number*."""
    tile = action.tile
    if not tile.has(number) and not tile.bit & fits:
        yield illegal(ProblemKind.WRONG_NUMBER, f"{tile} does not fit there, that end needs a {number}")
    elif tile.has(number) and action.inner is not None and action.inner != number:
        yield illegal(ProblemKind.WRONG_NUMBER, f"turn the {tile} round, the {number} goes inside")


def _closed_problems(game: Game, at: Spot, action: Play) -> Iterator[Problem]:
    """Yield why nothing goes on a port that is no open end, and what else is wrong there."""
    host = game.layout.find(at.host)
    assert host is not None  # obstacle() has looked
    spinner = game.layout.spinner
    if host.is_starter:
        yield illegal(ProblemKind.SEVENTH_ARM, f"the starter has {len(ARMS)} arms, and no more")
    elif game.rules.spinner is Spinner.NONE or spinner is None:
        yield illegal(ProblemKind.NO_BRANCH, f"{host.tile} has no end there: no double branches in this game")
    elif game.rules.spinner is Spinner.STARTER_SIX:
        words = f"only the starter branches, and that is {spinner.tile}, not {host.tile}"
        yield illegal(ProblemKind.NO_BRANCH, words)
    else:
        words = f"only the first double branches, and that was {spinner.tile}, not {host.tile}"
        yield illegal(ProblemKind.NO_BRANCH, words)
    yield from _number_problems(host.number_at(at.port), 0, action)
