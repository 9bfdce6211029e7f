"""Whether an action is right, and if not, why not, in the players' words. RULES.md 2.6 and 3.1."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from engine.events import (
    Action,
    Domino,
    Draw,
    HandEnd,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    Play,
    Redeal,
    RedealReason,
    Reveal,
    RevealPips,
    Seat,
)
from engine.layout import TIPS, Node, Spot, obstacle
from engine.problems import Problem, ProblemKind, Weight
from engine.rules import BranchOrder, Drawing, Spinner, deal_problems
from engine.state import Claim, Game, Hand, Phase, copies_left
from engine.tiles import Tile, set_name


def problems_with(game: Game | None, action: Action) -> tuple[Problem, ...]:
    """Return all that is wrong with *action*, the gravest first; nothing when it is right."""
    found = tuple(_judge(game, action))
    return tuple(sorted(found, key=lambda problem: -problem.weight.value))


def _judge(game: Game | None, action: Action) -> Iterator[Problem]:
    """Yield what is wrong with *action*."""
    if isinstance(action, MatchStart):
        return _judge_start(game, action)
    if game is None:
        return iter((_impossible(ProblemKind.NOT_NOW, "no match has been started"),))
    if isinstance(action, Lead | Play | Draw | Knock | Domino | Reveal | RevealPips) and not (
        0 <= action.seat < len(game.players)
    ):
        return iter((_impossible(ProblemKind.NO_SUCH_SEAT, f"nobody sits on seat {action.seat}"),))
    match action:
        case NewHand():
            return _judge_new_hand(game)
        case Redeal():
            return _judge_redeal(game, action)
        case Lead():
            return _judge_lead(game, action)
        case Play():
            return _judge_play(game, action)
        case Draw():
            return _judge_draw(game, action)
        case Knock():
            return _judge_knock(game, action)
        case Domino():
            return _judge_domino(game, action)
        case HandEnd():
            return _judge_hand_end(game)
        case Reveal() | RevealPips():
            return _judge_reveal(game, action)
        case _:
            assert_never(action)


def _judge_start(game: Game | None, action: MatchStart) -> Iterator[Problem]:
    for words in deal_problems(action.rules, len(action.players)):
        yield _impossible(ProblemKind.CANNOT_BE_DEALT, words)
    if game is not None and game.hand is not None and game.phase is not Phase.MATCH_OVER:
        yield Problem(ProblemKind.NOT_NOW, Weight.DOUBTFUL, "the match is not over")


def _judge_new_hand(game: Game) -> Iterator[Problem]:
    if game.phase is not Phase.DEAL:
        yield _not_now(game)


def _judge_redeal(game: Game, action: Redeal) -> Iterator[Problem]:
    hand = game.hand
    if hand is None or game.phase not in (Phase.LEAD, Phase.PLAY, Phase.REVEAL):
        yield _not_now(game)
        return
    if hand.layout.nodes:
        words = f"{_tiles(len(hand.layout.nodes))} of this hand already on the table"
        yield Problem(ProblemKind.NO_REDEAL, Weight.DOUBTFUL, words)
    if action.reason is RedealReason.NO_DOUBLE and not hand.roll_call:
        yield _illegal(ProblemKind.NO_REDEAL, "this hand can be led with any tile, no double is needed")
    if action.reason is RedealReason.TOO_MANY_DOUBLES and game.rules.redeal_if_doubles_over is None:
        yield _illegal(ProblemKind.NO_REDEAL, f"{game.rules.name} has no redeal for doubles")


def _judge_lead(game: Game, action: Lead) -> Iterator[Problem]:
    hand = game.hand
    if hand is None or game.phase is not Phase.LEAD:
        yield _not_now(game)
    elif game.hand_winner is not None and not hand.roll_call and action.seat != game.hand_winner:
        name = game.players[game.hand_winner]
        yield _illegal(ProblemKind.WRONG_SEAT, f"{name} won the last hand and leads this one")


def _judge_play(game: Game, action: Play) -> Iterator[Problem]:
    hand = game.hand
    if hand is None or game.phase not in (Phase.LEAD, Phase.PLAY):
        yield _not_now(game)
        return
    fault = obstacle(hand.layout, action.tile, action.at, inner=action.inner)
    if fault is not None:
        yield _impossible(ProblemKind.CANNOT_LIE_THERE, f"{action.tile}: {fault}")
    yield from _judge_turn(game, hand, action.seat)
    yield from _judge_tile(game, action.tile)
    if action.at is None:
        if hand.roll_call and not action.tile.is_double:
            yield _illegal(ProblemKind.LEAD_NOT_A_DOUBLE, "this hand is led with the highest double")
    elif fault is None:
        host = hand.layout.find(action.at.host)
        assert host is not None  # obstacle() has looked
        yield from _judge_end(game, host, action.at, action)
    yield from _judge_claims(game, hand.claims[action.seat], action.seat, (action.tile,))


def _judge_turn(game: Game, hand: Hand, seat: Seat) -> Iterator[Problem]:
    if hand.turn is not None and hand.turn != seat:
        yield _illegal(ProblemKind.WRONG_SEAT, f"it is {game.players[hand.turn]}'s turn, not {game.players[seat]}'s")


def _judge_tile(game: Game, tile: Tile) -> Iterator[Problem]:
    rules = game.rules
    if tile.high > rules.max_pips:
        yield _illegal(ProblemKind.NOT_IN_SET, f"a {set_name(rules.max_pips)} set has no {tile}")
    elif copies_left(game, tile) <= 0:
        yield _illegal(ProblemKind.ALREADY_USED, f"the {tile} is already on the table")


def _judge_end(game: Game, host: Node, at: Spot, action: Play) -> Iterator[Problem]:
    """Yield why *action* may not go on an uncovered port of *host*."""
    rules = game.rules
    if host.is_closed or (at.port in TIPS and not host.branches):
        yield _illegal(ProblemKind.NO_BRANCH, _no_branch_words(game, host))
    elif at.port in TIPS and rules.branch_order is BranchOrder.SIDES_FIRST and not host.is_capped:
        yield _illegal(ProblemKind.TIP_CLOSED, "the spinner needs a tile on both sides first")
    number = host.number_at(at.port)
    if not action.tile.has(number):
        yield _illegal(ProblemKind.WRONG_NUMBER, f"{action.tile} does not fit there, that end needs a {number}")
    elif action.inner is not None and action.inner != number:
        yield _illegal(ProblemKind.WRONG_NUMBER, f"turn the {action.tile} round, the {number} goes inside")


def _no_branch_words(game: Game, host: Node) -> str:
    spinner = game.layout.spinner
    if game.rules.spinner is Spinner.NONE or spinner is None:
        return f"{host.tile} has no more ends: no double branches in this game"
    return f"only the first double branches, and that was {spinner.tile}, not {host.tile}"


def _judge_claims(game: Game, claims: Iterable[Claim], seat: Seat, tiles: tuple[Tile, ...]) -> Iterator[Problem]:
    """Yield what *tiles* prove about what the player said before."""
    for claim in claims:
        shown = [tile for tile in tiles if tile in claim.denied]
        if len(shown) > claim.drawn_since:
            names = " and ".join(str(tile) for tile in shown)
            yield Problem(claim.broken, Weight.NOTED, f"{game.players[seat]} {claim.words}, but held {names}")


def _judge_draw(game: Game, action: Draw) -> Iterator[Problem]:
    hand = game.hand
    if hand is None or game.phase not in (Phase.LEAD, Phase.PLAY):
        yield _not_now(game)
        return
    if action.tiles > hand.boneyard:
        words = f"the boneyard has {_tiles(hand.boneyard)}, not {action.tiles}"
        yield _impossible(ProblemKind.BONEYARD_TOO_SMALL, words)
    if game.rules.draw is Drawing.NONE:
        yield _illegal(ProblemKind.NO_DRAWING, "nobody draws in this game")
    if game.phase is Phase.LEAD:
        yield _illegal(ProblemKind.NO_DRAWING, "nobody draws before the first tile is played")
    else:
        yield from _judge_turn(game, hand, action.seat)


def _judge_knock(game: Game, action: Knock) -> Iterator[Problem]:
    hand = game.hand
    if hand is None or game.phase is not Phase.PLAY:
        yield _not_now(game)
        return
    if hand.turn != action.seat:
        # A knock leaves nothing on the table that would show whose it was, so unlike a play it waits.
        for problem in _judge_turn(game, hand, action.seat):
            yield Problem(problem.kind, Weight.DOUBTFUL, problem.words)
    if game.rules.draw is Drawing.UNTIL_PLAYABLE and hand.boneyard > 0:
        words = f"draw before knocking: {_tiles(hand.boneyard)} left in the boneyard"
        yield _illegal(ProblemKind.KNOCK_TOO_EARLY, words)


def _judge_domino(game: Game, action: Domino) -> Iterator[Problem]:
    hand = game.hand
    if hand is None or game.phase is not Phase.PLAY:
        yield _not_now(game)
    elif hand.sizes[action.seat] > 0:
        words = f"by the count {game.players[action.seat]} still has {_tiles(hand.sizes[action.seat])}"
        yield _illegal(ProblemKind.NOT_OUT, words)


def _judge_hand_end(game: Game) -> Iterator[Problem]:
    hand = game.hand
    if hand is not None and game.phase is Phase.REVEAL:
        if None in hand.holdings:
            yield _impossible(ProblemKind.NOT_NOW, "not all hands are open yet")
    elif hand is None or game.phase is not Phase.PLAY:
        yield _not_now(game)
    elif not hand.locked:
        yield _illegal(ProblemKind.NOT_BLOCKED, "it is not proved that nobody can play")


def _judge_reveal(game: Game, action: Reveal | RevealPips) -> Iterator[Problem]:
    hand = game.hand
    if hand is None or game.phase is not Phase.REVEAL:
        yield _not_now(game)
        return
    if action.seat == hand.out:
        yield _impossible(ProblemKind.NOT_NOW, f"{game.players[action.seat]} is out and has nothing to show")
    if isinstance(action, RevealPips):
        return
    if len(action.tiles) != hand.sizes[action.seat]:
        words = (
            f"{game.players[action.seat]} shows {_tiles(len(action.tiles))}, but should have {hand.sizes[action.seat]}"
        )
        yield Problem(ProblemKind.WRONG_HAND_SIZE, Weight.NOTED, words)
    for tile in sorted(set(action.tiles), key=lambda tile: (tile.high, tile.low)):
        if tile.high <= game.rules.max_pips and action.tiles.count(tile) > copies_left(game, tile) - _shown(
            hand, action.seat, tile
        ):
            yield Problem(ProblemKind.ALREADY_USED, Weight.NOTED, f"the {tile} has already been seen elsewhere")
        elif tile.high > game.rules.max_pips:
            yield Problem(ProblemKind.NOT_IN_SET, Weight.NOTED, f"a {set_name(game.rules.max_pips)} set has no {tile}")
    yield from _judge_claims(game, hand.claims[action.seat], action.seat, action.tiles)


def _shown(hand: Hand, seat: Seat, tile: Tile) -> int:
    """Return how often *tile* lies open in the hands of the others."""
    return sum(
        (holding.tiles or ()).count(tile)
        for at, holding in enumerate(hand.holdings)
        if holding is not None and at != seat
    )


def _not_now(game: Game) -> Problem:
    """Return that the action does not belong here, with what the table waits for."""
    waits = {
        Phase.DEAL: "the next hand has not been dealt",
        Phase.LEAD: "the first tile has not been played",
        Phase.PLAY: "the hand is being played",
        Phase.REVEAL: "the hand is over, lay the tiles open",
        Phase.MATCH_OVER: "the match is over",
    }
    return _impossible(ProblemKind.NOT_NOW, waits[game.phase])


def _impossible(kind: ProblemKind, words: str) -> Problem:
    return Problem(kind, Weight.IMPOSSIBLE, words)


def _illegal(kind: ProblemKind, words: str) -> Problem:
    return Problem(kind, Weight.ILLEGAL, words)


def _tiles(number: int) -> str:
    return "1 tile" if number == 1 else f"{number} tiles"
