"""The figures of judged recordings, added up over any of them, and every mistake in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from tallybone.evaluate.hands import HandJudged
from tallybone.evaluate.sessions import SessionJudged


@dataclass(frozen=True, slots=True)
class Figures:
    """How recordings were followed, added up.

    Attributes:
        sessions, winners_right: Recordings, and those won by whom they were.
        hands, totals_right, ends_right: Hands, those with all totals right, and those that ended as they did.
        unflagged: Hands that were left with a wrong score of which nothing was asked or called irregular.
        plays: Tiles that were laid.
        tiles_right, places_right, seats_right, points_right, wholly_right: Those of them that were scored so.
        spare: Tiles that were scored and never laid.
        asked, answered: Questions.
        eye_found, eye_right, eye_spare: What the eye alone made of the tiles.
        latencies_ms: From the last motion to the score, of each play.
        settling_ms: The part of it until the frame with which it was said.
    """

    sessions: int
    winners_right: int
    hands: int
    totals_right: int
    ends_right: int
    unflagged: int
    plays: int
    tiles_right: int
    places_right: int
    seats_right: int
    points_right: int
    wholly_right: int
    spare: int
    asked: int
    answered: int
    eye_found: int
    eye_right: int
    eye_spare: int
    latencies_ms: tuple[float, ...]
    settling_ms: tuple[float, ...]

    @classmethod
    def of(cls, sessions: Iterable[SessionJudged]) -> Figures:
        """Return the figures of recordings."""
        judged = tuple(sessions)
        hands = [hand for one in judged for hand in one.hands]
        plays = [play for hand in hands for play in hand.plays]
        latencies = [latency for one in judged for latency in one.latencies]
        return cls(
            sessions=len(judged),
            winners_right=sum(one.is_winner_right for one in judged),
            hands=len(hands),
            totals_right=sum(hand.are_totals_right for hand in hands),
            ends_right=sum(hand.is_end_right for hand in hands),
            unflagged=sum(is_unflagged(hand) for hand in hands),
            plays=len(plays),
            tiles_right=sum(play.is_tile_right for play in plays),
            places_right=sum(play.is_place_right for play in plays),
            seats_right=sum(play.is_seat_right for play in plays),
            points_right=sum(play.are_points_right for play in plays),
            wholly_right=sum(play.is_wholly_right for play in plays),
            spare=sum(len(hand.spare) for hand in hands),
            asked=sum(one.asked for one in judged),
            answered=sum(one.answered for one in judged),
            eye_found=sum(one.eye.found for one in judged),
            eye_right=sum(one.eye.right for one in judged),
            eye_spare=sum(one.eye.spare for one in judged),
            latencies_ms=tuple(one.whole_ms for one in latencies),
            settling_ms=tuple(one.settled_ms for one in latencies),
        )

    def share(self, right: int) -> float | None:
        """Return which share of the plays is right, spare ones counted as wrong; None without any."""
        plays = self.plays + self.spare
        return right / plays if plays else None

    @property
    def as_json(self) -> dict[str, Any]:
        """All of it, for JSON, latencies as median and 95th percentile."""
        said = asdict(self)
        for name in ("latencies_ms", "settling_ms"):
            middle, late = percentiles(said.pop(name))
            said[name] = {"median": middle, "p95": late}
        return said


def percentiles(values: Iterable[float]) -> tuple[float | None, float | None]:
    """Return the median and the 95th percentile; None of nothing."""
    listed = list(values)
    if not listed:
        return None, None
    return round(median(listed), 1), round(float(np.percentile(listed, 95)), 1)


def is_unflagged(hand: HandJudged) -> bool:
    """Return whether a hand was left with a wrong score, and nothing of it was asked or called irregular."""
    return not hand.is_score_right and not hand.is_flagged


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that was scored wrongly.

    Attributes:
        t_ns: When it was left so.
        words: What it is.
        is_flagged: Whether something of the hand was asked or called irregular then.
    """

    t_ns: int
    words: str
    is_flagged: bool


def wrong_in(session: SessionJudged) -> Iterator[Wrong]:
    """Yield all that was scored wrongly."""
    for hand in session.hands:
        for play in hand.plays:
            if not play.is_wholly_right:
                yield Wrong(hand.closed_ns, str(play), hand.is_flagged)
        for spare in hand.spare:
            yield Wrong(hand.closed_ns, f"hand {hand.number}: {spare} was never laid", hand.is_flagged)
        if hand.seen is None:
            yield Wrong(hand.closed_ns, f"hand {hand.number}: nobody noticed that it was played", hand.is_flagged)
        elif not (hand.are_totals_right and hand.is_end_right):
            yield Wrong(hand.closed_ns, f"hand {hand.number}: {_end(hand)}", hand.is_flagged)


def _end(hand: HandJudged) -> str:
    assert hand.seen is not None  # the caller looks
    ended, scored = (
        "it is not over" if one.over is None else f"{one.over.ending.value}, {one.over.result.points} points"
        for one in (hand.truth, hand.seen)
    )
    return f"{_points(hand.truth.gained)} to gain, {ended}; scored: {_points(hand.seen.gained)}, {scored}"


def _points(gained: tuple[int, ...]) -> str:
    return " : ".join(map(str, gained))


def session_line(session: SessionJudged) -> dict[str, Any]:
    """Return all figures of a recording, for JSON."""
    rules = session.match.rules
    about: Mapping[str, Any] = {
        "file": session.path.name,
        "game": rules.name,
        "players": len(session.match.players),
        "highest_double": rules.max_pips,
        "look": session.look,
        "difficulty": session.difficulty,
        "seconds": round(session.seconds, 3),
    }
    wrong = [{"t_ns": one.t_ns, "what": one.words, "flagged": one.is_flagged} for one in wrong_in(session)]
    totals = {"true_totals": session.true_totals, "totals": session.seen_totals}
    return {**about, **Figures.of([session]).as_json, **totals, "wrong": wrong, "complaints": session.complaints}
