"""The game with six arms, written as plainly as possible and sharing nothing with the engine.

An arm is a list of pairs (the half that touches, the half that leads on) from the starter outwards. Places are "new"
for a new arm and "arm1" to "arm6" for the end of an arm, in the order in which the arms were started. The numbers
13 (spell), 14 (again), 15 (draw) and 3 (reverse) are those of the rules; an option may choose others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.engine.naive import DECLINE, DRAW, KNOCK, Action, Dealt, Pair, Rules, all_out, is_double


@dataclass
class SuperGame(Dealt):
    """One hand of it."""

    starter: int | None = None
    arms: list[list[Pair]] = field(default_factory=list)
    direction: int = 1
    # The only place that may be played: "arm3" while the spell of a 13 lies on that arm, "new" from a starter 13-13
    # until all six arms are started, "" otherwise.
    spell: str = ""
    caster: int = -1
    caster_has_knocked: bool = False
    extra: bool = False  # the seat left a 14 and may play again
    skip: bool = False  # the next seat loses its turn
    drawn: bool = False  # the seat has drawn in this turn


def super_start(rules: Rules, hands: list[list[Pair]], boneyard: list[Pair], leader: int) -> SuperGame:
    """The first seat from *leader* on that holds a double leads; with none, *leader* is the first to draw."""
    order = [(leader + step) % len(hands) for step in range(len(hands))]
    holders = [seat for seat in order if any(is_double(tile) for tile in hands[seat])]
    return SuperGame(rules, [list(hand) for hand in hands], list(boneyard), turn=[*holders, leader][0])


def of(now: SuperGame, effect: str) -> int:
    """The number with this effect."""
    number: int = now.rules.get(effect, {"draw_on": 15, "again_on": 14, "spell_on": 13, "reverse_on": 3}[effect])
    return number


def super_drawable(now: SuperGame) -> int:
    """How many tiles may be drawn."""
    reserve: int = now.rules.get("boneyard_reserve", 0)
    return max(0, len(now.boneyard) - reserve)


def super_fits(now: SuperGame, tile: Pair, place: str) -> bool:
    """Whether the tile may lie there, whatever spell there is."""
    number = now.starter if place == "new" else now.arms[int(place[3:]) - 1][-1][1]
    return number in tile or (number == of(now, "spell_on") and is_double(tile))


def super_plays(now: SuperGame, tiles: Iterable[Pair]) -> list[Action]:
    """Each different tile with each place it fits."""
    tiles = dict.fromkeys(tiles)
    if now.starter is None:
        return [Action("play", tile) for tile in tiles if is_double(tile)]
    places = [f"arm{number}" for number in range(1, len(now.arms) + 1)]
    if len(now.arms) < 6:
        places.insert(0, "new")
    if now.spell:
        places = [now.spell]
    return [Action("play", tile, place) for tile in tiles for place in places if super_fits(now, tile, place)]


def caster_is_exempt(now: SuperGame) -> bool:
    """Whether the seat to move cast the spell of an arm and need not break it; with nothing to draw, all must play."""
    if not now.spell.startswith("arm") or now.turn != now.caster or not super_drawable(now):
        return False
    return now.rules.get("spell_lap", "caster_exempt") == "caster_exempt" or now.caster_has_knocked


def super_actions(now: SuperGame) -> list[Action]:
    if now.over:
        return []
    plays = super_plays(now, now.hands[now.turn])
    if now.extra:
        return [*plays, DECLINE]
    if caster_is_exempt(now):
        return [*plays, KNOCK]
    if plays:
        return plays
    return [DRAW] if super_drawable(now) and not now.drawn else [KNOCK]


def super_after(before: SuperGame, action: Action) -> SuperGame:
    now = replace(
        before,
        hands=[list(hand) for hand in before.hands],
        boneyard=list(before.boneyard),
        arms=[list(arm) for arm in before.arms],
    )
    if action.kind == "play":
        _play(now, action.tile, action.place)
    elif action.kind == "draw" and now.starter is None:
        _draw(now, now.turn)
        if not is_double(now.hands[now.turn][-1]):
            _next_seat(now)
    elif action.kind == "draw":
        _draw(now, now.turn)
        _draw(now, now.turn)
        now.drawn = True
    elif action.kind == "knock":
        now.knocks += 1
        if now.turn == now.caster:
            now.caster_has_knocked = True
        _next_seat(now)
    else:
        _next_seat(now)
    ends_now = now.rules.get("on_provable_block", "announce") == "end_now"
    if super_locked(now) and (ends_now or not super_drawable(now)):
        now.over = True
    elif action.kind == "knock" and now.knocks >= len(now.hands) and not super_drawable(now):
        _all_knocked(now)
    return now


def _all_knocked(now: SuperGame) -> None:
    """A lap of knocks with nothing left to draw blocks the hand, or only ends the spell.

    See docs/reference/rules.md A2-6.
    """
    if now.spell and now.rules.get("spell_deadlock", "blocked") == "lapses":
        now.spell, now.caster, now.knocks = "", -1, 0
    else:
        now.over = True


def _play(now: SuperGame, tile: Pair, place: str) -> None:
    """The turn of docs/reference/rules.md 3.5, in its order."""
    seat, seats = now.turn, len(now.hands)
    is_starter = now.starter is None
    leaves = _lay(now, tile, place)
    now.hands[seat].remove(tile)
    now.knocks = 0
    if not now.hands[seat]:
        now.over, now.out = True, seat
        if leaves == of(now, "draw_on") and now.rules.get("effects_before_end"):
            _others_draw(now, seat)
        return
    if place == now.spell and (place != "new" or len(now.arms) == 6):
        now.spell, now.caster = "", -1
    if leaves == of(now, "draw_on"):
        _others_draw(now, seat)
    if leaves == of(now, "reverse_on") and seats > 2:
        now.direction = -now.direction
    skip_on, spell_on = now.rules.get("skip_on", "double"), of(now, "spell_on")
    if skip_on == "double" and is_double(tile) and tile != (spell_on, spell_on) and not is_starter:
        now.skip = True
    if skip_on == "blank" and leaves == 0:
        now.skip = True
    if leaves == spell_on and is_starter:
        now.spell = "new"
    elif leaves == spell_on and now.spell != "new":
        now.spell = f"arm{len(now.arms)}" if place == "new" else place
        now.caster, now.caster_has_knocked = seat, False
    if leaves == of(now, "again_on"):
        now.extra = True
    else:
        _next_seat(now)


def _lay(now: SuperGame, tile: Pair, place: str) -> int:
    """Put the tile on the table; the number it leaves open."""
    if now.starter is None:
        now.starter = tile[0]
        return now.starter
    if place == "new":
        now.arms.append([])
    arm = now.arms[-1] if place == "new" else now.arms[int(place[3:]) - 1]
    number = arm[-1][1] if arm else now.starter
    one, other = tile
    arm.append((one, other) if one in (number, other) else (other, one))
    return arm[-1][1]


def _others_draw(now: SuperGame, seat: int) -> None:
    seats = len(now.hands)
    for step in range(1, seats):
        _draw(now, (seat + step * now.direction) % seats)


def _draw(now: SuperGame, seat: int) -> None:
    if super_drawable(now):
        now.hands[seat].append(now.boneyard.pop())


def _next_seat(now: SuperGame) -> None:
    steps = 2 if now.skip else 1
    now.turn = (now.turn + steps * now.direction) % len(now.hands)
    now.skip = now.extra = now.drawn = False


def super_locked(now: SuperGame) -> bool:
    """Whether no tile of the whole set is left for any arm, started or not. Spells do not matter here."""
    if now.starter is None:
        return False
    on_table = [(now.starter, now.starter), *(tile for arm in now.arms for tile in arm)]
    numbers = [arm[-1][1] for arm in now.arms]
    if len(now.arms) < 6:
        numbers.append(now.starter)
    if of(now, "spell_on") in numbers and sum(is_double(tile) for tile in on_table) < now.rules["set"] + 1:
        return False
    return all(all_out(number, on_table, now.rules) for number in numbers)


def super_result(now: SuperGame) -> tuple[int | None, int]:
    """The winner of the hand, if any, and the points."""
    tiles = [len(hand) for hand in now.hands]
    pips = [sum(map(sum, hand)) for hand in now.hands]
    by_pips = now.rules["hand_points"].get("tie", "fewest_pips") == "fewest_pips"
    order = list(zip(tiles, [weight * by_pips for weight in pips], strict=True))
    best = [seat for seat, weight in enumerate(order) if weight == min(order)]
    if len(best) > 1:
        return None, 0
    winner = best[0]
    points = now.rules["hand_points"]
    held = tiles if points["mode"] == "simple" else pips
    mine = 0 if now.out is not None else held[winner]
    parts = [other - mine for seat, other in enumerate(held) if seat != winner]
    return winner, sum(parts if points.get("signed") else [max(0, part) for part in parts])
