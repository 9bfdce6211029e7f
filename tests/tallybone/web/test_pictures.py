"""Tests of pictures for the page, which compensate for camera motion."""

from __future__ import annotations

import cv2
import numpy as np

from tallybone.web.live.feed import CameraPicture, PagePictures
from vision.tracking.camera_motion import Alignment

SHIFT_PX = 40


def test_a_bump_of_the_camera_is_compensated() -> None:
    table = np.full((360, 640, 3), 60, np.uint8)
    cv2.rectangle(table, (300, 150), (360, 180), (220, 230, 240), -1)
    bumped = np.roll(table, SHIFT_PX, axis=1)
    aim = Alignment((1.0, 0.0, SHIFT_PX, 0.0, 1.0, 0.0))
    made = PagePictures(lambda: 0).of_width(CameraPicture(cv2.imencode(".jpg", bumped)[1].tobytes(), 1, aim), 640)
    assert made is not None
    shown = cv2.imdecode(np.frombuffer(made.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None
    assert np.abs(shown.astype(int) - table)[:, :-SHIFT_PX].mean() < 2
