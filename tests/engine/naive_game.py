"""A naive second implementation of the rules, independent of the engine: turns, ends of hands and perft.

`start(rules, hands, boneyard)` returns a game, `actions` the actions of the seat to move, and `after` applies one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.engine.naive import DRAW, KNOCK, Action, HandState, Layout, Pair, Rules, is_double
from tests.engine.naive_super import SuperGame, super_actions, super_after, super_result, super_start


@dataclass
class LineGame(HandState):
    """A hand of any game but super."""

    layout: Layout = field(default_factory=Layout)
    leads: list[Pair] = field(default_factory=list)  # tiles that may lead
    points: list[int] = field(default_factory=list)  # of plays and stacks, by seat
    scorer: int = -1  # seat that played or stacked last
    worth: int = 0  # points of the layout for that seat, called or not
    earned: int = 0  # points that it received, which can be more after a stack


Position = LineGame | SuperGame


def start(rules: Rules, hands: Sequence[Sequence[Pair]], boneyard: Sequence[Pair], leader: int = 0) -> Position:
    """Return the position before the first tile.

    Args:
        rules: As in docs/reference/rules.md 2.7.
        hands: By seat.
        boneyard: Drawn from the end.
        leader: Seat that leads if the tiles do not decide it.

    Raises:
        ValueError: If nobody can lead and everybody has to draw new tiles.
    """
    own = [[(min(tile), max(tile)) for tile in hand] for hand in hands]
    if rules["spinner"] == "starter6":
        return super_start(rules, own, list(boneyard), leader)
    seat, leads = _lead(rules, own, leader)
    layout = Layout(rules["spinner"], rules.get("branch_order", "any"), rules.get("spinner_count", "until_capped"))
    return LineGame(rules, own, list(boneyard), seat, layout=layout, leads=leads, points=[0] * len(own))


def _lead(rules: Rules, hands: list[list[Pair]], leader: int) -> tuple[int, list[Pair]]:
    """Return the seat that leads, and the tiles that it may lead."""
    lead: str = rules["lead_first"]
    if lead == "lot_any":
        return leader, list(hands[leader])
    tiles = [tile for hand in hands for tile in hand]
    doubles = [tile for tile in tiles if is_double(tile)]
    top = (rules["set"], rules["set"])
    if lead == "double_six":
        forced = [top] if top in tiles else []
    elif doubles or lead in ("highest_double", "race_highest_double"):
        forced = [max(doubles)] if doubles else []
    elif lead == "highest_double_else_highest_single":
        forced = [max(tiles, key=lambda tile: (sum(tile), tile[1]))]
    else:
        raise ValueError(f"no rule is called {lead}")
    if not forced:
        raise ValueError("nobody holds the tile that has to be led")
    return next(seat for seat, hand in enumerate(hands) if forced[0] in hand), forced


def actions(now: Position) -> list[Action]:
    """Return all actions of the seat to move. Empty when the hand is over."""
    if isinstance(now, SuperGame):
        return super_actions(now)
    if now.over:
        return []
    if not now.layout.laid:
        return [Action("play", tile) for tile in dict.fromkeys(now.leads)]
    hand = now.hands[now.turn]
    found = now.layout.plays(hand)
    if now.rules.get("cutthroat") and now.worth > 0 and now.scorer != now.turn:
        found += now.layout.stacks(hand)  # a tile that can be stacked can also be played there
    return found or [DRAW if _can_draw(now) else KNOCK]


def _can_draw(now: LineGame) -> bool:
    reserve: int = now.rules.get("boneyard_reserve", 0)
    return now.rules["draw"] != "none" and len(now.boneyard) > reserve


def after(before: Position, action: Action) -> Position:
    """Return the position after one of `actions(before)`, without changing *before*."""
    if isinstance(before, SuperGame):
        return super_after(before, action)
    now = replace(
        before,
        hands=[list(hand) for hand in before.hands],
        boneyard=list(before.boneyard),
        layout=before.layout.twin(),
        points=list(before.points),
    )
    seat = now.turn
    if action.kind == "draw":
        now.hands[seat].append(now.boneyard.pop())
    elif action.kind == "knock":
        now.knocks += 1
    elif action.kind == "play":
        now.layout.play(action.tile, action.place)
        now.worth = now.earned = _score(now)
        now.points[seat] += now.earned
    else:
        now.layout.stacked.append(action.tile)
        stolen = now.worth * (2 if is_double(action.tile) else 1)
        now.earned = 2 * stolen if now.rules.get("gain") == "score_plus_stolen" else stolen
        now.points[seat] += now.earned
        now.points[now.scorer] -= stolen
    if action.kind in ("play", "stack"):
        now.scorer, now.knocks = seat, 0
        now.hands[seat].remove(action.tile)
        if not now.hands[seat]:
            now.over, now.out = True, seat
    if action.kind != "draw":
        now.turn = (seat + 1) % len(now.hands)
    if now.knocks == len(now.hands) or (now.layout.locked(now.rules) and not (_can_draw(now) and _draws_out(now))):
        now.over = True
    return now


def _draws_out(now: LineGame) -> bool:
    """Check that players draw the whole boneyard after a provable block."""
    policy: str = now.rules.get("on_provable_block", "announce")
    return policy != "end_now"


def _score(now: LineGame) -> int:
    unit = now.rules.get("unit")
    if unit is None or now.layout.count() % unit != 0:
        return 0
    divisor: int = now.rules.get("play_divisor", 1)
    return now.layout.count() // divisor


def count(now: Position) -> int:
    """Return the sum of the open ends. 0 in super."""
    return now.layout.count() if isinstance(now, LineGame) else 0


def play_score(now: Position) -> int:
    """Return the points that the last play or stack earned."""
    return now.earned if isinstance(now, LineGame) else 0


def scores(now: Position) -> list[int]:
    """Return the points of plays and stacks by seat, without the hand bonus."""
    return list(now.points) if isinstance(now, LineGame) else [0] * len(now.hands)


def hand_result(now: Position) -> tuple[int | None, int]:
    """Return the winner of a finished hand, or None, and the bonus."""
    if not now.over:
        raise ValueError("the hand is not over")
    if isinstance(now, SuperGame):
        return super_result(now)
    return settle(now.rules, now.hands, now.out)


def settle(rules: Rules, hands: Sequence[Sequence[Pair]], out: int | None) -> tuple[int | None, int]:
    """Return the winner and bonus of any game but super.

    With `partners` and four seats, partners sit opposite each other. The winner's pair gets the bonus. It is the other
    pair's pips less the winner's own with `individual`, the heavier pair's pips with `team_total`, and the same as
    without partners with `all_three`.
    """
    points = rules["hand_points"]
    pips = [sum(map(sum, hand)) for hand in hands]
    partners_mode = rules.get("partners_mode", "individual") if rules.get("partners") is True else ""
    if partners_mode == "team_total":
        return _settle_pairs(pips, out)
    best = [seat for seat, weight in enumerate(pips) if weight == min(pips)]
    if out is not None:
        best = [out]
    elif len(best) > 1 and points["tie"] == "lightest_tile":
        by_high = points.get("tie_order", "pips") == "pips_then_high"
        sorted_hands = {seat: sorted((sum(tile), max(tile) * by_high) for tile in hands[seat]) for seat in best}
        best = [seat for seat in best if sorted_hands[seat] == min(sorted_hands.values())]
    if partners_mode and len({seat % 2 for seat in best}) == 1:
        best = best[:1]  # both hands belong to the same pair, which wins
    if len(best) > 1:
        return None, 0
    winner = best[0]
    own = pips[winner] if points.get("subtract_own") else 0
    if points.get("round_each"):
        pips = [round_nearest(weight, points.get("round_to")) for weight in pips]
    bonus = sum(pips) - pips[winner] - own
    if partners_mode == "individual":
        bonus -= pips[(winner + 2) % 4]
    return winner, round_nearest(max(0, bonus), points.get("round_to")) // points.get("bonus_divisor", 1)


def _settle_pairs(pips: list[int], out: int | None) -> tuple[int | None, int]:
    pairs = [pips[0] + pips[2], pips[1] + pips[3]]
    if out is None and pairs[0] == pairs[1]:
        return None, 0
    pair = pairs.index(min(pairs)) if out is None else out % 2
    winner = out if out is not None else min((pair, pair + 2), key=lambda seat: pips[seat])
    return winner, pairs[1 - pair]


def round_nearest(value: int, unit: int | None) -> int:
    """Return the nearest multiple of an odd unit."""
    return value if unit is None else (value + unit // 2) // unit * unit
