"""Apply an accepted action to a match. See docs/reference/rules.md 2.3 to 2.5 and 3.

Legality is checked in `engine.game.judge`, not here, because players may accept an illegal action.
"""

from typing import assert_never

from engine.game import closing
from engine.game.claims import kept_deal
from engine.game.closing import GameUpdate, close_hand, close_match, conclude, pay, prepend, reveal, win, winning_leader
from engine.game.passing import decline, draw, knock, with_implied_pass
from engine.game.plays import credit, grant, play, stack
from engine.game.seating import rename, swap
from engine.game.turns import turn
from engine.rules.rules import LeadRule, Rules, Spinner
from engine.state import events
from engine.state.events import Action, Adjust, NewHand, Play, Rename, Seat, Seq, Swap
from engine.state.hand import NO_COURSE, Hand, LeadTile
from engine.state.layout import Layout
from engine.state.match import Game, Phase
from engine.state.outcomes import Ending, HandStarted, MatchStarted, Reason, Redealt
from engine.state.settle import Holding
from engine.value import changed

_LEAD_TILES = {
    LeadRule.HIGHEST_DOUBLE: LeadTile.HIGHEST_DOUBLE,
    LeadRule.RACE_HIGHEST_DOUBLE: LeadTile.RACE,
    LeadRule.SET_DOUBLE: LeadTile.SET_DOUBLE,
    LeadRule.LOT_ANY: LeadTile.ANY,
    LeadRule.CHOSEN_ANY_DOUBLE: LeadTile.ANY_DOUBLE,
    LeadRule.WINNER_ANY: LeadTile.ANY,
    LeadRule.LEFT_OF_WINNER: LeadTile.ANY,
}


def step(game: Game | None, seq: Seq, action: Action) -> GameUpdate:
    """Return the match after *action* and the outcomes.

    The last outcome is the next turn, if anyone is to move. `MatchStart`, `MatchClose` and `Rename` never report it,
    and `Adjust` only if it takes back the win.
    """
    if isinstance(action, events.MatchStart):
        return _start(action)
    assert game is not None  # the judge rejects other actions before a match
    if isinstance(action, Adjust | Rename | Swap):
        return _correct(game, action)
    if game.other is not None:  # A win that was taken back only returns with the points.
        game = changed(game, other=None)
    if isinstance(action, Play) and game.hand is not None and game.hand.turn == action.seat:
        after, outcomes = play(game, game.hand, seq, action)
    elif isinstance(action, NewHand):
        after, outcomes = _deal(game, 1 if game.hand is None else game.hand.number + 1, action)
    elif isinstance(action, events.MatchClose):
        return close_match(game)
    else:
        assert game.hand is not None  # the judge rejects other actions before a hand
        after, outcomes = _in_hand(game, game.hand, seq, action)
    if after.phase is not Phase.MATCH_OVER and (after.scores is not game.scores or after.phase is Phase.DEAL):
        after, outcomes = conclude(after, outcomes)
    next_turn = turn(after)
    return after, outcomes if next_turn is None else (*outcomes, next_turn)


def _in_hand(game: Game, hand: Hand, seq: Seq, action: events.InHand) -> GameUpdate:
    """Return the match after an *action* during a hand. A pass that the action implies is applied first."""
    game, hand, implied = with_implied_pass(game, hand, action)
    return prepend(implied, _act(game, hand, seq, action))


def _act(game: Game, hand: Hand, seq: Seq, action: events.InHand) -> GameUpdate:
    """Return the match after *action*, without implied passes."""
    match action:
        case Play():
            return play(game, hand, seq, action)
        case events.Stack():
            return stack(game, hand, action)
        case events.Draw():
            return draw(game, hand, action)
        case events.Boneyard(tiles=tiles):
            if tiles >= hand.boneyard or hand.turn is None:
                return changed(game, hand=changed(hand, boneyard=tiles)), ()
            return draw(game, hand, events.Draw(hand.turn, hand.boneyard - tiles))
        case events.Knock(seat=seat):
            return knock(game, hand, seat)
        case events.Decline():
            return decline(game, hand)
        case events.Call(seat=seat):
            return _call(game, hand, seat)
        case events.Redeal(reason=reason):
            before = hand.scores_before
            after, outcomes = _deal(
                changed(game, scores=before, totals=tuple(map(sum, before))), hand.number, NewHand()
            )
            return after, (Redealt(reason), *outcomes)
        case events.Lead(seat=seat):
            return changed(game, hand=changed(hand, turn=seat)), ()
        case events.Domino(seat=seat):
            return close_hand(game, hand, Ending.DOMINO, seat)
        case events.HandEnd():
            if game.phase is Phase.REVEAL:
                return closing.count_hand(game, hand)
            return close_hand(game, hand, Ending.BLOCKED_BY_PROOF if hand.locked else Ending.CALLED, None)
        case events.Abandon():
            return closing.abandon_hand(game, hand)
        case events.Reveal(seat=seat, tiles=tiles):
            return reveal(game, hand, seat, Holding.of(tiles))
        case events.RevealPips(seat=seat, pips=pips):
            return reveal(game, hand, seat, Holding(pips, size=hand.sizes[seat]))
        case _:
            assert_never(action)


def _correct(game: Game, action: Adjust | Rename | Swap) -> GameUpdate:
    """Return the match after a correction by hand. The new totals decide whether it is won, in both directions."""
    after, outcomes = _revised(game, action)
    other = None if game.other is None else _revised(game.other, action)[0]
    won, goes_on = (after, other) if after.phase is Phase.MATCH_OVER else (other, after)
    next_turn = None if isinstance(action, Rename) else turn(after)
    if not isinstance(action, Adjust):
        return changed(after, other=other), outcomes if next_turn is None else (*outcomes, next_turn)
    if won is None:
        return conclude(after, outcomes)
    if goes_on is None:
        return prepend(outcomes, close_match(won))
    winner = won.winner if won.rules.target is None else winning_leader(won, won.winner)
    if winner is not None:
        return prepend(outcomes, win(won, winner, goes_on=changed(goes_on, other=None)))
    next_turn = turn(goes_on) if won is after else None
    goes_on = changed(goes_on, other=changed(won, other=None))
    return goes_on, outcomes if next_turn is None else (*outcomes, next_turn)


def _revised(game: Game, action: Adjust | Rename | Swap) -> GameUpdate:
    """Return the match after a correction, without looking at the target."""
    match action:
        case Adjust():
            return _adjust(game, action)
        case Rename():
            return rename(game, action)
        case Swap():
            return _swap(game, action)


def _adjust(game: Game, action: Adjust) -> GameUpdate:
    """Return the match after a manual adjustment, which is kept if the hand is dealt again."""
    after, outcomes = pay(game, action.seat, action.points, Reason.ADJUST, action.why)
    if after.hand is not None and action.points:
        before = tuple(
            (*scores, action.points) if at == action.seat else scores
            for at, scores in enumerate(after.hand.scores_before)
        )
        after = changed(after, hand=changed(after.hand, scores_before=before))
    return after, outcomes


def _swap(game: Game, action: Swap) -> GameUpdate:
    """Return the match after two players change places. Before the lead, the rules name the leader again."""
    after, outcomes = swap(game, action)
    hand = after.hand
    if game.phase is Phase.LEAD and game.hand is not None and hand is not None and game.hand.turn == _lead(game)[0]:
        after = changed(after, hand=changed(hand, turn=_lead(after)[0]))
    return after, outcomes


def _start(action: events.MatchStart) -> GameUpdate:
    """Return a new match without scores."""
    scores: tuple[tuple[int, ...], ...] = ((),) * len(action.players)
    totals = (0,) * len(action.players)
    return Game(action.rules, action.players, Phase.DEAL, scores, totals), (MatchStarted(action.players),)


def _deal(game: Game, number: int, dealt: NewHand) -> GameUpdate:
    """Return the match after a new hand is dealt."""
    rules, seats = game.rules, len(game.players)
    sizes = dealt.dealt or (rules.dealt(seats),) * seats
    boneyard = max(0, rules.tiles - sum(sizes)) if dealt.boneyard is None else dealt.boneyard
    leader, lead = _lead(game)
    hand = Hand(
        number=number,
        layout=Layout(),
        sizes=sizes,
        boneyard=boneyard,
        turn=leader,
        lead=lead,
        scores_before=game.scores,
        claims=(kept_deal(rules),) * seats,
        held=(0,) * seats,
        holdings=(None,) * seats,
        course=NO_COURSE,
    )
    return changed(game, phase=Phase.LEAD, hand=hand, winner=None), (HandStarted(number, boneyard),)


def _lead(game: Game) -> tuple[Seat | None, LeadTile]:
    """Return the leader of the next hand, or None if unknown, and the kind of tile to lead."""
    winner = game.hand_winner
    rule = game.rules.lead_first if winner is None else game.rules.lead_next
    return _leader(game, rule, winner), _lead_tile(game.rules, rule)


def _leader(game: Game, rule: LeadRule, winner: Seat | None) -> Seat | None:
    """Return the seat that leads according to *rule*, or None if unknown."""
    if winner is None:
        return None
    if rule is LeadRule.WINNER_ANY:
        return winner
    return Seat((winner + 1) % len(game.players)) if rule is LeadRule.LEFT_OF_WINNER else None


def _lead_tile(rules: Rules, rule: LeadRule) -> LeadTile:
    """Return the kind of tile that leads according to *rule*. A six-arm starter is always a double."""
    tile = _LEAD_TILES[rule]
    return LeadTile.ANY_DOUBLE if rules.spinner is Spinner.STARTER_SIX and tile is LeadTile.ANY else tile


def _call(game: Game, hand: Hand, seat: Seat) -> GameUpdate:
    """Return the match after *seat* scores the points that it calls.

    These are the points of its last play, or forfeited points if the players accepted the late call.
    """
    chance = hand.chance
    if chance is not None and not chance.called and chance.seat == seat:
        return credit(game, hand, chance)
    lapsed = hand.lapsed
    assert lapsed is not None  # the judge rejects a call without points
    return grant(changed(game, hand=changed(hand, lapsed=None)), lapsed)
