"""Problems with plays and stacks. See docs/reference/rules.md 2.1 and 3."""

from collections.abc import Iterator

from engine.game.claims import broken_claims, denies, held_by_others
from engine.game.judge_turn import turn_problems, unfinished_draw_problems
from engine.game.questions import copies_left, ends_now, is_stackable, playable
from engine.phrases import phrase
from engine.rules.rules import NoDouble, Spinner
from engine.state.events import Play, Stack
from engine.state.hand import Hand, LeadTile
from engine.state.layout import ARMS, OpenEnd, Spot, obstacle
from engine.state.match import Game, Phase
from engine.state.problems import Problem, ProblemKind, illegal, impossible, not_in_set, not_now, noted
from engine.tiles import Tile


def play_problems(game: Game, hand: Hand, action: Play) -> list[Problem]:
    """Return the problems with a play: by the rules if it is not legal, and with what the seat denied."""
    if game.phase is not Phase.PLAY and game.phase is not Phase.LEAD:
        return [not_now(game.phase)]
    rules, tile, at, seat = game.rules, action.tile, action.at, action.seat
    end = None if at is None else hand.layout.end_at(at)
    tiles, ends = playable(game, hand)
    fits = not hand.layout.nodes and at is None if end is None else end in ends and tile.bit & end.fits != 0
    is_turned = end is not None and action.inner is not None and action.inner != end.number and tile.has(end.number)
    is_turn = hand.turn is None or hand.turn == seat
    found: list[Problem] = []
    if not (tile.bit & tiles and fits and is_turn) or is_turned or not rules.refereed:
        found = _reasons(game, hand, action, end)
    if not rules.refereed:
        return found
    if denies(hand, seat, tile):
        found += broken_claims(game, hand, seat, (tile,))
    if any(hand.held):
        found += elsewhere_problems(game, hand, seat, tile)
    return found


def _reasons(game: Game, hand: Hand, action: Play, end: OpenEnd | None) -> list[Problem]:
    """Return the reasons why a play is not legal."""
    rules, tile, at, layout = game.rules, action.tile, action.at, hand.layout
    found: list[Problem] = []
    fault = None
    if end is None or (action.inner is None and not tile.bit & end.fits):
        fault = obstacle(layout, tile, at, rules=rules, inner=action.inner)
    if fault is not None:
        found.append(impossible(ProblemKind.CANNOT_LIE_THERE, phrase("{tile}: {fault}", tile=tile, fault=fault)))
    if rules.refereed:
        found += turn_problems(game, hand, action.seat)
    if tile.bit & layout.gone(rules) or tile.high > rules.max_pips:
        found.append(_unavailable(game, tile))
    if not rules.refereed:
        return found
    if layout.nodes and hand.turn == action.seat:
        found += unfinished_draw_problems(rules, hand)
    if not layout.nodes:
        found += _lead_problems(game, hand, tile)
    elif fault is None and end is not None:
        found += _end_problems(hand, end, action)
    elif fault is None and at is not None:
        found += _closed_problems(game, at, action)
    return found


def elsewhere_problems(game: Game, hand: Hand, seat: int, tile: Tile) -> Iterator[Problem]:
    """Yield a problem if every copy of *tile* that *seat* could lay was seen to be drawn by others."""
    others = held_by_others(hand, seat, tile)
    if others and len(others) >= copies_left(game, tile) > 0:
        words = phrase("{name} was seen to draw the {tile}", name=game.players[others[0]], tile=tile)
        yield noted(ProblemKind.KNOWN_TILE, words)


def stack_problems(game: Game, hand: Hand, action: Stack) -> Iterator[Problem]:
    """Yield the problems with a stack."""
    if game.phase is not Phase.PLAY:
        yield not_now(game.phase)
        return
    node = hand.layout.find(action.on)
    if node is None:
        yield impossible(ProblemKind.CANNOT_LIE_THERE, phrase("the tile under it is not on the table"))
        return
    if not game.rules.cutthroat:
        yield illegal(ProblemKind.NO_STACKING, phrase("{game} has no stacking", game=game.rules.name))
    yield from turn_problems(game, hand, action.seat)
    if hand.turn == action.seat:
        yield from unfinished_draw_problems(game.rules, hand)
    if copies_left(game, action.tile) <= 0:
        yield _unavailable(game, action.tile)
    if node.tile != action.tile:
        yield impossible(
            ProblemKind.NOT_ITS_COPY, phrase("only a second {tile} can be stacked on the {tile}", tile=node.tile)
        )
    elif node.id in hand.layout.stacked:
        yield illegal(ProblemKind.NO_STACKING, phrase("the {tile} already has its copy stacked on it", tile=node.tile))
    elif not is_stackable(hand, node):
        words = phrase("the {tile} has no open end, so nothing can be stacked on it", tile=node.tile)
        yield illegal(ProblemKind.NO_STACKING, words)
    if hand.chance is None:
        yield illegal(
            ProblemKind.NOTHING_TO_STEAL, phrase("the last play scored nothing, so there is nothing to steal")
        )
    elif not hand.chance.called:
        name = game.players[hand.chance.seat]
        words = phrase("{name} has not called the points, so there is nothing to steal", name=name)
        yield illegal(ProblemKind.NOTHING_TO_STEAL, words)
    elif hand.chance.seat == action.seat:
        yield illegal(ProblemKind.NOTHING_TO_STEAL, phrase("nobody can steal their own points"))
    yield from broken_claims(game, hand, action.seat, (action.tile,))
    yield from elsewhere_problems(game, hand, action.seat, action.tile)


def _unavailable(game: Game, tile: Tile) -> Problem:
    """Return the problem with a *tile* that is not in the set or has all its copies on the table."""
    rules = game.rules
    if tile.high > rules.max_pips:
        return illegal(ProblemKind.NOT_IN_SET, not_in_set(rules.max_pips, tile))
    words = phrase("the {tile} is already on the table", tile=tile)
    if rules.copies > 1:
        words = phrase("the {tile} is already on the table, all {copies} of them", tile=tile, copies=rules.copies)
    return illegal(ProblemKind.ALREADY_USED, words)


def _lead_problems(game: Game, hand: Hand, tile: Tile) -> Iterator[Problem]:
    """Yield a problem if *tile* may not lead the hand."""
    match hand.lead:
        case LeadTile.ANY:
            return
        case LeadTile.SET_DOUBLE:
            top = game.rules.max_pips
            if tile.low != top:
                yield illegal(
                    ProblemKind.LEAD_NOT_A_DOUBLE,
                    phrase("this hand must be led with the {double}", double=f"{top}-{top}"),
                )
        case LeadTile.ANY_DOUBLE:
            if not tile.is_double:
                yield illegal(ProblemKind.LEAD_NOT_A_DOUBLE, phrase("this hand must be led with a double"))
        case LeadTile.HIGHEST_DOUBLE | LeadTile.RACE:
            if not tile.is_double and game.rules.no_double is not NoDouble.HIGHEST_TILE:
                yield illegal(ProblemKind.LEAD_NOT_A_DOUBLE, phrase("this hand must be led with the highest double"))


def _end_problems(hand: Hand, end: OpenEnd, action: Play) -> Iterator[Problem]:
    """Yield the problems with a play at an open end."""
    if not end.playable:
        yield illegal(ProblemKind.TIP_CLOSED, phrase("the spinner needs a tile on both sides first"))
    yield from _number_problems(end.number, end.fits, action)
    spell = hand.course.spell
    if spell is not None and end not in ends_now(hand):
        words = phrase("a spell is active: it must be broken on a new arm of the starter")
        if spell.arm is not None:
            words = phrase("a spell is active: it must be broken at the end of arm {arm}", arm=spell.arm)
        yield illegal(ProblemKind.UNDER_A_SPELL, words)


def _number_problems(number: int, fits: int, action: Play) -> Iterator[Problem]:
    """Yield a problem if the tile does not match *number*, or is the wrong way round."""
    tile = action.tile
    if not tile.has(number) and not tile.bit & fits:
        words = phrase("the {tile} does not fit there: that end needs a {number}", tile=tile, number=number)
        yield illegal(ProblemKind.WRONG_NUMBER, words)
    elif tile.has(number) and action.inner is not None and action.inner != number:
        words = phrase("turn the {tile} round: the {number} must touch the layout", tile=tile, number=number)
        yield illegal(ProblemKind.WRONG_NUMBER, words)


def _closed_problems(game: Game, at: Spot, action: Play) -> Iterator[Problem]:
    """Yield the problems with a play at a port that is no open end."""
    host = game.layout.find(at.host)
    assert host is not None  # checked by obstacle()
    spinner = game.layout.spinner
    if host.is_starter:
        yield illegal(ProblemKind.SEVENTH_ARM, phrase("the starter has only {arms} arms", arms=len(ARMS)))
    elif game.rules.spinner is Spinner.NONE or spinner is None:
        words = phrase("the {tile} has no end there: doubles do not branch in this game", tile=host.tile)
        yield illegal(ProblemKind.NO_BRANCH, words)
    elif game.rules.spinner is Spinner.STARTER_SIX:
        tiles = {"spinner": spinner.tile, "tile": host.tile}
        words = phrase("only the starter branches: that is the {spinner}, not the {tile}", **tiles)
        yield illegal(ProblemKind.NO_BRANCH, words)
    else:
        tiles = {"spinner": spinner.tile, "tile": host.tile}
        words = phrase("only the first double branches: that is the {spinner}, not the {tile}", **tiles)
        yield illegal(ProblemKind.NO_BRANCH, words)
    yield from _number_problems(host.number_at(at.port), 0, action)
