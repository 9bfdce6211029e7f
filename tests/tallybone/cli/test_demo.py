"""The demo as a whole: the real reader on a rendered game, and an honest verdict when the eye is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import cv2
import pytest
from rich.console import Console

from engine import profile
from tallybone.cli.demo import DemoOptions, TableReader, players_of, show_demo
from tallybone.session.touching import halves_of
from tests.tallybone.truth_eye import PLAYERS_OF, game, views
from vision.reading import SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView


def eye_of(looks: Iterator[TableView]) -> TableReader:
    return lambda image: next(looks)


def demo(wishes: DemoOptions, eye: TableReader | None = None) -> tuple[int, str]:
    out = StringIO()
    code = show_demo(wishes, eye=eye, console=Console(file=out, width=100))
    return code, out.getvalue()


def but_for(seed: int, number: int, look: TableView) -> Iterator[TableView]:
    """What a perfect eye sees, but for one look."""
    for index, view in enumerate(views(seed)):
        yield look if index == number else view


def misread(tile: SeenTile) -> SeenTile:
    first, second = halves_of(tile)
    return replace(tile, halves=(first, replace(second, pips=6)))


def test_the_real_reader_sees_a_rendered_game_as_it_is() -> None:
    code, text = demo(DemoOptions(seed=1, plays=6))
    assert "plays   6; correct: 6 tiles, 6 positions, 6 scores" in text
    assert ": correct" in text
    assert code == 0


@pytest.mark.slow
def test_a_whole_hand_with_a_perfect_eye_ends_with_the_true_totals() -> None:
    code, text = demo(DemoOptions(seed=4), eye_of(views(4)))
    end = game(4)[1][-1].state.game
    assert end is not None
    assert f"totals  Ann {end.totals[0]}, Ben {end.totals[1]}: correct" in text
    assert f"plays   {len(end.layout.nodes)}; " in text
    assert "tallybone read photo.jpg --annotate" in text
    assert code == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PLAYERS_OF if name != "bones"])
def test_every_game_is_scored_as_it_is_played_through_a_perfect_eye(name: str) -> None:
    rules = profile(name)
    code, text = demo(
        DemoOptions(rules=rules.name, seed=1, plays=10), eye_of(views(1, rules=rules, players=players_of(rules)))
    )
    assert f"A game of {name} on a rendered table" in text
    assert "plays   10; correct: 10 tiles, 10 positions, 10 scores" in text
    assert ": correct" in text
    assert code == 0


@pytest.mark.slow
def test_two_hands_are_played_on_one_table() -> None:
    code, text = demo(DemoOptions(seed=4, hands=2, plays=15), eye_of(views(4, hands=2)))
    assert "hand 2" in text
    assert code == 0


@pytest.mark.slow
def test_a_play_that_is_not_seen_is_told_and_spoils_the_totals() -> None:
    code, text = demo(DemoOptions(seed=4), eye_of(but_for(4, 1, TableView((), (), ()))))
    assert "play 1: " in text
    assert "seen: nothing" in text
    assert "should be" in text
    assert code == 1


def test_a_misread_tile_is_told() -> None:
    look = list(views(4))[3]
    wrong = misread(look.tiles[-1])
    look = TableView((*look.tiles[:-1], wrong), (), (Change(ChangeKind.PLACED, wrong),))
    _, text = demo(DemoOptions(seed=4, plays=3), eye_of(but_for(4, 3, look)))
    assert "plays   3; correct: 2 tiles, 3 positions, 2 scores" in text
    assert "play 3: 3-2 at the E of play 2, 10 points; seen: 6-3 at the E of play 2, 0 points" in text


def test_every_play_is_one_plain_line_without_a_terminal() -> None:
    _, text = demo(DemoOptions(seed=4, plays=5), eye_of(views(4)))
    lines = [line for line in text.splitlines() if line[:3].strip().isdigit() and " plays " in line]
    assert [int(line[:3]) for line in lines] == [1, 2, 3, 4, 5]
    assert "\x1b" not in text


def test_a_terminal_gets_a_live_board_at_the_pace_of_people() -> None:
    waited: list[float] = []
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=80, height=24, color_system="truecolor", no_color=False)
    code = show_demo(DemoOptions(seed=4, plays=2, speed=2.0), eye=eye_of(views(4)), console=console, wait=waited.append)
    assert code == 0
    # Once more when the live display ends.
    assert out.getvalue().count("bones to 150") == len(waited) + 1
    assert sum(waited) < 20 / 2
    assert set(waited) == {0.35, 0.175}


def test_a_terminal_without_colour_gets_plain_lines() -> None:
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=80, height=24, no_color=True)
    show_demo(DemoOptions(seed=4, plays=1), eye=eye_of(views(4)), console=console, wait=lambda _: pytest.fail("waited"))
    assert "  1  " in out.getvalue()


def test_the_pictures_are_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    demo(DemoOptions(seed=4, plays=2, out=tmp_path / "pictures"), eye_of(views(4)))
    names = ["00.jpg", "01.jpg", "02.jpg"]
    assert [path.name for path in sorted((tmp_path / "pictures" / "seen").iterdir())] == names
    assert [path.name for path in sorted((tmp_path / "pictures" / "read").iterdir())] == names
    picture = cv2.imread(str(tmp_path / "pictures" / "seen" / "02.jpg"))
    assert picture is not None
    assert picture.shape == (720, 1280, 3)


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    code, _ = demo(DemoOptions(seed=4, plays=1, out=tmp_path / "file"), eye_of(views(4)))
    assert code == 1
    assert "file" in capsys.readouterr().err
