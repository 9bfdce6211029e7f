"""Tests of exported videos: real browsers play them, with the right times, size and colours."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from hardware.libraries import install_command
from tallybone.files import ExportError
from tallybone.replay.export import VideoFile
from tests.tallybone.web.browsers import CHROMIUM, chromium
from tests.tallybone.web.firefox import FIREFOX, firefox
from vision.arrays import Image

# Two pauses of different length, as in a recording of settled pictures.
TIMES_MS = (0, 400, 3400, 3533)
COLOURS_BGR = ((40, 90, 30), (30, 40, 200), (220, 120, 20), (60, 200, 230))
# Opens a video from memory, seeks, and returns its duration, size and the pixels of the frame at each time.
PLAY = """
async (data, times) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const video = document.createElement("video");
  const event = (name) => new Promise((done, fail) => {
    video.addEventListener(name, done, { once: true });
    video.addEventListener("error", () => fail(new Error(video.error.message)), { once: true });
  });
  const ready = event("canplay");
  video.src = URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
  await ready;
  const [width, height] = [video.videoWidth, video.videoHeight];
  const canvas = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  const frames = [];
  for (const time of times) {
    const sought = event("seeked");
    video.currentTime = time;
    await sought;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    canvas.drawImage(video, 0, 0);
    frames.push([...canvas.getImageData(0, 0, width, height).data]);
  }
  return [video.duration, width, height, frames];
}
"""


def drawn(number: int) -> Image:
    """Return a frame of odd size with a colour and a number."""
    image = np.full((121, 201, 3), COLOURS_BGR[number], np.uint8)
    cv2.putText(image, str(number), (70, 90), cv2.FONT_HERSHEY_SIMPLEX, 3, (255, 255, 255), 8, cv2.LINE_AA)
    return image


@pytest.fixture(name="video")
def written_video(tmp_path: Path) -> Path:
    pytest.importorskip("av", reason="av is not installed: pip install '.[video]'")
    path = tmp_path / "a: game.mp4"
    file = VideoFile(path)
    for number, time_ms in enumerate(TIMES_MS):
        file.write(drawn(number), time_ms * 1_000_000)
    file.close()
    return path


def assert_plays(evaluate: Callable[[str], Any], video: Path) -> None:
    data = base64.b64encode(video.read_bytes()).decode()
    middles_s = [(2 * start + 100) / 2000 for start in TIMES_MS]
    duration_s, width, height, frames = evaluate(f"({PLAY})({json.dumps(data)}, {middles_s})")
    assert duration_s == pytest.approx(4.533, abs=0.01)
    assert (width, height) == (200, 120)
    for number, pixels in enumerate(frames):
        frame = np.array(pixels, np.uint8).reshape(120, 200, 4)[..., 2::-1]
        assert (
            np.abs(frame[:20].mean((0, 1)) - COLOURS_BGR[number]).max() < 12
        )  # of rounding in YUV; another matrix would be off by 25
        assert cv2.PSNR(frame, drawn(number)[:120, :200]) > 30


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sudo apt install chromium")
def test_chromium_plays_a_video(video: Path) -> None:
    with chromium() as browser:
        assert_plays(browser.new_page().evaluate, video)


@pytest.mark.slow
@pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox: sudo apt install firefox-esr")
def test_firefox_plays_a_video(video: Path, tmp_path: Path) -> None:
    with firefox(tmp_path / "firefox") as page:
        assert_plays(page.evaluate, video)


def test_a_browser_can_play_a_video_while_it_loads(video: Path) -> None:
    data = video.read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_a_video_without_its_library_names_the_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ExportError) as error:
        VideoFile(tmp_path / "a.mp4")
    assert str(error.value) == f"a video needs av, which is not installed: {install_command('video')}"


def test_a_full_disk_fails_with_a_reason() -> None:
    pytest.importorskip("av", reason="av is not installed: pip install '.[video]'")
    file = VideoFile(Path("/dev/full"))
    image = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    for number in range(4):
        file.write(image[::-1] if number % 2 else image, number * 1_000_000_000)
    with pytest.raises(ExportError, match="full: cannot write the video: "):
        file.close()
