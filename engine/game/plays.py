"""Apply a play or a stack: update the layout, count, score, and end the hand."""

from engine.game.claims import after_play, denies
from engine.game.closing import GameUpdate, close_hand, forfeit, pay, prepend, win, winning_leader
from engine.game.effects import force_draws, take_effect
from engine.game.turns import drawable, pass_turn
from engine.phrases import phrase
from engine.rules.rules import MatchEnd, ProvableBlock, Rules, StealGain
from engine.state.counting import count, points_for
from engine.state.events import Play, Seat, Seq, Stack
from engine.state.hand import NO_COURSE, Chance, Claim, ClaimKind, Hand, LeadTile
from engine.state.layout import Layout, NodeId, is_locked, lay, stack_on
from engine.state.match import Game, Phase
from engine.state.outcomes import Blocked, Claimable, Counted, Ending, Outcome, Placed, Reason, Stacked
from engine.state.words import sum_of
from engine.tiles import Tile, double_bits, full_set, set_bits
from engine.value import changed


def play(game: Game, hand: Hand, seq: Seq, action: Play) -> GameUpdate:
    """Return the match after a play. Scores the count, and ends the hand if it was the player's last tile."""
    rules, seat, node = game.rules, action.seat, NodeId(seq)
    layout = lay(hand.layout, action.tile, action.at, node, rules, action.inner)
    placed = Placed(seat, action.tile, node)
    if not rules.refereed:
        return changed(game, phase=Phase.PLAY, hand=changed(hand, layout=layout)), (placed,)
    hand, lost = _laid(game, hand, seat, action.tile, layout)
    game = _in_play(game, hand)
    winner = winning_leader(game) if rules.match_end is MatchEnd.AFTER_NEXT_PLAY else None
    if rules.unit is None:
        after, outcomes = prepend((placed,), _after_tile(game, hand, seat))
    else:
        counted = count(layout, rules.spinner_count)
        points = points_for(counted.total, rules)
        if points:
            after, outcomes = _score(game, hand, Chance(seat, points, points, counted, called=False))
        else:
            after, outcomes = _after_tile(game, hand, seat)
        outcomes = (*lost, placed, Counted(counted), *outcomes)
    return (after, outcomes) if winner is None else prepend((*lost, placed), win(game, winner, goes_on=after))


def stack(game: Game, hand: Hand, action: Stack) -> GameUpdate:
    """Return the match after a stack: the count scores again, at the previous player's cost.

    See docs/reference/rules.md 3.6.
    """
    rules, seat, chance = game.rules, action.seat, hand.chance
    layout = stack_on(hand.layout, action.tile, action.on)
    hand, lost = _laid(game, hand, seat, action.tile, layout)
    counted = count(layout, rules.spinner_count)
    outcomes: tuple[Outcome, ...] = (*lost, Stacked(seat, action.tile, action.on), Counted(counted))
    worth = points_for(counted.total, rules) * (2 if action.tile.is_double else 1)
    gain = worth * 2 if rules.steal_gain is StealGain.SCORE_PLUS_STOLEN else worth
    # Players may accept a stack that has nothing to steal. It then scores like a play.
    victim = None if chance is None or not chance.called else chance.seat
    taking = Chance(seat, points_for(counted.total, rules), gain, counted, called=False, victim=victim, loss=worth)
    return prepend(outcomes, _score(_in_play(game, hand), hand, taking))


def credit(game: Game, hand: Hand, chance: Chance) -> GameUpdate:
    """Return the match after the points of the last play are scored. The points can be stolen from then on."""
    hand = changed(hand, chance=changed(chance, called=True))
    return grant(changed(game, hand=hand), chance)


def grant(game: Game, chance: Chance) -> GameUpdate:
    """Return the match after the points of *chance* are scored and, if stolen, subtracted from the victim."""
    if chance.victim is None:
        return pay(game, chance.seat, chance.points, Reason.PLAY, sum_of(chance, game.rules))
    thief, victim = game.players[chance.seat], game.players[chance.victim]
    game, taken = pay(game, chance.victim, -chance.loss, Reason.STEAL, phrase("stolen by {name}", name=thief))
    because = phrase("stolen from {name}, {sum}", name=victim, sum=sum_of(chance, game.rules))
    return prepend(taken, pay(game, chance.seat, chance.points, Reason.STEAL, because))


def _laid(game: Game, hand: Hand, seat: Seat, tile: Tile, layout: Layout) -> tuple[Hand, tuple[Outcome, ...]]:
    """Return the hand after *seat* laid *tile*, and `Forfeited` if the previous points were not called in time.

    The effects of the tile are not applied here, so the turn simply passes to the left.
    """
    lost: tuple[Outcome, ...] = ()
    if hand.chance is not None:
        hand, lost = forfeit(hand)
    claims = after_play(hand.claims, seat, tile) if denies(hand, seat, tile) else hand.claims
    if not hand.layout.nodes:
        claims = _after_lead(claims, hand.lead, tile, game.rules)
    sizes, held = hand.sizes, hand.held
    if any(held):
        gone = layout.gone(game.rules)
        held = tuple(bits & ~gone & ~(tile.bit if at == seat else 0) for at, bits in enumerate(held))
    hand = Hand(
        hand.number,
        layout,
        (*sizes[:seat], sizes[seat] - 1 if sizes[seat] else 0, *sizes[seat + 1 :]),
        hand.boneyard,
        Seat((seat + 1) % len(sizes)),
        hand.lead,
        hand.scores_before,
        claims,
        held,
        hand.holdings,
        0,
        is_locked(layout, game.rules),
        hand.course,
        None,
        hand.lapsed if lost else None,
    )
    return hand, lost


def _in_play(game: Game, hand: Hand) -> Game:
    """Return the match in the phase PLAY. Called at every play, so it avoids the slower `changed`."""
    return Game(game.rules, game.players, Phase.PLAY, game.scores, game.totals, hand, game.hand_winner, game.winner)


def _score(game: Game, hand: Hand, chance: Chance) -> GameUpdate:
    """Return the match after the tile of *chance*, with its points scored or waiting to be called."""
    scored: tuple[Outcome, ...] = ()
    if chance.worth and game.rules.call_required:
        hand = changed(hand, chance=chance)
        game = changed(game, hand=hand)
        scored = (Claimable(chance.seat, chance.points, sum_of(chance, game.rules), chance.victim),)
    elif chance.worth and game.rules.cutthroat:
        game, scored = credit(game, hand, chance)
        hand = game.hand or hand
    elif chance.worth:
        game, scored = pay(game, chance.seat, chance.points, Reason.PLAY, sum_of(chance, game.rules))
    return prepend(scored, _after_tile(game, hand, chance.seat))


def _after_lead(
    claims: tuple[tuple[Claim, ...], ...], lead: LeadTile, led: Tile, rules: Rules
) -> tuple[tuple[Claim, ...], ...]:
    """Return the claims after a roll call that ended with *led*: nobody holds a tile that is called earlier.

    Other leads add no claims.
    """
    if lead not in (LeadTile.HIGHEST_DOUBLE, LeadTile.RACE):
        return claims
    if led.is_double:
        # The bits of doubles are ordered by number, so higher bits are higher doubles.
        earlier = double_bits() & set_bits(rules.max_pips) & ~(2 * led.bit - 1)
    else:
        weight = (led.pips, led.high)
        earlier = sum(
            tile.bit for tile in full_set(rules.max_pips) if tile.is_double or (tile.pips, tile.high) > weight
        )
    claim = Claim(ClaimKind.LET_ANOTHER_LEAD, earlier)
    return tuple((*old, claim) for old in claims)


def _after_tile(game: Game, hand: Hand, seat: Seat) -> GameUpdate:
    """Return the match after a scored tile takes effect. Ends the hand if it is over, else passes the turn.

    If no tile fits but some can be drawn, the rules end the hand, report `Blocked` or let play go on.
    """
    rules = game.rules
    if hand.sizes[seat] == 0:
        return _out(game, hand, seat)
    outcomes: tuple[Outcome, ...] = ()
    if rules.effects is not None:
        hand, outcomes = take_effect(hand, seat, hand.layout.nodes[-1], rules, rules.effects)
        if hand.course.extra:
            hand = changed(hand, turn=seat)
        else:
            hand, skipped = pass_turn(hand, seat, len(game.players))
            outcomes = (*outcomes, *skipped)
        game = changed(game, hand=hand)
    elif hand.course is not NO_COURSE:
        hand, _ = pass_turn(hand, seat, len(game.players))
        game = changed(game, hand=hand)
    if not hand.locked:
        return game, outcomes
    if drawable(rules, hand) == 0 or rules.on_provable_block is ProvableBlock.END_NOW:
        return prepend(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_PROOF, None))
    if rules.on_provable_block is ProvableBlock.LITERAL:
        return game, outcomes
    return game, (*outcomes, Blocked(hand.boneyard))


def _out(game: Game, hand: Hand, seat: Seat) -> GameUpdate:
    """Return the match after the hand ends because *seat* has no tile left."""
    effects = game.rules.effects
    outcomes: tuple[Outcome, ...] = ()
    if effects is not None and effects.last_tile and hand.layout.nodes[-1].outer == effects.draw_on:
        hand, outcomes = force_draws(hand, seat, game.rules)
    return prepend(outcomes, close_hand(game, hand, Ending.DOMINO, seat))
