"""Tests of the referee: from observed tiles to plays, and questions in ambiguous cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine import (
    BONES,
    Event,
    Irregular,
    Lead,
    LeadRule,
    MatchStart,
    NewHand,
    NodeId,
    Play,
    Port,
    Problem,
    Redeal,
    RedealReason,
    Seat,
    Seq,
    Spot,
    Tile,
    entries,
)
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.places import Footprint, edges_at, footprint_of, halves_of, misfit, turns
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Announcement, Session
from tests.tallybone.truth_eye import game, game_of, newest_tile, placed, shaken
from vision.reading import Face, Guess, Half, SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView

SECOND_NS = 1_000_000_000
SIDE_PX = 40.0
OPEN_BONES = replace(BONES, lead_first=LeadRule.LOT_ANY)


def seen(
    pips: tuple[int, int], at: tuple[float, float], turn_deg: float = 0.0, sure: tuple[float, float] = (0.999, 0.999)
) -> SeenTile:
    """Return a tile centred at *at*, in sides. Half 0 is on the left before a clockwise rotation."""
    place = Footprint.square((400 + at[0] * SIDE_PX, 400 + at[1] * SIDE_PX), np.radians(turn_deg), SIDE_PX)
    first, second = (
        Half(number, confidence, place.half_center(port))
        for number, confidence, port in zip(pips, sure, (Port.W, Port.E), strict=True)
    )
    return SeenTile(Face.UP, place.outline(), (first, second))


def between(
    pips: tuple[int, int], at: tuple[float, float], second: int, turn_deg: float = 0.0, confidence: float = 0.55
) -> SeenTile:
    """Return a tile whose half 1 may also be *second*."""
    tile = seen(pips, at, turn_deg)
    first, doubtful = halves_of(tile)
    guess = Guess(second, 0.98 - confidence)
    return replace(tile, halves=(first, replace(doubtful, confidence=confidence, second=guess)))


def table(*events: Event) -> Session:
    session = Session()
    for event in (MatchStart(OPEN_BONES, ("Brian", "Tom")), NewHand(), Lead(Seat(0)), *events):
        session, _ = feed(session, event)
    return session


def on_table(session: Session) -> tuple[SeenTile, ...]:
    return () if session.seen is None else session.seen.tiles


def lay(session: Session, *tiles: SeenTile) -> tuple[Session, tuple[Announcement, ...]]:
    """Add tiles to the table, three seconds after the last input."""
    return feed(session, placed(*tiles, before=on_table(session)), t_ns=session.t_ns + 3 * SECOND_NS)


def look(session: Session) -> tuple[Session, tuple[Announcement, ...]]:
    """Show the unchanged table for nine seconds, so that a doubt becomes a question."""
    announcements: tuple[Announcement, ...] = ()
    for _ in range(3):
        view = TableView(on_table(session), (), ())
        session, more = feed(session, view, t_ns=session.t_ns + 3 * SECOND_NS)
        announcements = (*announcements, *more)
    return session, announcements


def plays(session: Session) -> list[str]:
    """Return the plays in force as tile, host and port."""
    found = {entry.seq: entry.action for entry in entries(session.state) if isinstance(entry.action, Play)}
    return [
        f"{play.tile}" if play.at is None else f"{play.tile}@{found[Seq(play.at.host)].tile}{play.at.port}"
        for play in found.values()
    ]


def questions(announcements: tuple[Announcement, ...]) -> list[str]:
    return [announcement.text for announcement in announcements if isinstance(announcement, Ambiguity)]


def problems(announcements: tuple[Announcement, ...]) -> list[Problem]:
    return [announcement.problem for announcement in announcements if isinstance(announcement, Irregular)]


def line(*tiles: SeenTile) -> Session:
    session = table()
    for tile in tiles:
        session, announcements = lay(session, tile)
        assert not questions(announcements)
    return session


@pytest.mark.parametrize("seed", range(12))
def test_every_true_play_is_found(seed: int) -> None:
    noise = np.random.default_rng(seed)
    demo_table, steps = game(seed)
    session = Session()
    for step in steps:
        if step.is_seen:
            session, announcements = lay(session, shaken(newest_tile(demo_table, step), noise, noise_px=3.0))
            assert session.state.log[-1] == step.event, questions(announcements)
        else:
            session, _ = feed(session, step.event)
    assert session.state == steps[-1].state


def test_the_left_number_of_the_first_tile_is_west() -> None:
    session = line(seen((3, 5), (0, 0)), seen((3, 1), (-2, 0), 180), seen((5, 4), (2, 0)))
    assert plays(session) == ["5-3", "3-1@5-3W", "5-4@5-3E"]
    assert [laid_tile.node for laid_tile in session.places.laid] == [NodeId(3), NodeId(4), NodeId(5)]
    assert session.state.log[-1] == Play(Seat(0), Tile.parse("5-4"), Spot(NodeId(3), Port.E), 5)


@pytest.mark.parametrize(
    ("tile", "port"),
    [
        (seen((5, 4), (1.55, 0.1), 4), "E"),
        (seen((4, 5), (-1.5, 0)), "W"),
        (seen((5, 4), (0, -2.1), -90), "N"),
        (seen((5, 4), (0.1, 2), 88), "S"),
    ],
)
def test_long_and_short_edges_of_the_spinner_are_distinguished(tile: SeenTile, port: str) -> None:
    session, _ = lay(line(seen((5, 5), (0, 0), 90)), tile)
    assert plays(session)[-1] == f"5-4@5-5{port}"


@pytest.mark.parametrize(
    "tile",
    [
        seen((5, 4), (2.0, 0.0)),
        seen((5, 4), (1.5, 0.5), 90),
        seen((5, 4), (1.5, -0.5), -90),
        seen((5, 4), (0.5, 1.5), 90),
        seen((5, 4), (0.5, -1.5), -90),
        seen((5, 4), (2.45, 0.2), 8),
    ],
    ids=["straight", "elbow down", "elbow up", "off the flank, down", "off the flank, up", "far and crooked"],
)
def test_a_half_may_touch_an_end_half_anywhere(tile: SeenTile) -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), tile)
    assert not questions(announcements)
    assert plays(session)[-1] == "5-4@5-3E"


@pytest.mark.parametrize(
    ("tile", "is_double", "costs"),
    [
        (seen((5, 4), (2.0, 0.0)), False, 0.0),
        (seen((5, 4), (2.2, 0.0)), False, 0.5),
        (seen((5, 4), (1.5, 0.5), 90), False, 0.3),
        (seen((5, 4), (0.5, 1.5), 90), False, 0.3),
        (seen((5, 4), (0.0, 1.0), 180), False, 1.5),
        (seen((5, 5), (1.5, 0.0), 90), True, 0.0),
        (seen((5, 5), (2.0, 0.0)), True, 1.0),
    ],
    ids=["straight", "gap", "elbow", "elbow off the flank", "folded back", "crosswise double", "double in line"],
)
def test_unusual_joins_have_a_higher_cost(tile: SeenTile, is_double: bool, costs: float) -> None:
    host = footprint_of(seen((3, 5), (0, 0)))
    ways = [
        misfit(host, edge, turn, is_double=is_double)
        for edge in edges_at(host, Port.E, is_double=False)
        for turn in turns(tile, is_double=is_double)
        if turn.inner_half == 0
    ]
    assert min(cost for cost in ways if cost is not None) == pytest.approx(costs)


def test_a_line_may_turn_at_a_double_that_does_not_branch() -> None:
    session = line(seen((6, 6), (0, 0), 90), seen((6, 4), (1.5, 0)), seen((4, 4), (3, 0), 90), seen((4, 2), (3, 2), 90))
    assert plays(session)[-1] == "4-2@4-4E"
    assert not session.state.irregular


def test_a_third_tile_at_a_double_that_does_not_branch_is_reported() -> None:
    session = line(seen((6, 6), (0, 0), 90), seen((6, 4), (1.5, 0)), seen((4, 4), (3, 0), 90), seen((4, 2), (4.5, 0)))
    session, announcements = lay(session, seen((4, 1), (3, 2), 90))
    assert plays(session)[-1] == "4-1@4-4S"
    assert [problem.kind for problem in problems(announcements)] == ["no_branch"]


@pytest.mark.parametrize("confidence", [0.55, 0.98, 0.999])
def test_a_mismatch_is_corrected_by_the_rules_or_reported(confidence: float) -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (2, 0), sure=(confidence, 0.99)))
    is_reported = any("that end needs a 5" in problem.text for problem in problems(announcements))
    assert plays(session)[-1] == ("4-1@5-3E" if is_reported else "5-1@5-3E")
    assert is_reported or confidence < 0.99
    assert confidence > 0.9 or not is_reported


def test_an_uncertain_duplicate_is_another_tile() -> None:
    tiles = seen((3, 3), (0, 0), 90), seen((3, 2), (1.5, 0))
    session, _ = lay(line(*tiles), between((3, 2), (-1.5, 0), 4, 180))
    assert plays(session) == ["3-3", "3-2@3-3E", "4-3@3-3W"]
    assert not session.state.irregular


def test_a_number_on_which_the_totals_depend_is_asked_once() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), between((5, 4), (2, 0), 2))
    assert plays(session)[-1] == "5-4@5-3E"
    session, more = look(session)
    choices = ("Tom 0, if Tom played the 5-4", "Tom 5, if Tom played the 5-2", "something else")
    assert questions((*announcements, *more)) == ["what is the score?"]
    assert session.open_question is not None
    assert session.open_question.choices == choices
    assert session.is_provisional
    session, announcements = look(session)
    assert not questions(announcements)
    for at, tile in enumerate(("5-4", "5-2")):
        answered, _ = feed(session, Answer(at))
        assert plays(answered)[-1] == f"{tile}@5-3E"
        assert answered.open_question is None
        assert not answered.is_provisional


def test_a_later_tile_decides_a_number() -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), between((5, 4), (2, 0), 6))
    session, _ = lay(session, seen((6, 0), (4, 0)))
    assert plays(session) == ["5-3", "6-5@5-3E", "6-0@6-5E"]
    assert not session.state.irregular


def test_the_rules_decide_which_half_of_a_crooked_tile_touches() -> None:
    spun = line(seen((5, 5), (0, 0), 90), seen((5, 1), (1.5, 0)), seen((2, 5), (-1.5, 0)))
    session, announcements = lay(spun, seen((5, 4), (0, -1.6), 30))
    assert plays(session)[-1] == "5-4@5-5N"
    assert not problems(announcements)


def test_a_clearer_reading_decides() -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((5, 4), (2, 0), sure=(0.99, 0.5)))
    session, _ = feed(session, TableView((seen((3, 5), (0, 0)), seen((5, 6), (2, 0))), (), ()))
    assert plays(session)[-1] == "6-5@5-3E"


def ring() -> Session:
    """Return a line that curves back to its start: two 3s face each other, a tile apart, around (2, 0)."""
    return line(
        seen((5, 3), (0, 0)),
        seen((6, 5), (-2, 0)),
        seen((6, 4), (-3.5, 0.5), 90),
        seen((4, 2), (-3.5, 2.5), 90),
        seen((2, 0), (-3, 4)),
        seen((0, 1), (-1, 4)),
        seen((1, 6), (1, 4)),
        seen((6, 2), (3, 4)),
        seen((2, 1), (4.5, 3.5), -90),
        seen((1, 4), (4.5, 1.5), -90),
        seen((4, 3), (4, 0), 180),
    )


def test_contact_and_numbers_decide_between_two_ends() -> None:
    before = ring()
    session, announcements = lay(before, seen((3, 3), (2, 0)))
    assert plays(session)[-1] in ("3-3@5-3E", "3-3@4-3E")
    assert not problems(announcements)
    for tile, play in (
        (seen((3, 3), (1.5, 0), 90), "3-3@5-3E"),
        (seen((3, 3), (2.5, 0), 90), "3-3@4-3E"),
        (seen((3, 0), (2, 0)), "3-0@5-3E"),
        (seen((0, 3), (2, 0)), "3-0@4-3E"),
    ):
        assert plays(lay(before, tile)[0])[-1] == play


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_a_distant_tile_waits_until_it_is_joined(looks: int) -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (4, 0)))
    for _ in range(looks):
        session, _ = look(session)
    assert (plays(session), len(session.places.waiting)) == (["5-3"], 1)
    assert session.is_provisional
    assert session.state.is_provisional is (looks > 0)
    session, _ = lay(session, seen((5, 4), (2, 0)))
    assert plays(session) == ["5-3", "5-4@5-3E", "4-1@5-4E"]
    assert not session.state.irregular
    at_once, announcements = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (4, 0)), seen((5, 4), (2, 0)))
    assert (plays(at_once), questions(announcements)) == (plays(session), [])


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_leader_is_asked_or_entered(*, by_hand: bool) -> None:
    session = Session()
    for event in (MatchStart(OPEN_BONES, ("Brian", "Tom")), NewHand()):
        session, _ = feed(session, event)
    session, _ = lay(session, seen((5, 5), (0, 0), 90))
    session, announcements = look(session)
    assert questions(announcements) == ["what is the score?"]
    assert session.open_question is not None
    tom = next(at for at, text in enumerate(session.open_question.choices) if "Tom led" in text)
    session, _ = feed(session, Lead(Seat(1)) if by_hand else Answer(tom))
    assert (game_of(session).totals, session.open_question) == ((0, 10), None)
    assert not session.is_provisional
    assert not session.state.irregular


def test_face_down_tiles_and_a_repeated_placement_change_nothing() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    session, down = line(first, last), SeenTile(Face.DOWN, last.corners_px, ())
    before, announcements = lay(line(first), down)
    assert (announcements, plays(before)) == ((), ["5-3"])
    same, announcements = lay(line(first), seen((3, 5), (0.1, 0.05)))  # placed again
    assert (announcements, plays(same)) == ((), ["5-3"])
    after, announcements = feed(session, TableView((first, down), (), (Change(ChangeKind.TURNED, down, last),)))
    assert (after.state.game, announcements) == (session.state.game, ())
    assert after.places.laid == session.places.laid
    with pytest.raises(ValueError, match="expected a tile that is face up, but got one that is face down"):
        halves_of(down)


def test_an_unjoined_tile_is_played_once_it_is_moved_or_forgotten_once_removed() -> None:
    laid, away, there = (seen((3, 5), (0, 0)), seen((5, 4), (2, 0))), seen((4, 1), (9, 0)), seen((4, 1), (4, 0))
    session, _ = lay(line(*laid), away)
    session, _ = feed(session, TableView((*laid, there), (), (Change(ChangeKind.MOVED, there, away),)))
    assert plays(session)[-1] == "4-1@5-4E"
    assert session.places.waiting == ()
    session, _ = look(lay(line(laid[0]), away)[0])
    assert session.is_provisional
    session, _ = feed(session, TableView(laid[:1], (), (Change(ChangeKind.REMOVED, away),)))
    assert session.places.waiting == ()  # forgotten
    assert plays(lay(session, laid[1])[0]) == ["5-3", "5-4@5-3E"]


def test_the_ends_of_a_pushed_tile_move_with_it() -> None:
    first = seen((3, 5), (0, 0))
    pushed = seen((5, 3), (0, 3), 180)
    session, _ = feed(line(first), TableView((pushed,), (), (Change(ChangeKind.MOVED, pushed, first),)))
    session, _ = lay(session, seen((5, 4), (2, 3)))
    assert plays(session) == ["5-3", "5-4@5-3E"]


def test_a_redeal_clears_the_places_once_it_is_accepted() -> None:
    session = line(seen((3, 5), (0, 0)))
    laid = session.places.laid
    session, _ = feed(session, Redeal(RedealReason.MISDEAL))
    assert session.places.laid == laid != ()
    session, _ = feed(session, Press(Button.STANDS))
    assert session.places.laid == ()
