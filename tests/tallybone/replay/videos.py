"""Short videos for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import cv2

from vision.arrays import Image


def write_video(path: Path, images: Iterable[Image], *, per_s: float) -> Path:
    """Write images of equal size as a Motion JPEG video (.avi), which OpenCV supports without further codecs."""
    video: cv2.VideoWriter | None = None
    for image in images:
        if video is None:
            height, width = image.shape[:2]
            video = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), per_s, (width, height))
        video.write(image)
    assert video is not None
    video.release()
    return path
