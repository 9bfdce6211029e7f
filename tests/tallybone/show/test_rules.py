"""Tests of `tallybone rules`: games, options, and the resulting rules."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.rules.options import PRESETS, PROFILES
from engine.rules.rules import OPTIONS
from tallybone.show.rules import show_rules

TALLYBONE = Path(sys.executable).with_name("tallybone")


def rules(game: str | None = None, *choices: str, as_json: bool = False) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = show_rules(game, choices, as_json=as_json, out=out, err=err)
    return code, out.getvalue(), err.getvalue()


def tallybone(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TALLYBONE, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def line_of(text: str, key: str) -> str:
    (line,) = [line for line in text.splitlines() if line[2:].startswith(f"{key} ")]
    return " ".join(line.split())


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_lists_all_games_options_and_shortcuts() -> None:
    code, out, err = rules()
    assert (code, err) == (0, "")
    text = out.split()
    assert {game.name for game in PROFILES} <= set(text)
    assert {option.key for option in OPTIONS} <= set(text)
    assert {f"{preset.key}={preset.value}" for preset in PRESETS} <= set(text)
    assert "bones 2-4 double-six 150 Fives. Score when the open ends add up to a" in " ".join(text)
    assert "both halves while two edges are open, one half for the last, then nothing" in " ".join(text)
    assert "1 or more, or none (play a single hand); usually 150 (draw, allfives, block: 100; super: none)" in " ".join(
        text
    )


@pytest.mark.parametrize("game", [None, *(known.name for known in PROFILES)])
@pytest.mark.parametrize("columns", [80, 120])
def test_output_fits_the_terminal(game: str | None, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = rules(game)
    assert max(map(len, out.splitlines())) <= columns
    assert "…" not in out
    assert "\x1b" not in out


def test_a_game_shows_only_its_own_rules() -> None:
    code, out, err = rules("bones")
    assert (code, err) == (0, "")
    assert out.startswith("bones (Fives)\n")
    assert line_of(out, "target") == "target 150 points that end the match"
    assert line_of(out, "spinner") == "spinner first the first double of a hand branches"
    assert "spell" not in out
    assert "usually" not in out
    assert "*" not in out


def test_changed_options_are_marked_with_their_defaults() -> None:
    code, out, _ = rules("allfives", "scoring=cribbage", "hand=5")
    assert code == 0
    marked = [
        line.split()[1] for line in out.splitlines() if line.startswith("* ") and "usual" not in line.split()[1:4]
    ]
    assert marked[:3] == ["hand", "play_divisor", "target"]
    assert line_of(out, "play_divisor").startswith("* play_divisor 5 ")
    assert "points that end the match (usually 100)" in " ".join(out.split())
    assert out.endswith('[Rules "allfives"] [Options "hand=5 play_divisor=5 target=61"]\n')


def test_accepts_several_options_in_one_argument() -> None:
    assert rules("allfives", "target=61, hand=5") == rules("allfives", "hand=5", "target=61")


def test_all_errors_are_reported_on_separate_lines() -> None:
    assert rules("bones", "taget=5", "hand=x", "skip_on=blank") == (
        2,
        "",
        "tallybone rules: taget: unknown option, did you mean target?\n"
        'tallybone rules: hand: expected 1 or more, or by the number of players, such as "2:7,3:5,4:5", got "x"\n'
        "tallybone rules: skip_on: bones has no effects\n",
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["bone"], 'no game is called "bone", did you mean bones? The games are bones, draw'),
        (["chess"], 'no game is called "chess"; the games are bones, draw'),
        (["fivup"], 'no game is called "fivup", did you mean fiveup? The games are bones, draw'),
        (["five-up"], '"five-up" is the game allfives with the option variation=five_up'),
        (["bones", "players=5"], "7 tiles x 5 players need 35 tiles, a double-six set has 28"),
        (["bones", "players=2-5"], "7 tiles x 5 players need 35 tiles, a double-six set has 28"),
        (["bones", "players=3", "partners=yes"], "partners need 4 players, got 3"),
        (["bones", "hand=15"], "15 tiles x 2 players need 30 tiles, a double-six set has 28"),
        (["bones", "target"], 'expected key=value, got "target"'),
        (["bones", "a\x1b[31m=1"], "a\\x1b[31m: unknown option"),
    ],
)
def test_rejects_unplayable_rules(arguments: list[str], error: str) -> None:
    code, out, err = rules(*arguments)
    assert (code, out) == (2, "")
    assert error in err


@pytest.mark.parametrize(
    ("alias", "heading"),
    [
        ("fives", "bones (Fives)"),
        ("all fives", "allfives (Sniff)"),
        ("Sniff", "allfives (Sniff)"),
        ("block dominoes", "block (Block dominoes)"),
    ],
)
def test_an_alias_shows_the_proper_name(alias: str, heading: str) -> None:
    code, out, _ = rules(alias)
    assert (code, out.splitlines()[0]) == (0, heading)


def test_a_single_game_as_json() -> None:
    code, out, _ = rules("block", "partners=yes", "set=9", as_json=True)
    assert code == 0
    values = json.loads(out)
    assert values["game"] == "block"
    assert values["changed"] == {"set": "9", "partners": "yes"}
    assert values["options"]["target"] == 100
    assert values["options"]["set"] == 9
    assert values["options"]["partners"] is True
    assert values["options"]["unit"] is None
    assert values["options"]["players"] == "4"
    assert "skip_on" not in values["options"]


def test_all_games_as_json() -> None:
    _, out, _ = rules(as_json=True)
    assert out.count("\n") == 1
    values = json.loads(out)
    assert [game["game"] for game in values["games"]] == [known.name for known in PROFILES]
    assert [option["option"] for option in values["options"]] == [option.key for option in OPTIONS]
    assert values["options"][0]["allowed"] == "6 to 18, or a name such as double-nine"
    assert values["shortcuts"][1]["options"] == {"play_divisor": "5", "target": "61"}


@pytest.mark.slow
def test_the_command_accepts_a_game_and_options() -> None:
    result = tallybone("rules", "allfives", "target=61", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["changed"] == {"target": "61"}
    rejected = tallybone("rules", "chess")
    assert rejected.returncode == 2
    assert 'no game is called "chess"' in rejected.stderr
