"""What one good action does to a match: the new match, and the outcomes to show. RULES.md 2.3 to 2.5 and 3.1.

Nothing here asks whether the action is legal; `engine.judge` has, and the table may have let it stand.
"""

from dataclasses import replace
from typing import assert_never

from engine.closing import Step, close_hand, count_hand, following, pay, reveal
from engine.counting import count, points_for
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
    Reveal,
    RevealPips,
    Seat,
    Seq,
)
from engine.layout import Layout, NodeId, attach, playable_numbers
from engine.outcomes import (
    Blocked,
    Counted,
    Drew,
    Ending,
    HandStarted,
    MatchStarted,
    Outcome,
    Passed,
    Placed,
    Reason,
    Redealt,
)
from engine.problems import ProblemKind
from engine.rules import LeadFirst, LeadNext
from engine.settle import Holding
from engine.state import Claim, Game, Hand, Phase, is_locked, turn
from engine.tiles import Tile, full_set


def step(game: Game | None, seq: Seq, action: Action) -> Step:
    """Return the match after *action*, and what follows from it, the next turn last."""
    if isinstance(action, MatchStart):
        return _start(action)
    assert game is not None  # the judge refuses all else before a match
    if isinstance(action, NewHand):
        after, outcomes = _deal(game, number=1 if game.hand is None else game.hand.number + 1)
    else:
        assert game.hand is not None  # the judge refuses all else before a hand
        after, outcomes = _in_hand(game, game.hand, seq, action)
    whose = turn(after)
    return after, outcomes if whose is None else (*outcomes, whose)


def _in_hand(
    game: Game,
    hand: Hand,
    seq: Seq,
    action: Redeal | Lead | Play | Draw | Knock | Domino | HandEnd | Reveal | RevealPips,
) -> Step:
    """Return what *action* does within a hand."""
    match action:
        case Redeal(reason=reason):
            after, outcomes = _deal(replace(game, scores=hand.scores_before), number=hand.number)
            return after, (Redealt(reason), *outcomes)
        case Lead(seat=seat):
            return replace(game, hand=replace(hand, turn=seat)), ()
        case Play():
            return _play(game, hand, seq, action)
        case Draw():
            return _draw(game, hand, action)
        case Knock(seat=seat):
            return _knock(game, hand, seat)
        case Domino(seat=seat):
            return close_hand(game, hand, Ending.DOMINO, seat)
        case HandEnd():
            if game.phase is Phase.REVEAL:
                return count_hand(game, hand)
            return close_hand(game, hand, Ending.BLOCKED_BY_PROOF if hand.locked else Ending.CALLED, None)
        case Reveal(seat=seat, tiles=tiles):
            return reveal(game, hand, seat, Holding.of(tiles))
        case RevealPips(seat=seat, pips=pips):
            return reveal(game, hand, seat, Holding(pips))
        case _:
            assert_never(action)


def _start(action: MatchStart) -> Step:
    """Return a match without points."""
    scores: tuple[tuple[int, ...], ...] = ((),) * len(action.players)
    return Game(action.rules, action.players, Phase.DEAL, scores), (MatchStarted(action.players),)


def _deal(game: Game, number: int) -> Step:
    """Return the match with a fresh hand dealt."""
    rules, seats = game.rules, len(game.players)
    leader = game.hand_winner
    roll_call = rules.lead_first is LeadFirst.HIGHEST_DOUBLE
    if leader is not None:
        roll_call = rules.lead_next is LeadNext.HIGHEST_DOUBLE
    hand = Hand(
        number=number,
        layout=Layout(),
        sizes=(rules.hand,) * seats,
        boneyard=rules.tiles - rules.hand * seats,
        turn=None if roll_call else leader,
        roll_call=roll_call,
        scores_before=game.scores,
        claims=((),) * seats,
        holdings=(None,) * seats,
    )
    return replace(game, phase=Phase.LEAD, hand=hand), (HandStarted(number, hand.boneyard),)


def _play(game: Game, hand: Hand, seq: Seq, action: Play) -> Step:
    """Return the match with a tile laid, its count scored, and the hand closed when it was the last one."""
    rules, seat, node = game.rules, action.seat, NodeId(seq)
    claims = tuple(
        tuple(_after_showing(claim, action.tile) for claim in said) if at == seat else said
        for at, said in enumerate(hand.claims)
    )
    if not hand.layout.nodes and hand.roll_call and action.tile.is_double:
        claims = _with_roll_call(claims, action.tile, rules.max_pips)
    layout = attach(hand.layout, action.tile, action.at, node=node, rules=rules, inner=action.inner)
    hand = replace(
        hand,
        layout=layout,
        sizes=_changed(hand.sizes, seat, -1),
        turn=_left_of(game, seat),
        passes=0,
        locked=is_locked(layout, rules),
        claims=claims,
    )
    counted = count(layout, rules.spinner_count)
    outcomes: tuple[Outcome, ...] = (Placed(seat, action.tile, node), Counted(counted))
    game = replace(game, phase=Phase.PLAY, hand=hand)
    game, paid = pay(game, seat, points_for(counted.total, rules), Reason.PLAY, str(counted))
    outcomes = (*outcomes, *paid)
    if game.phase is Phase.MATCH_OVER:
        return game, outcomes
    if hand.sizes[seat] == 0:
        return following(outcomes, close_hand(game, hand, Ending.DOMINO, seat))
    if not hand.locked:
        return game, outcomes
    if hand.boneyard == 0:
        return following(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_PROOF, None))
    return game, (*outcomes, Blocked(hand.boneyard))


def _draw(game: Game, hand: Hand, action: Draw) -> Step:
    """Return the match with tiles drawn, which says that the player could not play."""
    seat, left = action.seat, hand.boneyard - action.tiles
    said = hand.claims[seat]
    if hand.turn == seat and game.phase is Phase.PLAY:
        said = (*said, _claim(game, hand, "drew"))
    said = tuple(replace(claim, drawn_since=claim.drawn_since + action.tiles) for claim in said)
    hand = replace(
        hand,
        sizes=_changed(hand.sizes, seat, action.tiles),
        boneyard=left,
        passes=0,
        claims=tuple(said if at == seat else old for at, old in enumerate(hand.claims)),
    )
    game = replace(game, hand=hand)
    outcomes = (Drew(seat, action.tiles, left),)
    if hand.locked and left == 0:
        return following(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_PROOF, None))
    return game, outcomes


def _knock(game: Game, hand: Hand, seat: Seat) -> Step:
    """Return the match with the turn passed on, and the hand closed when all have knocked in succession."""
    said = (*hand.claims[seat], _claim(game, hand, "knocked"))
    hand = replace(
        hand,
        turn=_left_of(game, seat),
        passes=hand.passes + 1,
        claims=tuple(said if at == seat else old for at, old in enumerate(hand.claims)),
    )
    game = replace(game, hand=hand)
    outcomes = (Passed(seat, hand.passes),)
    if hand.passes >= len(game.players):
        return following(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_KNOCKS, None))
    return game, outcomes


def _claim(game: Game, hand: Hand, verb: str) -> Claim:
    """Return what is said by drawing or knocking now: no tile for any open end."""
    numbers = playable_numbers(hand.layout, game.rules.branch_order)
    denied = frozenset(tile for tile in full_set(game.rules.max_pips) if tile.low in numbers or tile.high in numbers)
    ends = " and ".join(str(number) for number in sorted(numbers))
    return Claim(denied, 0, ProblemKind.REVOKE, f"{verb} on {ends}")


def _with_roll_call(claims: tuple[tuple[Claim, ...], ...], led: Tile, max_pips: int) -> tuple[tuple[Claim, ...], ...]:
    """Return the claims of a roll call that ended with *led*: nobody holds a higher double."""
    higher = frozenset(Tile(number, number) for number in range(led.high + 1, max_pips + 1))
    claim = Claim(higher, 0, ProblemKind.HIGHER_DOUBLE_HELD, f"let the {led} lead")
    return tuple((*said, claim) for said in claims)


def _after_showing(claim: Claim, tile: Tile) -> Claim:
    """Return the claim after one of the denied tiles, if it is one, was shown and taken for a drawn one."""
    if tile not in claim.denied:
        return claim
    return replace(claim, drawn_since=max(0, claim.drawn_since - 1))


def _left_of(game: Game, seat: Seat) -> Seat:
    """Return who sits to the left of *seat*."""
    return Seat((seat + 1) % len(game.players))


def _changed(sizes: tuple[int, ...], seat: Seat, by: int) -> tuple[int, ...]:
    """Return the hand sizes with that of *seat* changed, never below 0."""
    return tuple(max(0, size + by) if at == seat else size for at, size in enumerate(sizes))
