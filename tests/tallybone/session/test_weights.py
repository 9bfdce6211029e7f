"""Tests of the table of weights in `tallybone.session`: against the code, and of the costs of a look."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import exp, log
from typing import Any

import pytest

import tallybone.session
from engine import BLOCK, BONES, TWOSET, Draw, Lead, NodeId, Seat
from tallybone.session import course, decoder, steps
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.observations import Observation, Piece
from tallybone.session.session import Session
from tests.tallybone.session.test_open_hands import LEFT, over
from tests.tallybone.session.test_referee import lay, seen
from tests.tallybone.session.test_session_inputs import led, session_with
from tests.tallybone.session.zone_views import before

TABLE = (tallybone.session.__doc__ or "").split("Weights\n===")[1]
WEIGHTS = {
    name: value
    for name, value in (vars(course) | vars(steps) | vars(decoder)).items()
    if re.fullmatch(r"[A-Z_]+", name) and isinstance(value, int | float)
}
# Limits of tables and hands, and of rounding, which no course reaches in play.
OTHERS = {"NEVER", "_MAX_ACTIONS", "_MORE_LOOKS", "_MAX_STRAYS", "_SAME", "_SCORING", "_TILES"}


@pytest.mark.parametrize("name", sorted(set(WEIGHTS) - OTHERS))
def test_a_weight_of_the_decoder_is_in_the_table(name: str) -> None:
    value = WEIGHTS[name]
    shown = f"{abs(value) / 1e9 if name.endswith('_NS') else abs(value):g}"
    lines = [line for line in TABLE.splitlines() if re.search(rf"\b{name}\b", line)]
    assert any(re.search(rf"(?<![\d.]){re.escape(shown)}(?![\d.]*\d)", line) for line in lines), (name, value, lines)


def test_a_weight_in_the_table_is_in_a_module() -> None:
    names = set(re.findall(r"\b_[A-Z_]+[A-Z]\b", TABLE))
    assert len(names) > 40
    modules = ("belief", "course", "steps", "decoder", "questions", "places")
    known = {name for module in modules for name in vars(__import__(f"tallybone.session.{module}", fromlist=["_"]))}
    assert names - known == set()


def laid(name: int, pips: tuple[int, int], at: tuple[float, float], seat: int | None = None, **more: Any) -> Piece:
    return Piece(NodeId(name), seen(pips, at), () if seat is None else (Seat(seat),), **more)


def two_laid() -> Session:
    """Return a game in which Ann and Ben have played the pieces *A* and *B*."""
    session, _ = lay(led(BLOCK), seen((5, 4), (2, 0)))
    assert [piece.name for piece in session.table.pieces] == [A, B]
    return session


GAMES: dict[str, Callable[[], Session]] = {
    "block": lambda: led(BLOCK),
    "three": lambda: led(BLOCK, seats=3),
    "two laid": two_laid,
    "bones": lambda: led(BONES),
    "twoset": lambda: session_with(TWOSET, Lead(Seat(0)), seats=4),
    "over": lambda: over().session,
}
SECOND, A, B, C, D = 1_000_000_000, NodeId(1_000_000), NodeId(1_000_001), NodeId(2_000_000), NodeId(2_000_001)
NEXT, WEST, FAR = laid(C, (5, 4), (2, 0)), seen((3, 1), (-2, 0), 180), {"pieces": (laid(D, (6, 6), (0, 9)),)}
FIVES, ONE = {"pieces": (Piece(C, seen((5, 5), (0, 0), 90)),)}, {"pieces": (laid(D, (5, 1), (1.5, 0)),)}
CALL, DRAW, KNOCK = (Press(button, None) for button in (Button.CALL, Button.DRAW, Button.KNOCK))
READ = -2 * log(0.999)  # two halves
OWN, WRONG = -log(1 - 1 / 20), -log(1 / 20 / 3)  # sides
SIDE = -log(1 - 1 / 21)  # of the second hand, after one from its own side
YARD, HAND, ANN, BEN = {"yard": 14}, {"is_by_hand": True}, Seat(0), Seat(1)


@pytest.mark.parametrize(
    ("game", "looks", "actions", "cost"),
    [
        ("block", [{}], "", 0),
        # sounds and presses
        ("block", [{"sounds": (KnockHeard(BEN),)}], "Knock1", 1),
        ("block", [{"sounds": (KnockHeard(confidence=0.5),)}], "Knock1", 1 - log(0.5)),
        ("block", [{"sounds": (KnockHeard(ANN, confidence=0.1),)}], "", 5 * 0.1),
        ("block", [{"sounds": (KnockHeard(ANN, confidence=0.2), KnockHeard(BEN))}], "Knock1", 5 * 0.2 + 1),
        ("bones", [{"sounds": (KnockHeard(BEN),)}], "", 5),  # he has to draw
        ("block", [{"presses": (CALL,)}], "", 7),
        ("block", [{"presses": (Press(Button.KNOCK, ANN),)}], "", 5),
        ("block", [{"presses": (Press(Button.STACK),)}], "", 5),
        ("bones", [{"presses": (Draw(BEN),)}], "Draw1", 0),
        ("bones", [{"presses": (Draw(ANN),)}], "Draw0", -log(0.0035)),
        # tiles
        ("block", [{"pieces": (NEXT,)}], "Play1", READ + 0.4),
        ("block", [{"pieces": (NEXT,), "sounds": (KnockHeard(),)}], "Play1", READ + 0.7),
        ("block", [{"pieces": (NEXT,), "sounds": (KnockHeard(ANN),)}], "Play1 Knock0", READ + 0.4 + 1),
        ("block", [FAR], "", 12),
        ("block", [FAR, {"pieces": (NEXT,)}], "Play1", 12 + READ + 0.4 + 1.5),
        ("block", [FAR, {"gone": (D,), "absent": {D}}], "", 12),
        ("block", [{"pieces": (laid(C, (5, 4), (2, 0), 1),)}], "Play1", READ + 0.4 + OWN),
        ("block", [{"pieces": (laid(C, (5, 4), (2, 0), 0),)}], "Play1", READ + 0.4 + WRONG),
        (
            "block",
            [{"pieces": (laid(C, (5, 4), (2, 0), since_ns=SECOND), laid(D, (4, 1), (4, 0), since_ns=0))}],
            "Play1 Play0",
            2 * (READ + 0.4) + 4,
        ),
        # tiles that are gone
        ("two laid", [{"gone": (A,), "absent": {A}}], "", 3),
        ("two laid", [{"gone": (A,), "absent": {A}}, {"back": (laid(A, (3, 5), (0, 0)),)}], "", 0.5),
        (
            "two laid",
            [{"gone": (A,), "absent": {A}}, {"pieces": (laid(C, (4, 1), (4, 0)),), "absent": {A}}],
            "Play0",
            3 + READ + 0.4 + 4,
        ),
        ("two laid", [{"gone": (A, B), "absent": {A, B}}], "", 0),
        # passes nobody saw
        ("three", [{"pieces": (laid(C, (5, 4), (2, 0), 2),)}], "Play1", READ + 0.4 + WRONG),
        (
            "three",
            [{"pieces": (laid(C, (5, 4), (2, 0), 2),)}, {"presses": (Press(Button.KNOCK, BEN),)}],
            "Knock1 Play2",
            0.7 + READ + 0.4 + OWN,
        ),
        (
            "three",
            [{"pieces": (laid(C, (5, 4), (2, 0), 2),)}, {"presses": (Press(Button.KNOCK, BEN),), "t_ns": 108 * SECOND}],
            "Play1",
            READ + 0.4 + WRONG + 5,
        ),
        # points
        ("twoset", [FIVES], "Play0", READ + 0.4),
        (
            "twoset",
            [FIVES | {"presses": (CALL,)}],
            "Play0 Call0",
            READ + 0.4 - log(1 + exp(-0.7)),
        ),  # pressed now or late
        ("twoset", [FIVES, ONE], "Play0 Play1", 2 * (READ + 0.4)),
        ("twoset", [FIVES, ONE | {"is_deaf": True}], "Play0 Call0 Play1", 2 * (READ + 0.4) + 0.2),
        # the boneyard
        ("bones", [YARD, {"yard": 13} | HAND], "Draw1", 1),
        ("bones", [YARD, {"yard": 12} | HAND], "Draw1x2", 1),
        ("bones", [YARD, {"yard": 13} | HAND, YARD], "", 3 + 0.5),  # put back
        ("bones", [YARD, {"yard": 11} | HAND, {"yard": 12}], "Draw1x2", 1 + 3 + 0.5),
        (
            "bones",
            [YARD, {"yard": 12, "pieces": (NEXT,)} | HAND, {"yard": 13}],
            "Play1 Draw0",
            READ + 0.4 + 1 + 3 + 0.5,
        ),
        ("bones", [YARD, {"yard": 13, "came_from": (BEN,)} | HAND], "Draw1", 1 + OWN),
        ("bones", [YARD, {"yard": 13}], "", 3),
        ("bones", [YARD, {"yard": 13}, {"yard": 13}], "Draw1", 1 + 2),
        ("bones", [YARD, {"yard": 13}, YARD], "", 3 + 0.5),
        ("bones", [YARD, {"yard": 15}], "", 4),
        ("bones", [YARD, {"yard": 15}, {"yard": 15}, {"yard": 15}], "", 4 + 0.7),
        ("bones", [{"yard": 13}, YARD], "", 0.5),
        ("bones", [YARD, YARD | {"presses": (DRAW,)}, {"yard": 13}], "Draw1", 0),
        # answers
        ("bones", [{"confirmed": ((ANN, 0), (BEN, 0))}], "", 0),
        ("bones", [{"confirmed": ((ANN, 0), (BEN, 5))}], "", 8),
        ("bones", [{"denied": (((ANN, 0), (BEN, 5)),)}], "", 0),
        ("bones", [{"denied": (((ANN, 5), (BEN, 0)), ((ANN, 0),))}], "", 8),
        ("bones", [{"turn": BEN}], "", 0),
        ("bones", [{"continues": True}], "", 0),
        # open tiles
        ("bones", [{"shown": (LEFT[:1], ())}], "", 8),
        ("over", [{"shown": (LEFT, ())}], "Reveal0", 0),
        ("over", [{"shown": (LEFT[:2], ())}], "", 0),
        ("over", [{"shown": (LEFT[:2], ())}] * 2, "", 2),
        ("over", [{"shown": (LEFT, ())}, {"shown": (LEFT[:2], ())}], "Reveal0", 0),
        ("over", [{"shown": ((), (before(1, 0, (6, 6)),))}] * 2, "", 8),
    ],
)
def test_a_look_costs_what_it_leaves_unexplained(
    game: str, looks: list[dict[str, Any]], actions: str, cost: float
) -> None:
    session = GAMES[game]()
    assert session.decoder is not None
    now, before_it = session.decoder, session.decoder.beam[0]
    for at, look in enumerate(looks):
        now = now.added(Observation(**{"t_ns": (100 + 3 * at) * SECOND} | look))
    old, new = ([one.action for each in last.chain() for one in each.actions] for last in (before_it, now.beam[0]))
    assert new[: len(old)] == old
    found = (f"{type(action).__name__}{getattr(action, 'seat', '')}" for action in new[len(old) :])
    tiles = (f"x{getattr(action, 'tiles', 1)}" if isinstance(action, Draw) else "" for action in new[len(old) :])
    assert " ".join(map("".join, zip(found, tiles, strict=True))).replace("x1", "") == actions
    assert before_it.log_weight - now.beam[0].log_weight == pytest.approx(cost, abs=0.002)
