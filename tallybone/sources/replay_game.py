"""Which game is kept score of in a replay: what the recording says, or what is wished instead."""

from __future__ import annotations

from dataclasses import dataclass

from engine import MatchStart, OptionsError, Rules, deal_problems, parse_options, profile, with_options
from tallybone.recording.format import SessionStart

NO_GAME = "free"


@dataclass(frozen=True, slots=True)
class GameWish:
    """What is asked for; what is not given is as the recording says.

    Attributes:
        rules: Name of the game, "free" for none; with it nothing else is taken over from the recording.
        options: What is agreed otherwise, each key=value; without *rules* they change what was agreed in the recording.
        players: Names by seat.
    """

    rules: str | None = None
    options: tuple[str, ...] = ()
    players: tuple[str, ...] = ()


def match_of(wish: GameWish, start: SessionStart | None) -> MatchStart | None:
    """Return how the match begins, None where no score is kept.

    Raises:
        EngineError: If there is no such game, it cannot be played so, or not by so many.
    """
    said = start if wish.rules is None else None
    name = wish.rules or (NO_GAME if said is None else said.rules)
    wished = parse_options(" ".join(wish.options))
    if name == NO_GAME:
        if wished:
            raise OptionsError([f"{next(iter(wished))}: without rules there is nothing to agree on; give --rules too"])
        return None
    rules = with_options(profile(name), (dict(said.options) if said else {}) | wished)
    players = wish.players or (start.players if start is not None else ()) or _nameless(rules)
    problems = deal_problems(rules, len(players))
    if problems:
        raise OptionsError(problems)
    return MatchStart(rules, players)


def _nameless(rules: Rules) -> tuple[str, ...]:
    return tuple(f"Player {seat + 1}" for seat in range(rules.seats_min))
