"""Problems with actions: why one is not legal, or what it disproves. See docs/reference/rules.md 2.1 to 2.6 and 3.

`engine.game.questions.playable` decides which plays are legal. This module only says what a refused one lacks.
"""

from collections.abc import Callable, Iterable, Iterator

from engine.game import questions
from engine.game.closing import rename_problems, swap_problems
from engine.game.steps import with_implied_pass
from engine.phrases import phrase, plural
from engine.rules.rules import Drawing, NoDouble, ProvableBlock, Spinner, deal_problems
from engine.state import events
from engine.state.descriptions import sum_of
from engine.state.events import Action, Draw, Knock, MatchStart, Play, RedealReason, Seat, Stack
from engine.state.layout import ARMS, OpenEnd, Spot, obstacle
from engine.state.match import ROLL_CALLS, Game, Hand, LeadTile, Phase
from engine.state.outcomes import Problem, doubtful, illegal, impossible, not_in_set, not_now, noted, tiles_text
from engine.state.outcomes import ProblemKind as Kind
from engine.tiles import Tile, bits_of, tiles_of


def problems_with(game: Game | None, action: Action) -> tuple[Problem, ...]:
    """Return all problems with *action*, most severe first. Empty if there are none."""
    before: tuple[Problem, ...] = ()
    if game is not None and game.hand is not None:
        then, _ = with_implied_pass(game, action)
        if then is not game and not game.hand.course.extra and game.hand.turn is not None:
            before = tuple(questions.false_claim(game, game.hand, Knock(game.hand.turn)))
        game = then
    if isinstance(action, Play) and game is not None and game.hand is not None and 0 <= action.seat < len(game.players):
        found = _play_problems(game, game.hand, action)  # Fast path: most actions are plays.
    else:
        found = [*_problems_in_general(game, action)]
    found += before
    found.sort(key=lambda problem: -problem.weight.value)
    return tuple(found)


def _problems_in_general(game: Game | None, action: Action) -> Iterable[Problem]:
    """Return the problems with anything but a play in a hand, in no particular order."""
    if isinstance(action, MatchStart):
        return _start_problems(game, action)
    if game is None:
        return (impossible(Kind.NOT_NOW, phrase("no match has been started")),)
    if isinstance(action, events.NewHand):
        return _new_hand_problems(game, action)
    if isinstance(action, events.MatchClose):
        return (not_now(game.phase),) if game.phase is Phase.MATCH_OVER else ()
    if not 0 <= (seat := getattr(action, "seat", 0)) < len(game.players):
        return (impossible(Kind.NO_SUCH_SEAT, phrase("nobody sits at seat {seat}", seat=seat)),)
    if isinstance(action, events.Adjust):
        return ()
    if isinstance(action, events.Rename):
        return rename_problems(game, action)
    if isinstance(action, events.Swap):
        return swap_problems(game, action)
    if game.hand is None:
        return (not_now(game.phase),)
    if not game.rules.refereed:
        return (impossible(Kind.NOT_NOW, phrase("no game is being played")),)
    phases, problems = _IN_HAND[type(action)]
    return problems(game, game.hand, action) if game.phase in phases else (not_now(game.phase),)


def _start_problems(game: Game | None, action: MatchStart) -> Iterator[Problem]:
    for text in deal_problems(action.rules, len(action.players)):
        yield impossible(Kind.CANNOT_BE_DEALT, text)
    if game is not None and game.hand is not None and game.phase is not Phase.MATCH_OVER and game.rules.refereed:
        yield doubtful(Kind.NOT_NOW, phrase("the match is not over"))


def _new_hand_problems(game: Game, action: events.NewHand) -> Iterator[Problem]:
    rules, seats = game.rules, len(game.players)
    another = game.phase is Phase.MATCH_OVER and rules.target is None
    if game.phase is not Phase.DEAL and not another and rules.refereed:
        yield not_now(game.phase)
    due = rules.dealt(seats)
    dealt = action.dealt or (due,) * seats
    if action.dealt is not None and len(action.dealt) != seats:
        text = phrase("{hands} hands were dealt for {seats} players", hands=len(action.dealt), seats=seats)
        yield impossible(Kind.WRONG_DEAL, text)
        return
    if not rules.refereed:
        return
    for name, tiles in zip(game.players, dealt, strict=True):
        if tiles != due:
            text = phrase("{name} got {tiles}, but should get {due}", name=name, tiles=tiles_text(tiles), due=due)
            yield noted(Kind.WRONG_DEAL, text)
    if action.boneyard is not None and sum(dealt) + action.boneyard != rules.tiles:
        text = phrase(
            "{dealt} dealt and {boneyard} in the boneyard do not add up to the {tiles} tiles of the game",
            dealt=sum(dealt),
            boneyard=action.boneyard,
            tiles=rules.tiles,
        )
        yield noted(Kind.WRONG_DEAL, text)
    elif sum(dealt) > rules.tiles:
        text = phrase("{tiles} were dealt, but the set has {all}", tiles=tiles_text(sum(dealt)), all=rules.tiles)
        yield impossible(Kind.WRONG_DEAL, text)


def _redeal_problems(game: Game, hand: Hand, action: events.Redeal) -> Iterator[Problem]:
    rules, lead, no_double = game.rules, hand.lead, action.reason is RedealReason.NO_DOUBLE
    draws_one = rules.no_double is NoDouble.DRAW_ONE_IN_TURN
    if hand.layout.nodes:
        laid = tiles_text(len(hand.layout.nodes))
        yield doubtful(Kind.NO_REDEAL, phrase("{tiles} of this hand already on the table", tiles=laid))
    if action.reason is RedealReason.TOO_MANY_DOUBLES and rules.redeal_if_doubles_over is None:
        yield illegal(Kind.NO_REDEAL, phrase("{game} has no redeal for doubles", game=rules.name))
    if no_double and lead is LeadTile.ANY:
        yield illegal(Kind.NO_REDEAL, phrase("any tile can lead this hand: no double is needed"))
    elif no_double and lead in ROLL_CALLS and rules.no_double is NoDouble.HIGHEST_TILE:
        text = phrase("there is no redeal when nobody has a double: the highest tile leads")
        yield illegal(Kind.NO_REDEAL, text)
    elif no_double and lead is LeadTile.ANY_DOUBLE and draws_one and questions.drawable(rules, hand):
        text = phrase("there is no redeal when nobody has a double: the players draw one tile each in turn")
        yield illegal(Kind.NO_REDEAL, text)


def _lead_problems(game: Game, hand: Hand, action: events.Lead) -> Iterator[Problem]:
    if hand.turn is not None and hand.turn != action.seat and hand.lead in (LeadTile.ANY, LeadTile.ANY_DOUBLE):
        # Only the players know who leads until a hand is won, so they may correct it: docs/reference/rules.md A1-3.
        problem = noted if game.hand_winner is None else illegal
        yield problem(Kind.WRONG_SEAT, phrase("{name} leads this hand", name=game.players[hand.turn]))


def _play_problems(game: Game, hand: Hand, action: Play) -> list[Problem]:
    """Return the problems with a play: by the rules if it is not legal, and with what the seat denied."""
    if game.phase is not Phase.PLAY and game.phase is not Phase.LEAD:
        return [not_now(game.phase)]
    rules, tile, at, seat = game.rules, action.tile, action.at, action.seat
    end = None if at is None else hand.layout.end_at(at)
    tiles, ends = questions.playable(game, hand)
    fits = not hand.layout.nodes and at is None if end is None else end in ends and tile.bit & end.fits != 0
    is_turned = end is not None and action.inner not in (None, end.number) and tile.has(end.number)
    is_turn = hand.turn is None or hand.turn == seat
    found: list[Problem] = []
    if not (tile.bit & tiles and fits and is_turn) or is_turned or not rules.refereed:
        found = _faults(game, hand, action, end)
    if rules.refereed and (any(hand.held) or any(claim.denied & tile.bit for claim in hand.claims[seat])):
        found += _contradictions(game, hand, seat, tile)
    return found


def _faults(game: Game, hand: Hand, action: Play, end: OpenEnd | None) -> list[Problem]:
    rules, tile, at, layout = game.rules, action.tile, action.at, hand.layout
    found: list[Problem] = []
    fault = None
    if end is None or (action.inner is None and not tile.bit & end.fits):
        fault = obstacle(layout, tile, at, rules=rules, inner=action.inner)
    if fault is not None:
        found.append(impossible(Kind.CANNOT_LIE_THERE, phrase("{tile}: {fault}", tile=tile, fault=fault)))
    if rules.refereed:
        found += _turn_problems(game, hand, action.seat)
    if tile.bit & layout.gone(rules) or tile.high > rules.max_pips:
        found.append(_unavailable(game, tile))
    if not rules.refereed:
        return found
    if not layout.nodes:
        return [*found, *_lead_tile_problems(game, hand, tile)]
    found += _unfinished_draw_problems(game, hand, action.seat)
    if fault is None and end is not None:
        found += _end_problems(hand, end, action)
    elif fault is None and at is not None:
        found += _closed_problems(game, at, action)
    return found


def _lead_tile_problems(game: Game, hand: Hand, tile: Tile) -> Iterator[Problem]:
    top, text = game.rules.max_pips, None
    if hand.lead is LeadTile.SET_DOUBLE and tile.low != top:
        text = phrase("this hand must be led with the {double}", double=f"{top}-{top}")
    elif hand.lead is LeadTile.ANY_DOUBLE and not tile.is_double:
        text = phrase("this hand must be led with a double")
    elif hand.lead in ROLL_CALLS and not tile.is_double and game.rules.no_double is not NoDouble.HIGHEST_TILE:
        text = phrase("this hand must be led with the highest double")
    if text is not None:
        yield illegal(Kind.LEAD_NOT_A_DOUBLE, text)


def _end_problems(hand: Hand, end: OpenEnd, action: Play) -> Iterator[Problem]:
    if not end.playable:
        yield illegal(Kind.TIP_CLOSED, phrase("the spinner needs a tile on both sides first"))
    yield from _number_problems(end.number, end.fits, action)
    spell = hand.course.spell
    if spell is not None and end not in questions.ends_now(hand):
        text = phrase("a spell is active: it must be broken on a new arm of the starter")
        if spell.arm is not None:
            text = phrase("a spell is active: it must be broken at the end of arm {arm}", arm=spell.arm)
        yield illegal(Kind.UNDER_A_SPELL, text)


def _closed_problems(game: Game, at: Spot, action: Play) -> Iterator[Problem]:
    """Yield the problems with a play at a port that is no open end."""
    host, spinner = game.layout.find(at.host), game.layout.spinner
    assert host is not None  # checked by obstacle()
    if host.is_starter:
        yield illegal(Kind.SEVENTH_ARM, phrase("the starter has only {arms} arms", arms=len(ARMS)))
    elif game.rules.spinner is Spinner.NONE or spinner is None:
        text = phrase("the {tile} has no end there: doubles do not branch in this game", tile=host.tile)
        yield illegal(Kind.NO_BRANCH, text)
    else:
        tiles = {"spinner": spinner.tile, "tile": host.tile}
        text = phrase("only the first double branches: that is the {spinner}, not the {tile}", **tiles)
        if game.rules.spinner is Spinner.STARTER_SIX:
            text = phrase("only the starter branches: that is the {spinner}, not the {tile}", **tiles)
        yield illegal(Kind.NO_BRANCH, text)
    yield from _number_problems(host.number_at(at.port), 0, action)


def _number_problems(number: int, fits: int, action: Play) -> Iterator[Problem]:
    """Yield a problem if the tile does not match *number*, or is the wrong way round."""
    tile = action.tile
    if not tile.has(number) and not tile.bit & fits:
        text = phrase("the {tile} does not fit there: that end needs a {number}", tile=tile, number=number)
        yield illegal(Kind.WRONG_NUMBER, text)
    elif tile.has(number) and action.inner is not None and action.inner != number:
        text = phrase("turn the {tile} round: the {number} must touch the layout", tile=tile, number=number)
        yield illegal(Kind.WRONG_NUMBER, text)


def _stack_problems(game: Game, hand: Hand, action: Stack) -> Iterator[Problem]:
    node, chance = hand.layout.find(action.on), hand.chance
    if node is None:
        yield impossible(Kind.CANNOT_LIE_THERE, phrase("the tile under it is not on the table"))
        return
    if not game.rules.cutthroat:
        yield illegal(Kind.NO_STACKING, phrase("{game} has no stacking", game=game.rules.name))
    yield from _turn_problems(game, hand, action.seat)
    yield from _unfinished_draw_problems(game, hand, action.seat)
    if questions.copies_left(game, action.tile) <= 0:
        yield _unavailable(game, action.tile)
    if node.tile != action.tile:
        text = phrase("only a second {tile} can be stacked on the {tile}", tile=node.tile)
        yield impossible(Kind.NOT_ITS_COPY, text)
    elif node.id in hand.layout.stacked:
        yield illegal(Kind.NO_STACKING, phrase("the {tile} already has its copy stacked on it", tile=node.tile))
    elif not questions.is_stackable(hand, node):
        text = phrase("the {tile} has no open end, so nothing can be stacked on it", tile=node.tile)
        yield illegal(Kind.NO_STACKING, text)
    if chance is None:
        yield illegal(Kind.NOTHING_TO_STEAL, phrase("the last play scored nothing, so there is nothing to steal"))
    elif not chance.called:
        name = game.players[chance.seat]
        text = phrase("{name} has not called the points, so there is nothing to steal", name=name)
        yield illegal(Kind.NOTHING_TO_STEAL, text)
    elif chance.seat == action.seat:
        yield illegal(Kind.NOTHING_TO_STEAL, phrase("nobody can steal their own points"))
    yield from _contradictions(game, hand, action.seat, action.tile)


def _contradictions(game: Game, hand: Hand, seat: Seat, tile: Tile) -> Iterator[Problem]:
    """Yield problems if *seat* claimed not to hold *tile*, or others were seen to draw every copy."""
    yield from questions.broken_claims(game, hand, seat, (tile,))
    others = questions.held_by_others(hand, seat, tile)
    if len(others) >= questions.copies_left(game, tile) > 0:
        text = phrase("{name} was seen to draw the {tile}", name=game.players[others[0]], tile=tile)
        yield noted(Kind.KNOWN_TILE, text)


def _unavailable(game: Game, tile: Tile) -> Problem:
    """Return the problem with a *tile* that is not in the set or has all its copies on the table."""
    if tile.high > game.rules.max_pips:
        return illegal(Kind.NOT_IN_SET, not_in_set(game.rules.max_pips, tile))
    text, copies = phrase("the {tile} is already on the table", tile=tile), game.rules.copies
    if copies > 1:
        text = phrase("the {tile} is already on the table, all {copies} of them", tile=tile, copies=copies)
    return illegal(Kind.ALREADY_USED, text)


def _turn_problems(
    game: Game, hand: Hand, seat: Seat, problem: Callable[[Kind, str], Problem] = illegal
) -> Iterator[Problem]:
    if hand.turn is not None and hand.turn != seat:
        name, other = game.players[hand.turn], game.players[seat]
        yield problem(Kind.WRONG_SEAT, phrase("it is {name}'s turn, not {other}'s", name=name, other=other))


def _unfinished_draw_problems(game: Game, hand: Hand, seat: Seat) -> Iterator[Problem]:
    """Yield a problem if the player has drawn one of two tiles and must draw the second before playing."""
    left = questions.tiles_to_draw(game.rules, hand) if hand.turn == seat else 0
    if left:
        text = phrase("draw before playing: {tiles} still to draw", tiles=tiles_text(left))
        yield illegal(Kind.DRAWN_TOO_FEW, text)


def _draw_problems(game: Game, hand: Hand, action: Draw) -> Iterator[Problem]:
    rules, name = game.rules, game.players[action.seat]
    for tile in action.faces:
        if questions.copies_left(game, tile) <= sum(bool(held & tile.bit) for held in hand.held):
            text = phrase("the {tile} cannot have been drawn, it has been seen elsewhere", tile=tile)
            yield noted(Kind.ALREADY_USED, text)
    if questions.owes(hand, action):
        return
    if action.forced:
        yield doubtful(Kind.NOTHING_OWED, phrase("{name} did not have to draw", name=name))
    if rules.draw is Drawing.NONE:
        yield illegal(Kind.NO_DRAWING, phrase("this game has no drawing"))
    elif action.tiles > questions.drawable(rules, hand):
        left, problem = (
            tiles_text(questions.drawable(rules, hand)),
            impossible if action.tiles > hand.boneyard else illegal,
        )
        text = phrase("only {tiles} can be drawn from the boneyard, not {drawn}", tiles=left, drawn=action.tiles)
        yield problem(Kind.BONEYARD_TOO_SMALL, text)
    if game.phase is Phase.LEAD and not questions.draws_for_lead(game, hand):
        yield illegal(Kind.NO_DRAWING, phrase("drawing starts after the first tile"))
    yield from _turn_problems(game, hand, action.seat)
    yield from questions.false_claim(game, hand, action)
    if hand.turn != action.seat or rules.draw is not Drawing.TWO:
        return
    most = 1 if game.phase is Phase.LEAD else questions.TILES_PER_DRAW
    if hand.course.extra:
        yield illegal(Kind.DRAWN_ENOUGH, phrase("{name} may play again, but may not draw for that", name=name))
    elif questions.is_exempt(rules, hand):
        yield illegal(Kind.DRAWN_ENOUGH, phrase("{name} cast the spell, so may not draw for it", name=name))
    elif hand.course.drawn + action.tiles > most:
        text = plural("only 1 tile may be drawn at a time", "only {number} tiles may be drawn at a time", number=most)
        yield illegal(Kind.DRAWN_ENOUGH, text)


def _boneyard_problems(game: Game, hand: Hand, action: events.Boneyard) -> Iterator[Problem]:
    """Yield the problems with a count of the boneyard. A count below the expected one is judged as a draw."""
    if action.tiles > hand.boneyard:
        left = tiles_text(action.tiles)
        text = phrase("the boneyard holds {tiles}, but should hold {due}", tiles=left, due=hand.boneyard)
        yield doubtful(Kind.BONEYARD_GREW, text)
    elif action.tiles < hand.boneyard and hand.turn is not None:
        yield from _draw_problems(game, hand, Draw(hand.turn, hand.boneyard - action.tiles))


def _knock_problems(game: Game, hand: Hand, action: Knock) -> Iterator[Problem]:
    is_lead = game.phase is Phase.LEAD
    if is_lead and hand.lead is not LeadTile.ANY_DOUBLE:
        yield not_now(game.phase)
        return
    yield from _turn_problems(game, hand, action.seat, doubtful)  # Unlike a play, a knock does not show who made it.
    yield from questions.false_claim(game, hand, action)
    if not is_lead and hand.turn == action.seat and not hand.course.extra and questions.can_draw(game.rules, hand):
        left = tiles_text(questions.drawable(game.rules, hand))
        text = phrase("draw before knocking: {tiles} left in the boneyard", tiles=left)
        yield illegal(Kind.KNOCK_TOO_EARLY, text)


def _decline_problems(game: Game, hand: Hand, action: events.Decline) -> Iterator[Problem]:
    if hand.course.extra:
        yield from _turn_problems(game, hand, action.seat, doubtful)
    else:
        yield impossible(Kind.NO_EXTRA_TURN, phrase("there is no extra turn to end"))


def _call_problems(game: Game, hand: Hand, action: events.Call) -> Iterator[Problem]:
    """Yield the problems with a call. See docs/reference/rules.md A3-5."""
    chance = None if hand.chance is None or hand.chance.called else hand.chance
    lapsed, name = hand.lapsed, game.players[action.seat]
    is_late = lapsed is not None and lapsed.seat == action.seat and (chance is None or chance.seat != action.seat)
    if not is_late and game.phase not in (Phase.PLAY, Phase.REVEAL):
        yield not_now(game.phase)
    elif not game.rules.call_required:
        yield impossible(Kind.NOTHING_TO_CALL, phrase("points count without a call in this game"))
    elif is_late and lapsed is not None:
        lost = {"points": lapsed.points, "name": name}
        text = phrase("too late: {name} forfeited the {points} points when the next tile was played", **lost)
        if game.phase is not Phase.PLAY:
            text = phrase("too late: {name} forfeited the {points} points", **lost)
        yield (impossible if game.phase is Phase.MATCH_OVER else doubtful)(Kind.LATE_CALL, text)
    elif chance is None:
        yield impossible(Kind.NOTHING_TO_CALL, phrase("{name} has no points to call", name=name))
    elif chance.seat != action.seat:
        text = phrase("only {name} can call these points, not {other}", name=game.players[chance.seat], other=name)
        yield impossible(Kind.NOTHING_TO_CALL, text)
    elif action.points is not None and action.points != chance.points:
        due = {"called": action.points, "points": chance.points, "sum": sum_of(chance, game.rules)}
        text = phrase("{name} calls {called}, but the points are {points} ({sum})", name=name, **due)
        yield impossible(Kind.WRONG_CALL, text)


def _domino_problems(game: Game, hand: Hand, action: events.Domino) -> Iterator[Problem]:
    if hand.sizes[action.seat]:
        name, left = game.players[action.seat], tiles_text(hand.sizes[action.seat])
        text = phrase("going by the tiles played and drawn, {name} still holds {tiles}", name=name, tiles=left)
        yield illegal(Kind.NOT_OUT, text)


def _hand_end_problems(game: Game, hand: Hand, _: events.HandEnd) -> Iterator[Problem]:
    if game.phase is Phase.REVEAL:
        if None in hand.holdings:
            yield impossible(Kind.NOT_NOW, phrase("not all hands have been counted yet"))
    elif not hand.locked:
        yield illegal(Kind.NOT_BLOCKED, phrase("somebody may still be able to play"))
    elif game.rules.on_provable_block is ProvableBlock.LITERAL:
        left = tiles_text(hand.boneyard)
        text = phrase("no tile fits, but the {tiles} in the boneyard must be drawn first", tiles=left)
        yield illegal(Kind.NOT_BLOCKED, text)


def _reveal_problems(game: Game, hand: Hand, action: events.Reveal | events.RevealPips) -> Iterator[Problem]:
    name, seat = game.players[action.seat], action.seat
    if seat == hand.out:
        yield impossible(Kind.NOT_NOW, phrase("{name} is out and has nothing to show", name=name))
    if isinstance(action, events.RevealPips):
        return
    if len(action.tiles) != hand.sizes[seat]:
        shown, due = tiles_text(len(action.tiles)), hand.sizes[seat]
        text = phrase("{name} shows {tiles}, but should hold {due}", name=name, tiles=shown, due=due)
        yield noted(Kind.WRONG_HAND_SIZE, text)
    for tile in sorted(set(action.tiles), key=lambda tile: (tile.high, tile.low)):
        if tile.high > game.rules.max_pips:
            yield noted(Kind.NOT_IN_SET, not_in_set(game.rules.max_pips, tile))
        elif action.tiles.count(tile) > questions.copies_left(game, tile) - _copies_elsewhere(hand, seat, tile):
            yield noted(Kind.ALREADY_USED, phrase("the {tile} has already been seen elsewhere", tile=tile))
    for tile in tiles_of(hand.held[seat] & ~bits_of(action.tiles)):
        text = phrase("{name} was seen to draw the {tile}, but does not show it", name=name, tile=tile)
        yield noted(Kind.KNOWN_TILE, text)
    yield from questions.broken_claims(game, hand, seat, action.tiles)


def _copies_elsewhere(hand: Hand, seat: Seat, tile: Tile) -> int:
    """Return the number of copies of *tile* that other seats have shown, or have yet to show."""
    others = [holding for at, holding in enumerate(hand.holdings) if holding is not None and at != seat]
    shown = sum((holding.tiles or ()).count(tile) for holding in others)
    return shown + sum(hand.holdings[at] is None for at in questions.held_by_others(hand, seat, tile))


_IN_HAND: dict[type[Action], tuple[tuple[Phase, ...], Callable[..., Iterable[Problem]]]] = {
    events.Redeal: ((Phase.LEAD, Phase.PLAY, Phase.REVEAL), _redeal_problems),
    events.Lead: ((Phase.LEAD,), _lead_problems),
    events.Stack: ((Phase.PLAY,), _stack_problems),
    events.Draw: ((Phase.LEAD, Phase.PLAY), _draw_problems),
    events.Boneyard: ((Phase.LEAD, Phase.PLAY), _boneyard_problems),
    events.Knock: ((Phase.LEAD, Phase.PLAY), _knock_problems),
    events.Decline: ((Phase.PLAY,), _decline_problems),
    events.Call: (tuple(Phase), _call_problems),
    events.Domino: ((Phase.PLAY,), _domino_problems),
    events.HandEnd: ((Phase.PLAY, Phase.REVEAL), _hand_end_problems),
    events.Abandon: ((Phase.LEAD, Phase.PLAY, Phase.REVEAL), lambda *_: ()),
    events.Reveal: ((Phase.REVEAL,), _reveal_problems),
    events.RevealPips: ((Phase.REVEAL,), _reveal_problems),
}
"""Phases in which an action of a hand is possible, and the function that yields its problems."""
