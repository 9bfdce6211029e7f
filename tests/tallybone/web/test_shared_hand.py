"""Tests of a hand shared as a single file: self-contained, escaped and bounded in size."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from tallybone.session.session import Session
from tests.tallybone.live_clips import jpeg_of
from tests.tallybone.recorded_games import record_game
from tests.tallybone.web.test_recordings import Visitor, bones
from tests.vision.picture_files import encoded, many_scans

__all__ = ["bones"]
HOSTILE = ("</script><script>document.title='hacked'</script>", "<!--<script>\u2028\u202e")


def embedded_in(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="told">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    content: dict[str, object] = json.loads(found[1])
    return content


@pytest.fixture
def guest(bones: tuple[Path, Session], tmp_path: Path) -> Visitor:
    os.link(bones[0], tmp_path / "bones.mcap")
    return Visitor(tmp_path)


def test_a_hand_contains_its_steps_layouts_and_pictures(guest: Visitor) -> None:
    steps = [step for step in guest.get("/recordings/bones.mcap").json()["steps"] if step["hand"] == 2]
    answer = guest.get("/recordings/bones.mcap/hand/2.html")
    assert answer.headers["content-disposition"] == 'attachment; filename="bones-hand-2.html"'
    content = embedded_in(answer.text)
    assert [step["step"] for step in content["steps"]] == steps  # type: ignore[attr-defined]  # JSON
    assert len(content["steps"][-1]["layout"]["tiles"]) > 5  # type: ignore[index]
    assert all(url.startswith("data:image/jpeg;base64,") for url in content["pictures"])  # type: ignore[attr-defined]
    assert 50_000 < len(answer.content) <= 2_000_000


def test_pictures_can_be_left_out(guest: Visitor) -> None:
    answer = guest.get("/recordings/bones.mcap/hand/1.html?pictures=without")
    assert set(embedded_in(answer.text)["pictures"]) == {None}  # type: ignore[call-overload]
    assert guest.get("/recordings/bones.mcap/hand/3.html").status_code == 404
    assert guest.get("/recordings/bones.mcap/hand/1.html?pictures=maybe").status_code == 422


def test_the_file_is_self_contained(guest: Visitor) -> None:
    page = guest.get("/recordings/bones.mcap/hand/1.html?pictures=without").text
    assert "import " not in re.sub(r"//.*", "", page.split("<script>")[1])
    assert not re.search(r"""(?:src|href)\s*=\s*["']|url\(|@import|https?://(?!www\.w3\.org/2000/svg)""", page)
    assert "default-src &#x27;none&#x27;" in page


def test_names_are_escaped(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap", players=HOSTILE)
    page = Visitor(tmp_path).get("/recordings/a.mcap/hand/1.html?pictures=without").text
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<!--" not in page
    assert "\u202e" not in page
    assert HOSTILE[0][:39] in embedded_in(page)["title"]  # type: ignore[operator]


def test_a_picture_that_is_slow_to_decode_is_left_out() -> None:
    from tallybone.web.recordings.shown import shared_hand

    written = encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    assert "data:image" in shared_hand("x", [], [], [written]).decode()
    assert "data:image" not in shared_hand("x", [], [], [many_scans(written, 114)]).decode()


@pytest.mark.slow
def test_large_pictures_do_not_exceed_the_size_limit(tmp_path: Path) -> None:
    from tallybone.web.recordings.shown import MAX_BYTES, shared_hand

    noise = np.random.default_rng(1).integers(0, 255, (1440, 2560, 3)).astype(np.uint8)
    jpeg = jpeg_of(noise)
    for count in (12, 60):
        page = shared_hand("x", [], [], [jpeg] * count)
        assert len(page) <= MAX_BYTES
    assert "data:image" in shared_hand("x", [], [], [jpeg] * 12).decode()
    assert shared_hand("x", [], [], [b"no picture", None]).decode().count("data:image") == 0
