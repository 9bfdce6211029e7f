"""Tests of playing game records: a line per move, with its score and problems."""

from __future__ import annotations

import re
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import ItStands, Phase, replay
from engine.record.play import MAX_GIVEN, MAX_MOVES, Line, PlayedRecord, play_record
from engine.record.text import RecordError, parse_record
from tests.engine import test_record_text as written


def play(text: str, *, strict: bool = False) -> PlayedRecord:
    return play_record(parse_record(text), strict=strict)


def record(moves: str, *, rules: str = "bones", options: str = "lead_first=lot_any", head: str = "lead=A") -> str:
    return f'[DGR "1"] [Rules "{rules}"] [Options "{options}"] [Seats "A B"] #1 {head} {moves}'


def lines(text: str, *, strict: bool = False) -> list[tuple[str, str, int | None, int, tuple[int, ...], str | None]]:
    return [
        (line.seat, line.action, line.count, line.points, line.totals, line.problem)
        for line in play(text, strict=strict).lines
    ]


def problems(text: str, *, strict: bool = False) -> list[str | None]:
    return [line.problem for line in play(text, strict=strict).lines]


def last(text: str, *, strict: bool = False) -> Line:
    return play(text, strict=strict).lines[-1]


# Records in the notation of docs/reference/rules.md 6.2


def test_the_all_fives_example_counts_and_scores_as_documented() -> None:
    assert lines(written.ALLFIVES) == [
        ("A", "5-5", 10, 10, (10, 0), None),
        ("A", "=10", 10, 0, (10, 0), None),
        ("B", "5-0@E", 10, 10, (10, 10), None),
        ("B", "=10", 10, 0, (10, 10), None),
        ("A", "5-3@W", 13, 0, (10, 10), None),
        ("B", "0-2@E", 15, 15, (10, 25), None),
        ("B", "=15", 15, 0, (10, 25), None),
        ("A", "5-4@N", 14, 0, (10, 25), None),
        ("B", "d2", 14, 0, (10, 25), None),
        ("B", "2-2@E", 16, 0, (10, 25), None),
        ("A", "2-5@E", 17, 0, (10, 25), None),
        ("B", "3-3@W", 20, 20, (10, 45), None),
        ("B", "=20", 20, 0, (10, 45), None),
    ]


def test_a_shortened_game_of_bones_pays_the_written_hand_points() -> None:
    played = lines(written.BONES)
    assert [line[:5] for line in played] == [
        ("A", "1-1", 2, 0, (0, 0)),
        ("B", "1-6@W", 8, 0, (0, 0)),
        ("A", "6-3@W", 5, 5, (5, 0)),
        ("A", "=5", 5, 0, (5, 0)),
        ("B", "1-5@E", 8, 0, (5, 0)),
        ("A", "5-5@E", 13, 0, (5, 0)),
        ("B", "1-2@N", 15, 15, (5, 15)),
        ("B", "=15", 15, 0, (5, 15)),
        ("A", "d<2-0>", 15, 0, (5, 15)),
        ("A", "2-0@N", 13, 0, (5, 15)),
        ("B", "3-2@W", 12, 0, (5, 15)),
        ("A", "H<4-4 6-6>", 12, 0, (5, 15)),
        ("B", "+20", 12, 20, (5, 35)),
    ]
    assert [(line[1], line[5]) for line in played if line[5]] == [
        ("5-5@E", "Brian let the 1-1 lead, but held 5-5"),
        (
            "H<4-4 6-6>",
            "going by the tiles played and drawn, Tom still holds 3 tiles; Brian shows 2 tiles, but should hold 4; "
            "Brian did not declare more than 3 doubles, but held 4-4 and 6-6; "
            "Brian let the 1-1 lead, but held 4-4 and 6-6",
        ),
    ]


def test_cutthroat_points_are_paid_when_called_and_stolen_from_the_previous_player() -> None:
    assert lines(written.CUTTHROAT) == [
        ("D", "2-2", 4, 0, (0, 0, 0, 0), None),
        ("A", "2-4@E", 8, 0, (0, 0, 0, 0), None),
        ("B", "2-0@W", 4, 0, (0, 0, 0, 0), None),
        ("C", "0-6@W", 10, 0, (0, 0, 0, 0), None),
        ("C", "=10", 10, 10, (0, 0, 10, 0), None),
        ("D", "2-4'^E", 10, 0, (0, 0, 10, 0), None),
        ("D", "=10", 10, 10, (0, 0, 0, 10), None),
        ("D", "xC10", 10, 0, (0, 0, 0, 10), None),
    ]


def test_the_super_example_has_no_problems() -> None:
    played = play(written.SUPER, strict=True)
    assert [line.action for line in played.lines] == ["7-7", "7-15@*", "d!", "d!", "15-3@1", "7-13@*", "d2", "9-9@2"]
    assert played.result.problems == 0
    assert played.lines[-1].game.hand is not None
    assert played.lines[-1].game.hand.sizes == (11, 7, 8)
    assert played.lines[-1].game.hand.turn == 0  # C's double skips B


@pytest.mark.parametrize("text", [written.ALLFIVES, written.BONES, written.CUTTHROAT, written.SUPER])
def test_the_events_of_a_record_replay_to_the_same_match(text: str) -> None:
    played = play(text)
    assert replay(played.log).game == played.lines[-1].game


# Checksums


@pytest.mark.parametrize(
    ("moves", "problem"),
    [
        ("A: 5-5 =5", "=5 is written, but the play scores 10"),
        ("A: 5-5 B: =10", "=10 is written, but the play scores 0"),
        ("A: 5-5 ~10", "~10 is written, but points count by themselves in this game"),
        ("A: 5-5 xB10", "xB10 is written, but nothing was taken from B"),
        ("A: 5-5 +10", "+10 is taken as written: the hand cannot be counted from what is shown"),
        ("A: +10", "+10 is taken as written: the hand cannot be counted from what is shown"),
        ("A: 5-5 B: h7 A: +5", None),
        ("A: 5-5 B: h7 A: +10", "+10 is written, but the hand pays 5"),
        ("A: 5-5 B: h7 +5", "+5 is written, but A wins the hand"),
    ],
)
def test_written_points_are_checked_against_the_play(moves: str, problem: str | None) -> None:
    assert last(record(moves)).problem == problem


def test_written_points_are_checked_when_the_hand_is_counted() -> None:
    text = record("A: 5-5 +{} B: h7", options="lead_first=lot_any hand=1")
    assert problems(text.format(5)) == [None] * 3
    assert problems(text.format(10)) == [None, None, "+10 is written, but the hand pays 5"]
    text = '[DGR "1"] [Rules "twoset"] #1 lead=A A: 5-5 {} B: 5-0@E {} C: 5-1@W {}'
    assert play(text.format("~10", "=10", "")).result.totals == (0, 10, 0, 0)
    assert problems(text.format("~10", "=10", "")) == [None] * 5
    assert problems(text.format("~5", "", ""))[1] == "~5 is written, but 10 are forfeited"
    assert problems(text.format("", "", "~5"))[-1] == "~5 is written, but C forfeits nothing"
    assert problems(text.format("", "=15", ""))[2] == "B calls 15, but the points are 10 (5 + 5 + 0 = 10)"
    assert problems(text.format("", "A: ~10", "")) == [None] * 4  # although the next tile also scores
    assert problems(text.format("", "=10 A: ~10", "")) == [None] * 5
    assert problems(text.format("", "A: ~5", ""))[2] == "~5 is written, but 10 are forfeited"
    assert problems(text.format("", "", "A: ~10"))[-1] == "~10 is written, but A forfeits nothing"
    granted = '[DGR "1"] [Rules "twoset"] #1 lead=A A: 5-5 B: 5-1@E A: =10 (stands) ~10'
    assert problems(granted) == [None, None, None, "~10 is written, but A forfeits nothing"]
    late = play(text.format("", "A: =10", ""))
    assert late.lines[2].problem == "too late: A forfeited the 10 points when the next tile was played"
    assert late.result.totals == (0, 0, 0, 0)
    for strict in (False, True):
        is_accepted = play(text.format("", "A: =10 (stands) B: =10", ""), strict=strict)
        assert [line.problem for line in is_accepted.lines] == [None] * 5
        assert is_accepted.result.totals == (10, 10, 0, 0)


# Hands


def test_unfinished_tied_and_uncounted_hands_keep_their_points() -> None:
    played = play(record("A: 5-5 #end #2 B: 6-6 A: 6-3@E"))
    assert played.lines[1].problem == "hand 1 was not finished"
    assert played.result.totals == (25, 0)
    assert played.result.reason == "hand 2 is being played"
    assert problems(record("A: 5-5 B: h7 #end #4 A: 6-6"))[-1] == "hand 2 is expected here, this is called hand 4"
    tie = "its tie is decided by tiles of which only the pips are known"
    played = play(record("A: 5-5 A: h7 B: h7 #2 B: 6-6"))
    assert (played.result.totals, played.lines[-1].problem) == ((10, 0), f"hand 1 was not finished: {tie}")
    for end, problems_found in (("", 0), (" #end", 1)):
        result = play(record(f"A: 5-5 A: h7 B: h7{end}")).result
        assert result.reason.startswith("hand 1 is over but not counted, not shown: the tiles of a tie")
        assert (result.problems - 1, tie in result.reason) == (problems_found, bool(problems_found))
    counted = play(record("A: 5-5 A: h7 B: h7 (end) #end #2 B: 6-6"))
    assert (counted.result.totals, [line.problem for line in counted.lines[2:4]]) == ((10, 0), [None] * 2)
    assert "not finished" not in str(counted.lines[-1].problem)
    sheet = (
        '[DGR "1"] [Rules "bones"] [Options "{}"] [Seats "A:Ann B:Bob"] #1 A: +35 B: +5 #end #2 B: +60 #3 A: +120 #end'
    )
    played = play(sheet.format("target=150"))
    taken = "is taken as written: the hand cannot be counted from what is shown"
    assert [line.problem for line in played.lines] == [f"+{points} {taken}" for points in (35, 5, 60, 120)]
    assert [line.totals for line in played.lines] == [(35, 0), (35, 5), (35, 65), (155, 65)]
    assert (played.result.winner, played.result.over) == ("A", True)
    assert replay(played.log).game == played.lines[-1].game
    later = play(sheet.format("target=150 match_end=end_of_hand"))
    assert (later.result.winner, later.result.totals) == ("A", (155, 65))
    assert play(sheet.format("target=30")).lines[1].problem == f"+5 {taken}"


def test_doubtful_moves_count_only_once_accepted() -> None:
    doubted = "A: 5-5 A: k{} B: 5-4@E"
    refused, accepted = play(record(doubted.format(""))), play(record(doubted.format(" (stands)")))
    assert refused.lines[1].problem == "it is B's turn, not A's"
    assert not any(isinstance(event, ItStands) for event in refused.log)
    assert refused.lines[2].problem is None
    assert accepted.lines[1].problem is None
    text = record("A: 5-5 B: h7 A: +5 #end #2 lead=B B: {}6-4 A: 4-1@E")
    assert problems(text.format(""))[3:] == ["A leads this hand", None]
    assert problems(text.format(""), strict=True)[3] == "A leads this hand; it is A's turn, not B's"
    assert problems(text.format("(stands) "), strict=True)[3:] == [None, None]


def test_each_move_has_its_place_seats_and_set() -> None:
    text = '[DGR "1"] [Rules "bones"]\n#1\nA: 5-5  B: 5-0@W =5\n'
    assert [(line.place.line, line.place.column) for line in play(text).lines] == [(3, 4), (3, 12), (3, 18)]
    with pytest.raises(RecordError, match="line 1, column 27: two players have the same name"):
        play('[DGR "1"] [Rules "bones"][Seats "A:Ann Lee B:ann  lee"] #1')
    assert problems(record("A: 5-5 B: 5-4@W A: 4-3@5-4:W B: 3-1@4-3:E")) == [None] * 4
    text = '[DGR "1"] [Rules "super"] [Seats "A B"] #1 A: 7-7 ' + " ".join(
        f"{'BA'[at % 2]}: 7-{end}@*" for at, end in enumerate((1, 2, 4, 5, 6, 8, 9))
    )
    assert problems(text) == [None] * 7 + ["the starter has only 6 arms"]
    assert len(last(text).game.layout.nodes) == 8
    assert len(last(text, strict=True).game.layout.nodes) == 7
    assert play('[DGR "1"] [Rules "bones"] #1 C: 6-6').opening.letters == "ABC"
    assert play('[DGR "1"] [Rules "cutthroat"]').opening.letters == "ABCD"
    assert play('[DGR "1"] [Rules "bones"] [Set "double nine"]').opening.rules.max_pips == 9
    assert play('[DGR "1"] [Rules "bones"] [Seats "A:Anna B Smith B:Tom"]').opening.players == ("Anna B Smith", "Tom")


def test_an_undo_reverts_the_last_moves_and_notes_adjust_points() -> None:
    assert lines(record("A: 5-5 B: 5-0@E =10 u2 5-1@E"))[2:] == [
        ("B", "=10", 10, 0, (10, 10), None),
        ("B", "u2", 10, -10, (10, 0), None),
        ("B", "5-1@E", 11, 0, (10, 0), None),
    ]
    assert last(record("A: 5-5 u3")).problem == "3 moves to undo, but this hand has only 1"
    assert last(record("A: 5-5 u3")).count is None
    text = record("A: 6-3 B: 5-5@E (stands) A: (t=3) B: (points=-5 he looked)")
    assert lines(text, strict=True)[1:] == [
        ("B", "5-5@E", 16, 0, (0, 0), None),
        ("B", "(points=-5 he looked)", 16, -5, (0, -5), None),
    ]


# Ports


@pytest.mark.parametrize(
    ("moves", "problem"),
    [
        ("A: 5-5@W", "there is nothing at W: this is the first tile"),
        ("A: 5-5 B: 5-1@N", "the spinner needs a tile on both sides first"),
        ("A: 5-5 B: 6-1@E", "the 6-1 does not fit there: that end needs a 5"),
        ("A: 5-5 B: 1-5@E", "turn the 5-1 round: the 5 must touch the layout"),
        ("A: 5-4 B: 5-1@N", "5-1: the 5-4 is not a double and has no tips"),
        ("A: 5-4 B: 4-4@E A: 4-1@N", "the spinner needs a tile on both sides first"),
        ("A: 5-5 B: 5-1@3", "5-1: the 5-5 has no such side"),
        ("A: 5-5 B: 5-1@*", "5-1: the 5-5 has no such side"),
        ("A: 5-5 B: 5-1@6-6:W", "5-1: the tile it should touch is not on the table"),
        ("A: 5-4 B: 5-1", "the place of the 5-1 is missing, and only W fits"),
        ("A: 5-5 B: 5-1", "5-1: it must touch the layout"),
        ("A: 5-5 B: 5-1'@W", "5-1' is written, but there is only one set"),
        ("A: 5-5 B: 5-4@W A: 4-4@W B: 4-3@4-4:N", "only the first double branches: that is the 5-5, not the 4-4"),
        ("A: 5-5 B: 5-5^W", "bones has no stacking; the 5-5 is already on the table; the last play scored nothing"),
    ],
)
def test_an_impossible_place_is_reported(moves: str, problem: str) -> None:
    assert str(last(record(moves)).problem).startswith(problem)


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ("6-6:N", None),
        ("6-6':N", "only the first double branches: that is the 6-6, not the 6-6"),
        ("6-6':W", None),
        ("6-6':E", None),
    ],
)
def test_a_mark_on_a_port_refers_to_the_second_copy(host: str, problem: str | None) -> None:
    moves = f"D: 6-6 A: 6-1@E B: 6-2@W C: 2-6@W D: 6-6'@W A: 6-3@{host}"
    text = f'[DGR "1"] [Rules "twoset"] [Seats "A B C D"] #1 lead=D {moves}'
    assert problems(text, strict=True) == [None] * 5 + [problem]
    laid = last(text).game.layout.nodes
    at = laid[-1].joins
    assert at is not None
    assert at.host == laid[4 if "'" in host else 0].id


def test_a_mark_also_refers_to_a_single_copy() -> None:
    text = '[DGR "1"] [Rules "twoset"] [Seats "A B C D"] #1 lead=D D: 6-6\' A: 6-1@6-6\':E'
    assert problems(text) == [None, None]
    text = '[DGR "1"] [Rules "cutthroat"] [Seats "A B C D"] [Options "lead_first=lot_any"] #1 lead=A A: 5-0 =5 B: {}'
    assert problems(text.format("5-0'^N")) == [None] * 3
    assert last(text.format("5-0'^N")).game.layout.stacked == (last(text.format("5-0'^W")).game.layout.nodes[0].id,)
    assert "is not on the table" in str(problems(text.format("5-1^N"))[2])


# Invalid records


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[DGR "1"]', 'line 1, column 2: expected a tag such as [Rules "bones"]; the games are bones, draw, '),
        ('[DGR "1"]\n[Rules "chess"]', 'line 2, column 2: no game is called "chess"; the games are bones, draw, '),
        ('[DGR "1"] [Rules "bones"]\n[Options "target=x"]', "line 2, column 2: target: expected 1 or more"),
        ('[DGR "1"] [Rules "bones"] [Seats "Tom"]', 'line 1, column 28: expected seats such as "A:Brian B:Tom"'),
        ('[DGR "1"] [Rules "bones"] [Seats "A:Tom A:Bo"]', "line 1, column 28: expected each seat once"),
        ('[DGR "1"] [Rules "twoset"] [Seats "A B"]', "line 1, column 29: twoset is for 4 to 6 players, got 2"),
        ('[DGR "1"] [Rules "bones"] [Set "7-up"]', "line 1, column 28: set: expected 6 to 18"),
        (
            '[DGR "1"] [Rules "bones"] [Options "set=9"] [Set "double-six"]',
            "line 1, column 46: expected the set of the options, which is 9",
        ),
        (record("C: 5-5"), 'line 1, column 82: expected one of the seats A, B, found "C"'),
        (record("A: 5-5 xC5"), 'line 1, column 89: expected one of the seats A, B, found "C"'),
        (record("A: 5-5", head="lead=C"), 'line 1, column 72: expected one of the seats A, B, found "C"'),
        (record("A: 5-5", head="roll=5"), 'line 1, column 72: expected the keys deal, yard and lead, found "roll"'),
        (record("A: 5-5", head="deal=7,7,7"), "line 1, column 72: deal: expected 1 or 2 numbers for 2 players"),
        (record("A: 5-5", head="deal=x"), "line 1, column 72: deal: expected a number from 0 to 28"),
        (record("A: 5-5", head="deal=1,29"), "line 1, column 72: deal: expected a number from 0 to 28"),
        (record("A: 5-5", head="deal=20"), "line 1, column 72: deal: expected at most the 28 tiles of the game"),
        (record("A: 5-5", head="yard=99"), "line 1, column 72: yard: expected a number from 0 to 28"),
        (record("A: " + "k " * (MAX_MOVES + 1)), f"line 1, column 72: expected at most {MAX_MOVES} moves in a record"),
    ],
)
def test_an_invalid_record_is_rejected_with_its_position(text: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        play(text)
    assert str(caught.value).startswith(message)


# Arbitrary input


TOKENS = re.compile(r"\S+")
PIECES = (
    *("5-5", "5-3@W", "0-2@E", "6-6@*", "2-4^E", "d", "d2!", "k", "n", "=5", "~5", "+20", "xB10", "H<1-1>", "h12"),
    *("redeal", "u", "u3", "(stands)", "(end)", "A:", "B:", "C:", "#end", "#2"),
)
CHANGES = st.tuples(st.integers(0, 60), st.sampled_from(["drop", "twice", "put"]), st.sampled_from(PIECES))


@pytest.mark.slow
@given(
    st.sampled_from([written.ALLFIVES, written.BONES, written.CUTTHROAT, written.SUPER]),
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(["drop", "twice", "put"]), st.sampled_from(PIECES)), max_size=8
    ),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_a_changed_record_is_played_or_rejected_cleanly(
    text: str, changes: list[tuple[int, str, str]], strict: bool
) -> None:
    message = TOKENS.findall(re.sub(";.*", "", text))
    for place, change, piece in changes:
        at = place % len(message)
        message[at : at + 1] = {"drop": [], "twice": [message[at]] * 2, "put": [message[at], piece]}[change]
    started = time.perf_counter()
    try:
        played = play(" ".join(message), strict=strict)
    except RecordError:
        return
    finally:
        assert time.perf_counter() - started < 1
    if played.lines:
        assert replay(played.log).game is not None
        assert played.result.totals == played.lines[-1].totals or played.lines[-1].game.phase is not Phase.PLAY


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["k ", "d ", "5-5@E ", "5-5 u ", "h1 ", "+5 ", "redeal ", "=5 "])
def test_the_longest_record_of_a_repeated_move_takes_under_a_minute(moves: str) -> None:
    started, most = time.perf_counter(), MAX_GIVEN if moves == "+5 " else MAX_MOVES // 2 - 2
    play(record("A: 5-5 B: " + moves * most))
    assert time.perf_counter() - started < 60


def slow(*values: object) -> Any:
    return pytest.param(*values, marks=pytest.mark.slow)


# Branch coverage makes it three times as slow.
MAX_S = 2 if sys.gettrace() is None else 8
HOSTILE = '[DGR "1"] [Rules "block"] [Seats "A:Ann B:Ben"] #1 deal=7,7 lead=A A: 5-5 B: '


@pytest.mark.timed
@pytest.mark.parametrize("moves", ["d " * 4000, *map(slow, ("d2 " * 2600, "d u " * 2000, "d " * 2000 + "u " * 2000))])
def test_repeated_moves_take_bounded_time_and_memory(moves: str) -> None:
    record = parse_record(HOSTILE + moves)
    begins_s = time.process_time()
    played = play_record(record)
    assert time.process_time() - begins_s < MAX_S
    claimed = [claims for line in played.lines if line.game.hand is not None for claims in line.game.hand.claims]
    assert max(len(claims) for claims in claimed) <= 2  # about a double to lead, and about the ends


@pytest.mark.timed
@pytest.mark.parametrize(
    ("moves", "most"),
    [
        ("6-6@W " * 6000, "at most 400 tiles on the table"),
        slow("6-6@6-6:N " * 6000, "at most 400 tiles on the table"),
        slow("6-5@W 5-6@W " * 3000, "at most 400 tiles on the table"),
        ("6-6@W " * 380 + "6-6@W u " * 9000, "fewer open ends on the table"),
        slow("6-6@W " * 380 + "6-6@6-6:N u " * 9000, "fewer open ends on the table"),
    ],
)
def test_a_game_without_rules_is_bounded_in_tiles_and_time(moves: str, most: str) -> None:
    read = parse_record(f'[DGR "1"] [Rules "free"] [Seats "A B"] #1 A: 6-6 {moves}')
    begins_s = time.process_time()
    with pytest.raises(RecordError, match=most) as caught:
        play_record(read)
    assert time.process_time() - begins_s < MAX_S
    assert str(caught.value).startswith("line 1, column 43:")


def test_all_tiles_of_two_double_eighteen_sets_can_lie_on_the_table() -> None:
    tiles = " ".join(f"{a}-{b}@W" for a in range(19) for b in range(a + 1))
    played = play(f'[DGR "1"] [Rules "free"] [Options "set=18 copies=2"] [Seats "A B"] #1 A: {tiles} {tiles}')
    assert len(played.lines[-1].game.layout.nodes) == 380


@pytest.mark.parametrize("move", ["(points=1) ", slow("(points=-1 he looked) "), slow("+2 ")])
def test_the_number_of_adjustments_is_bounded(move: str) -> None:
    assert len(play_record(parse_record(HOSTILE + move * 2000)).lines) == 2001
    with pytest.raises(RecordError, match="expected points to be given at most 2000 times, found more"):
        play_record(parse_record(HOSTILE + move * 1000 + "#end #2 A: 5-5 B: " + move * 1001))
