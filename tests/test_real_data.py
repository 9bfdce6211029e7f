"""What is promised for real photographs and recordings, measured with the tools that are kept beside them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# The hilt photographs show tiles in hands and on edge: they are judged, but nothing is promised for them.
UNPROMISED = "hilt/"
LEAST_RIGHT, LEAST_PRECISION = 0.80, 0.95
LEAST_PLACED_RIGHT, MOST_SPARE = 0.90, 5


@pytest.fixture(scope="module")
def tallybone() -> Path:
    """The installed command."""
    script = Path(sys.executable).with_name("tallybone")
    if not script.is_file():
        pytest.skip("the command `tallybone` is not installed beside this Python")
    return script


@dataclass(frozen=True, slots=True)
class Scores:
    """What the tools said; both run side by side, for most of a read keeps one core busy."""

    photographs: str
    games: str


@pytest.fixture(scope="module")
def scores(shared_data: Path, tallybone: Path, tmp_path_factory: pytest.TempPathFactory) -> Scores:
    tools, labels = shared_data.parent / "tools", json.loads((shared_data / "photos.json").read_text())
    promised = tmp_path_factory.mktemp("labels") / "promised.json"
    promised.write_text(json.dumps([label for label in labels if not label["image"].startswith(UNPROMISED)]))
    photos, games = str(shared_data / "photos"), str(shared_data / "sequences" / "ddd")
    with ThreadPoolExecutor() as pool:
        both = pool.map(
            output_of,
            (
                [tools / "score_read.py", promised, photos, "--run", f"{tallybone} read --json", "--json"],
                [tools / "score_replay.py", games, "--run", f"{tallybone} replay --rules free --json"],
            ),
        )
        return Scores(*both)


def output_of(command: list[Path | str]) -> str:
    """What a tool prints; what it complains of is shown where it fails."""
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_photographs_are_read_as_promised(scores: Scores) -> None:
    total = json.loads(scores.photographs)
    assert total["pictures"] >= 40
    assert total["right"] >= LEAST_RIGHT, total
    assert total["precision"] >= LEAST_PRECISION, total


def test_recorded_games_are_followed_as_promised(scores: Scores) -> None:
    last = scores.games.splitlines()[-1]
    said = re.fullmatch(r"ALL moves (\d+)  placed \d+  right \d+  spare (\d+)  share right ([\d.]+)", last)
    assert said is not None, last
    moves, spare, share_right = int(said[1]), int(said[2]), float(said[3])
    assert moves >= 90, scores.games
    assert share_right >= LEAST_PLACED_RIGHT, scores.games
    assert spare <= MOST_SPARE, scores.games
