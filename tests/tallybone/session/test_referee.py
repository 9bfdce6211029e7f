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
    Placed,
    Play,
    Port,
    Problem,
    Redeal,
    RedealReason,
    Seat,
    Spot,
    Tile,
)
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Announcement, Session
from tallybone.session.touching import Footprint, edges_at, footprint_of, halves_of, misfit, turns
from tests.tallybone.truth_eye import game, newest_tile, placed, shaken
from vision.reading import Face, Guess, Half, SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView

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


def table(*events: Event) -> Session:
    session = Session()
    for event in (MatchStart(OPEN_BONES, ("Brian", "Tom")), NewHand(), Lead(Seat(0)), *events):
        session, _ = feed(session, event)
    return session


def lay(session: Session, *tiles: SeenTile) -> tuple[Session, tuple[Announcement, ...]]:
    return feed(session, placed(*tiles))


def plays(session: Session) -> list[str]:
    """Return the plays in the log as tile, host and port."""
    hosts = {node.id: node.tile for node in session.state.game.layout.nodes} if session.state.game else {}
    found = []
    for event in session.state.log:
        if isinstance(event, Play):
            found.append(f"{event.tile}" if event.at is None else f"{event.tile}@{hosts[event.at.host]}{event.at.port}")
    return found


def questions(announcements: tuple[Announcement, ...]) -> list[str]:
    return [announcement.words for announcement in announcements if isinstance(announcement, Ambiguity)]


def problems(announcements: tuple[Announcement, ...]) -> list[Problem]:
    return [announcement.problem for announcement in announcements if isinstance(announcement, Irregular)]


def line(*tiles: SeenTile) -> Session:
    session = table()
    for tile in tiles:
        session, announcements = lay(session, tile)
        assert not questions(announcements)
    return session


@pytest.mark.parametrize("seed", range(30))
def test_every_true_play_is_found(seed: int) -> None:
    noise = np.random.default_rng(seed)
    demo_table, steps = game(seed)
    session = Session()
    for step in steps:
        if step.is_seen:
            session, announcements = feed(session, placed(shaken(newest_tile(demo_table, step), noise, noise_px=3.0)))
            assert session.state.log[-1] == step.event, questions(announcements)
        else:
            session, _ = feed(session, step.event)
    assert session.state == steps[-1].state


def test_the_left_number_of_the_first_tile_is_west() -> None:
    session = line(seen((3, 5), (0, 0)), seen((3, 1), (-2, 0), 180), seen((5, 4), (2, 0)))
    assert plays(session) == ["5-3", "3-1@5-3W", "5-4@5-3E"]


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


def test_a_clear_mismatch_is_reported_as_a_play() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (2, 0)))
    assert plays(session)[-1] == "4-1@5-3E"
    assert "that end needs a 5" in problems(announcements)[0].words


def test_an_uncertain_mismatch_raises_a_question() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (2, 0), sure=(0.98, 0.99)))
    assert questions(announcements) == ["is this the 4-1 or the 5-1?"]
    assert plays(session) == ["5-3"]


def test_the_rules_resolve_an_uncertain_inner_half() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((6, 1), (2, 0), sure=(0.55, 0.99)))
    assert plays(session)[-1] == "5-1@5-3E"
    assert not problems(announcements)


def test_an_uncertain_duplicate_raises_a_question() -> None:
    session, announcements = lay(
        line(seen((3, 3), (0, 0), 90), seen((3, 2), (1.5, 0))), seen((3, 2), (-1.5, 0), 180, sure=(0.99, 0.5))
    )
    assert plays(session) == ["3-3", "3-2@3-3E"]
    assert questions(announcements)


def test_an_unresolved_number_raises_a_question() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((5, 4), (2, 0), sure=(0.99, 0.5)))
    assert plays(session) == ["5-3"]
    assert questions(announcements)[0].startswith("is this the 5-4 or the ")


def test_the_readers_second_guess_is_the_other_choice() -> None:
    first, second = halves_of(seen((5, 4), (2, 0)))
    guessed = replace(second, confidence=0.55, second=Guess(6, 0.4))
    session, announcements = lay(line(seen((3, 5), (0, 0))), replace(seen((5, 4), (2, 0)), halves=(first, guessed)))
    assert questions(announcements) == ["is this the 5-4 or the 6-5?"]
    assert session.open_question is not None
    assert session.open_question.choices[:2] == ("the 5-4", "the 6-5")


@pytest.mark.parametrize(
    ("tile", "question", "choices"),
    [
        (
            seen((5, 4), (0, -1.6), 30),
            "which half of the 5-4 touches the layout?",
            ("the 5 touches the 5-5 at N", "the 4 touches the 5-5 at N"),
        ),
        (
            seen((5, 4), (0.6, -1.0), 150),
            "does the 5-4 touch the 5-1 or the 5-5?",
            ("next to the 5-1", "next to the 5-5"),
        ),
    ],
)
def test_a_crooked_tile_raises_a_question_about_its_place(
    tile: SeenTile, question: str, choices: tuple[str, ...]
) -> None:
    spun = line(seen((5, 5), (0, 0), 90), seen((5, 1), (1.5, 0)), seen((2, 5), (-1.5, 0)))
    session, announcements = lay(spun, tile)
    assert questions(announcements) == [question]
    assert session.open_question is not None
    assert session.open_question.choices == choices
    ends = []
    for at in range(len(choices)):
        answered, _ = feed(session, Answer(at))
        ends.append((plays(answered)[-1], answered.state.log[-1].inner))  # type: ignore[union-attr]  # a play
        assert answered.open_question is None
    assert len(set(ends)) == len(choices)


def test_a_clearer_reading_resolves_a_question() -> None:
    doubtful = seen((5, 4), (2, 0), sure=(0.99, 0.5))
    session, _ = lay(line(seen((3, 5), (0, 0))), doubtful)
    assert session.open_question is not None
    session, _ = feed(session, TableView((seen((5, 6), (2, 0)),), (), ()))
    assert plays(session)[-1] == "6-5@5-3E"
    assert session.open_question is None


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


def test_tiles_after_an_ambiguous_one_wait_in_order() -> None:
    doubtful, later = seen((5, 4), (2, 0), sure=(0.99, 0.5)), seen((3, 6), (-2, 0), 180)
    session, _ = lay(line(seen((3, 5), (0, 0))), doubtful)
    session, announcements = lay(session, later)
    assert announcements == ()
    assert plays(session) == ["5-3"]
    session, _ = feed(session, TableView((seen((5, 4), (2, 0)), later), (), ()))
    assert plays(session) == ["5-3", "5-4@5-3E", "6-3@5-3W"]
    assert not session.state.irregular


def test_two_equally_good_ends_raise_a_question() -> None:
    session, announcements = lay(ring(), seen((3, 3), (2, 0)))
    assert questions(announcements) in (
        ["does the 3-3 touch the 5-3 or the 4-3?"],
        ["does the 3-3 touch the 4-3 or the 5-3?"],
    )
    assert "3-3" not in str(plays(session))


def test_contact_decides_between_ends_with_the_same_number() -> None:
    session, _ = lay(ring(), seen((3, 3), (1.5, 0), 90))
    assert plays(session)[-1] == "3-3@5-3E"
    session, _ = lay(ring(), seen((3, 3), (2.5, 0), 90))
    assert plays(session)[-1] == "3-3@4-3E"


def test_the_number_decides_between_equally_close_ends() -> None:
    session, _ = lay(ring(), seen((3, 0), (2, 0)))
    assert plays(session)[-1] == "3-0@5-3E"
    session, _ = lay(ring(), seen((0, 3), (2, 0)))
    assert plays(session)[-1] == "3-0@4-3E"


def test_a_distant_tile_waits_until_it_is_joined() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (4, 0)))
    assert questions(announcements) == ["the 4-1 does not touch an open end"]
    session, announcements = lay(session, seen((5, 4), (2, 0)))
    assert not questions(announcements)
    assert plays(session) == ["5-3", "5-4@5-3E", "4-1@5-4E"]


def test_tiles_seen_at_once_are_played_from_the_layout_outwards() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (4, 0)), seen((5, 4), (2, 0)))
    assert not questions(announcements)
    assert plays(session) == ["5-3", "5-4@5-3E", "4-1@5-4E"]


def test_a_question_is_announced_once() -> None:
    away = seen((4, 1), (9, 0))
    session, announcements = lay(line(seen((3, 5), (0, 0))), away)
    assert len(questions(announcements)) == 1
    session, announcements = feed(session, TableView((away,), (), ()))
    assert not questions(announcements)
    assert session.open_question is not None


def test_the_question_about_the_leader_is_answered_by_a_lead() -> None:
    session = Session()
    for event in (MatchStart(OPEN_BONES, ("Brian", "Tom")), NewHand()):
        session, _ = feed(session, event)
    session, announcements = lay(session, seen((5, 5), (0, 0), 90))
    assert questions(announcements) == ["who leads the 5-5?"]
    session, announcements = feed(session, Lead(Seat(1)))
    assert [
        (announcement.seat, str(announcement.tile))
        for announcement in announcements
        if isinstance(announcement, Placed)
    ] == [(1, "5-5")]
    assert session.open_question is None


def test_face_down_tiles_are_no_plays() -> None:
    tile = seen((5, 4), (2, 0))
    session, announcements = lay(line(seen((3, 5), (0, 0))), SeenTile(Face.DOWN, tile.corners_px, ()))
    assert announcements == ()
    assert plays(session) == ["5-3"]


def test_turning_a_played_tile_face_down_changes_nothing() -> None:
    first, last = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
    session, down = line(first, last), SeenTile(Face.DOWN, last.corners_px, ())
    after, announcements = feed(session, TableView((first, down), (), (Change(ChangeKind.TURNED, down, last),)))
    assert (after.state, announcements) == (session.state, ())
    assert after.places.laid == session.places.laid
    with pytest.raises(ValueError, match="expected a tile that is face up, but got one that is face down"):
        halves_of(down)


def test_an_unjoined_tile_is_played_once_it_is_moved_to_the_layout() -> None:
    away, there = seen((4, 1), (9, 0)), seen((4, 1), (4, 0))
    session, _ = lay(line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0))), away)
    session, _ = feed(session, TableView((there,), (), (Change(ChangeKind.MOVED, there, away),)))
    assert plays(session)[-1] == "4-1@5-4E"
    assert session.places.waiting == ()
    assert session.open_question is None


def test_a_tile_removed_before_it_was_resolved_is_forgotten() -> None:
    away = seen((4, 1), (9, 0))
    session, _ = lay(line(seen((3, 5), (0, 0))), away)
    session, _ = feed(session, TableView((), (), (Change(ChangeKind.REMOVED, away),)))
    assert session.places.waiting == ()
    assert session.open_question is None


def test_the_ends_of_a_pushed_tile_move_with_it() -> None:
    first = seen((3, 5), (0, 0))
    pushed = seen((5, 3), (0, 3), 180)
    session, _ = feed(line(first), TableView((pushed,), (), (Change(ChangeKind.MOVED, pushed, first),)))
    session, _ = lay(session, seen((5, 4), (2, 3)))
    assert plays(session) == ["5-3", "5-4@5-3E"]


def test_a_repeated_placement_is_no_second_play() -> None:
    session, announcements = lay(line(seen((3, 5), (0, 0))), seen((3, 5), (0.1, 0.05)))
    assert announcements == ()
    assert plays(session) == ["5-3"]


def test_a_redeal_clears_the_places_once_it_is_accepted() -> None:
    session = line(seen((3, 5), (0, 0)))
    laid = session.places.laid
    session, _ = feed(session, Redeal(RedealReason.MISDEAL))
    assert session.places.laid == laid != ()
    session, _ = feed(session, Press(Button.STANDS))
    assert session.places.laid == ()


def test_places_have_the_node_ids_of_the_log() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert [laid_tile.node for laid_tile in session.places.laid] == [NodeId(3), NodeId(4)]
    assert session.state.log[-1] == Play(Seat(1), Tile.parse("5-4"), Spot(NodeId(3), Port.E), 5)
