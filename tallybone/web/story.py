"""What followed from each action of a match, kept up with its log: a page asks for it after every play."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine import Amend, Entry, HandStarted, Insert, ItStands, Redealt, Remove, Seq, State, Told, Undo, apply, history

_REVISIONS = (Undo, Amend, Insert, Remove, ItStands)


@dataclass(frozen=True, slots=True)
class Story:
    """A match, and each action in force with what followed from it.

    Attributes:
        state: The match.
        told: What `engine.history` says of it.
    """

    state: State = field(default_factory=State)
    told: tuple[Told, ...] = ()

    def after(self, state: State) -> Story:
        """Return the story of *state*: only what is new is worked out, unless the record was changed."""
        if state is self.state:
            return self
        known, log = self.state.log, state.log
        fresh = log[len(known) :]
        goes_on = len(log) >= len(known) and all(one is other for one, other in zip(known, log, strict=False))
        if not goes_on or any(isinstance(event, _REVISIONS) for event in fresh):
            return Story(state, history(state))
        at, told = self.state, list(self.told)
        for event in fresh:
            assert not isinstance(event, _REVISIONS)  # looked at above
            seq = at.next_seq
            at, outcomes = apply(at, event)
            told.append(Told(Entry(Seq(seq), event), outcomes))
        return Story(state, tuple(told))

    def hands(self) -> tuple[tuple[Told, ...], ...]:
        """Return what happened in each hand, the deal first; what was before the first hand is left out."""
        hands: list[list[Told]] = []
        for one in self.told:
            if _begins(one.outcomes):
                hands.append([])
            if hands:
                hands[-1].append(one)
        return tuple(tuple(hand) for hand in hands)


def _begins(outcomes: Iterable[object]) -> bool:
    """Return whether a hand begins, or is dealt anew."""
    return any(isinstance(one, HandStarted | Redealt) for one in outcomes)
