"""Apply an accepted action to a match, with the effects of tiles in the six-arm game.

See docs/reference/rules.md 2.3 to 2.5 and 3, and for the effects 3.5. Legality is checked in `engine.game.judge`, not
here, because players may accept an illegal action.
"""

from __future__ import annotations

from typing import assert_never

from engine.game import closing, questions
from engine.game.closing import GameUpdate, close_hand, pay, prepend, rename, swap
from engine.phrases import phrase
from engine.rules import rules as values
from engine.state import events
from engine.state import outcomes as out
from engine.state.descriptions import sum_of
from engine.state.layout import Layout, NodeId, Port, count, is_locked, lay, points_for, stack_on
from engine.state.match import NO_COURSE, Chance, Course, Game, Hand, LeadTile, Phase, Spell
from engine.state.outcomes import Ending, ForcedDraw, Outcome, Reason, Spelled, Turned
from engine.tiles import Tile, bits_of
from engine.value import changed, replaced_at, value


@value
class EffectTile:
    """A tile that takes effect: its outer number, its arm (None for the first tile), and whether it is a double."""

    number: int
    arm: Port | None
    is_double: bool


def take_effect(
    hand: Hand, seat: events.Seat, rules: values.Rules, effects: values.Effects
) -> tuple[Hand, tuple[Outcome, ...]]:
    """Return the hand after the effects of the outer number of the last tile. The turn is not passed yet.

    A first tile that is no double has two outer numbers and no effect. The standard rules do not allow it.
    """
    starter, node = hand.layout.nodes[0], hand.layout.nodes[-1]
    if node.joins is None and not node.tile.is_double:
        return hand, ()
    laid, spell = EffectTile(node.outer, node.arm, node.tile.is_double), hand.course.spell
    has_room = any(end.spot.host == starter.id for end in hand.layout.ends)
    outcomes: tuple[Outcome, ...] = ()
    if spell is not None and _is_broken(spell, laid, has_room=has_room):
        outcomes = (Spelled(spell.caster, spell.arm, is_on=False),)
    if laid.number == effects.draw_on:
        hand, drawn = force_draws(hand, seat, rules)
        outcomes = (*outcomes, *drawn)
    course = course_after(hand.course, seat, laid, effects, len(hand.sizes), has_room=has_room)
    if course.direction != hand.course.direction:
        outcomes = (*outcomes, Turned(course.direction > 0))
    if course.spell is not None and course.spell is not spell:
        outcomes = (*outcomes, Spelled(seat, laid.arm, is_on=True))
    return changed(hand, course=course), outcomes


def course_after(
    course: Course, seat: events.Seat, laid: EffectTile, effects: values.Effects, seats: int, *, has_room: bool
) -> Course:
    """Return the turn state after *seat* laid a tile that takes effect. *has_room*: the starter has a free arm."""
    spell, skip = course.spell, course.skip
    if laid.number == effects.spell_on and (spell is None or spell.arm is not None):
        spell = Spell(seat, laid.arm)
    elif spell is not None and _is_broken(spell, laid, has_room=has_room):
        spell = None
    if effects.skip_on is values.SkipOn.BLANK:
        skip |= laid.number == 0
    elif effects.skip_on is values.SkipOn.DOUBLE:
        skip |= laid.is_double and laid.arm is not None and laid.number != effects.spell_on
    direction = -course.direction if laid.number == effects.reverse_on and seats > 2 else course.direction
    return Course(direction, spell, laid.number == effects.again_on, skip, 0, course.without_double, course.owed)


def force_draws(hand: Hand, seat: events.Seat, rules: values.Rules) -> tuple[Hand, tuple[Outcome, ...]]:
    """Return the hand after everybody but *seat* draws one tile, in turn order.

    It stops early when no tile may be drawn from the boneyard.
    """
    seats = len(hand.sizes)
    sizes, owed, claims, boneyard = list(hand.sizes), list(hand.course.owed or (0,) * seats), hand.claims, hand.boneyard
    outcomes: list[Outcome] = []
    for away in range(1, seats):
        at = (seat + away * hand.course.direction) % seats
        if boneyard <= rules.boneyard_reserve:
            break
        boneyard -= 1
        sizes[at] += 1
        owed[at] += 1
        claims = questions.after_draw(claims, at, 1)
        outcomes.append(ForcedDraw(events.Seat(at), 1, boneyard))
    course = changed(hand.course, owed=tuple(owed))
    return changed(hand, sizes=tuple(sizes), boneyard=boneyard, claims=claims, course=course), tuple(outcomes)


def _is_broken(spell: Spell, laid: EffectTile, *, has_room: bool) -> bool:
    """Return True if a tile breaks a spell: it covers the end of its arm, or takes the starter's last arm."""
    return not has_room if spell.arm is None else laid.arm is spell.arm


_LEAD_TILES = {
    values.LeadRule.HIGHEST_DOUBLE: LeadTile.HIGHEST_DOUBLE,
    values.LeadRule.RACE_HIGHEST_DOUBLE: LeadTile.RACE,
    values.LeadRule.SET_DOUBLE: LeadTile.SET_DOUBLE,
    values.LeadRule.LOT_ANY: LeadTile.ANY,
    values.LeadRule.CHOSEN_ANY_DOUBLE: LeadTile.ANY_DOUBLE,
    values.LeadRule.WINNER_ANY: LeadTile.ANY,
    values.LeadRule.LEFT_OF_WINNER: LeadTile.ANY,
}

_Correction = events.Adjust | events.Rename | events.Swap

_IMPLIES_PASS = (events.Play, events.Stack, events.Draw, events.Knock)
"""Actions of the next player which imply that the previous player is done."""


def step(game: Game | None, seq: events.Seq, action: events.Action) -> GameUpdate:
    """Return the match after *action* and the outcomes.

    The last outcome is the next turn, if anyone is to move. `MatchStart`, `MatchClose` and `Rename` never report it,
    and `Adjust` only if it takes back the win.
    """
    if isinstance(action, events.MatchStart):
        seats = len(action.players)
        game = Game(action.rules, action.players, Phase.DEAL, scores=((),) * seats, totals=(0,) * seats)
        return game, (out.MatchStarted(action.players),)
    assert game is not None  # the judge rejects other actions before a match
    if isinstance(action, _Correction):
        return _correct(game, action)
    if game.other is not None:  # A win that was taken back only returns with the points.
        game = changed(game, other=None)
    if isinstance(action, events.Play) and game.hand is not None and game.hand.turn == action.seat:
        after, outcomes = _play(game, game.hand, seq, action)  # Fast path: most actions are plays.
    elif isinstance(action, events.NewHand):
        after, outcomes = _deal(game, 1 if game.hand is None else game.hand.number + 1, action)
    elif isinstance(action, events.MatchClose):
        return closing.close_match(game)
    else:
        passed, implied = with_implied_pass(game, action)
        assert passed.hand is not None  # the judge rejects other actions before a hand
        after, outcomes = _in_hand(passed, passed.hand, seq, action)
        outcomes = (*implied, *outcomes)
    if after.phase is not Phase.MATCH_OVER and (after.scores is not game.scores or after.phase is Phase.DEAL):
        after, outcomes = closing.conclude(after, outcomes)
    next_turn = questions.turn(after)
    return after, outcomes if next_turn is None else (*outcomes, next_turn)


def with_implied_pass(game: Game, action: events.Action) -> GameUpdate:
    """Pass the turn on if *action* of the next player implies that the current player is done.

    A forced draw implies nothing. A pass that would end the hand is never implied. Only a player who can decline an
    extra turn, or has drawn, is passed over.
    """
    hand = game.hand
    if hand is None or hand.turn is None or not isinstance(action, _IMPLIES_PASS) or hand.turn == action.seat:
        return game, ()
    if isinstance(action, events.Draw) and action.forced:
        return game, ()
    if hand.course.extra:
        passed = _decline(game, hand)
    elif hand.course.drawn and (game.phase is Phase.LEAD or not questions.can_draw(game.rules, hand)):
        passed = _knock(game, hand, hand.turn)
    else:
        return game, ()
    after = passed[0].hand
    return passed if after is not None and after.turn == action.seat else (game, ())


def _in_hand(game: Game, hand: Hand, seq: events.Seq, action: events.InHand) -> GameUpdate:
    """Return the match after *action*, without implied passes."""
    match action:
        case events.Play():
            return _play(game, hand, seq, action)
        case events.Stack():
            return _stack(game, hand, action)
        case events.Draw():
            return _draw(game, hand, action)
        case events.Boneyard(tiles=tiles):
            if tiles >= hand.boneyard or hand.turn is None:
                return changed(game, hand=changed(hand, boneyard=tiles)), ()
            return _draw(game, hand, events.Draw(hand.turn, hand.boneyard - tiles))
        case events.Knock(seat=seat):
            return _knock(game, hand, seat)
        case events.Decline():
            return _decline(game, hand)
        case events.Call(seat=seat):
            return _call(game, hand, seat)
        case events.Redeal(reason=reason):
            before = hand.scores_before
            game = changed(game, scores=before, totals=tuple(map(sum, before)))
            return prepend((out.Redealt(reason),), _deal(game, hand.number, events.NewHand()))
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
            return closing.reveal(game, hand, seat, events.Holding.of(tiles))
        case events.RevealPips(seat=seat, pips=pips):
            return closing.reveal(game, hand, seat, events.Holding(pips, size=hand.sizes[seat]))
        case _:
            assert_never(action)


def _correct(game: Game, action: _Correction) -> GameUpdate:
    """Return the match after a correction by hand. The new totals decide whether it is won, in both directions."""
    after, outcomes = _revised(game, action)
    other = None if game.other is None else _revised(game.other, action)[0]
    if not isinstance(action, events.Adjust):
        next_turn = questions.turn(after) if isinstance(action, events.Swap) else None
        return changed(after, other=other), outcomes if next_turn is None else (*outcomes, next_turn)
    won, continues = (after, other) if after.phase is Phase.MATCH_OVER else (other, after)
    if won is None:
        return closing.conclude(after, outcomes)
    if continues is None:
        return prepend(outcomes, closing.close_match(won))
    winner = won.winner if won.rules.target is None else closing.winning_leader(won, won.winner)
    if winner is not None:
        return prepend(outcomes, closing.win(won, winner, continues=changed(continues, other=None)))
    next_turn = questions.turn(continues) if won is after else None
    continues = changed(continues, other=changed(won, other=None))
    return continues, outcomes if next_turn is None else (*outcomes, next_turn)


def _revised(game: Game, action: _Correction) -> GameUpdate:
    if isinstance(action, events.Rename):
        return rename(game, action)
    if isinstance(action, events.Swap):
        after, outcomes = swap(game, action)
        if game.phase is Phase.LEAD and game.hand is not None and game.hand.turn == _lead(game)[0]:
            after = changed(after, hand=changed(after.hand, turn=_lead(after)[0]))  # The rules name the leader again.
        return after, outcomes
    after, outcomes = pay(game, action.seat, action.points, Reason.ADJUST, action.why)
    if after.hand is not None and action.points:  # An adjustment stays if the hand is dealt again.
        before = after.hand.scores_before
        before = replaced_at(before, action.seat, (*before[action.seat], action.points))
        after = changed(after, hand=changed(after.hand, scores_before=before))
    return after, outcomes


def _deal(game: Game, number: int, dealt: events.NewHand) -> GameUpdate:
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
        claims=(questions.kept_deal(rules),) * seats,
        held=(0,) * seats,
        holdings=(None,) * seats,
    )
    return changed(game, phase=Phase.LEAD, hand=hand, winner=None), (out.HandStarted(number, boneyard),)


def _lead(game: Game) -> tuple[events.Seat | None, LeadTile]:
    """Return the leader of the next hand, or None if unknown, and the kind of tile to lead."""
    rules, winner = game.rules, game.hand_winner
    rule = rules.lead_first if winner is None else rules.lead_next
    tile = _LEAD_TILES[rule]
    if rules.spinner is values.Spinner.STARTER_SIX and tile is LeadTile.ANY:
        tile = LeadTile.ANY_DOUBLE  # A six-arm starter is always a double.
    if winner is not None and rule is values.LeadRule.LEFT_OF_WINNER:
        return events.Seat((winner + 1) % len(game.players)), tile
    return winner if rule is values.LeadRule.WINNER_ANY else None, tile


def _play(game: Game, hand: Hand, seq: events.Seq, action: events.Play) -> GameUpdate:
    """Return the match after a play. Scores the count, and ends the hand if it was the player's last tile."""
    rules, seat, node = game.rules, action.seat, NodeId(seq)
    layout = lay(hand.layout, action.tile, action.at, node, rules, action.inner)
    placed = out.Placed(seat, action.tile, node)
    if not rules.refereed:
        return changed(game, phase=Phase.PLAY, hand=changed(hand, layout=layout)), (placed,)
    game, lost = _laid(game, hand, seat, action.tile, layout)
    winner = closing.winning_leader(game) if rules.match_end is values.MatchEnd.AFTER_NEXT_PLAY else None
    after, outcomes = game, [*lost, placed]
    if rules.unit is not None:
        counted = count(layout, rules.spinner_count)
        points = points_for(counted.total, rules)
        outcomes.append(out.Counted(counted))
        if points:
            after, scored = _score(game, Chance(seat, points, points, counted, called=False))
            outcomes += scored
    after, then = _after_tile(after, seat)
    if winner is not None:
        return prepend((*lost, placed), closing.win(game, winner, continues=after))
    return after, (*outcomes, *then)


def _stack(game: Game, hand: Hand, action: events.Stack) -> GameUpdate:
    """Return the match after a stack: the count scores again, at the previous player's cost."""
    # See docs/reference/rules.md 3.6.
    rules, seat, chance = game.rules, action.seat, hand.chance
    layout = stack_on(hand.layout, action.tile, action.on)
    game, lost = _laid(game, hand, seat, action.tile, layout)
    counted = count(layout, rules.spinner_count)
    points = points_for(counted.total, rules)
    worth = points * 2 if action.tile.is_double else points
    gain = worth * 2 if rules.steal_gain is values.StealGain.SCORE_PLUS_STOLEN else worth
    # Players may accept a stack that has nothing to steal. It then scores like a play.
    victim = None if chance is None or not chance.called else chance.seat
    taking = Chance(seat, points, gain, counted, called=False, victim=victim, loss=worth)
    game, scored = _score(game, taking)
    outcomes = (*lost, out.Stacked(seat, action.tile, action.on), out.Counted(counted), *scored)
    return prepend(outcomes, _after_tile(game, seat))


def _laid(game: Game, hand: Hand, seat: events.Seat, tile: Tile, layout: Layout) -> GameUpdate:
    """Return the match after *seat* laid *tile*, and `Forfeited` if the previous points were not called in time."""
    # The effects of the tile are not applied here, so the turn simply passes to the left.
    hand, lost = closing.forfeit(hand)
    claims, held = questions.after_play(hand.claims, seat, tile), hand.held
    if not hand.layout.nodes:
        claims = questions.after_lead(claims, hand.lead, tile, game.rules)
    if any(held):
        gone = layout.gone(game.rules)
        held = tuple(bits & ~gone & ~(tile.bit if at == seat else 0) for at, bits in enumerate(held))
    hand = Hand(  # Done at every play, so it avoids the slower `changed`.
        hand.number,
        layout,
        replaced_at(hand.sizes, seat, hand.sizes[seat] - 1 if hand.sizes[seat] else 0),
        hand.boneyard,
        events.Seat((seat + 1) % len(hand.sizes)),
        hand.lead,
        hand.scores_before,
        claims,
        held,
        hand.holdings,
        locked=is_locked(layout, game.rules),
        course=hand.course,
        lapsed=hand.lapsed if lost else None,
    )
    game = Game(game.rules, game.players, Phase.PLAY, game.scores, game.totals, hand, game.hand_winner, game.winner)
    return game, lost


def _score(game: Game, chance: Chance) -> GameUpdate:
    """Return the match after a tile with the points of *chance*, which are scored or wait to be called."""
    if not chance.worth:
        return game, ()
    if game.rules.call_required:
        claimable = out.Claimable(chance.seat, chance.points, sum_of(chance, game.rules), chance.victim)
        return changed(game, hand=changed(game.hand, chance=chance)), (claimable,)
    if game.rules.cutthroat:  # The points can be stolen from now on.
        game = changed(game, hand=changed(game.hand, chance=changed(chance, called=True)))
    return _grant(game, chance)


def _call(game: Game, hand: Hand, seat: events.Seat) -> GameUpdate:
    # These are the points of its last play, or forfeited points if the players accepted the late call.
    chance, lapsed = hand.chance, hand.lapsed
    if chance is not None and not chance.called and chance.seat == seat:
        return _grant(changed(game, hand=changed(hand, chance=changed(chance, called=True))), chance)
    assert lapsed is not None  # the judge rejects a call without points
    return _grant(changed(game, hand=changed(hand, lapsed=None)), lapsed)


def _grant(game: Game, chance: Chance) -> GameUpdate:
    """Return the match after the points of *chance* are scored and, if stolen, subtracted from the victim."""
    if chance.victim is None:
        return pay(game, chance.seat, chance.points, Reason.PLAY, sum_of(chance, game.rules))
    thief, victim = game.players[chance.seat], game.players[chance.victim]
    game, taken = pay(game, chance.victim, -chance.loss, Reason.STEAL, phrase("stolen by {name}", name=thief))
    because = phrase("stolen from {name}, {sum}", name=victim, sum=sum_of(chance, game.rules))
    return prepend(taken, pay(game, chance.seat, chance.points, Reason.STEAL, because))


def _after_tile(game: Game, seat: events.Seat) -> GameUpdate:
    """Return the match after a scored tile takes effect. Ends the hand if it is over, else passes the turn."""
    # If no tile fits but some can be drawn, the rules end the hand, report `Blocked` or let play go on.
    rules, hand, effects = game.rules, game.hand, game.rules.effects
    assert hand is not None  # a tile was laid
    outcomes: tuple[Outcome, ...] = ()
    if hand.sizes[seat] == 0:
        if effects is not None and effects.last_tile and hand.layout.nodes[-1].outer == effects.draw_on:
            hand, outcomes = force_draws(hand, seat, rules)
        return prepend(outcomes, close_hand(game, hand, Ending.DOMINO, seat))
    if effects is not None:
        hand, outcomes = take_effect(hand, seat, rules, effects)
    if hand.course is not NO_COURSE:
        hand, skipped = (changed(hand, turn=seat), ()) if hand.course.extra else questions.pass_turn(hand, seat)
        game, outcomes = changed(game, hand=hand), (*outcomes, *skipped)
    if not hand.locked:
        return game, outcomes
    if questions.drawable(rules, hand) == 0 or rules.on_provable_block is values.ProvableBlock.END_NOW:
        return prepend(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_PROOF, None))
    is_announced = rules.on_provable_block is values.ProvableBlock.ANNOUNCE
    return game, (*outcomes, out.Blocked(hand.boneyard)) if is_announced else outcomes


def _draw(game: Game, hand: Hand, action: events.Draw) -> GameUpdate:
    """Return the match after a draw. Unless draws are voluntary, drawing claims that the player could not play."""
    # A forced draw has already been counted, so it only settles what the seat owes. If no tile fits and none is left to
    # draw, the hand ends.
    seat, left = action.seat, max(0, hand.boneyard - action.tiles)
    claims, held, course = hand.claims, hand.held, hand.course
    if action.faces:
        held = replaced_at(held, seat, held[seat] | bits_of(action.faces))
    if questions.owes(hand, action):
        course = changed(course, owed=replaced_at(course.owed, seat, course.owed[seat] - action.tiles))
        return changed(game, hand=changed(hand, held=held, course=course)), ()
    claim = questions.claim_of(game, hand, action)
    if claim is not None:
        claims = questions.add_claim(claims, seat, claim)
    claims = questions.after_draw(claims, seat, action.tiles, action.faces)
    if hand.turn == seat and (game.rules.draw is values.Drawing.TWO or game.phase is Phase.LEAD):
        course = changed(course, drawn=course.drawn + action.tiles)
    sizes = replaced_at(hand.sizes, seat, hand.sizes[seat] + action.tiles)
    hand = changed(hand, sizes=sizes, boneyard=left, claims=claims, held=held, course=course)
    game, outcomes = changed(game, hand=hand), (out.Drew(seat, action.tiles, left),)
    if hand.locked and left <= game.rules.boneyard_reserve and game.phase is Phase.PLAY:
        return prepend(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_PROOF, None))
    return game, outcomes


def _knock(game: Game, hand: Hand, seat: events.Seat) -> GameUpdate:
    """Return the match after a knock. If all players have knocked in succession, the hand ends or a spell lapses."""
    # Before the lead, a knock declares that the player has no double. See docs/reference/rules.md 3.5.
    rules, claim = game.rules, questions.claim_of(game, hand, events.Knock(seat))
    if claim is not None:
        hand = changed(hand, claims=questions.add_claim(hand.claims, seat, claim))
    if game.phase is Phase.LEAD:
        without = hand.course.without_double + (0 if hand.course.drawn else 1)
        hand, _ = questions.pass_turn(hand, seat)
        hand = changed(hand, course=changed(hand.course, without_double=without))
        return changed(game, hand=hand), (out.Passed(seat, without, instead_of_leading=True),)
    hand = changed(hand, passes=hand.passes + 1, turn=events.Seat((seat + 1) % len(game.players)))
    outcomes: tuple[Outcome, ...] = (out.Passed(seat, hand.passes),)
    if hand.course is not NO_COURSE:
        hand, skipped = questions.pass_turn(hand, seat)
        outcomes = (*outcomes, *skipped)
    game = changed(game, hand=hand)
    # If all have passed but tiles can be drawn (the caster of a spell may pass without drawing), the hand goes on.
    if hand.passes < len(game.players) or (rules.draw is values.Drawing.TWO and questions.drawable(rules, hand)):
        return game, outcomes
    spell, effects = hand.course.spell, rules.effects
    if spell is None or effects is None or effects.spell_deadlock is not values.SpellDeadlock.LAPSES:
        return prepend(outcomes, close_hand(game, hand, Ending.BLOCKED_BY_KNOCKS, None))
    hand = changed(hand, passes=0, course=changed(hand.course, spell=None))  # See docs/reference/rules.md A2-6.
    return changed(game, hand=hand), (*outcomes, out.Spelled(spell.caster, spell.arm, is_on=False))


def _decline(game: Game, hand: Hand) -> GameUpdate:
    """Return the match after an extra turn is declined."""
    assert hand.turn is not None  # an extra turn belongs to a seat
    after, skipped = questions.pass_turn(hand, hand.turn)
    return changed(game, hand=after), (out.Declined(hand.turn), *skipped)
