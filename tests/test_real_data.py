"""Tests of the promised accuracy on real photos and recordings, measured with the tools next to them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

# Taken from a seat 30 to 60 degrees from above, and judged separately.
OBLIQUE = "hilt"


@pytest.fixture(scope="module")
def tallybone() -> Path:
    """Return the installed command."""
    script = Path(sys.executable).with_name("tallybone")
    if not script.is_file():
        pytest.skip("the command `tallybone` is not installed beside this Python")
    return script


@dataclass(frozen=True, slots=True)
class Scores:
    """Output of the tools. Both run in parallel, as most of a reading uses a single core.

    Attributes:
        readings: A line of JSON per photo.
        games: Output for the recorded games.
    """

    readings: str
    games: str


@pytest.fixture(scope="module")
def scores(shared_data: Path, tallybone: Path) -> Scores:
    replayed = shared_data.parent / "tools" / "score_replay.py"
    photos = [str(shared_data / "photos" / label["image"]) for label in labels_of(shared_data)]
    games = str(shared_data / "sequences" / "ddd")
    with ThreadPoolExecutor() as pool:
        read = pool.submit(output_of, [tallybone, "read", "--json", *photos])
        follow = pool.submit(
            output_of, [sys.executable, replayed, games, "--run", f"{tallybone} replay --rules free --json"]
        )
        return Scores(read.result(), follow.result())


def labels_of(shared_data: Path) -> list[dict[str, Any]]:
    labels: list[dict[str, Any]] = json.loads((shared_data / "photos.json").read_text())
    return labels


def output_of(command: list[Path | str], sent: str = "") -> str:
    """Return the output of a command. Errors are shown if it fails."""
    done = subprocess.run(list(map(str, command)), input=sent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def score(scores: Scores, shared_data: Path, folder: Path, *sources: str) -> dict[str, float]:
    """Return the scores of the photos of some sources."""
    chosen = [label for label in labels_of(shared_data) if label["image"].split("/")[0] in sources]
    assert chosen
    labels = folder / "labels.json"
    labels.write_text(json.dumps(chosen))
    tool = shared_data.parent / "tools" / "score_read.py"
    scores_by_name: dict[str, float] = json.loads(
        output_of([sys.executable, tool, labels, shared_data / "photos", "--json"], scores.readings)
    )
    return scores_by_name


def test_photos_are_read_as_promised(scores: Scores, shared_data: Path, tmp_path: Path) -> None:
    sources = {label["image"].split("/")[0] for label in labels_of(shared_data)} - {OBLIQUE}
    total = score(scores, shared_data, tmp_path, *sources)
    assert total["pictures"] >= 40
    assert total["right"] >= 0.985, total
    assert total["precision"] >= 0.99, total
    assert total["perfect"] >= 0.85, total


def test_photos_from_a_seat_are_read_as_promised(scores: Scores, shared_data: Path, tmp_path: Path) -> None:
    total = score(scores, shared_data, tmp_path, OBLIQUE)
    assert total["right"] >= 0.80, total


def test_joins_and_backs_are_found_as_promised(scores: Scores, shared_data: Path, tmp_path: Path) -> None:
    layouts = score(scores, shared_data, tmp_path, "guix", "domibot")
    assert min(layouts["joins_recall"], layouts["joins_precision"]) >= 0.97, layouts
    backs = score(scores, shared_data, tmp_path, "domibot")
    assert backs["down_found"] >= 0.95, backs
    assert backs["down_false"] <= 2, backs


def test_recorded_games_are_followed_as_promised(scores: Scores) -> None:
    last = scores.games.splitlines()[-1]
    match = re.fullmatch(r"ALL moves (\d+)  placed \d+  right \d+  spare (\d+)  share right ([\d.]+)", last)
    assert match is not None, last
    moves, spare, share_right = int(match[1]), int(match[2]), float(match[3])
    assert moves >= 90, scores.games
    assert share_right == 1.0, scores.games
    assert spare == 0, scores.games
