"""Tests of the checks of a camera: size, frame rate, light and focus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tallybone.doctor.parts import CameraSample, check_camera, look_through, seen_in
from tallybone.finding import Finding, Grade
from tallybone.sources.camera import PacedCamera, shot_of
from tests.tallybone.doctor.fake_table import SEEN
from vision.arrays import Image

OK, WARNING, PROBLEM = Grade.OK, Grade.WARNING, Grade.PROBLEM


def tiles() -> Image:
    """Draw light tiles with pips on a cloth, with sharp edges."""
    image = np.full((720, 1280, 3), 90, np.uint8)
    for x in range(100, 1180, 160):
        for y in range(100, 620, 130):
            cv2.rectangle(image, (x, y), (x + 100, y + 50), (225, 230, 235), -1)
            cv2.circle(image, (x + 25, y + 25), 6, (30, 30, 30), -1)
    return np.asarray(image, np.uint8)


def grades(image: Image) -> list[Grade]:
    return [finding.grade for finding in check_camera("usb:0", seen_in(image, 30.0))]


def findings_for(seen: CameraSample, name: str = "usb:0") -> list[Finding]:
    return list(check_camera(name, seen))


@pytest.mark.parametrize(("sigma_px", "grade"), [(0.0, OK), (0.5, OK), (2.0, WARNING), (4.0, WARNING)])
def test_a_picture_out_of_focus_is_a_warning(sigma_px: float, grade: Grade) -> None:
    blurred = np.asarray(cv2.GaussianBlur(tiles(), (0, 0), sigma_px), np.uint8) if sigma_px else tiles()
    assert grades(blurred) == [OK, grade]


def test_dark_bright_and_uniform_pictures_are_distinguished() -> None:
    text = [
        check_camera("usb:0", seen_in(np.asarray(image, np.uint8), 30.0))[1].text.partition(" (")[0]
        for image in (tiles() // 8, np.clip(tiles().astype(int) + 140, 0, 255), np.full((720, 1280, 3), 3))
    ]
    assert text == ["dark", "too bright", "uniform"]


def test_a_small_picture_or_a_slow_camera_is_a_warning_and_an_error_a_problem() -> None:
    assert findings_for(replace(SEEN, wide_px=640, high_px=480))[0].grade is WARNING
    assert findings_for(replace(SEEN, wide_px=720, high_px=1280))[0].grade is OK
    assert findings_for(replace(SEEN, per_s=5.0))[0].grade is WARNING
    assert findings_for(replace(SEEN, per_s=1.0), "pictures/")[0].grade is OK  # a folder
    (found,) = findings_for(CameraSample("usb:0: there is no such camera"))
    assert (found.grade, found.text) == (PROBLEM, "there is no such camera")
    assert look_through(PacedCamera(iter(()), lambda: 0), lambda _: None).error == "it delivers no images"


def test_frame_rate_and_size_are_measured() -> None:
    now_ns = [0]

    def wait(seconds: float) -> None:
        now_ns[0] += round(seconds * 1e9)

    def items() -> Iterator:  # type: ignore[type-arg]
        """Yield four pictures in the first second, during exposure control, then twenty per second."""
        times_ns = [*range(0, 10**9, 250_000_000), *range(10**9, 10**10, 50_000_000)]
        return (shot_of(tiles(), t_ns, "here") for t_ns in times_ns)

    seen = look_through(PacedCamera(items(), lambda: now_ns[0]), wait)
    assert (seen.wide_px, seen.high_px) == (1280, 720)
    assert seen.per_s == pytest.approx(20.0, rel=0.05)
    assert 4.0e9 <= now_ns[0] < 4.2e9
