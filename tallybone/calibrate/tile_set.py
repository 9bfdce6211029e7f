"""Run `tallybone calibrate set`: learn a custom tile set from pictures of the whole set."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from calibration import CalibrationError, RefusedError
from calibration.tiles.learning import LearningResult, SetPictures, draw_tiles, examine_set, learn, learn_set
from calibration.tiles.tile_set import LearnedSet, measure_look, tile_set_of, tile_size_mm
from tallybone.calibrate.lens_and_table import load_image, write_drawn
from tallybone.choices import TileSet as SetName
from tallybone.store.calibration_file import Calibration, load_calibration, save_calibration
from tallybone.store.learned_file import TableTiles, load_tiles, refitted_tiles, save_tiles, tiles_path
from tallybone.terminal import Output
from vision import VisionError
from vision.arrays import Image
from vision.reader.reader import Reader, load_reader

_SAID = re.compile(r"(\d{1,3})=(\d{1,2})-(\d{1,2})", re.ASCII)
_MAX_NAMED = 12
_BARS = {"none": "no bar", "line": "a bar", "pin": "a pin and no bar"}

TilePips = tuple[int, int]


def calibrate_set(
    pictures: Sequence[Path],
    into: Path,
    *,
    tile_set: SetName = SetName.AUTO,
    hand_labels: Mapping[int, tuple[int, int]] | None = None,
    annotate_into: Path | None = None,
    reader: Reader | None = None,
    output: Output | None = None,
) -> int:
    """Learn a set from pictures, print a summary, and store it.

    Args:
        pictures: Pictures of the set, without duplicate tiles in a picture.
        into: Calibration file.
        tile_set: Size of the set. AUTO if unknown.
        hand_labels: Labels entered by hand, by tile number on the annotated picture, from 1.
        annotate_into: Folder for the annotated picture.
        reader: Reader, by default the shipped one.
        output: Output for the summary.

    Returns:
        Exit code: 0, or 1 if nothing could be learned or written.
    """
    output = output or Output("calibrate")
    try:
        images = [load_image(path) for path in pictures]
        reader = reader or load_reader(tile_set.max_pips)
        learned = learn_set(images, reader, {at - 1: pips for at, pips in (hand_labels or {}).items()})
        before = load_calibration(into)
        stored = set_to_store(learned, images[0], before)
        _print_set(stored, learned, output)
        if annotate_into is not None:
            drawn = write_drawn(annotate_into, f"{pictures[0].stem}-set.png", draw_tiles(learned))
            output.say(f"The tiles with their numbers: {drawn}")
        save_calibration(replace(before, set=stored), into)
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    output.say(f"Written to {into}")
    return 0


def forget_tile(calibration: Path, *, output: Output | None = None) -> int:
    """Delete the last tile that the table with this calibration file has learned from a correction.

    Return the exit code, 0 or 1.
    """
    output = output or Output("calibrate")
    paths = [path for path in (tiles_path(calibration, pips) for pips in range(6, 19)) if path.exists()]
    try:
        path = max(paths, key=lambda path: path.stat().st_mtime_ns, default=None)
        tiles = TableTiles() if path is None else load_tiles(path)
        corrected = [tile for tile in tiles.tiles if tile.is_corrected]
        if path is None or not corrected:
            output.say("No tile was learned from a correction.")
            return 0
        left = tuple(tile for tile in tiles.tiles if tile != corrected[-1])
        save_tiles(path, refitted_tiles(TableTiles(left), load_reader(), load_calibration(calibration).set))
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    output.say(f"Forgot the {corrected[-1].name}, the last tile that was learned from a correction.")
    return 0


def parse_tiles(text: str) -> dict[int, tuple[int, int]]:
    """Parse labels such as `3=6-5` into pips by tile number. Of several labels for a number, the last counts.

    Raises:
        ValueError: If the text is malformed.

    >>> parse_tiles("3=6-5 12=0-0")
    {3: (6, 5), 12: (0, 0)}
    """
    labels = {}
    for part in text.replace(",", " ").split():
        match = _SAID.fullmatch(part)
        if match is None:
            raise ValueError(f"expected tiles such as '3=6-5 12=0-0', got {part!r}")
        at, first, second = (int(group) for group in match.groups())
        labels[at] = (first, second)
    return labels


def set_to_store(learned: LearningResult, image: Image, before: Calibration) -> LearnedSet:
    """Convert the result to the form in which it is stored. *image* is the first picture."""
    return tile_set_of(learned, measure_look(learned, _size_mm(learned, image, before)))


def _size_mm(learned: LearningResult, image: Image, before: Calibration) -> tuple[float, float] | None:
    """Return length and width of the tiles in the first picture."""
    # None if lens or table are not calibrated for its size.
    if before.lens is None or before.table is None:
        return None
    height_px, width_px = image.shape[:2]
    try:
        lens = before.lens.at(width_px, height_px)
    except ValueError:
        return None
    return tile_size_mm(learned.seen[0].poses, before.table, lens)


def _print_set(stored: LearnedSet, learned: LearningResult, output: Output) -> None:
    backs = sum(picture.backs for picture in learned.seen)
    of_set = "" if stored.is_too_doubtful else f" of a set to double-{stored.max_pips}"
    output.say(
        f"{len(stored.tiles)} tiles{of_set} are visible face up"
        + (f", and {backs} face down: turn them over to learn them too." if backs else ".")
    )
    look = stored.look
    size = "" if look.size_mm is None else f", {look.size_mm[0]:g} x {look.size_mm[1]:g} mm"
    output.say(
        f"Face {_hex(look.face_rgb)}, {look.pips} pips, {_BARS[look.bar.value]}, {look.length_to_width:g} times as long"
        f" as wide{size}."
    )
    if not stored.is_too_doubtful:
        _print_tiles(stored, learned, output)
    if stored.is_too_doubtful:
        output.say(
            f"{stored.doubtful} of them are unsure, too many to learn from: correct them by their number in the picture"
            " that --annotate draws, such as --tiles '3=6-5', or use better light. If your tiles show symbols instead"
            " of pips, enter the value of each double."
        )
        return
    before, after = (100 * share for share in stored.misread)
    text = f"Misread halves of held-out tiles in worse light: {before:.1f} % as shipped"
    if stored.weights:
        output.say(f"{text}, {after:.1f} % after learning.")
    else:
        output.say(f"{text}, {after:.1f} % after learning: no improvement, so it is not used.")


def _print_tiles(stored: LearnedSet, learned: LearningResult, output: Output) -> None:
    look = stored.look
    marks = [f"{number} {_hex(rgb)}" for number, rgb in enumerate(look.pips_rgb, 1) if rgb is not None]
    output.say("Pips: " + ", ".join(marks))
    unseen = [str(number) for number, rgb in enumerate(look.pips_rgb, 1) if rgb is None]
    if unseen:
        output.say(
            f"Warning: low contrast between pips and face: {', '.join(unseen)}. Use more light, or light from the side."
        )
    count = stored.count
    if count.missing:
        named = ", ".join(f"{high}-{low}" for low, high in count.missing[:_MAX_NAMED])
        more = f" and {len(count.missing) - _MAX_NAMED} more" if len(count.missing) > _MAX_NAMED else ""
        output.say(f"Missing: {named}{more}")
    if count.twice:
        output.say("Found twice: " + ", ".join(f"{high}-{low}" for low, high in count.twice))
    if not learned.doubtful:
        return
    output.say("Unsure, by their number in the picture that --annotate draws:")
    for at in learned.doubtful:
        first, second = learned.pips[at].tolist()
        output.say(f"  {at + 1}: read as {first}-{second}")
    at = learned.doubtful[0] + 1
    output.say(f"Correct wrong ones, such as --tiles '{at}=6-5'")


def _hex(rgb: tuple[int, int, int]) -> str:
    return "#" + "".join(f"{value:02x}" for value in rgb)


class _Stopped(Exception):  # noqa: N818 - not an error
    """Learning was cancelled."""


class SetLearning:
    """Learns a set from a picture in a thread. `begin` restarts the learning with corrected labels."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._shown: SetPictures | None = None
        self._learned: LearningResult | None = None
        self._error: Exception | None = None
        self._is_stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.share = 0.0

    def begin(self, hand_labels: dict[int, TilePips]) -> None:
        """Start learning with labels entered by hand, by tile index. Stops learning in progress."""
        self.close()
        self._is_stopped.clear()
        self._learned = self._error = None
        self._thread = threading.Thread(target=self._run, args=(dict(hand_labels),), name="tile set")
        self._thread.start()

    def learned(self) -> LearningResult | None:
        """Return the result, or None if learning is in progress or has not started.

        Raises:
            RefusedError: If there are too few tiles, or a label is invalid.
            VisionError: If the models cannot be loaded.
        """
        if self._thread is None or self._thread.is_alive():
            return None
        if self._error is not None:
            raise self._error
        return self._learned

    def close(self) -> None:
        """Stop learning. Waits for the thread, which takes a few seconds at most."""
        self._is_stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, hand_labels: dict[int, TilePips]) -> None:
        try:
            if self._shown is None:
                self._shown = examine_set([self._image], load_reader(), progress=self._report)
            self._learned = learn(self._shown, hand_labels, progress=self._report)
        except (RefusedError, VisionError) as error:
            self._error = error
        except _Stopped:
            pass

    def _report(self, share: float) -> None:
        self.share = share
        if self._is_stopped.is_set():
            raise _Stopped
