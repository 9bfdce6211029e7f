"""Check that learning a real tile set from a photo does not make reading worse.

    python -m lab.bench.enrol_photos LABELS ROOT [--learned 4] [--sources domibot,guix]

Several photos of a source are learned, one at a time, and the others are evaluated. LABELS is a file for `tallybone
evaluate` (docs/reference/labels.md). Photos in the same folder are assumed to show the same set. The labels of a
learned photo are not used. It needs ten face-up tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2

from calibration import RefusedError
from calibration.tiles.learning import MIN_TILES, learn_set
from lab.bench.material.harness import options_of
from lab.evaluate.labels import LabelFace, PhotoLabel, load_labels
from lab.evaluate.photos import judge_photo
from vision.image.picture import load_picture
from vision.reader.reader import Reader, load_reader


def main() -> None:
    """Print a line for each learned photo."""
    given = options_of(__doc__, "labels", "root", learned=4, sources="", max_pips=6)
    cv2.setNumThreads(1)
    reader = load_reader(given.max_pips)
    photos = load_labels(given.labels).photos
    for source in given.sources.split(",") if given.sources else sorted({_source(photo) for photo in photos}):
        _judge_source(reader, given.root, [photo for photo in photos if _source(photo) == source], given.learned)


def _judge_source(reader: Reader, root: Path, photos: Sequence[PhotoLabel], most: int) -> None:
    before = {photo: _right(reader, root, photo) for photo in photos}
    shown = [photo for photo in photos if sum(tile.face is LabelFace.UP for tile in photo.tiles) >= MIN_TILES]
    for photo in shown[:: max(1, len(shown) // most)][:most]:
        try:
            learned = learn_set([load_picture(root / photo.image)], reader)
        except RefusedError as error:
            print(f"{photo.image}: {error}", flush=True)
            continue
        own, others = replace(reader, own_set=learned.own_set), [other for other in photos if other is not photo]
        was, now = ([0, 0], [0, 0])
        for other in others:
            right, tiles = before[other] if learned.own_set is None else _right(own, root, other)
            was, now = [was[0] + before[other][0], was[1] + tiles], [now[0] + right, now[1] + tiles]
        refused = "" if learned.own_set is not None else " (refused: no better on its own tiles)"
        print(
            f"{photo.image}: {learned.sheet.count} tiles, kept back {learned.misread[0]:.4f} misread, then"
            f" {learned.misread[1]:.4f}{refused}; other photographs: {was[0]} of {was[1]} tiles right, then"
            f" {now[0]} of {now[1]}",
            flush=True,
        )


def _right(reader: Reader, root: Path, photo: PhotoLabel) -> tuple[int, int]:
    """Return the number of face-up tiles with both halves right, and of all face-up tiles."""
    judged = judge_photo(photo, reader.read(load_picture(root / photo.image)))
    right = [bool(tile.halves) and all(half.pips == half.seen.pips for half in tile.halves) for tile in judged.tiles]
    return sum(right), len(right)


def _source(photo: PhotoLabel) -> str:
    return photo.image.split("/")[0]


if __name__ == "__main__":
    main()
