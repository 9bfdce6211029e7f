"""Check an action against the rules and return its problems. See docs/reference/rules.md 2.6 and 3."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from engine.game.claims import broken_claims, false_claim, held_by_others
from engine.game.judge_play import play_problems, stack_problems
from engine.game.judge_turn import boneyard_problems, call_problems, decline_problems, draw_problems, knock_problems
from engine.game.passing import with_implied_pass
from engine.game.questions import copies_left
from engine.game.seating import rename_problems, swap_problems
from engine.game.turns import drawable
from engine.phrases import phrase
from engine.rules.rules import NoDouble, ProvableBlock, Rules, deal_problems
from engine.state import events, problems
from engine.state.events import Action, InHand, MatchStart, Play
from engine.state.hand import Hand, LeadTile
from engine.state.match import Game, Phase
from engine.state.problems import Problem, ProblemKind, Weight, illegal, impossible, not_now, noted, tiles_text
from engine.tiles import Tile, bits_of, tiles_of

_WITHOUT_SEAT = (events.Redeal, events.HandEnd, events.Abandon, events.Boneyard)
"""Actions that belong to no single player."""


def problems_with(game: Game | None, action: Action) -> tuple[Problem, ...]:
    """Return all problems with *action*, most severe first. Empty if there are none."""
    before: tuple[Problem, ...] = ()
    if game is not None and game.hand is not None:
        then, _, _ = with_implied_pass(game, game.hand, action)
        if then is not game and not game.hand.course.extra and game.hand.turn is not None:
            before = tuple(false_claim(game, game.hand, events.Knock(game.hand.turn)))
        game = then
    if isinstance(action, Play) and game is not None and game.hand is not None and 0 <= action.seat < len(game.players):
        found = play_problems(game, game.hand, action)  # Fast path: most actions are plays.
    else:
        found = [*_judge(game, action)]
    found += before
    if not found:
        return ()
    if len(found) > 1:
        found.sort(key=lambda problem: -problem.weight.value)
    return tuple(found)


def _judge(game: Game | None, action: Action) -> Iterable[Problem]:
    """Return the problems with *action*, in no particular order."""
    if isinstance(action, MatchStart):
        return _judge_start(game, action)
    if game is None:
        return (impossible(ProblemKind.NOT_NOW, phrase("no match has been started")),)
    if isinstance(action, events.NewHand):
        return _judge_new_hand(game, action)
    if isinstance(action, events.MatchClose):
        return (not_now(game.phase),) if game.phase is Phase.MATCH_OVER else ()
    if not isinstance(action, _WITHOUT_SEAT) and not 0 <= action.seat < len(game.players):
        return (impossible(ProblemKind.NO_SUCH_SEAT, phrase("nobody sits at seat {seat}", seat=action.seat)),)
    if isinstance(action, events.Adjust):
        return ()
    if isinstance(action, events.Rename):
        return rename_problems(game, action)
    if isinstance(action, events.Swap):
        return swap_problems(game, action)
    if game.hand is None:
        return (not_now(game.phase),)
    return _judge_in_hand(game, game.hand, action)


def _judge_in_hand(game: Game, hand: Hand, action: InHand) -> Iterable[Problem]:
    """Return the problems with an action during a hand."""
    if not game.rules.refereed and not isinstance(action, Play):
        return (impossible(ProblemKind.NOT_NOW, phrase("no game is being played")),)
    match action:
        case Play():
            return play_problems(game, hand, action)
        case events.Stack():
            return stack_problems(game, hand, action)
        case events.Draw():
            return draw_problems(game, hand, action)
        case events.Boneyard():
            return boneyard_problems(game, hand, action)
        case events.Knock():
            return knock_problems(game, hand, action)
        case events.Decline():
            return decline_problems(game, hand, action)
        case events.Call():
            return call_problems(game, hand, action)
        case events.Redeal():
            return _judge_redeal(game, hand, action)
        case events.Lead():
            return _judge_lead(game, hand, action)
        case events.Domino():
            return _judge_domino(game, hand, action)
        case events.HandEnd():
            return _judge_hand_end(game, hand)
        case events.Abandon():
            return () if game.phase in (Phase.LEAD, Phase.PLAY, Phase.REVEAL) else (not_now(game.phase),)
        case events.Reveal() | events.RevealPips():
            return _judge_reveal(game, hand, action)
        case _:
            assert_never(action)


def _judge_start(game: Game | None, action: MatchStart) -> Iterator[Problem]:
    for words in deal_problems(action.rules, len(action.players)):
        yield impossible(ProblemKind.CANNOT_BE_DEALT, words)
    if game is not None and game.hand is not None and game.phase is not Phase.MATCH_OVER and game.rules.refereed:
        yield Problem(ProblemKind.NOT_NOW, Weight.DOUBTFUL, phrase("the match is not over"))


def _judge_new_hand(game: Game, action: events.NewHand) -> Iterator[Problem]:
    rules, seats = game.rules, len(game.players)
    another = game.phase is Phase.MATCH_OVER and rules.target is None
    if game.phase is not Phase.DEAL and not another and rules.refereed:
        yield not_now(game.phase)
    if action.dealt is not None and len(action.dealt) != seats:
        words = phrase("{hands} hands were dealt for {seats} players", hands=len(action.dealt), seats=seats)
        yield impossible(ProblemKind.WRONG_DEAL, words)
        return
    if not rules.refereed:
        return
    dealt = action.dealt or (rules.dealt(seats),) * seats
    for name, tiles in zip(game.players, dealt, strict=True):
        if tiles != rules.dealt(seats):
            words = phrase(
                "{name} got {tiles}, but should get {due}", name=name, tiles=tiles_text(tiles), due=rules.dealt(seats)
            )
            yield noted(ProblemKind.WRONG_DEAL, words)
    if action.boneyard is not None and sum(dealt) + action.boneyard != rules.tiles:
        words = phrase(
            "{dealt} dealt and {boneyard} in the boneyard do not add up to the {tiles} tiles of the game",
            dealt=sum(dealt),
            boneyard=action.boneyard,
            tiles=rules.tiles,
        )
        yield noted(ProblemKind.WRONG_DEAL, words)
    elif sum(dealt) > rules.tiles:
        words = phrase("{tiles} were dealt, but the set has {all}", tiles=tiles_text(sum(dealt)), all=rules.tiles)
        yield impossible(ProblemKind.WRONG_DEAL, words)


def _judge_redeal(game: Game, hand: Hand, action: events.Redeal) -> Iterator[Problem]:
    if game.phase not in (Phase.LEAD, Phase.PLAY, Phase.REVEAL):
        yield not_now(game.phase)
        return
    if hand.layout.nodes:
        words = phrase("{tiles} of this hand already on the table", tiles=tiles_text(len(hand.layout.nodes)))
        yield Problem(ProblemKind.NO_REDEAL, Weight.DOUBTFUL, words)
    if action.reason is events.RedealReason.NO_DOUBLE and hand.lead is LeadTile.ANY:
        yield illegal(ProblemKind.NO_REDEAL, phrase("any tile can lead this hand: no double is needed"))
    elif action.reason is events.RedealReason.NO_DOUBLE:
        yield from _instead_of_redeal(game.rules, hand)
    if action.reason is events.RedealReason.TOO_MANY_DOUBLES and game.rules.redeal_if_doubles_over is None:
        yield illegal(ProblemKind.NO_REDEAL, phrase("{game} has no redeal for doubles", game=game.rules.name))


def _instead_of_redeal(rules: Rules, hand: Hand) -> Iterator[Problem]:
    """Yield the problem with a redeal for lack of a double if the rules provide another remedy."""
    no_double, lead = rules.no_double, hand.lead
    if no_double is NoDouble.HIGHEST_TILE and lead in (LeadTile.HIGHEST_DOUBLE, LeadTile.RACE):
        yield illegal(
            ProblemKind.NO_REDEAL, phrase("there is no redeal when nobody has a double: the highest tile leads")
        )
    if no_double is NoDouble.DRAW_ONE_IN_TURN and lead is LeadTile.ANY_DOUBLE and drawable(rules, hand):
        yield illegal(
            ProblemKind.NO_REDEAL,
            phrase("there is no redeal when nobody has a double: the players draw one tile each in turn"),
        )


def _judge_lead(game: Game, hand: Hand, action: events.Lead) -> Iterator[Problem]:
    if game.phase is not Phase.LEAD:
        yield not_now(game.phase)
    elif hand.turn is not None and hand.turn != action.seat and hand.lead in (LeadTile.ANY, LeadTile.ANY_DOUBLE):
        # Until a hand has been won, only the players know who leads, so they may correct it. See
        # docs/reference/rules.md A1-3.
        problem = noted if game.hand_winner is None else illegal
        yield problem(ProblemKind.WRONG_SEAT, phrase("{name} leads this hand", name=game.players[hand.turn]))


def _judge_domino(game: Game, hand: Hand, action: events.Domino) -> Iterator[Problem]:
    if game.phase is not Phase.PLAY:
        yield not_now(game.phase)
    elif hand.sizes[action.seat] > 0:
        name, left = game.players[action.seat], tiles_text(hand.sizes[action.seat])
        words = phrase("going by the tiles played and drawn, {name} still holds {tiles}", name=name, tiles=left)
        yield illegal(ProblemKind.NOT_OUT, words)


def _judge_hand_end(game: Game, hand: Hand) -> Iterator[Problem]:
    if game.phase is Phase.REVEAL:
        if None in hand.holdings:
            yield impossible(ProblemKind.NOT_NOW, phrase("not all hands have been counted yet"))
    elif game.phase is not Phase.PLAY:
        yield not_now(game.phase)
    elif not hand.locked:
        yield illegal(ProblemKind.NOT_BLOCKED, phrase("somebody may still be able to play"))
    elif game.rules.on_provable_block is ProvableBlock.LITERAL:
        words = phrase(
            "no tile fits, but the {tiles} in the boneyard must be drawn first", tiles=tiles_text(hand.boneyard)
        )
        yield illegal(ProblemKind.NOT_BLOCKED, words)


def _judge_reveal(game: Game, hand: Hand, action: events.Reveal | events.RevealPips) -> Iterator[Problem]:
    if game.phase is not Phase.REVEAL:
        yield not_now(game.phase)
        return
    name = game.players[action.seat]
    if action.seat == hand.out:
        yield impossible(ProblemKind.NOT_NOW, phrase("{name} is out and has nothing to show", name=name))
    if isinstance(action, events.RevealPips):
        return
    if len(action.tiles) != hand.sizes[action.seat]:
        shown, due = tiles_text(len(action.tiles)), hand.sizes[action.seat]
        words = phrase("{name} shows {tiles}, but should hold {due}", name=name, tiles=shown, due=due)
        yield noted(ProblemKind.WRONG_HAND_SIZE, words)
    for tile in sorted(set(action.tiles), key=lambda tile: (tile.high, tile.low)):
        if tile.high > game.rules.max_pips:
            yield noted(ProblemKind.NOT_IN_SET, problems.not_in_set(game.rules.max_pips, tile))
        elif action.tiles.count(tile) > copies_left(game, tile) - _shown(hand, action, tile):
            yield noted(ProblemKind.ALREADY_USED, phrase("the {tile} has already been seen elsewhere", tile=tile))
    for tile in tiles_of(hand.held[action.seat] & ~bits_of(action.tiles)):
        words = phrase("{name} was seen to draw the {tile}, but does not show it", name=name, tile=tile)
        yield noted(ProblemKind.KNOWN_TILE, words)
    yield from broken_claims(game, hand, action.seat, action.tiles)


def _shown(hand: Hand, action: events.Reveal, tile: Tile) -> int:
    """Return the number of copies of *tile* that other seats have shown, or have yet to show."""
    shown = [holding.tiles for holding in hand.holdings if holding is not None and holding.tiles is not None]
    known = [at for at in held_by_others(hand, action.seat, tile) if hand.holdings[at] is None]
    mine = hand.holdings[action.seat]
    again = 0 if mine is None else (mine.tiles or ()).count(tile)
    return sum(tiles.count(tile) for tiles in shown) - again + len(known)
