"""A table that is watched all the time: every frame goes through the settle gate, the settled ones are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from vision.arrays import GreyImage, Image
from vision.tracking.observations import Observations
from vision.tracking.settle import EntrySide, SettleGate, Side, Stillness, small_grey
from vision.tracking.table_view import Change, ChangeKind, TableView
from vision.tracking.tracks import in_place_of, moved_tile

# So often it is looked whether the camera slips, or a table that was lost can be made out again, where nothing moves.
_BETWEEN_AIMS_NS = 2_000_000_000
# A camera that moves by more than this share of the width, a pixel of the gate, seems to bring hands in from all sides.
_SEEN_BY_GATE = 1 / 160
_FROM_EVERYWHERE = tuple(EntrySide(side, 0.25) for side in Side)
# Between two looks at a settled table: noise that is left over from one frame to the next has changed by then.
_BETWEEN_LOOKS_NS = 200_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture of a moving one.

    Attributes:
        image: Shape (H, W, 3), BGR, upright.
        t_ns: When it was taken, of a monotonic clock.
        grey: What `small_grey` makes of the image, where somebody has made it ahead; None where it has to be made.
    """

    image: Image
    t_ns: int
    grey: GreyImage | None = None


class Eye(Protocol):
    """What reads settled pictures, such as `vision.tracking.perception.Perception`."""

    @property
    def view(self) -> TableView:
        """The table as it is known, without changes."""

    @property
    def is_unconfirmed(self) -> bool:
        """Whether one more look is due, because what was seen does not fit to where something happened."""

    @property
    def is_unsure(self) -> bool:
        """Whether another look at some half could tell more."""

    def feed(self, image: Image) -> TableView:
        """Return the table after a settled picture."""

    def look_again(self, image: Image) -> TableView:
        """Return the table after another look at what is unsure."""

    def is_aimed_elsewhere(self, image: Image) -> bool:
        """Return whether the camera points elsewhere than it did."""


class Watch:
    """Follows a table through every frame that a camera gives.

    Whatever is read is read by an `Eye`, once when nothing moves any more, and again while that makes it surer.
    """

    def __init__(self, eye: Eye) -> None:
        """Start without a frame."""
        self._eye = eye
        self._gate = SettleGate()
        self._sightings = Observations()
        self._view = replace(eye.view, is_settled=False)
        self._read_still_ns: int | None = None
        self._looked_ns = self._aimed_ns = 0
        self._came_from: tuple[EntrySide, ...] | None = None

    def feed(self, frame: Frame) -> TableView:
        """Return the table after one more frame; while something moves, as it was before that.

        Raises:
            PictureSizeError: If the frame has another size than those before.
        """
        grey = small_grey(frame.image) if frame.grey is None else frame.grey
        stillness = self._gate.feed(grey, frame.t_ns)
        self._sightings.feed(stillness, frame.t_ns)
        view = self._looked(frame, stillness) if stillness.is_settled else None
        if view is not None:
            self._follow_camera(view)
            view = self._dated(self._without_hand(view) if stillness.is_covered else view)
            self._view, self._looked_ns = replace(view, changes=()), frame.t_ns
        elif not stillness.is_settled:
            self._came_from = None
        view = view or self._view
        return replace(
            view,
            is_settled=stillness.is_settled and view.lost is None,
            moved_since_ns=stillness.moved_since_ns,
            came_from=stillness.came_from if self._came_from is None else self._came_from,
            is_covered=stillness.is_covered,
        )

    def _looked(self, frame: Frame, stillness: Stillness) -> TableView | None:
        """Return what is seen in a settled frame; None where another look is not worth it."""
        since_ns = stillness.still_since_ns
        if self._read_still_ns != since_ns:
            view = self._eye.feed(frame.image)
            self._read_still_ns, self._aimed_ns = since_ns, frame.t_ns
            return view
        if frame.t_ns - self._aimed_ns >= _BETWEEN_AIMS_NS and not stillness.is_covered:
            self._aimed_ns = frame.t_ns
            if self._view.lost or self._eye.is_aimed_elsewhere(frame.image):
                return self._eye.feed(frame.image)
        if stillness.is_covered or self._view.lost or frame.t_ns - self._looked_ns < _BETWEEN_LOOKS_NS:
            return None
        if self._eye.is_unconfirmed:
            return self._eye.feed(frame.image)
        return self._eye.look_again(frame.image) if self._eye.is_unsure else None

    def _without_hand(self, view: TableView) -> TableView:
        """Return a view over which a hand rests: what cannot be read first now may be that hand."""
        known = self._view.unsure
        return replace(view, unsure=tuple(one for one in view.unsure if in_place_of(one, known) is not None))

    def _dated(self, view: TableView) -> TableView:
        """Return a view that says since when the tiles that were placed have lain there."""

        def dated(change: Change) -> Change:
            if change.kind is not ChangeKind.PLACED or view.size_px is None:
                return change
            shown = moved_tile(change.tile, view.aim.motion)
            return replace(change, since_ns=self._sightings.since_ns(shown.corners_px, view.size_px))

        return replace(view, changes=tuple(map(dated, view.changes))) if view.changes else view

    def _follow_camera(self, view: TableView) -> None:
        """Take note of where a view says that the camera points."""
        if view.size_px is None or view.aim == self._view.aim:
            return
        self._gate.follow_camera(view.aim.since(self._view.aim), view.size_px[0])
        if view.aim.farthest_px(self._view.aim, view.size_px) > _SEEN_BY_GATE * view.size_px[0]:
            self._came_from = _FROM_EVERYWHERE
