"""Whether real sets are read no worse once one of their photographs was learned.

    python benchmarks/bench_enrol_photos.py LABELS ROOT [--learned 4] [--sources domibot,guix]

Several photographs of a source are learned, one at a time, and the others judged. LABELS are those of `tallybone
evaluate` (docs/labels.md); photographs in one folder are taken to show one set. The labels of the photograph that is
learned are not used. It needs ten tiles face up.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from calibration.errors import RefusedError
from calibration.tiles.learning import LEAST_TILES, learn_set
from tallybone.evaluate.labels import LabelFace, PhotoLabel, load_labels
from tallybone.evaluate.photos import judge_photo
from vision.image.picture import load_picture
from vision.reader.reader import Reader, load_reader


def main() -> None:
    """Print a line for each photograph that was learned."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument(
        "--learned", type=int, default=4, help="photographs of a source that are learned, one at a time"
    )
    parser.add_argument("--sources", default="", help="folders, with commas between; all if none is named")
    parser.add_argument("--max-pips", type=int, default=6, help="highest number of all the sets")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    reader = load_reader(given.max_pips)
    photos = load_labels(given.labels).photos
    for source in given.sources.split(",") if given.sources else sorted({_source(photo) for photo in photos}):
        _judge_source(reader, given.root, [photo for photo in photos if _source(photo) == source], given.learned)


def _judge_source(reader: Reader, root: Path, photos: Sequence[PhotoLabel], most: int) -> None:
    before = {photo: _right(reader, root, photo) for photo in photos}
    shown = [photo for photo in photos if sum(tile.face is LabelFace.UP for tile in photo.tiles) >= LEAST_TILES]
    for photo in shown[:: max(1, len(shown) // most)][:most]:
        try:
            learned = learn_set([load_picture(root / photo.image)], reader)
        except RefusedError as error:
            print(f"{photo.image}: {error}", flush=True)
            continue
        own, others = replace(reader, own_set=learned.own_set), [one for one in photos if one is not photo]
        was, now = ([0, 0], [0, 0])
        for one in others:
            right, tiles = before[one] if learned.own_set is None else _right(own, root, one)
            was, now = [was[0] + before[one][0], was[1] + tiles], [now[0] + right, now[1] + tiles]
        refused = "" if learned.own_set is not None else " (refused: no better on its own tiles)"
        print(
            f"{photo.image}: {learned.sheet.count} tiles, kept back {learned.misread[0]:.4f} misread, then"
            f" {learned.misread[1]:.4f}{refused}; other photographs: {was[0]} of {was[1]} tiles right, then"
            f" {now[0]} of {now[1]}",
            flush=True,
        )


def _right(reader: Reader, root: Path, photo: PhotoLabel) -> tuple[int, int]:
    """Return how many tiles were found with both halves right, of how many that lie face up."""
    judged = judge_photo(photo, reader.read(load_picture(root / photo.image)))
    right = [bool(tile.halves) and all(half.pips == half.seen.pips for half in tile.halves) for tile in judged.tiles]
    return sum(right), len(right)


def _source(photo: PhotoLabel) -> str:
    return photo.image.split("/")[0]


if __name__ == "__main__":
    main()
