"""Tests of the demo: the real reader on a rendered game, and the verdict on misreadings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import cv2
import pytest
from rich.console import Console

from engine import profile
from lab.matches.demo import DemoOptions, TableReader, players_of, show_demo
from tallybone.session.places import halves_of
from tests.tallybone.truth_eye import game, views
from vision.reading import SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView


def reader_of(looks: Iterator[TableView]) -> TableReader:
    return lambda image: next(looks)


def demo(options: DemoOptions, reader: TableReader | None = None) -> tuple[int, str]:
    out = StringIO()
    code = show_demo(options, reader=reader, console=Console(file=out, width=100))
    return code, out.getvalue()


def with_view_replaced(seed: int, number: int, look: TableView) -> Iterator[TableView]:
    """Yield the views of a perfect reader, with view *number* replaced."""
    for index, view in enumerate(views(seed)):
        yield look if index == number else view


def misread(tile: SeenTile) -> SeenTile:
    first, second = halves_of(tile)
    return replace(tile, halves=(first, replace(second, pips=6)))


def test_the_real_reader_reads_a_rendered_game_correctly() -> None:
    code, text = demo(DemoOptions(seed=1, plays=6))
    assert "plays   6; correct: 6 tiles, 6 positions, 6 scores" in text
    assert ": correct" in text
    assert code == 0


@pytest.mark.slow
def test_a_hand_with_a_perfect_reader_ends_with_the_true_totals() -> None:
    code, text = demo(DemoOptions(seed=4), reader_of(views(4)))
    end = game(4)[1][-1].state.game
    assert end is not None
    assert f"totals  Ann {end.totals[0]}, Ben {end.totals[1]}: correct" in text
    assert f"plays   {len(end.layout.nodes)}; " in text
    assert "tallybone read photo.jpg --annotate" in text
    assert code == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["allfives", "super", "cutthroat"])
def test_every_game_is_scored_correctly_with_a_perfect_reader(name: str) -> None:
    rules = profile(name)
    code, text = demo(
        DemoOptions(rules=rules.name, seed=1, plays=10), reader_of(views(1, rules=rules, players=players_of(rules)))
    )
    assert f"A game of {name} on a rendered table" in text
    assert "plays   10; correct: 10 tiles, 10 positions, 10 scores" in text
    assert ": correct" in text
    assert code == 0


@pytest.mark.slow
def test_two_hands_are_played_on_the_same_table() -> None:
    code, text = demo(DemoOptions(seed=4, hands=2, plays=15), reader_of(views(4, hands=2)))
    assert "hand 2" in text
    assert code == 0


@pytest.mark.slow
def test_a_missed_play_is_reported() -> None:
    unchanged = replace(list(views(4))[2], changes=())
    code, text = demo(DemoOptions(seed=4, plays=3), reader_of(with_view_replaced(4, 3, unchanged)))
    assert "hand 1, tile 3: " in text
    assert "scored: nothing" in text
    assert "should be" in text
    assert code == 1


def test_a_misread_tile_is_reported() -> None:
    look = list(views(4))[3]
    wrong = misread(look.tiles[-1])
    look = TableView((*look.tiles[:-1], wrong), (), (Change(ChangeKind.PLACED, wrong),))
    _, text = demo(DemoOptions(seed=4, plays=3), reader_of(with_view_replaced(4, 3, look)))
    assert "plays   3; correct: 2 tiles, 3 positions, 2 scores" in text
    assert "hand 1, tile 3: 3-2 at E of tile 2, 10 points, seat 0; scored: 6-3 at E of tile 2, 0 points, seat 0" in text


def test_without_a_terminal_every_play_is_a_plain_line() -> None:
    _, text = demo(DemoOptions(seed=4, plays=5), reader_of(views(4)))
    lines = [line for line in text.splitlines() if line[:3].strip().isdigit() and " plays " in line]
    assert [int(line[:3]) for line in lines] == [1, 2, 3, 4, 5]
    assert "\x1b" not in text


def test_a_terminal_shows_a_live_board_at_human_pace() -> None:
    waited: list[float] = []
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=80, height=24, color_system="truecolor", no_color=False)
    code = show_demo(
        DemoOptions(seed=4, plays=2, speed=2.0), reader=reader_of(views(4)), console=console, wait=waited.append
    )
    assert code == 0
    # The board is drawn once more when the live display ends.
    assert out.getvalue().count("bones to 150") == len(waited) + 1
    assert sum(waited) < 20 / 2
    assert set(waited) == {0.35, 0.175}


def test_a_terminal_without_colour_shows_plain_lines() -> None:
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=80, height=24, no_color=True)
    show_demo(
        DemoOptions(seed=4, plays=1), reader=reader_of(views(4)), console=console, wait=lambda _: pytest.fail("waited")
    )
    assert "  1  " in out.getvalue()


def test_the_pictures_are_written_on_request(tmp_path: Path) -> None:
    demo(DemoOptions(seed=4, plays=2, out=tmp_path / "pictures"), reader_of(views(4)))
    names = ["00.jpg", "01.jpg", "02.jpg"]
    assert [path.name for path in sorted((tmp_path / "pictures" / "seen").iterdir())] == names
    assert [path.name for path in sorted((tmp_path / "pictures" / "read").iterdir())] == names
    picture = cv2.imread(str(tmp_path / "pictures" / "seen" / "02.jpg"))
    assert picture is not None
    assert picture.shape == (720, 1280, 3)


def test_an_unwritable_folder_is_named_in_the_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("no folder")
    code, _ = demo(DemoOptions(seed=4, plays=1, out=tmp_path / "file"), reader_of(views(4)))
    assert code == 1
    assert "file" in capsys.readouterr().err
