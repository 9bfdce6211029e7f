"""Tests of `tallybone score`: JSON, score sheets, and errors with positions."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from engine.record.play import play_record
from engine.record.text import parse_record
from tallybone.cli.games import score_record
from tallybone.show.score_sheet import print_sheet
from tests.engine.test_record_text import ALLFIVES, BONES, CUTTHROAT, SUPER

TALLYBONE = Path(sys.executable).with_name("tallybone")


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def score(path: Path, text: str | bytes, **options: bool) -> tuple[int, str, str]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    out, err = io.StringIO(), io.StringIO()
    code = score_record(path, out=out, err=err, **options)
    return code, out.getvalue(), err.getvalue()


def scored_json(path: Path, text: str, *, strict: bool = False) -> list[dict[str, Any]]:
    code, out, err = score(path, text, as_json=True, strict=strict)
    found = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (int(strict and found[-1]["result"]["problems"] > 0), "")
    return found


@pytest.fixture
def game(tmp_path: Path) -> Path:
    return tmp_path / "GAME.dgr"


def test_json_output_has_a_line_per_move_and_a_result(game: Path) -> None:
    code, out, _ = score(game, CUTTHROAT, as_json=True)
    assert code == 0
    assert out.splitlines()[-4:] == [
        '{"hand": 1, "seat": "D", "action": "2-4\'^E", "count": 10, "points": 0, '
        '"totals": {"A": 0, "B": 0, "C": 10, "D": 0}, "problem": null}',
        '{"hand": 1, "seat": "D", "action": "=10", "count": 10, "points": 10, '
        '"totals": {"A": 0, "B": 0, "C": 0, "D": 10}, "problem": null}',
        '{"hand": 1, "seat": "D", "action": "xC10", "count": 10, "points": 0, '
        '"totals": {"A": 0, "B": 0, "C": 0, "D": 10}, "problem": null}',
        '{"result": {"hands": 1, "totals": {"A": 0, "B": 0, "C": 0, "D": 10}, "winner": null, "over": false, '
        '"problems": 0, "reason": "hand 1 is being played"}}',
    ]


def test_the_winner_of_a_match_is_named_by_seat_letter(game: Path) -> None:
    text = ALLFIVES.replace('"allfives"]', '"allfives"] [Options "target=45"]')
    won = {"winner": "B", "over": True, "reason": "Bob wins the match with 45"}
    expected = {"hands": 1, "totals": {"A": 10, "B": 45}, "problems": 0, **won}
    assert scored_json(game, text)[-1]["result"] == expected


def test_an_illegal_play_is_accepted_or_with_strict_refused(game: Path) -> None:
    text = '[DGR "1"] [Rules "bones"] [Options "lead_first=lot_any"] #1 A: 5-5 B: 6-4@E'
    lax, strict = scored_json(game, text)[1], scored_json(game, text, strict=True)[1]
    assert lax["problem"] == strict["problem"] == "the 6-4 does not fit there: that end needs a 5"
    assert (lax["count"], strict["count"]) == (14, 10)
    assert (lax["line"], lax["column"]) == (1, 71)


def test_strict_fails_for_any_problem_of_play(game: Path) -> None:
    clean = '[DGR "1"] [Rules "bones"] #1 A: 5-5 =10'
    assert score(game, clean, strict=True)[0] == 0
    assert score(game, clean.replace("=10", "=5"))[0] == 0
    assert score(game, clean.replace("=10", "=5"), strict=True)[0] == 1
    assert score(game, f"{clean}\n{clean.replace('=10', '=5')}", strict=True)[0] == 1


def test_several_matches_of_a_file_are_scored_one_by_one(game: Path) -> None:
    text = '[DGR "1"] [Rules "bones"]\n#1\nA: 5-5 =10\n#end\n\n[DGR "1"] [Rules "draw"] [Seats "A B"]\n#1\nA: 6-6'
    code, out, _ = score(game, text)
    heads = [line for line in out.splitlines() if line.startswith(("Match", "bones", "draw"))]
    assert (code, [line.strip() for line in heads]) == (0, ["Match 1 of 2", "bones", "Match 2 of 2", "draw"])
    lines = scored_json(game, text)
    actions = [(line["match"], line.get("action")) for line in lines]
    assert actions == [(1, "5-5"), (1, "=10"), (1, None), (2, "6-6"), (2, None)]
    assert lines[2]["result"]["totals"] == {"A": 10, "B": 0}
    assert all("match" not in line for line in scored_json(game, text.split("\n\n")[0]))


def test_the_sheet_shows_moves_sums_points_and_totals(game: Path) -> None:
    code, out, err = score(game, BONES)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert lines[0] == "bones"
    assert "Hand 1 Brian Tom" in lines
    assert "Tom 1-2@N =15 3 + 2 + 5 + 5 = 15 +15 5 15" in lines
    assert "! line 3, column 59: Brian let the 1-1 lead, but held 5-5" in lines
    assert "Tom wins the hand: 20" in lines
    assert "Tom +20 +20 5 35" in lines
    assert lines[-3:] == ["Brian 5, Tom 35", "hand 1 is counted, the match goes on", "2 moves have a problem"]


def test_the_sheet_follows_renames_and_changed_places(game: Path) -> None:
    tags = '[DGR "1"] [Rules "bones"] [Seats "A:Ann B:Ben"]'
    code, out, err = score(game, f"{tags}\n#1 lead=A\nA: 5-5 =10 (name=Ada)  B: h20  A: (swap=B)\n#2\nB: 5-5")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert "Hand 1 Ann Ben" in lines
    assert "Ann is now Ada" in lines
    assert "Ben (swap=B) 0 30" in lines
    assert "Ben and Ada change places" in lines
    assert "Hand 2 Ben Ada" in lines
    assert "Ada 5-5 10 +10 0 40" in lines or "Ada 5-5 5 + 5 = 10 +10 0 40" in lines
    assert lines[-2] == "Ben 0, Ada 40" or lines[-3] == "Ben 0, Ada 40"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_nothing_is_wider_than_the_terminal(columns: int, game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    many = '[DGR "1"] [Rules "super"] [Options "players=16 hand=8"] #1 P: 7-7 (points=5) A: 7-1@*'
    for text, show in product((ALLFIVES, BONES, CUTTHROAT, SUPER, many), (False, True)):
        code, out, _ = score(game, text, show=show)
        assert (code, max(map(len, out.splitlines())) <= max(columns, 80 if text is many else 0)) == (0, True)


def test_the_layout_is_drawn_after_every_play(game: Path) -> None:
    _, out, _ = score(game, ALLFIVES, show=True)
    assert out.count("{5-5}") == 8
    assert "3< 3-3 3-5 {5-5} 5-0 0-2 2-2 2-5 >5" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[DGR "1"]\n#1\nA: 5-5 =10  Z9', 'line 3, column 13: expected a move such as "5-3@W" or a seat'),
        ('[DGR "1"]\n[Rules "chess"]', 'line 2, column 2: no game is called "chess"; the games are bones'),
        (b"\xff\xfe", "expected a text in UTF-8, but byte 0 is invalid"),
        (b"\x00" * 2_000_000, "line 1, column 1: expected at most 300000 characters"),
    ],
)
def test_a_malformed_record_is_an_error_with_its_position(text: str | bytes, message: str, game: Path) -> None:
    code, out, err = score(game, text)
    assert (code, out) == (1, "")
    assert err.startswith(f"tallybone score: {game}: {message}")
    assert err.count("\n") == 1


def test_control_characters_in_names_are_removed(game: Path) -> None:
    code, out, _ = score(game, '[DGR "1"] [Rules "bones"] [Seats "A:[red]x[/] B:\u202eTom"] #1 A: 6-6')
    assert code == 0
    assert "[red]x[/]" in out
    assert "\u202e" not in out


@pytest.mark.slow
def test_the_command_reads_stdin_and_reports_usage_errors() -> None:
    done = subprocess.run([TALLYBONE, "score", "-", "--json"], input=SUPER, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 9
    wrong = subprocess.run([TALLYBONE, "score"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert wrong.returncode == 2
    bad = subprocess.run([TALLYBONE, "score", "-"], input="x", capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr == 'tallybone score: stdin: line 1, column 1: expected the tag [DGR "1"], found "x"\n'


def seconds_to_print(moves: str) -> float:
    """Return the processor time needed to print a sheet with these moves, the least of two."""
    played = play_record(parse_record(f'[DGR "1"] [Rules "bones"] [Seats "A B"] #1 A: 5-5 B: {moves}'))
    console = Console(file=io.StringIO(), width=100)
    times_s = []
    for _ in range(2):
        begins_s = time.process_time()
        print_sheet(console, played)
        times_s.append(time.process_time() - begins_s)
    return min(times_s)


@pytest.mark.timed
@pytest.mark.parametrize(
    ("moves", "count"),
    [
        pytest.param("d ", 2000, marks=pytest.mark.slow),
        ("k A: (points=1) B: ", 300),
        pytest.param("H<6-6 6-5 6-4 6-3> ", 1500, marks=pytest.mark.slow),
    ],
    ids=["draws", "points", "hands"],
)
def test_the_time_to_print_a_sheet_grows_with_its_rows_and_not_with_their_square(moves: str, count: int) -> None:
    assert seconds_to_print(4 * count * moves) < 8 * seconds_to_print(count * moves)
