"""Tests of random deals that agree with a player's view: claims, sizes, frequencies, and impossible claims."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest

import engine
from engine.library.chances import sampled_hands
from engine.state.match import Claim, ClaimKind
from engine.tiles import tile_of
from tests.engine.table import tiles
from tests.engine.test_table import dealt, random_table, stepped

GAMES = [rules for rules in engine.PROFILES if rules.refereed]


def check(view: engine.SeatView, table: engine.Table) -> None:
    """Check that the view of *table* is *view*, and that no claim is broken."""
    assert table.seen_by(view.seat) == view
    hand = table.game.hand
    assert hand is not None
    assert tuple(map(len, table.hands)) == hand.sizes
    assert len(table.boneyard) == hand.boneyard
    every = Counter([*table.boneyard, *hand.layout.tiles, *(tile for held in table.hands for tile in held)])
    assert not every - Counter(engine.full_set(table.game.rules.max_pips) * table.game.rules.copies)
    for held, claims in zip(table.hands, hand.claims, strict=True):
        for claim in claims:
            assert len([tile for tile in held if tile.bit & claim.denied]) <= claim.allowed, claim


@pytest.mark.parametrize("seed", range(14))
def test_every_sample_agrees_with_the_view(seed: int) -> None:
    rng = random.Random(seed)
    rules = GAMES[seed % len(GAMES)]
    table = random_table(rng) if seed % 2 else engine.Table.start(rules, "ABCDEF"[: rng.randint(rules.seats_min, 4)])
    for _ in range(20):
        if table.is_over:
            break
        table = stepped(table, rng)
        if table.game.phase in (engine.Phase.LEAD, engine.Phase.PLAY) and not table.awaits_deal:
            for seat in range(len(table.hands)):
                view = table.seen_by(seat)
                sampled = view.sample(rng)
                check(view, sampled)
                assert sampled.turn == table.turn
                assert sampled.moves


def knocked() -> engine.SeatView:
    """Return the view of A after B and C knocked on 5."""
    rules = engine.with_options(engine.BLOCK, "redeal_if_doubles_over=none")
    table = dealt(rules, "5-5 5-4 1-0", "3-2 1-1 4-4", "6-4 6-3 2-0")
    table = table.play_or_raise(engine.Play(engine.Seat(0), engine.Tile(5, 5)))
    return table.play_or_raise(engine.Knock(engine.Seat(1))).play_or_raise(engine.Knock(engine.Seat(2))).seen_by(0)


def test_the_deals_of_small_hands_are_equally_likely() -> None:
    view = knocked()
    game = view.state.game
    assert game is not None
    hand = game.hand
    assert hand is not None
    # Each seat also drew a tile after its knock, so one tile of each hand may have a 5.
    claims = tuple(tuple(replace(claim, allowed=at) for claim in made) for at, made in enumerate(hand.claims))
    small = replace(hand, sizes=(2, 2, 2), boneyard=1, claims=claims)
    pool = tiles("5-0 5-1 6-0 6-1 4-4")
    expected: Counter[tuple[frozenset[engine.Tile], frozenset[engine.Tile]]] = Counter()
    for order in permutations(pool):  # B's first tile, drawn before its knock, has no 5; none of C's tiles matters.
        if not order[0].has(5):
            expected[frozenset(order[:2]), frozenset(order[2:4])] += 1
    state = engine.State(game=replace(game, hand=small))
    particles, _ = sampled_hands(state, [tile.bit for tile in pool], (1, 2), random.Random(1), 20_000)
    found = Counter((frozenset(map(tile_of, hands[1])), frozenset(map(tile_of, hands[2]))) for _, hands in particles)
    assert set(found) == set(expected)
    total = sum(expected.values())
    chi = sum((found[deal] / 20_000 - n / total) ** 2 * 20_000 * total / n for deal, n in expected.items())
    assert chi < 2 * len(expected), f"{chi} for {len(expected)} deals"


def test_samples_agree_with_the_chances_for_one_opponent() -> None:
    rng, compared = random.Random(3), 0
    rules = engine.with_options(engine.DRAW, "redeal_if_doubles_over=none")
    table = engine.Table.start(rules, ("Ann", "Ben")).deal(rng)
    while compared < 3:
        table = stepped(table, rng)
        hand = table.game.hand
        if table.is_over or table.game.phase is not engine.Phase.PLAY or hand is None or not hand.claims[1]:
            continue
        view = table.seen_by(0)
        odds = engine.chances(view.state, known=view.tiles, seat=engine.Seat(0), samples=2000).seats[1].can_play
        fits = 0
        for end in hand.layout.ends:
            fits |= end.fits if end.playable else 0
        sampled = [any(tile.bit & fits for tile in each.hands[1]) for each in view.samples(rng, 1000)]
        assert sum(sampled) / 1000 == pytest.approx(odds, abs=0.06)
        compared += 0.02 < odds < 0.98


def test_claims_and_seen_tiles_decide_hands_and_contradictions_are_ignored_oldest_first() -> None:
    view = knocked()
    game = view.state.game
    assert game is not None
    assert game.hand is not None
    keep, seen = tiles("6-4 6-3 2-0"), engine.Tile(4, 6)
    everything, fives = (1 << 28) - 1, sum(tile.bit for tile in engine.full_set(6) if tile.has(5))
    all_but = sum(tile.bit for tile in engine.full_set(6) if tile not in keep)
    denied, oldest, newest = (Claim(ClaimKind.KNOCKED, bits) for bits in (all_but, everything, fives))
    for seed in range(20):
        for hand in (
            replace(game.hand, claims=((), (), (denied,))),
            replace(game.hand, claims=((), (oldest, newest), ())),
            replace(game.hand, held=(0, seen.bit, 0)),
        ):
            state = engine.State(game=replace(game, hand=hand))
            hands = engine.SeatView(view.seat, view.tiles, state).sample(random.Random(seed)).hands
            assert hand.claims[2] != (denied,) or set(hands[2]) == set(keep)
            assert hand.claims[1] != (oldest, newest) or not any(tile.has(5) for tile in hands[1])
            assert not hand.held[1] or seen in hands[1]


def test_the_leader_holds_the_highest_double_and_nobody_too_many() -> None:
    table = engine.Table.start(engine.BONES, ("Ann", "Ben", "Cas")).deal(random.Random(2))
    assert table.turn is not None
    view = table.seen_by((table.turn + 1) % 3)
    for seed in range(40):
        sampled = view.sample(random.Random(seed))
        assert sampled.redeal is None
        assert isinstance(move := sampled.moves[0], engine.Play)
        assert all(not tile.is_double or tile.high <= move.tile.high for held in sampled.hands for tile in held)


def test_tiles_out_of_play_stay_out() -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(
        engine.Play(engine.Seat(0), engine.Tile(5, 5))
    )
    sampled = table.view.sample(random.Random(1))
    assert [len(sampled.hands[0]), len(sampled.boneyard)] == [1, 2]


def test_a_view_that_cannot_be_dealt_is_rejected() -> None:
    view = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").seen_by(1)
    with pytest.raises(engine.EngineError, match="no match has started"):
        engine.SeatView(engine.Seat(0), (), engine.State()).sample(random.Random(1))
    with pytest.raises(engine.EngineError, match="rng must be a random"):
        view.sample(5)  # type: ignore[arg-type]
    with pytest.raises(engine.EngineError, match="expected 1 deal or more, got 0"):
        view.samples(random.Random(1), 0)
    with pytest.raises(engine.EngineError, match="expected 1 sample or more, got 0"):
        engine.chances(knocked().state, samples=0)
    game = view.state.game
    assert game is not None
    assert game.hand is not None
    state = engine.State(game=replace(game, hand=replace(game.hand, sizes=(40, 2))))
    with pytest.raises(engine.EngineError, match="a deal needs 42 unseen tiles, and 26 are left"):
        engine.SeatView(engine.Seat(1), view.tiles, state).sample(random.Random(1))


def test_nothing_is_dealt_before_the_first_hand() -> None:
    start = engine.Table.start(engine.BONES, ("Ann", "Ben"))
    assert start.seen_by(0).sample(random.Random(1)) == start
