"""Snapshots of a table for tests: a match of Ann and Ben, as published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tallybone.web.live import shapes
from tallybone.web.live.snapshot import LOBBY, NO_MATCH


def match(hand: int = 1, *, over: bool = False, winner: int | None = None, phase: str = "play") -> shapes.MatchShown:
    return shapes.MatchShown("bones", 150, phase, hand, 14, "10", 6, 1, over=over, winner=winner, provisional=False)


def players(*totals: int, names: tuple[str, ...] = ("Ann", "Ben"), turn: int = 0) -> tuple[shapes.PlayerShown, ...]:
    none = shapes.TallyShown("none")
    return tuple(
        shapes.PlayerShown(seat, name, total, 7, seat == turn, None, None, none)
        for seat, (name, total) in enumerate(zip(names, totals, strict=True))
    )


def played(seq: int, seat: int = 0, points: int = 0, **more: Any) -> shapes.PlayShown:
    shown = shapes.PlayShown(
        seq, "play", seat, (6, 4), points, "6 + 4 = 10", "Ann plays 6-4", "Ann plays 6-4", None, inferred=False
    )
    return replace(shown, **more)


def asked(topic: str = "end 3") -> shapes.QuestionShown:
    return shapes.QuestionShown(topic, "Which end?", ("the 6", "the 4"), (), chosen=None)


def shown(*totals: int, hand: int = 1, plays: tuple[shapes.PlayShown, ...] = (), **more: Any) -> shapes.Snapshot:
    """Return a snapshot of a running match."""
    made = shapes.Snapshot(
        1,
        match(hand),
        players(*(totals or (0, 0))),
        "Ann to play",
        None,
        plays[-1] if plays else None,
        (),
        shapes.LayoutShown((1280, 720), (), (), (), (), ()),
        plays,
        (),
        shapes.CanShown(),
        shapes.WhyShown(),
        shapes.ReaderShown("", None),
        "",
    )
    return replace(made, **more)


def lobby(*totals: int) -> shapes.Snapshot:
    """Return a snapshot of a table without a match."""
    return shown(*totals, match=match(phase=LOBBY), waits_for=NO_MATCH)
