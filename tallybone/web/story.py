"""Outcomes of each action of a match, updated incrementally as its log grows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import engine
from engine import ActionResult, Amend, Insert, ItStands, Remove, Seat, Seq, State, Undo, apply, history, last_seats

_REVISIONS = (Undo, Amend, Insert, Remove, ItStands)


def _marked(one: ActionResult, *, is_inferred: bool) -> ActionResult:
    return one if one.entry.inferred == is_inferred else replace(one, entry=replace(one.entry, inferred=is_inferred))


@dataclass(frozen=True, slots=True)
class Story:
    """A match and the outcomes of each action in force.

    Attributes:
        state: State of the match.
        results: Results of `engine.history`.
    """

    state: State = field(default_factory=State)
    results: tuple[ActionResult, ...] = ()

    def after(self, state: State) -> Story:
        """Return the story of *state*. Only new events are applied, unless one of them corrects an earlier action."""
        if state is self.state:
            return self
        known, log = self.state.log, state.log
        fresh = log[len(known) :]
        continues = len(log) >= len(known) and all(one is other for one, other in zip(known, log, strict=False))
        if not continues or any(isinstance(event, _REVISIONS) for event in fresh):
            return Story(state, history(state))
        at, results = self.state, list(self.results)
        for event in fresh:
            assert not isinstance(event, _REVISIONS)  # checked above
            seq = at.next_seq
            at, outcomes = apply(at, event)
            if not isinstance(event, engine.Inferred | engine.Confirmed):
                results.append(ActionResult(engine.Entry(Seq(seq), event), outcomes))
        if self.state.inferred != state.inferred:
            results = [_marked(one, is_inferred=one.entry.seq in state.inferred) for one in results]
        return Story(state, tuple(results))

    def seats_now(self) -> dict[Seq, tuple[Seat, ...]]:
        """Return for each action, by its number, the current seats of the players by their seats then."""
        players = 0 if self.state.game is None else len(self.state.game.players)
        return dict(zip((one.entry.seq for one in self.results), last_seats(self.results, players), strict=True))

    def hands(self) -> tuple[tuple[ActionResult, ...], ...]:
        """Return the actions of each hand, starting with its deal. Actions before the first hand are dropped."""
        hands: list[list[ActionResult]] = []
        for one in self.results:
            if any(isinstance(outcome, engine.HandStarted | engine.Redealt) for outcome in one.outcomes):
                hands.append([])
            if hands:
                hands[-1].append(one)
        return tuple(tuple(hand) for hand in hands)
