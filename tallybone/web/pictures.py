"""Pictures for a page: the newest of the camera, as small as it is wanted, and the crop of a tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from engine import NodeId
from tallybone.session.session import Session
from tallybone.session.touching import Footprint
from vision.aim import STRAIGHT_ON, Aim
from vision.pyramid import Image

Clock = Callable[[], int]
WIDTHS = (320, 640, 1280)
CROP_PX = (240, 120)
# At most four a second are made, however many look.
_EVERY_NS = 250_000_000
_QUALITY = 75
_MARGIN_SIDES = 0.15


@dataclass(frozen=True, slots=True)
class Taken:
    """A picture of the camera: a JPEG, when it was taken, and where the camera points by what the eye knows."""

    jpeg: bytes
    t_ns: int
    aim: Aim = STRAIGHT_ON


@dataclass(frozen=True, slots=True)
class Made:
    """A picture for a page, with a name that no other content has."""

    jpeg: bytes
    etag: str


@dataclass(slots=True)
class Pictures:
    """Makes pictures for pages, and keeps the newest of each width."""

    clock: Clock
    kept: dict[int, tuple[int, Made]] = field(default_factory=dict)

    def of_width(self, taken: Taken, width_px: int) -> Made | None:
        """Return a picture of one of `WIDTHS`; one that is a quarter of a second old is as good as new.

        None where the camera has given what is no picture.
        """
        made_ns, made = self.kept.get(width_px, (0, None))
        name = f'"{taken.t_ns}-{width_px}"'
        now_ns = self.clock()
        if made is not None and (made.etag == name or now_ns - made_ns < _EVERY_NS):
            return made
        image = _decoded(taken)
        if image is None:
            return None
        fresh = Made(jpeg_of_width(image, width_px), name)
        self.kept[width_px] = (now_ns, fresh)
        return fresh


def crop_of(taken: Taken, session: Session, seq: int) -> Made | None:
    """Return a tile of the layout as the camera sees it, W on the left; None where nobody knows where it lies."""
    known = session.places.find(NodeId(seq))
    if known is None:
        return None
    image = _decoded(taken)
    if image is None:
        return None
    to_crop = cv2.getAffineTransform(_corners(known.place), _CROP_CORNERS)
    return Made(_jpeg(np.asarray(cv2.warpAffine(image, to_crop, CROP_PX), np.uint8)), f'"{taken.t_ns}-tile-{seq}"')


_CROP_CORNERS = np.array([[0, 0], [CROP_PX[0], 0], [CROP_PX[0], CROP_PX[1]]], np.float32)


def _corners(place: Footprint) -> NDArray[np.float32]:
    """Return three corners of what is cut out, shape (3, 2): two along the tile from its first half, one across."""
    a, b, c, d = place.outline(_MARGIN_SIDES)
    return np.array((a, b, c) if place.lies_along else (b, c, d), np.float32)


def _decoded(taken: Taken) -> Image | None:
    """Return a picture as the camera would show it had it never moved: all places of a game are meant so."""
    found = cv2.imdecode(np.frombuffer(taken.jpeg, np.uint8), cv2.IMREAD_COLOR) if taken.jpeg else None
    return None if found is None else taken.aim.straightened(np.asarray(found, np.uint8))


def jpeg_of_width(image: Image, width_px: int) -> bytes:
    """Return a picture as JPEG, made smaller where it is wider than that."""
    height, width = image.shape[:2]
    if width <= width_px:
        return _jpeg(image)
    size = (width_px, max(1, round(height * width_px / width)))
    return _jpeg(np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8))


def _jpeg(image: Image) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1].tobytes()
