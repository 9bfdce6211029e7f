"""A hand at an open `Table`, with actions translated to the naive game's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import engine
from tests.engine.naive import DECLINE, DRAW, KNOCK, Action, Pair


def tile(pair: Pair) -> engine.Tile:
    return engine.Tile.of(*pair)


def pair(tile: engine.Tile) -> Pair:
    return tile.low, tile.high


@dataclass(frozen=True)
class OpenHand:
    """A hand at a `Table`. The boneyard is drawn from its end."""

    table: engine.Table

    @property
    def state(self) -> engine.State:
        return self.table.state

    @property
    def hands(self) -> tuple[tuple[engine.Tile, ...], ...]:
        return self.table.hands

    @property
    def game(self) -> engine.Game:
        return self.table.game

    @property
    def hand(self) -> engine.Hand:
        assert self.game.hand is not None
        return self.game.hand

    @property
    def over(self) -> bool:
        return self.game.phase not in (engine.Phase.LEAD, engine.Phase.PLAY)

    @property
    def paid_for_plays(self) -> tuple[int, ...]:
        """Totals without the hand bonus, which the table counts at once."""
        totals = list(self.game.totals)
        for outcome in self.table.outcomes:
            if isinstance(outcome, engine.Scored) and outcome.reason is engine.Reason.BONUS:
                totals[outcome.seat] -= outcome.points
        return tuple(totals)

    def moves(self) -> tuple[engine.LegalMove, ...]:
        """Return all legal moves of the player to move. Empty when the hand is over."""
        return self.table.moves

    def after(self, move: engine.LegalMove) -> OpenHand:
        """Return the hand after one of `moves`, and check that it is not irregular."""
        table = self.table.play_or_raise(move)
        assert not [outcome for outcome in table.outcomes if isinstance(outcome, engine.Irregular)], table.state.log
        return OpenHand(table)

    def result(self) -> engine.HandResult:
        """Return the result of a finished hand."""
        (result,) = [outcome.result for outcome in self.table.outcomes if isinstance(outcome, engine.HandOver)]
        return result

    def action(self, move: engine.LegalMove) -> Action:
        """Return *move* as an action of the naive game. Places are paths as in naive.py."""
        match move:
            case engine.Draw():
                return DRAW
            case engine.Knock():
                return KNOCK
            case engine.Decline():
                return DECLINE
            case engine.Play(tile=laid, at=None):
                return Action("play", pair(laid))
            case engine.Play(tile=laid, at=at) if at is not None:
                host = self.game.layout.nodes[0]
                if not host.is_starter:
                    return Action("play", pair(laid), self.paths()[at.host] + _step(at.port, first=at.host == host.id))
                if at.host == host.id:
                    return Action("play", pair(laid), "new")
                return Action("play", pair(laid), f"arm{self.arms()[at.host]}")
            case engine.Stack(tile=laid, on=node):
                return Action("stack", pair(laid), self.paths()[node])
            case _:
                raise AssertionError(move)

    def paths(self) -> dict[engine.NodeId, str]:
        """Return the naive.py path of each tile."""
        found: dict[engine.NodeId, str] = {}
        for node in self.game.layout.nodes:
            at = node.joins
            found[node.id] = "" if at is None else found[at.host] + _step(at.port, first=found[at.host] == "")
        return found

    def arms(self) -> dict[engine.NodeId, int]:
        """Return the arm of each tile but the starter, numbered in the order in which they were started."""
        starter = self.game.layout.nodes[0].id
        found: dict[engine.NodeId, int] = {}
        for node in self.game.layout.nodes[1:]:
            assert node.joins is not None
            new = node.joins.host == starter
            found[node.id] = max(found.values(), default=0) + 1 if new else found[node.joins.host]
        return found


def open_hand(
    rules: engine.Rules, hands: Sequence[Sequence[Pair]], boneyard: Sequence[Pair], leader: int = 0
) -> OpenHand:
    """Return the position before the first tile. *leader* leads if the tiles do not decide it.

    Raises:
        ValueError: If nobody can lead and everybody has to draw new tiles.
    """
    rules = replace(rules, hand=len(hands[0]), hand_for=(), target=None, policy=engine.Policy.STRICT)
    table = engine.Table.start(rules, tuple("ABCDEFGHIJKLMNOP"[: len(hands)]))
    held = [[tile(numbers) for numbers in hand] for hand in hands]
    by_tiles = rules.lead_first not in (engine.LeadRule.LOT_ANY, engine.LeadRule.CHOSEN_ANY_DOUBLE)
    first = 0 if by_tiles else leader  # the naive game takes the first of two holders
    return OpenHand(table.deal_these(held, [tile(numbers) for numbers in boneyard], leader=first))


def naive_rules(rules: engine.Rules) -> dict[str, Any]:
    """Return *rules* as options of docs/reference/rules.md 2.7, for the naive game."""
    points, effects = rules.hand_points, rules.effects
    found: dict[str, Any] = {
        "set": rules.max_pips,
        "copies": rules.copies,
        "hand": {seats: rules.dealt(seats) for seats in range(2, 16)},
        "spinner": str(rules.spinner),
        "branch_order": str(rules.branch_order),
        "spinner_count": str(rules.spinner_count),
        "unit": rules.unit,
        "play_divisor": rules.play_divisor,
        "draw": str(rules.draw),
        "boneyard_reserve": rules.boneyard_reserve,
        "on_provable_block": str(rules.on_provable_block),
        "cutthroat": rules.cutthroat,
        "gain": str(rules.steal_gain),
        "partners": rules.partners,
        "partners_mode": str(rules.partners_mode),
        "lead_first": _lead_text(rules),
        "hand_points": {
            "subtract_own": points.subtract_own,
            "round_to": points.round_to,
            "bonus_divisor": points.bonus_divisor,
            "tie": str(points.tie),
            "tie_order": str(points.tie_order),
            "mode": str(points.mode),
            "signed": points.signed,
        },
    }
    if effects is not None:
        found |= {name: getattr(effects, name) for name in ("draw_on", "again_on", "spell_on", "reverse_on")}
        found |= {name: str(getattr(effects, name)) for name in ("skip_on", "spell_lap", "spell_deadlock")}
        found["effects_before_end"] = effects.last_tile
    if rules.redeal_if_doubles_over is not None:
        found["redeal_if_doubles_over"] = rules.redeal_if_doubles_over
    return found


def _lead_text(rules: engine.Rules) -> str:
    if rules.lead_first is engine.LeadRule.HIGHEST_DOUBLE and rules.no_double is engine.NoDouble.HIGHEST_TILE:
        return "highest_double_else_highest_single"
    return str(rules.lead_first)


def _step(port: engine.Port, *, first: bool) -> str:
    """Return the path step of a port. W and E only differ at the first tile."""
    return "+" if port is engine.Port.E and not first else str(port)
