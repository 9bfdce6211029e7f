"""A naive second implementation of the six-arm game, independent of the engine.

An arm is a list of pairs (inner half, outer half) from the starter outwards. Places are "new" for a new arm, and "arm1"
to "arm6" for the end of an arm, in the order in which they were started. The numbers
13 (spell), 14 (again), 15 (draw) and 3 (reverse) are those of the rules; an option may choose others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.engine.naive import DECLINE, DRAW, KNOCK, Action, HandState, Pair, Rules, all_out, is_double


@dataclass
class SuperGame(HandState):
    """A hand of the six-arm game."""

    starter: int | None = None
    arms: list[list[Pair]] = field(default_factory=list)
    direction: int = 1
    # The only playable place: "arm3" while a spell is active on that arm, "new" after the starter 13-13 until all six
    # arms are started. "" otherwise.
    spell: str = ""
    caster: int = -1
    caster_has_knocked: bool = False
    extra: bool = False  # the seat left a 14 open and may play again
    skip: bool = False  # the next seat loses its turn
    drawn: bool = False  # the seat has drawn this turn


def super_start(rules: Rules, hands: list[list[Pair]], boneyard: list[Pair], leader: int) -> SuperGame:
    """Start a hand. The first seat from *leader* with a double leads. Without any, *leader* draws first."""
    order = [(leader + step) % len(hands) for step in range(len(hands))]
    holders = [seat for seat in order if any(is_double(tile) for tile in hands[seat])]
    return SuperGame(rules, [list(hand) for hand in hands], list(boneyard), turn=[*holders, leader][0])


def number_with(now: SuperGame, effect: str) -> int:
    """Return the number that has *effect*."""
    number: int = now.rules.get(effect, {"draw_on": 15, "again_on": 14, "spell_on": 13, "reverse_on": 3}[effect])
    return number


def super_drawable(now: SuperGame) -> int:
    """Return the number of tiles that may be drawn."""
    reserve: int = now.rules.get("boneyard_reserve", 0)
    return max(0, len(now.boneyard) - reserve)


def super_fits(now: SuperGame, tile: Pair, place: str) -> bool:
    """Check that a tile matches a place, ignoring spells."""
    number = now.starter if place == "new" else now.arms[int(place[3:]) - 1][-1][1]
    return number in tile or (number == number_with(now, "spell_on") and is_double(tile))


def super_plays(now: SuperGame, tiles: Iterable[Pair]) -> list[Action]:
    """Return each distinct tile with each place that it matches."""
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
    """Check that the seat to move cast the active spell and need not break it. Not with an empty boneyard."""
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
    """End the hand, or only the spell, after a full round of knocks with an empty boneyard.

    See docs/reference/rules.md A2-6.
    """
    if now.spell and now.rules.get("spell_deadlock", "blocked") == "lapses":
        now.spell, now.caster, now.knocks = "", -1, 0
    else:
        now.over = True


def _play(now: SuperGame, tile: Pair, place: str) -> None:
    """Play a turn in the order of docs/reference/rules.md 3.5."""
    seat, seats = now.turn, len(now.hands)
    is_starter = now.starter is None
    leaves = _lay(now, tile, place)
    now.hands[seat].remove(tile)
    now.knocks = 0
    if not now.hands[seat]:
        now.over, now.out = True, seat
        if leaves == number_with(now, "draw_on") and now.rules.get("effects_before_end"):
            _others_draw(now, seat)
        return
    if place == now.spell and (place != "new" or len(now.arms) == 6):
        now.spell, now.caster = "", -1
    if leaves == number_with(now, "draw_on"):
        _others_draw(now, seat)
    if leaves == number_with(now, "reverse_on") and seats > 2:
        now.direction = -now.direction
    skip_on, spell_on = now.rules.get("skip_on", "double"), number_with(now, "spell_on")
    if skip_on == "double" and is_double(tile) and tile != (spell_on, spell_on) and not is_starter:
        now.skip = True
    if skip_on == "blank" and leaves == 0:
        now.skip = True
    if leaves == spell_on and is_starter:
        now.spell = "new"
    elif leaves == spell_on and now.spell != "new":
        now.spell = f"arm{len(now.arms)}" if place == "new" else place
        now.caster, now.caster_has_knocked = seat, False
    if leaves == number_with(now, "again_on"):
        now.extra = True
    else:
        _next_seat(now)


def _lay(now: SuperGame, tile: Pair, place: str) -> int:
    """Lay a tile and return the number that it leaves open."""
    if now.starter is None:
        now.starter = tile[0]
        return now.starter
    if place == "new":
        now.arms.append([])
    arm = now.arms[-1] if place == "new" else now.arms[int(place[3:]) - 1]
    number = arm[-1][1] if arm else now.starter
    first, second = tile
    arm.append((first, second) if first in (number, second) else (second, first))
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
    """Check that no remaining tile of the set matches any arm, started or not. Spells are ignored."""
    if now.starter is None:
        return False
    on_table = [(now.starter, now.starter), *(tile for arm in now.arms for tile in arm)]
    numbers = [arm[-1][1] for arm in now.arms]
    if len(now.arms) < 6:
        numbers.append(now.starter)
    if number_with(now, "spell_on") in numbers and sum(is_double(tile) for tile in on_table) < now.rules["set"] + 1:
        return False
    return all(all_out(number, on_table, now.rules) for number in numbers)


def super_result(now: SuperGame) -> tuple[int | None, int]:
    """Return the winner of the hand, or None, and the points."""
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
