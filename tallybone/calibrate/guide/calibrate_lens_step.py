"""The step of the guide that collects views of the board, and says which are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.lens_fit import fit_lens
from calibration.lens_guide import CELLS, guide
from calibration.lens_views import LensView, find_view
from engine.phrases import Phrase, phrase
from tallybone.calibrate.guide.steps import GO_ON, Choice, Drawn, Kind, LookStep, Result, StepName, points_of
from tallybone.calibrate.look import Image, Scene
from tallybone.store.calibration_file import Calibration

# From picture to picture the board may move so much, as a share of the picture's width, and be held still.
_STILL = 0.003
# A view tells something new if its corners lie so far from those of each view before.
_NEW = 0.06
_MOST_VIEWS = 24


class LensStep(LookStep):
    """Collects views of the board as they come, as soon as it is held still, and says which are missing."""

    name, scene = StepName.LENS, Scene.BOARD
    choices = (Choice(GO_ON, phrase("measure with the views so far")),)

    def __init__(self, before: Calibration) -> None:
        """Begin without a view."""
        self._before = before
        self._views: list[LensView] = []
        self._found = guide(())
        self._last: LensView | None = None
        self._seen: Phrase = phrase("The board is not seen yet.")
        self._is_told = False

    todo = (
        phrase(
            "Hold the printed board before the camera, flat, and still for a moment in each place. Views are taken by"
            " themselves."
        ),
    )

    @property
    def count(self) -> int:
        """How many views there are."""
        return len(self._views)

    @property
    def seen(self) -> tuple[str, ...]:
        """What is wanted next, and the views so far."""
        found = self._found
        wants = found.wants()
        turned, parts = 4 - len(found.lacking_tilts), len(CELLS) - len(found.empty_cells)
        return (
            phrase("Next: {what}", what=wants[0]) if wants else phrase("That is enough."),
            self._seen,
            phrase(
                "{views} views. Sides turned away: {turned} of 4. Parts of the picture: {parts} of 9.",
                views=len(self._views),
                turned=turned,
                parts=parts,
            ),
        )

    @property
    def drawn(self) -> tuple[Drawn, ...]:  # type: ignore[override]  # here it depends on what was seen
        """The nine parts of the picture, those good in which the board has been, and the board's corners."""
        if self._last is None:
            return ()
        empty = self._found.empty_cells
        wide, high = self._last.width_px / 3, self._last.height_px / 3
        cells = tuple(
            Drawn(Kind.CELL, _box(column * wide, row * high, wide, high), name, is_good=name not in empty)
            for (row, column), name in zip(((at // 3, at % 3) for at in range(len(CELLS))), CELLS, strict=True)
        )
        corners = Drawn(Kind.CORNERS, points_of(self._last.points_px()), is_good=self._last.is_useful)
        return (*cells, corners)

    @property
    def is_enough(self) -> bool:  # type: ignore[override]  # here it depends on what was seen
        """Whether nothing is missing."""
        return self._found.is_enough or len(self._views) >= _MOST_VIEWS

    def see(self, image: Image) -> None:
        """Keep a view if the board is held still, and tells something new."""
        view = find_view(image)
        before, self._last = self._last, view
        if not view.is_useful:
            little = phrase("Too little of the board is seen.")
            self._tell(little if view.corners else phrase("The board is not seen."))
        elif before is None or _apart(before, view) > _STILL:
            self._tell(phrase("Hold it still."))
        elif all(_apart(one, view) > _NEW for one in self._views):
            self._views.append(view)
            self._found = guide(self._views)
            self._seen, self._is_told = phrase("View {number} taken.", number=len(self._views)), True
        elif not self._is_told:
            self._tell(phrase("This view is known: hold the board otherwise."))

    def _tell(self, words: Phrase) -> None:
        """Say something else than that a view was taken."""
        self._seen, self._is_told = words, False

    def result(self) -> Result:
        """Return the lens."""
        lens = fit_lens(self._views)
        error_px = lens.error_px or 0.0
        warnings = (phrase("Below 0.3 px would be good: is the board flat?"),) if error_px > 0.3 else ()
        after = replace(self._before, lens=lens, table=None)
        words = phrase("corners lie {error} px off in {views} views", error=f"{error_px:.2f}", views=lens.views)
        return Result(after, words, warnings, self._taken())

    def _taken(self) -> tuple[Drawn, ...]:
        """Return the corners of all views: where the lens was measured."""
        return tuple(Drawn(Kind.CORNERS, points_of(view.points_px())) for view in self._views)


def _box(left: float, top: float, wide: float, high: float) -> tuple[tuple[float, float], ...]:
    return points_of([(left, top), (left + wide, top), (left + wide, top + high), (left, top + high)])


def _apart(before: LensView, now: LensView) -> float:
    """Return how far the board's corners have moved between two views, as a share of the picture's width."""
    places = {one.number: (one.x_px, one.y_px) for one in before.corners}
    both: Sequence[tuple[tuple[float, float], tuple[float, float]]] = [
        (places[one.number], (one.x_px, one.y_px)) for one in now.corners if one.number in places
    ]
    if not both:
        return 1.0
    moves = np.array([(b[0] - a[0], b[1] - a[1]) for a, b in both])
    return float(np.median(np.linalg.norm(moves, axis=1))) / now.width_px
