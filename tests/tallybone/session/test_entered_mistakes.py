"""Tests of mistakes by hand in whole matches: refused and withdrawn entries leave the score right."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import pytest

from engine import (
    MatchStart,
    NewHand,
    Play,
    Redeal,
    RedealReason,
    Remove,
    entries,
    profile,
)
from lab.matches.game_script import answer_of
from tallybone.session.course import reversal_events
from tallybone.session.feeding import feed
from tallybone.session.session import Input
from tallybone.session.sitting import opened
from tests.tallybone.truth_eye import PLAYERS_OF, script, views

SECOND = 1_000_000_000
HANDS = 2


class Table:
    """A session that is fed the true views and entries of a match."""

    def __init__(self, name: str) -> None:
        self.session, _ = opened(profile(name), PLAYERS_OF[name])
        self.t_ns = 0

    def feed(self, event: Input, after_s: float = 2.0) -> None:
        self.t_ns += round(after_s * SECOND)
        self.session, _ = feed(self.session, event, t_ns=self.t_ns)


def totals_of(name: str, seed: int, disturb: Callable[[Table, object], None]) -> tuple[tuple[int, ...], int]:
    """Return totals and number of plays after some hands. *disturb* is called after each step, with its event."""
    table, rules, players = Table(name), profile(name), PLAYERS_OF[name]
    looks = views(seed, HANDS, 1.5, rules, players)
    table.feed(next(looks))
    for step in script(seed, HANDS, rules, players)[1]:
        if step.is_seen:
            table.feed(next(looks))
        elif not isinstance(step.event, MatchStart):
            was_empty = not (table.session.seen and table.session.seen.tiles)
            table.feed(step.event)
            if isinstance(step.event, NewHand | Redeal) and not was_empty:
                table.feed(next(looks))
        while (answer := answer_of(table.session, step.state)) is not None:
            table.feed(answer)
        disturb(table, step.event)
    game = table.session.state.game
    assert game is not None
    return game.totals, sum(isinstance(entry.action, Play) for entry in entries(table.session.state))


@cache
def right(name: str, seed: int) -> tuple[tuple[int, ...], int]:
    return totals_of(name, seed, lambda *_: None)


@pytest.mark.parametrize("name", sorted({*PLAYERS_OF} - {"cutthroat"}))  # its stacks name events by number
def test_refused_presses_change_nothing(name: str) -> None:
    def disturb(table: Table, event: object) -> None:
        game = table.session.state.game
        if isinstance(event, Play) and game is not None and len(game.layout.nodes) in (3, 5):
            table.feed(NewHand() if len(game.layout.nodes) == 3 else Redeal(RedealReason.MISDEAL))

    assert totals_of(name, 1, disturb) == right(name, 1)


@pytest.mark.parametrize(("name", "seeds"), [("bones", (1,)), ("draw", (1,)), ("allfives", (1, 2)), ("twoset", (1, 3))])
def test_a_play_of_a_finished_hand_is_removed_and_put_back(name: str, seeds: tuple[int, ...]) -> None:
    for seed in seeds:
        mistake = _Removal(seed)
        assert totals_of(name, seed, mistake) == right(name, seed), seed
        assert mistake.is_made


class _Removal:
    """Removes a play of the first hand during the second, and puts it back."""

    def __init__(self, seed: int) -> None:
        self._chance, self.is_made = random.Random(seed), False

    def __call__(self, table: Table, _: object) -> None:
        state = table.session.state
        laid = 0 if state.game is None else len(state.game.layout.nodes)
        plays = [entry.seq for entry in entries(state) if isinstance(entry.action, Play)]
        if not self.is_made and laid >= 2 and len(plays) > laid:
            self.is_made = True
            table.feed(Remove(self._chance.choice(plays[:-laid])))
            for event in reversal_events(table.session.state, len(state.log)):
                table.feed(event)
