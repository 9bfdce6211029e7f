"""Tests of the text of game records: parsing, formatting and errors."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.record.text import (
    MAX_CHARACTERS,
    NOWHERE,
    BonusMove,
    CalledMove,
    DeclineMove,
    DrawMove,
    ForfeitedMove,
    KnockMove,
    NoteMove,
    Place,
    Record,
    RecordError,
    RecordHand,
    RecordTile,
    RecordTurn,
    RedealMove,
    ShowMove,
    ShowPipsMove,
    StackMove,
    Tag,
    TakenMove,
    TileMove,
    UndoMove,
    format_record,
    parse_record,
    parse_records,
)

ALLFIVES = """\
[DGR "1"] [Rules "allfives"] [Seats "A:Ann B:Bob"]
#1 deal=7,7 yard=14 lead=A
A: 5-5 =10  B: 5-0@E =10  A: 5-3@W  B: 0-2@E =15  A: 5-4@N  B: d2 2-2@E  A: 2-5@E  B: 3-3@W =20
"""
BONES = """\
[DGR "1"] [Rules "bones"] [Options "target=150"] [Seats "A:Brian B:Tom"]
#1 deal=7,7 yard=14 lead=A ; roll call: sixes? fives? … ones
A: 1-1 (t=3.1 c=.99)  B: 1-6@W  A: 6-3@W =5  B: 1-5@E  A: 5-5@E  B: 1-2@N =15  A: d1<2-0> 2-0@N  B: 3-2@W  A: H<4-4 6-6> B: +20
#end B+20
"""  # noqa: E501
CUTTHROAT = """\
[DGR "1"] [Rules "twoset"] [Options "cutthroat=1"] [Seats "A B C D"]
#1 deal=7,7,7,7 yard=28 lead=D
D: 2-2  A: 2-4@E  B: 2-0@W  C: 0-6@W =10  D: 2-4'^E =10 xC10
"""
SUPER = """\
[DGR "1"] [Rules "super"] [Seats "A B C"]
#1 deal=9,9,9 yard=109 lead=A
A: 7-7  B: 7-15@* C: d1! A: d1!  C: 15-3@1 B: 7-13@* A: d2 C: 9-9@2
"""
EXAMPLES = pytest.mark.parametrize(
    "text", [ALLFIVES, BONES, CUTTHROAT, SUPER], ids=["allfives", "bones", "twoset", "super"]
)

HEAD = '[DGR "1"]\n#1\n'


def moves(written: str) -> tuple[object, ...]:
    """Return the moves of player A parsed from *written*."""
    (hand,) = parse_record(f"{HEAD}A: {written}").hands
    (turn,) = hand.turns
    return turn.moves


def error(text: str) -> str:
    with pytest.raises(RecordError) as caught:
        parse_record(text)
    assert str(caught.value).startswith(f"line {caught.value.line}, column {caught.value.column}: ")
    return str(caught.value)


# Parsing


def test_parses_all_fives() -> None:
    assert parse_record(ALLFIVES) == Record(
        tags=(Tag("DGR", "1"), Tag("Rules", "allfives"), Tag("Seats", "A:Ann B:Bob")),
        hands=(
            RecordHand(
                1,
                keys=(("deal", "7,7"), ("yard", "14"), ("lead", "A")),
                turns=(
                    RecordTurn("A", (TileMove(5, 5), CalledMove(10))),
                    RecordTurn("B", (TileMove(5, 0, "E"), CalledMove(10))),
                    RecordTurn("A", (TileMove(5, 3, "W"),)),
                    RecordTurn("B", (TileMove(0, 2, "E"), CalledMove(15))),
                    RecordTurn("A", (TileMove(5, 4, "N"),)),
                    RecordTurn("B", (DrawMove(2), TileMove(2, 2, "E"))),
                    RecordTurn("A", (TileMove(2, 5, "E"),)),
                    RecordTurn("B", (TileMove(3, 3, "W"), CalledMove(20))),
                ),
            ),
        ),
    )


def test_parses_bones_with_a_note_a_revealed_hand_and_an_end() -> None:
    record = parse_record(BONES)
    (hand,) = record.hands
    assert [record.tag(name) for name in ("Options", "Seats", "Date")] == ["target=150", "A:Brian B:Tom", None]
    assert [hand.key(name) for name in ("deal", "lead", "roll")] == ["7,7", "A", None]
    assert hand.turns[0].moves == (TileMove(1, 1), NoteMove("t=3.1 c=.99"))
    assert hand.turns[6:] == (
        RecordTurn("A", (DrawMove(1, (RecordTile(2, 0),)), TileMove(2, 0, "N"))),
        RecordTurn("B", (TileMove(3, 2, "W"),)),
        RecordTurn("A", (ShowMove((RecordTile(4, 4), RecordTile(6, 6))),)),
        RecordTurn("B", (BonusMove(20),)),
    )
    assert (hand.closed, hand.end) == (True, "B+20")


def test_parses_the_examples_with_stacks_stolen_points_arms_and_forced_draws() -> None:
    (hand,) = parse_record(CUTTHROAT).hands
    assert hand.key("deal") == "7,7,7,7"
    assert hand.turns == (
        RecordTurn("D", (TileMove(2, 2),)),
        RecordTurn("A", (TileMove(2, 4, "E"),)),
        RecordTurn("B", (TileMove(2, 0, "W"),)),
        RecordTurn("C", (TileMove(0, 6, "W"), CalledMove(10))),
        RecordTurn("D", (StackMove(2, 4, "E", second=True), CalledMove(10), TakenMove("C", 10))),
    )
    assert (hand.closed, hand.end) == (False, "")
    (hand,) = parse_record(SUPER).hands
    assert hand.turns == (
        RecordTurn("A", (TileMove(7, 7),)),
        RecordTurn("B", (TileMove(7, 15, "*"),)),
        RecordTurn("C", (DrawMove(1, forced=True),)),
        RecordTurn("A", (DrawMove(1, forced=True),)),
        RecordTurn("C", (TileMove(15, 3, "1"),)),
        RecordTurn("B", (TileMove(7, 13, "*"),)),
        RecordTurn("A", (DrawMove(2),)),
        RecordTurn("C", (TileMove(9, 9, "2"),)),
    )


def test_parses_every_kind_of_move_and_port() -> None:
    assert moves("k n =10 ~5 +20 xP0 h12 redeal u u3") == (
        KnockMove(),
        DeclineMove(),
        CalledMove(10),
        ForfeitedMove(5),
        BonusMove(20),
        TakenMove("P", 0),
        ShowPipsMove(12),
        RedealMove(),
        UndoMove(1),
        UndoMove(3),
    )
    assert moves("d d4 d! d2!<2-0' 18-18>") == (
        DrawMove(1),
        DrawMove(4),
        DrawMove(1, forced=True),
        DrawMove(2, (RecordTile(2, 0, second=True), RecordTile(18, 18)), forced=True),
    )
    assert moves("H<> H< 4-4\n6-6 ; the last\n> (s=knock; really)") == (
        ShowMove(()),
        ShowMove((RecordTile(4, 4), RecordTile(6, 6))),
        NoteMove("s=knock; really"),
    )
    assert moves("5-3@5-5:W 3-3'@5-3':S 3-3^10-10:N 3-0@6") == (
        TileMove(5, 3, "5-5:W"),
        TileMove(3, 3, "5-3':S", second=True),
        StackMove(3, 3, "10-10:N"),
        TileMove(3, 0, "6"),
    )


def test_a_turn_may_be_empty_and_a_hand_unclosed() -> None:
    (hand,) = parse_record(f"{HEAD}A: B:k B: P:").hands
    assert hand.turns == (RecordTurn("A"), RecordTurn("B", (KnockMove(),)), RecordTurn("B"), RecordTurn("P"))
    record = parse_record(f"{HEAD}A: k\n#2\n#end ; nobody won\n#7 B: n #end dead tie #8")
    assert record.hands == (
        RecordHand(1, turns=(RecordTurn("A", (KnockMove(),)),)),
        RecordHand(2, closed=True),
        RecordHand(7, turns=(RecordTurn("B", (DeclineMove(),)),), closed=True, end="dead tie"),
        RecordHand(8),
    )


def test_tags_are_escaped_and_any_line_end_is_accepted() -> None:
    text = r'[DGR "1"][Event "the \"Swan\" \\o/ ; [#1]"]' + "\n"
    record = parse_record(text)
    assert record.tag("Event") == r'the "Swan" \o/ ; [#1]'
    assert format_record(record) == text.replace("][E", "]\n[E")
    expected = parse_record(BONES)
    assert parse_record("\ufeff" + BONES.replace("\n", "\r\n")) == expected
    assert parse_record(BONES.replace("\n", "\r")) == expected
    assert error('\ufeff[DGR "1"]\r\n#1\r\n  Z9') == (
        'line 3, column 3: expected a key such as "lead=A" or a seat such as "A:", found "Z9"'
    )


def test_parsed_elements_have_positions_that_equality_ignores() -> None:
    record = parse_record('[DGR "1"] [Rules "bones"]\n; …\n#1 lead=A\nA: 5-5 d2<2-0\n  3-0>\n  k #end')
    (hand,) = record.hands
    (turn,) = hand.turns
    assert [tag.place for tag in record.tags] == [Place(1, 2), Place(1, 12)]
    assert (hand.place, turn.place) == (Place(3, 1), Place(4, 1))
    assert [move.place for move in turn.moves] == [Place(4, 4), Place(4, 8), Place(6, 3)]
    assert replace(KnockMove(), place=Place(3, 4)) == KnockMove()
    assert hash(replace(KnockMove(), place=Place(3, 4))) == hash(KnockMove())
    assert KnockMove().place == NOWHERE == Place(0, 0)


# Formatting


def test_the_canonical_form() -> None:
    text = """\
; from the club's book
[Club "Swan"] [Seats "A:Ann B:Bob"] [Date "1990-05-01"] [Rules "bones"] [Table "3"] [DGR "1"]
#01 lead=A deal=7,7 A: 1-1 ( t=3.1  c=.99 ) B: d1 d1! d1!<2-0> d2<2-0' 3-1> ; that was all
A: H<4-4   6-6> B: h12 u1 u02 =05 #end   B+20 ; twenty
#2 A: redeal
"""
    assert (
        format_record(parse_record(text))
        == """\
[DGR "1"]
[Rules "bones"]
[Seats "A:Ann B:Bob"]
[Date "1990-05-01"]
[Club "Swan"]
[Table "3"]
#1 lead=A deal=7,7
A: 1-1 (t=3.1  c=.99)  B: d d! d!<2-0> d2<2-0' 3-1>  A: H<4-4 6-6>  B: h12 u u2 =5
#end B+20
#2
A: redeal
"""
    )


def test_long_lines_are_wrapped_between_turns_then_moves_and_tiles() -> None:
    shown = " ".join(["10-10"] * 20)
    record = parse_record(f"{HEAD}A: {'12-10@10-10:W ' * 5}B: {'k ' * 12}A: n B: H<{shown}> C: k A: ({'c' * 100})")
    assert (
        format_record(record)
        == f"""\
[DGR "1"]
#1
A: {" ".join(["12-10@10-10:W"] * 5)}  B: k k k k k k k k k k k k
A: n
B: H<{" ".join(["10-10"] * 16)}
  10-10 10-10 10-10 10-10>  C: k
A:
  ({"c" * 100})
"""
    )
    hundred = "A:" + " k" * 49
    assert format_record(parse_record(HEAD + hundred)).split("\n")[2:] == [hundred, ""]
    assert format_record(parse_record(HEAD + hundred + " =5")).split("\n")[2:] == [hundred, "  =5", ""]
    halves = "A:" + " k" * 24, "B:" + " k" * 23
    assert format_record(parse_record(HEAD + " ".join(halves))).split("\n")[2:] == ["  ".join(halves), ""]
    longer = "A:" + " k" * 24, "B:" + " k" * 22 + " d2"
    assert format_record(parse_record(HEAD + " ".join(longer))).split("\n")[2:] == [*longer, ""]


@EXAMPLES
def test_an_example_round_trips(text: str) -> None:
    record = parse_record(text)
    canonical = format_record(record)
    assert parse_record(canonical) == record
    assert format_record(parse_record(canonical)) == canonical
    assert max(map(len, canonical.splitlines())) <= 100


PRINTABLE = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
NUMBERS = st.integers(0, 999_999)
COUNTS = st.integers(1, 999_999)
PIPS = st.integers(0, 18)
SEATS = st.sampled_from("ABCDEFGHIJKLMNOP")
PORTS = st.sampled_from("WENS123456*") | st.builds(
    "{}-{}{}:{}".format, PIPS, PIPS, st.sampled_from(["", "'"]), st.sampled_from("WENS")
)
TILES = st.builds(RecordTile, PIPS, PIPS, second=st.booleans())
KNOWN = st.lists(TILES, min_size=1, max_size=20).map(tuple)
DRAWS = st.builds(DrawMove, COUNTS, forced=st.booleans()) | KNOWN.flatmap(
    lambda tiles: st.builds(DrawMove, st.integers(len(tiles), 999_999), st.just(tiles), forced=st.booleans())
)


def texts(*, without: str) -> st.SearchStrategy[str]:
    return st.text(PRINTABLE.filter(lambda sign: sign not in without), max_size=120).map(lambda text: text.strip(" "))


MOVES = st.one_of(
    st.builds(TileMove, PIPS, PIPS, st.none() | PORTS, second=st.booleans()),
    st.builds(StackMove, PIPS, PIPS, PORTS, second=st.booleans()),
    DRAWS,
    st.just(KnockMove()),
    st.just(DeclineMove()),
    st.builds(CalledMove, NUMBERS),
    st.builds(ForfeitedMove, NUMBERS),
    st.builds(BonusMove, NUMBERS),
    st.builds(TakenMove, SEATS, NUMBERS),
    st.builds(ShowMove, st.lists(TILES, max_size=20).map(tuple)),
    st.builds(ShowPipsMove, NUMBERS),
    st.just(RedealMove()),
    st.builds(UndoMove, COUNTS),
    st.builds(NoteMove, texts(without="()")),
)
TURNS = st.lists(st.builds(RecordTurn, SEATS, st.lists(MOVES, max_size=4).map(tuple)), max_size=4).map(tuple)
VALUES = st.text(PRINTABLE.filter(lambda sign: not sign.isspace() and sign not in ";#"), min_size=1, max_size=12)
KEYS = st.dictionaries(NAMES, VALUES, max_size=4).map(lambda keys: tuple(keys.items()))
HANDS = st.builds(RecordHand, NUMBERS, KEYS, TURNS) | st.builds(
    RecordHand, NUMBERS, KEYS, TURNS, closed=st.just(True), end=texts(without=";#")
)
KNOWN_TAGS = st.sampled_from(["Rules", "Options", "Seats", "Set", "Date", "Event", "Source", "Result"])
TAGS = st.dictionaries(KNOWN_TAGS | NAMES, st.text(PRINTABLE), max_size=6).map(
    lambda tags: tuple(Tag(name, text) for name, text in {**tags, "DGR": "1"}.items())
)
RECORDS = st.builds(Record, TAGS, st.lists(HANDS, max_size=2).map(tuple))


@pytest.mark.slow
@given(RECORDS)
def test_any_record_round_trips_in_short_lines(record: Record) -> None:
    canonical = format_record(record)
    assert parse_record(canonical) == record
    assert format_record(parse_record(canonical)) == canonical
    for line in canonical.split("\n"):
        assert len(line) <= 100 or line[0] in "[#" or re.fullmatch(r"  \(.*\)", line)


@given(st.permutations([Tag("DGR", "1"), Tag("Rules", "bones"), Tag("Seats", "A B"), Tag("Result", "A")]))
def test_known_tags_are_reordered(tags: list[Tag]) -> None:
    assert [tag.name for tag in Record(tuple(tags)).tags] == ["DGR", "Rules", "Seats", "Result"]


# Errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'line 1, column 1: expected the tag [DGR "1"], found the end of the text'),
        ("hello there", 'line 1, column 1: expected the tag [DGR "1"], found "hello"'),
        ('[Rules "bones"]\n#1', 'line 2, column 1: expected the tag [DGR "1"], found "#1"'),
        ('\n [DGR "2"]', 'line 2, column 7: expected version "1" of DGR, found "2"'),
        ('[DGR "1"] [A "x"] [A "x"]', 'line 1, column 20: expected each tag once, found "A" again'),
        ('[DGR "1"] [9 "x"]', 'line 1, column 12: expected the name of a tag, found "9"'),
        ('[DGR "1"] [A x]', 'line 1, column 14: expected a text in double quotes, found "x]"'),
        ('[DGR "1"]\n[A "x\n"]', 'line 2, column 6: expected a closing ", or \\" or \\\\, found the end of the line'),
        ('[DGR "1"]\n[A "a\\n"]', 'line 2, column 6: expected a closing ", or \\" or \\\\, found "\\n"]"'),
        ('[DGR "1"] [A "x" #1', 'line 1, column 18: expected "]", found "#1"'),
        ('[DGR "1"] A: 5-5', 'line 1, column 11: expected a hand such as "#1", found "A:"'),
        ('[DGR "1"]\n#end', 'line 2, column 1: expected a hand such as "#1", found "#end"'),
        ('[DGR "1"]\n#1234567', 'line 2, column 2: expected a number of at most 6 digits, found "1234567"'),
        ('[DGR "1"]\n#1A:', 'line 2, column 3: expected a blank, found "A:"'),
        (
            '[DGR "1"]\n#1 lead= A: k',
            'line 2, column 4: expected a key such as "lead=A" or a seat such as "A:", found "lead="',
        ),
        ('[DGR "1"]\n#1 a=1 b=2 a=1', 'line 2, column 12: expected each key once, found "a" again'),
        ('[DGR "1"]\n#1 Q: k', 'line 2, column 4: expected a key such as "lead=A" or a seat such as "A:", found "Q:"'),
        (
            f"{HEAD}A: 5-5 =10  Z9",
            'line 3, column 13: expected a move such as "5-3@W" or a seat such as "A:", found "Z9"',
        ),
        (
            f'{HEAD}A: k [Rules "x"]',
            'line 3, column 6: expected a move such as "5-3@W" or a seat such as "A:", found "[Rules"',
        ),
        (f"{HEAD}A: 19-3", 'line 3, column 4: expected a tile from "0-0" to "18-18", found "19-3"'),
        (f"{HEAD}A: 5-3@Q", 'line 3, column 8: expected a port such as "E", "2", "*" or "5-5:N", found "Q"'),
        (f"{HEAD}A: 5-3@ E", 'line 3, column 8: expected a port such as "E", "2", "*" or "5-5:N", found a blank'),
        (f"{HEAD}A: 5-3^\tE", 'line 3, column 8: expected a port such as "E", "2", "*" or "5-5:N", found "\\t"'),
        (f"{HEAD}A: 5-3@EN", 'line 3, column 9: expected a blank, found "N"'),
        (f"{HEAD}A: d0", 'line 3, column 5: expected a number from 1 to 999999, found "0"'),
        (f"{HEAD}A: d<>", "line 3, column 5: expected 1 to 1 tiles in a draw of 1, found 0"),
        (f"{HEAD}A: d2!<1-0 1-1\n1-2>", "line 3, column 7: expected 1 to 2 tiles in a draw of 2, found 3"),
        (f"{HEAD}A: H<4-4", 'line 3, column 9: expected a tile from "0-0" to "18-18", found the end of the text'),
        (f"{HEAD}A: xQ10", 'line 3, column 5: expected a seat from A to P, found "Q10"'),
        (f"{HEAD}A: =-5", 'line 3, column 5: expected a number of at most 6 digits, found "-5"'),
        (f"{HEAD}A: (t=1\nc=2)", 'line 3, column 8: expected ")" on the same line, found the end of the line'),
        (f"{HEAD}A: k\n#end B\x00", 'line 4, column 7: expected a hand such as "#1", found "\\x00"'),
    ],
)
def test_an_error_names_its_position_and_the_expected_and_actual_text(text: str, message: str) -> None:
    assert error(text) == message


def test_an_error_has_a_line_and_a_column_and_the_length_is_limited() -> None:
    with pytest.raises(EngineError) as caught:
        parse_record(f"{HEAD}A: k\n  B: 5-3@Q")
    assert isinstance(caught.value, RecordError)
    assert (caught.value.line, caught.value.column) == (4, 10)
    text = HEAD + ";" * (MAX_CHARACTERS - len(HEAD))
    assert parse_record(text) == Record((Tag("DGR", "1"),), (RecordHand(1),))
    assert error(text + ";") == "line 1, column 1: expected at most 300000 characters, found 300001"


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("Z" * 20, "Z" * 20),
        ("Z" * 21, "Z" * 19 + "…"),
        ("Z\x1b[31m", r"Z\x1b[31m"),
        ("Z\u202e\ud800", r"Z\u202e\ud800"),
        ("Zü", "Zü"),
        ("Z" + "\x00" * 30, "Z" + r"\x00" * 4 + r"\x…"),
    ],
)
def test_text_in_an_error_is_short_and_printable(found: str, shown: str) -> None:
    assert error(f"{HEAD}A: {found} k").endswith(f'found "{shown}"')


@pytest.mark.parametrize(
    "make",
    [
        lambda: TileMove(19, 0),
        lambda: TileMove(0, -1),
        lambda: TileMove(1, 1, "Q"),
        lambda: StackMove(1, 1, ""),
        lambda: StackMove(1, 1, "19-1:W"),
        lambda: DrawMove(0),
        lambda: DrawMove(1, ()),
        lambda: DrawMove(1, (RecordTile(1, 1), RecordTile(1, 2))),
        lambda: CalledMove(-1),
        lambda: BonusMove(1_000_000),
        lambda: TakenMove("AB", 1),
        lambda: ShowPipsMove(-1),
        lambda: UndoMove(0),
        lambda: NoteMove("a)"),
        lambda: NoteMove(" a"),
        lambda: NoteMove("a\nb"),
        lambda: Tag("1", ""),
        lambda: Tag("A", "a\nb"),
        lambda: Tag("A", "\ud800"),
        lambda: RecordTurn("Q"),
        lambda: RecordTurn(""),
        lambda: RecordHand(-1),
        lambda: RecordHand(1, keys=(("a", "1"), ("a", "2"))),
        lambda: RecordHand(1, keys=(("a", ""),)),
        lambda: RecordHand(1, keys=(("a b", "1"),)),
        lambda: RecordHand(1, closed=True, end="a;b"),
        lambda: RecordHand(1, closed=True, end="a "),
        lambda: RecordHand(1, end="B+20"),
        lambda: Record(()),
        lambda: Record((Tag("DGR", "2"),)),
        lambda: Record((Tag("DGR", "1"), Tag("A", "1"), Tag("A", "2"))),
    ],
)
def test_values_that_cannot_be_written_are_rejected(make: object) -> None:
    assert callable(make)
    with pytest.raises(EngineError):
        make()


# Arbitrary input


def check_robust(text: str) -> None:
    """Check that *text* is parsed or rejected with a proper error within a second."""
    started = time.perf_counter()
    wrong = error_in(text)
    assert time.perf_counter() - started < 1
    if wrong is not None:
        assert "expected " in str(wrong)
        assert str(wrong).isprintable()
        assert len(str(wrong)) < 200
        assert 1 <= wrong.line <= text.count("\n") + text.count("\r") + 1


def error_in(text: str) -> RecordError | None:
    try:
        parse_record(text)
    except RecordError as wrong:
        return wrong
    return None


@given(st.binary(max_size=2000))
def test_random_bytes_are_rejected_cleanly(noise: bytes) -> None:
    check_robust(noise.decode("latin-1"))
    check_robust(HEAD + "A: " + noise.decode("latin-1"))


@given(st.text("[]\"\\#;:=~+<>(){}@^!'*-0159ABPQWENSdkhuxHrelan \n\r\t\x00\ufeff", max_size=300))
def test_random_tokens_are_rejected_cleanly(noise: str) -> None:
    check_robust(noise)
    check_robust(HEAD + "A: " + noise)


@EXAMPLES
def test_a_truncated_example_is_parsed_or_rejected_cleanly(text: str) -> None:
    for end in range(len(text)):
        check_robust(text[:end])
        check_robust(text[end:])


@EXAMPLES
@pytest.mark.parametrize("sign", ["", "\x00", "9", '"', "<", "(", "#", ":", "\n", "\ud800"])
def test_an_example_with_a_changed_character_is_parsed_or_rejected_cleanly(text: str, sign: str) -> None:
    for at in range(len(text)):
        check_robust(text[:at] + sign + text[at + 1 :])


@pytest.mark.parametrize(
    "before", ["#", "[DGR ", HEAD, HEAD + "A: ", HEAD + "A: d", HEAD + "A: 5-", HEAD + "A: 5-5@", HEAD + "A: H<"]
)
@pytest.mark.parametrize(
    "sign", ["<", "(", "[", "H<", "()", "<>", '"', "\\", "9", "A", "-", "'", "#", ":", "=", "\ufeff"]
)
def test_a_long_line_of_a_repeated_character_is_rejected_cleanly(before: str, sign: str) -> None:
    check_robust(before + sign * ((MAX_CHARACTERS - len(before)) // len(sign)))


@pytest.mark.parametrize(
    "before",
    ['[DGR "1"] [A "', '[DGR "1"] [', '[DGR "1"] #1 a', '[DGR "1"] #1 a=', HEAD + "A: (", HEAD + "#end ", HEAD + ";"],
)
@pytest.mark.parametrize("sign", ["a", " ", "\t", "\x00"])
def test_a_long_text_is_parsed_or_rejected_cleanly(before: str, sign: str) -> None:
    check_robust(before + sign * (MAX_CHARACTERS - len(before)))


def test_a_file_may_hold_several_matches() -> None:
    text = '[DGR "1"] [Rules "bones"]\n#1\nA: 5-5 {}\n[DGR "1"] [Rules "draw"] #1 A: 6-6\n'
    for end in ("", "#end B+5"):
        first, second = parse_records(text.format(end))
        assert (first.tag("Rules"), second.tag("Rules")) == ("bones", "draw")
        assert [len(record.hands) for record in (first, second)] == [1, 1]
        with pytest.raises(RecordError, match="line 4, column 2: expected one match, found another"):
            parse_record(text.format(end))
    assert parse_records('[DGR "1"]') == (parse_record('[DGR "1"]'),)
