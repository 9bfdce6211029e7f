"""Problems with turns, draws, knocks and calls. See docs/reference/rules.md 2.3, 2.6, 3.5 and 3.6."""

from collections.abc import Iterator

from engine.game.claims import false_claim
from engine.game.questions import copies_left
from engine.game.turns import TILES_PER_DRAW, can_draw, drawable, draws_for_lead, is_exempt, tiles_to_draw
from engine.phrases import phrase, plural
from engine.rules.rules import Drawing, Rules
from engine.state.events import Boneyard, Call, Decline, Draw, Knock, Seat
from engine.state.hand import Hand, LeadTile
from engine.state.match import Game, Phase
from engine.state.problems import Problem, ProblemKind, doubtful, illegal, impossible, not_now, noted, tiles_text
from engine.state.words import sum_of


def turn_problems(game: Game, hand: Hand, seat: Seat) -> Iterator[Problem]:
    """Yield a problem if it is another player's turn."""
    if hand.turn is None or hand.turn == seat:
        return
    names = {"name": game.players[hand.turn], "other": game.players[seat]}
    yield illegal(ProblemKind.WRONG_SEAT, phrase("it is {name}'s turn, not {other}'s", **names))


def unfinished_draw_problems(rules: Rules, hand: Hand) -> Iterator[Problem]:
    """Yield a problem if the player has drawn one of two tiles and must draw the second before playing."""
    left = tiles_to_draw(rules, hand)
    if left:
        words = phrase("draw before playing: {tiles} still to draw", tiles=tiles_text(left))
        yield illegal(ProblemKind.DRAWN_TOO_FEW, words)


def draw_problems(game: Game, hand: Hand, action: Draw) -> Iterator[Problem]:
    """Yield the problems with a draw."""
    if game.phase is not Phase.PLAY and game.phase is not Phase.LEAD:
        yield not_now(game.phase)
        return
    for tile in action.faces:
        if copies_left(game, tile) <= sum(bool(held & tile.bit) for held in hand.held):
            words = phrase("the {tile} cannot have been drawn, it has been seen elsewhere", tile=tile)
            yield noted(ProblemKind.ALREADY_USED, words)
    if owes(hand, action):
        return
    if action.forced:
        words = phrase("{name} did not have to draw", name=game.players[action.seat])
        yield doubtful(ProblemKind.NOTHING_OWED, words)
    if game.rules.draw is not Drawing.NONE and action.tiles > drawable(game.rules, hand):
        left = tiles_text(drawable(game.rules, hand))
        words = phrase("only {tiles} can be drawn from the boneyard, not {drawn}", tiles=left, drawn=action.tiles)
        kind = ProblemKind.BONEYARD_TOO_SMALL
        yield impossible(kind, words) if action.tiles > hand.boneyard else illegal(kind, words)
    if game.rules.draw is Drawing.NONE:
        yield illegal(ProblemKind.NO_DRAWING, phrase("this game has no drawing"))
    if game.phase is Phase.LEAD and not draws_for_lead(game, hand):
        yield illegal(ProblemKind.NO_DRAWING, phrase("drawing starts after the first tile"))
    yield from turn_problems(game, hand, action.seat)
    yield from false_claim(game, hand, action)
    if hand.turn == action.seat and game.rules.draw is Drawing.TWO:
        yield from _two_problems(game, hand, action)


def owes(hand: Hand, action: Draw) -> bool:
    """Return True if another player's tile forced this draw, so the engine has already counted it."""
    owed = hand.course.owed
    return bool(owed) and owed[action.seat] >= action.tiles and (action.forced or hand.turn != action.seat)


def boneyard_problems(game: Game, hand: Hand, action: Boneyard) -> Iterator[Problem]:
    """Yield the problems with a count of the boneyard. A count below the expected one is judged as a draw."""
    if game.phase is not Phase.PLAY and game.phase is not Phase.LEAD:
        yield not_now(game.phase)
    elif action.tiles > hand.boneyard:
        lying = tiles_text(action.tiles)
        words = phrase("the boneyard holds {tiles}, but should hold {due}", tiles=lying, due=hand.boneyard)
        yield doubtful(ProblemKind.BONEYARD_GREW, words)
    elif action.tiles < hand.boneyard and hand.turn is not None:
        yield from draw_problems(game, hand, Draw(hand.turn, hand.boneyard - action.tiles))


def knock_problems(game: Game, hand: Hand, action: Knock) -> Iterator[Problem]:
    """Yield the problems with a knock."""
    is_lead = game.phase is Phase.LEAD and hand.lead is LeadTile.ANY_DOUBLE
    if game.phase is not Phase.PLAY and not is_lead:
        yield not_now(game.phase)
        return
    yield from _as_doubtful(turn_problems(game, hand, action.seat))
    yield from false_claim(game, hand, action)
    if is_lead:
        return
    if hand.turn == action.seat and not hand.course.extra and can_draw(game.rules, hand):
        left = tiles_text(drawable(game.rules, hand))
        words = phrase("draw before knocking: {tiles} left in the boneyard", tiles=left)
        yield illegal(ProblemKind.KNOCK_TOO_EARLY, words)


def decline_problems(game: Game, hand: Hand, action: Decline) -> Iterator[Problem]:
    """Yield the problems with declining an extra turn."""
    if game.phase is not Phase.PLAY:
        yield not_now(game.phase)
    elif not hand.course.extra:
        yield impossible(ProblemKind.NO_EXTRA_TURN, phrase("there is no extra turn to end"))
    elif hand.turn != action.seat:
        yield from _as_doubtful(turn_problems(game, hand, action.seat))


def call_problems(game: Game, hand: Hand, action: Call) -> Iterator[Problem]:
    """Yield the problems with a call. See docs/reference/rules.md A3-5."""
    chance = None if hand.chance is None or hand.chance.called else hand.chance
    lapsed, name = hand.lapsed, game.players[action.seat]
    is_late = lapsed is not None and lapsed.seat == action.seat and (chance is None or chance.seat != action.seat)
    if not is_late and game.phase not in (Phase.PLAY, Phase.REVEAL):
        yield not_now(game.phase)
    elif not game.rules.call_required:
        yield impossible(ProblemKind.NOTHING_TO_CALL, phrase("points count without a call in this game"))
    elif is_late and lapsed is not None:
        lost = {"points": lapsed.points, "name": name}
        words = phrase("too late: {name} forfeited the {points} points when the next tile was played", **lost)
        if game.phase is not Phase.PLAY:
            words = phrase("too late: {name} forfeited the {points} points", **lost)
        yield (impossible if game.phase is Phase.MATCH_OVER else doubtful)(ProblemKind.LATE_CALL, words)
    elif chance is None:
        yield impossible(ProblemKind.NOTHING_TO_CALL, phrase("{name} has no points to call", name=name))
    elif chance.seat != action.seat:
        names = {"name": game.players[chance.seat], "other": name}
        words = phrase("only {name} can call these points, not {other}", **names)
        yield impossible(ProblemKind.NOTHING_TO_CALL, words)
    elif action.points is not None and action.points != chance.points:
        numbers = {"called": action.points, "points": chance.points}
        words = phrase(
            "{name} calls {called}, but the points are {points} ({sum})",
            name=name,
            sum=sum_of(chance, game.rules),
            **numbers,
        )
        yield impossible(ProblemKind.WRONG_CALL, words)


def _two_problems(game: Game, hand: Hand, action: Draw) -> Iterator[Problem]:
    """Yield the problem with a draw in a game where players draw two tiles."""
    name = game.players[action.seat]
    limit = 1 if game.phase is Phase.LEAD else TILES_PER_DRAW
    if hand.course.extra:
        yield illegal(ProblemKind.DRAWN_ENOUGH, phrase("{name} may play again, but may not draw for that", name=name))
    elif is_exempt(game.rules, hand):
        yield illegal(ProblemKind.DRAWN_ENOUGH, phrase("{name} cast the spell, so may not draw for it", name=name))
    elif hand.course.drawn + action.tiles > limit:
        words = plural("only 1 tile may be drawn at a time", "only {number} tiles may be drawn at a time", number=limit)
        yield illegal(ProblemKind.DRAWN_ENOUGH, words)


def _as_doubtful(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Yield *problems* as doubtful. Unlike a play, a knock or decline leaves no evidence of who made it."""
    for problem in problems:
        yield doubtful(problem.kind, problem.words)
