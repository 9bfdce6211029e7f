"""Everything that an evaluation of photographs found, figures and mistakes, as values and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from tallybone.evaluate.mistakes import Mistake, mistakes_in
from tallybone.evaluate.photos import (
    Bin,
    Counts,
    PhotoJudged,
    by_group,
    by_half_px,
    claims_of,
    expected_calibration_error,
    sort_into_bins,
    total,
)


@dataclass(frozen=True, slots=True)
class PhotoMistake:
    """A mistake and the picture in which it was made."""

    image: str
    mistake: Mistake


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of some photographs.

    Attributes:
        overall: The counts over all pictures.
        sources, looks, kinds, scenes: The counts by what the labels say, without pictures of which they say nothing.
        sizes: The counts of tiles by the size of their halves.
        reliability: What was said of halves, by confidence.
        read_ms: How long reading a picture took: median and 95th percentile.
        mistakes: Picture by picture, in the order of the labels within each source.
    """

    overall: Counts
    sources: Mapping[str, Counts]
    looks: Mapping[str, Counts]
    kinds: Mapping[str, Counts]
    scenes: Mapping[str, Counts]
    sizes: Mapping[str, Counts]
    reliability: tuple[Bin, ...]
    read_ms: tuple[float, float]
    mistakes: tuple[PhotoMistake, ...]

    @property
    def expected_calibration_error(self) -> float | None:
        """How far confidence lies from truth on average, 0 to 1; None where nothing was said."""
        return expected_calibration_error(self.reliability)


def evaluate(photos: Sequence[PhotoJudged], read_ms: Sequence[float]) -> Evaluation:
    """Return the figures of some pictures.

    Args:
        photos: At least one picture.
        read_ms: How long reading each took.
    """
    return Evaluation(
        overall=total(photos),
        sources=by_group(photos, lambda photo: photo.label.source),
        looks=by_group(photos, lambda photo: photo.label.look),
        kinds=by_group(photos, lambda photo: photo.label.kind),
        scenes=by_group(photos, lambda photo: photo.label.scene),
        sizes=by_half_px(photos),
        reliability=sort_into_bins(claims_of(photos)),
        read_ms=(statistics.median(read_ms), float(np.percentile(read_ms, 95))),
        mistakes=tuple(
            PhotoMistake(photo.label.image, mistake)
            for photo in sorted(photos, key=lambda photo: photo.label.source)
            for mistake in mistakes_in(photo)
        ),
    )


def as_json(found: Evaluation) -> dict[str, object]:
    """Return all figures as JSON holds them; a share of nothing is null."""
    median, late = found.read_ms
    groups = {
        "sources": found.sources,
        "looks": found.looks,
        "kinds": found.kinds,
        "scenes": found.scenes,
        "half_px": found.sizes,
    }
    return {
        "overall": _counts(found.overall),
        **{name: {key: _counts(counts) for key, counts in group.items()} for name, group in groups.items()},
        "reliability": [_bin(one) for one in found.reliability],
        "expected_calibration_error": found.expected_calibration_error,
        "read_ms": {"median": round(median, 1), "p95": round(late, 1)},
        "mistakes": [_mistake(one) for one in found.mistakes],
    }


def _counts(counts: Counts) -> dict[str, object]:
    return {"counts": asdict(counts), **counts.shares()}


def _bin(one: Bin) -> dict[str, object]:
    return {
        "from": one.low,
        "to": one.high,
        "halves": one.claims,
        "mean_confidence": one.mean_confidence,
        "share_right": one.share_right,
    }


def _mistake(one: PhotoMistake) -> dict[str, object]:
    x, y = one.mistake.center_px
    wrong = one.mistake.wrong.value
    return {"image": one.image, "wrong": wrong, "words": one.mistake.words, "center_px": [round(x, 1), round(y, 1)]}
