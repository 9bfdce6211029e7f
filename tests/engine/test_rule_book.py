"""Tests of docs/reference/rules.md against the engine: options, the table of 2.7 and the worked positions."""

from __future__ import annotations

import re

import pytest

from engine import Seat
from engine.errors import OptionsError
from engine.record.play import PlayedRecord, play_record
from engine.record.text import parse_record
from engine.rules.options import (
    ALLFIVES,
    BLOCK,
    BONES,
    CUTTHROAT,
    DRAW,
    PROFILES,
    SUPER,
    TWOSET,
    allowed_text,
    matters,
    option_named,
    profile,
    with_options,
)
from engine.rules.rules import OPTIONS, Number, Rules
from tests.engine.rule_book import options, sections, tables

GAMES = {
    "3.1": (BONES,),
    "3.2": (DRAW,),
    "3.3": (ALLFIVES,),
    "3.4": (BLOCK,),
    "3.5": (SUPER,),
    "3.6": (TWOSET, CUTTHROAT),
}
# Options that only have an effect together with another one.
TOGETHER = {"signed": {"mode": "advanced"}, "partners_mode": {"partners": "yes"}}
_PLAY = re.compile(r"`([^`]+)`")


def can_be_chosen(rules: Rules, key: str, value: str) -> bool:
    try:
        with_options(rules, {**TOGETHER.get(key, {}), key: value})
    except OptionsError:
        return False
    return True


def test_every_option_of_the_book_can_be_chosen() -> None:
    written = [(number, key, value) for number, text in sections().items() for key, value in options(text)]
    assert len(written) > 40
    wrong = [
        f"{number}: {key}={value}"
        for number, key, value in written
        if not any(can_be_chosen(rules, key, value) for rules in GAMES.get(number, PROFILES))
    ]
    assert wrong == []


def test_the_table_of_options_matches_the_profiles() -> None:
    (table,) = tables(sections()["2.7"])
    _, *names = table[0]
    assert names == [rules.name for rules in PROFILES if rules.name not in ("cutthroat", "free")]
    for key, *values in table[1:]:
        option = option_named(key.strip("`"))
        for name, value in zip(names, values, strict=True):
            rules = profile(name)
            assert (value != "-") == matters(rules, option), (name, key)
            if value != "-":
                assert with_options(rules, {option.key: value}) == rules, (name, key)


def test_options_common_to_every_game_are_correct() -> None:
    everywhere = sections()["2.7"].partition("Every game has ")[2].partition(".")[0]
    chosen = options(everywhere)
    assert len(chosen) > 5
    for key, value in chosen:
        for rules in PROFILES[:-1]:
            assert with_options(rules, {key: value}) == rules, (rules.name, key)


def test_ranges_of_the_book_are_those_of_the_options() -> None:
    ranges, optional, *_ = sections()["2.7"].strip().split(". ")
    from_zero, can_be_none = (set(re.findall(r"`([a-z_]+)`", text)) for text in (ranges, optional))
    effects = re.search(r"numbers with effects ([0-9]+) to ([0-9]+)", ranges)
    assert effects is not None
    shared = {row[0].strip("`"): row[1].replace("`", "") for table in tables(sections()["2.1"]) for row in table}
    for option in OPTIONS:
        if not isinstance(option.values, Number):
            continue
        least, most = option.values.least, option.values.most
        if option.key == "copies":
            assert shared["copies"].startswith(f"{least} or {most} ")
        elif option.field.startswith("effects."):
            assert (str(least), str(most)) == effects.groups(), option.key
        else:
            assert (least, most) == (0 if option.key in from_zero else 1, None), option.key
        assert (option.values.none is not None) == (option.key in can_be_none), option.key
    assert shared["set"].endswith(allowed_text(option_named("set")))
    assert shared["players"].partition(",")[0] == allowed_text(option_named("players")).partition(",")[0]


def test_defaults_of_the_book_are_those_of_the_options() -> None:
    text, plain = sections()["2.7"].partition("`spinner=all` implies")[0], Rules(name="plain")
    defaults = options(text.partition("Every game has ")[2])
    assert [key for key, value in defaults if with_options(plain, {key: value}) != plain] == []
    (table,) = tables(text)
    named = {row[0].strip("`") for row in table} | {key for key, _ in options(text)}
    missing = {option.key for option in OPTIONS if not named & {option.key, *option.aliases}}
    effects = {option.key for option in OPTIONS if option.field.startswith("effects.")}
    assert missing - effects == {"set", "players", "hand", "target"}  # in the table of chapter 1


def positions(number: str) -> list[list[str]]:
    """Return the rows of the table of plays in a section, without the header."""
    (table,) = [rows for rows in tables(sections()[number]) if rows[0][0] == "play"]
    return table[1:]


def played(game: str, moves: list[str], *chosen: str) -> PlayedRecord:
    seats = " ".join(sorted({move[0] for move in moves}))
    tags = f'[DGR "1"] [Rules "{game}"] [Options "{" ".join(chosen)}"] [Seats "{seats}"]'
    return play_record(parse_record(f"{tags} #1 lead=A {' '.join(moves)}"), strict=True)


def move_of(cell: str) -> str:
    """Return a cell such as "A `d2` `9-9@2`" in record notation."""
    return f"{cell[0]}: {' '.join(_PLAY.findall(cell))}"


@pytest.mark.parametrize(("number", "game"), [("3.1", "bones"), ("3.3", "allfives"), ("3.6", "cutthroat")])
def test_the_sums_of_the_positions_are_right(number: str, game: str) -> None:
    rows = positions(number)
    points = [int(re.match(r"[0-9]+", row[2])[0]) for row in rows]  # type: ignore[index]  # every row has a number
    moves = [move_of(row[0]) + (f" ={paid}" if paid else "") for row, paid in zip(rows, points, strict=True)]
    lines = played(game, moves).lines
    assert [line.problem for line in lines if line.problem] == []
    counts = [line.count for line in lines if not line.action.startswith("=")]
    for row, count, paid in zip(rows, counts, points, strict=True):
        terms, _, total = row[1].partition(":")[0].partition(" = ")
        assert int(total) == count, row
        assert sum(int(term) for term in terms.split(" + ")) == count, row
        if "^" not in row[0]:
            assert paid == (count if count % 5 == 0 else 0), row


def test_stealing_leads_to_the_written_totals() -> None:
    rows = positions("3.6")
    totals = dict.fromkeys("ABCD", 0)
    for row in rows:
        for seat, total in re.findall(r"\b([A-D]) (-?[0-9]+)", row[2]):
            totals[seat] = int(total)
    last = played("cutthroat", [move_of(row[0]) + _called(row[2]) for row in rows]).lines[-1]
    assert last.totals == (totals["A"], totals["B"], totals["C"], totals["D"])


def _called(points: str) -> str:
    paid = points.split(maxsplit=1)[0].rstrip(",")
    return f" ={paid}" if paid != "0" else ""


def test_the_all_fives_variation_has_the_written_counts() -> None:
    rows = positions("3.3")
    lines = played("allfives", [move_of(row[0]) for row in rows], "spinner_count=until_capped").lines
    assert [line.count for line in lines] == [int(row[3]) for row in rows]


def test_super_has_the_written_turns() -> None:
    rows = positions("3.5")
    lines = played("super", [move_of(row[0]) for row in rows]).lines
    assert [line.problem for line in lines if line.problem] == []
    laid = [line for line in lines if "-" in line.action]
    for row, line in zip(rows, laid, strict=True):
        assert line.game.hand is not None
        assert line.game.hand.turn == Seat("ABC".index(row[3])), row
