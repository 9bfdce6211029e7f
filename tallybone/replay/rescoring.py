"""The log of a recording under other rules, and as a story that can be written down: pure, no picture is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine import EngineError, MatchStart, State, apply
from tallybone.replay.compare import Fact, differences
from tallybone.replay.export import Play, Story
from tallybone.replay.lines import Score
from tallybone.replay.log import applied, seen_of
from tallybone.replay.recorded_game import SENSELESS, RecordedGame
from tallybone.sources.source import GameWish, match_of

_MOST_DIFFERENCES = 500


class NoGameError(EngineError):
    """No score was kept in a recording, or its log cannot be followed by these rules."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """A game by other rules.

    Attributes:
        match: What is played.
        before, now: The score as it was played, and by these rules.
        sentences: What differs play by play, in words, at most 500.
        count: How many differences there are.
    """

    match: MatchStart
    before: Score
    now: Score
    sentences: tuple[str, ...]
    count: int


def story_of(game: RecordedGame, match: MatchStart | None = None) -> Story:
    """Return what happened in a recording; *match* are other rules than those it was played by.

    Raises:
        NoGameError: If there was no game, or these rules cannot follow it.
    """
    begins = match or game.match
    if begins is None:
        raise NoGameError("no score was kept in this recording")
    story = Story()
    state, said = apply(State(), begins)
    story.add(seen_of(0, 0, state, said, begins))
    begins_ns = game.begins_ns
    try:
        for one in game.log[: len(game.steps) + 1]:
            if not isinstance(one.event, MatchStart):
                state, said = applied(state, one)
                story.add(seen_of(one.t_ns, max(0, one.t_ns - begins_ns), state, said, one.event))
    except SENSELESS as error:
        raise NoGameError("these rules cannot follow the log of this recording") from error
    return story


def rescored(game: RecordedGame, wish: GameWish) -> Rescored:
    """Return what a game would have been worth by other rules.

    Raises:
        EngineError: If there are no such rules, or so many cannot play by them, or there was no game.
    """
    before = story_of(game)
    assert game.match is not None  # or there would be no story
    given = GameWish(wish.rules, wish.options, game.match.players)
    match = match_of(given, game.start)
    if match is None and wish.rules is not None:
        raise NoGameError(f"{wish.rules} is no game to keep the score of")
    match = match or game.match
    now = story_of(game, match)
    found = differences(list(_facts(before)), list(_facts(now)))
    sentences = tuple(one.sentence(0) for one in found[:_MOST_DIFFERENCES])
    return Rescored(match, Score.of(before.state), Score.of(now.state), sentences, len(found))


def _facts(story: Story) -> Iterator[Fact]:
    """Yield the plays with what each was paid: what can be compared under other rules."""
    players = () if story.state.game is None else story.state.game.players
    for play in story.plays:
        words = _words(play, players)
        yield Fact(play.since_ns, words, words, {})


def _words(play: Play, players: tuple[str, ...]) -> str:
    name = players[play.seat] if play.seat < len(players) else f"seat {play.seat + 1}"
    return f"{name} plays {play.tile}, {play.points} point{'' if play.points == 1 else 's'}"
