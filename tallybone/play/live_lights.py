"""From how a live game stands to what the LEDs and the score displays tell of it: pure."""

from __future__ import annotations

from collections.abc import Sequence

from engine import Call, Decline, Draw, Game, Knock, Phase, Play, Scored, turn
from hardware.display.page import Page, Score
from hardware.leds.patterns import Gain, Mood, TableState
from tallybone.play.game import Now
from tallybone.play.live_answers import choice_words
from tallybone.session.session import Said, Session
from tallybone.show.scoreboard import waits_for


def table_state(now: Now, gain: Gain | None) -> TableState | None:
    """Return what the LEDs tell; None before a match has begun. *gain* are the points that were made last."""
    game = now.session.state.game
    if game is None:
        return None
    whose = turn(game)
    mood = _mood(now, game)
    course = None if game.hand is None else game.hand.course
    return TableState(
        seats=len(game.players),
        turn=None if whose is None else whose.seat,
        mood=mood,
        concerns=_whose(now.session) if mood is Mood.PROBLEM and _is_mistake(now.session) else None,
        gain=gain,
        is_clockwise=None if game.rules.effects is None or course is None else course.direction > 0,
        is_spell=course is not None and course.spell is not None,
    )


def page_of(session: Session, last: str, *, chosen: int | None = None) -> Page:
    """Return what the displays show.

    Args:
        session: Where the sitting stands.
        last: What happened last, in words.
        chosen: Which choice of the question is shown; None for the question itself.
    """
    game = session.state.game
    if game is None:
        return Page(message=last)
    whose = turn(game)
    scores = tuple(
        Score(name, total, is_turn=whose is not None and whose.seat == seat)
        for seat, (name, total) in enumerate(zip(game.players, game.totals, strict=True))
    )
    return Page(scores, _message(session, game, last, chosen))


def gain_of(said: Sequence[Said], t_ns: int) -> Gain | None:
    """Return the last points that somebody has just made; None for none."""
    gains = [Gain(one.seat, one.points, t_ns) for one in said if isinstance(one, Scored) and one.points > 0]
    return gains[-1] if gains else None


def _mood(now: Now, game: Game) -> Mood:
    """Return how the game stands. A question goes before a problem: it may be what solves it."""
    if now.session.open_question is not None:
        return Mood.ASKING
    if _is_mistake(now.session) or not now.is_healthy:
        return Mood.PROBLEM
    return Mood.PLAYING if game.phase in (Phase.LEAD, Phase.PLAY) else Mood.WAITING


def _is_mistake(session: Session) -> bool:
    """Return whether what was done last is not as the rules say. What the table has played on after is forgotten."""
    state = session.state
    return bool(state.irregular) and state.irregular[-1] == len(state.log) - 1


def _whose(session: Session) -> int | None:
    """Return who did what was done last; None where nobody in particular did."""
    last = session.state.log[-1]
    return last.seat if isinstance(last, Play | Knock | Draw | Call | Decline) else None


def _message(session: Session, game: Game, last: str, chosen: int | None) -> str:
    """Return what is asked, otherwise what happened last while a hand is played, otherwise what is waited for."""
    asked = session.open_question
    if asked is not None:
        return asked.words if chosen is None else choice_words(asked, chosen)
    is_played = game.phase in (Phase.LEAD, Phase.PLAY)
    return last if last and is_played else waits_for(game)
