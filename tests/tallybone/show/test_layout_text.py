"""Tests of layouts as text: the line, branches, six arms, open ends and stacked tiles."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest

from engine import BONES, CUTTHROAT, FREE, SUPER, Layout, Rules
from engine.record.play import play_record
from engine.record.text import parse_record
from engine.rules.options import with_options
from tallybone.show.layout import draw_text, layout_lines, layout_svg, layout_text
from tests.engine.wild_match import wild_match
from tests.tallybone.truth_eye import game_of

SVG = "{http://www.w3.org/2000/svg}"


def drawn(moves: str, *, rules: str = "bones", options: str = "lead_first=lot_any", width: int = 80) -> list[str]:
    text = f'[DGR "1"] [Rules "{rules}"] [Options "{options}"] #1 A: {moves}'
    return list(layout_lines(play_record(parse_record(text)).lines[-1].game.layout, width))


def test_tips_follow_the_line_and_are_in_parentheses_until_they_are_open() -> None:
    assert layout_lines(Layout()) == ()
    assert list(ElementTree.fromstring(layout_svg(Layout())).iter(SVG + "rect")) == []
    assert drawn("5-3") == ["line  5< 5-3 >3"]
    assert drawn("5-5") == ["line       5< {5-5} >5", "  5-5 N S  (5)"]
    assert drawn("5-5 5-1@W 5-2@E") == ["line       1< 1-5 {5-5} 5-2 >2", "  5-5 N S  >5"]
    assert drawn("1-1 1-6@W 6-3@W 1-5@E 5-5@E 1-2@N") == [
        "line     3< 3-6 6-1 {1-1} 1-5 5-5 >5",
        "  1-1 N  1-2 >2",
        "  1-1 S  >1",
    ]


def test_every_spinner_has_branches() -> None:
    moves = "5-5 5-1@W 5-2@E 2-2@E 2-3@E 5-6@5-5:N 6-6@5-6:E 6-1@6-6:W 2-0@2-2:S 6-0@6-6:N"
    assert drawn(moves, options="lead_first=lot_any spinner=all hand=14") == [
        "line       1< 1-5 {5-5} 5-2 {2-2} 2-3 >3",
        "  5-5 N    5-6 {6-6} 6-1 >1",
        "    6-6 N  6-0 >0",
        "    6-6 S  >6",
        "  5-5 S    >5",
        "  2-2 S    2-0 >0",
        "  2-2 N    >2",
    ]


def test_a_starter_has_six_numbered_arms() -> None:
    assert drawn("7-7 7-15@* 15-3@1 7-13@4 13-9@4", rules="super") == [
        "starter  {7-7}",
        "  1      7-15 15-3 >3",
        "  2      >7",
        "  3      >7",
        "  4      7-13 13-9 >9",
        "  5      >7",
        "  6      >7",
    ]


def test_a_stacked_tile_is_marked() -> None:
    moves = "2-2 B: 2-4@E C: 2-0@W D: 0-6@W =10 A: 2-4'^E"
    assert drawn(moves, rules="cutthroat")[0] == "line       6< 6-0 0-2 {2-2} 2-4x2 >4"


def test_a_long_line_is_wrapped_between_tiles() -> None:
    moves = "0-1 1-2@E 2-3@E 3-4@E 4-5@E 5-6@E 6-0@E"
    assert drawn(moves, options="spinner=none lead_first=lot_any", width=24) == [
        "line  0< 0-1 1-2 2-3 3-4",
        "       4-5 5-6 6-0 >0",
    ]


GAMES = [BONES, SUPER, CUTTHROAT, FREE, with_options(BONES, {"spinner": "all"})]


@pytest.mark.parametrize("rules", GAMES, ids=[f"{rules.name}-{rules.spinner}" for rules in GAMES])
@pytest.mark.parametrize("wildness", [0.0, 0.5])
def test_every_tile_is_drawn_once_within_the_width(rules: Rules, wildness: float) -> None:
    for seed in range(4):
        state = wild_match(rules, max(2, rules.seats_min), random.Random(seed), events=50, wildness=wildness)
        layout = game_of(state).layout
        for width in (40, 80):
            found = layout_lines(layout, width)
            assert all(len(line) <= width for line in found)
            labels_off = [word for line in found for word in line.replace("{", "").replace("}", "").split()[1:]]
            text = [word for word in labels_off if word[0].isdigit() and "-" in word]
            assert len(text) >= len(layout.nodes) - len(found)
            assert draw_text(layout, width).plain == "\n".join(found)


def svg_of(moves: str, *, rules: str = "bones", options: str = "lead_first=lot_any") -> ElementTree.Element:
    text = f'[DGR "1"] [Rules "{rules}"] [Options "{options}"] #1 A: {moves}'
    layout = play_record(parse_record(text)).lines[-1].game.layout
    svg = ElementTree.fromstring(layout_svg(layout))
    assert svg.findtext(SVG + "title") == layout_text(layout)
    return svg


def test_an_svg_has_each_tile_with_its_pips() -> None:
    svg = svg_of("5-5 5-1@W 5-2@E 2-2@E")
    boxes = [(box.get("width"), box.get("height")) for box in svg.iter(SVG + "rect")]
    assert boxes == [("2", "1"), ("1", "2"), ("2", "1"), ("1", "2")]
    assert len(list(svg.iter(SVG + "circle"))) == 6 + 10 + 7 + 4
    assert sum(pip.get("fill") == "#be1414" for pip in svg.iter(SVG + "circle")) == 10
    assert [text.text for text in svg.iter(SVG + "text")] == ["line", "1<", ">2", "5-5 N S", ">5"]


def test_an_svg_shows_everything_within_its_borders() -> None:
    svg = svg_of("7-7 7-15@* 15-3@1 7-13@4 13-9@4", rules="super")
    left, top, width, height = (float(number) for number in (svg.get("viewBox") or "").split())
    assert [text.text for text in svg.iter(SVG + "text") if text.text in {"15", "13"}] == ["15", "15", "13", "13"]
    for box in svg.iter(SVG + "rect"):
        x, y, wide, high = (float(box.get(name) or "nan") for name in ("x", "y", "width", "height"))
        assert left <= x < x + wide <= left + width
        assert top <= y < y + high <= top + height
