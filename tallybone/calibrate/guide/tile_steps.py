"""The step of the guide that learns the user's own tiles from a picture of all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from calibration.errors import RefusedError
from calibration.tile_set import TileSet
from calibration.tile_set_learn import Learned, least_set
from calibration.tile_set_picture import draw_tiles
from engine.phrases import Phrase, listed, phrase, plural
from tallybone.calibrate.guide.steps import GO_ON, Choice, Drawn, Kind, Result, StepName, points_of
from tallybone.calibrate.light import write_drawn
from tallybone.calibrate.look import Image, Scene
from tallybone.calibrate.tile_set import Pips, SetLearning, kept_of
from tallybone.store.calibration_file import Calibration
from vision.poses import corners

_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class LearnedTile:
    """A tile as it was taken for, and whether that is in doubt; numbers begin with 1."""

    number: int
    pips: Pips
    is_doubtful: bool


class SetStep:
    """Takes a picture of the set as soon as somebody says so, and learns from it."""

    name, scene = StepName.SET, Scene.SET
    choices = (Choice(GO_ON, phrase("learn them")),)
    drawn: tuple[Drawn, ...] = ()
    is_enough = False

    def __init__(self, before: Calibration, folder: Path) -> None:
        """Learn what is added to *before*; a picture of the tiles with their numbers is drawn into *folder*."""
        self._before, self._folder = before, folder
        self._image: Image | None = None
        self._learning: SetLearning | None = None
        self._said: dict[int, Pips] = {}
        self.tiles: tuple[LearnedTile, ...] = ()

    todo = (
        phrase(
            "Lay out your whole set face up, or as much as you have: in any order, with a little room between the"
            " tiles, in even light."
        ),
        phrase("Take your hands away."),
    )

    @property
    def seen(self) -> tuple[str, ...]:
        """How far the learning is."""
        if self._learning is None:
            return ()
        return (phrase("Learning your tiles: {percent} % done.", percent=f"{100 * self._learning.share:.0f}"),)

    def see(self, image: Image) -> None:
        """Keep it."""
        self._image = image

    def listen(self) -> None:
        """Hear nothing."""

    def pressed(self, key: str) -> None:
        """Nothing to press."""

    def result(self) -> Result | None:
        """Return the set; None while it is learned."""
        image = self._image
        if image is None:
            raise RefusedError(phrase("the camera has given no picture yet"))
        if self._learning is None:
            self._learning = SetLearning(image)
            self._learning.begin(self._said)
        try:
            learned = self._learning.learned()
        except RefusedError:
            self.close()
            raise
        return None if learned is None else self._found(learned, image)

    def put_right(self, number: int, pips: Pips) -> None:
        """Take what somebody says that a tile shows, and learn anew.

        Raises:
            RefusedError: If there is no such tile, or the set has no such number.
        """
        if self._learning is None or number not in [tile.number for tile in self.tiles]:
            raise RefusedError(phrase("there is no tile {number}", number=number))
        highest = max(least_set(len(self.tiles)), *(max(tile.pips) for tile in self.tiles))
        if max(pips) > highest:
            raise RefusedError(phrase("this set has no {pips}: it goes to {highest}", pips=max(pips), highest=highest))
        self._said[number - 1] = pips
        self.tiles = ()
        self._learning.begin(self._said)

    def close(self) -> None:
        """Give up what is learned."""
        if self._learning is not None:
            self._learning.close()
            self._learning = None

    def _found(self, learned: Learned, image: Image) -> Result:
        self.tiles = tuple(
            LearnedTile(at + 1, (first, second), at in learned.doubtful)
            for at, (first, second) in enumerate(learned.pips.tolist())
        )
        kept = kept_of(learned, image, self._before)
        note = f"drawn into {write_drawn(self._folder, 'set.png', draw_tiles(learned))}"
        after = replace(self._before, set=kept)
        return Result(after, _words(kept), tuple(_warnings(kept, learned, self.tiles)), self._shapes(learned), note)

    def _shapes(self, learned: Learned) -> tuple[Drawn, ...]:
        """Return the tiles with what they were taken for; those in doubt with their numbers."""
        outlines = corners(learned.seen[0].poses)
        return tuple(
            Drawn(Kind.TILE, points_of(outline), _label(tile), is_good=not tile.is_doubtful)
            for tile, outline in zip(self.tiles, outlines, strict=True)
        )


def _label(tile: LearnedTile) -> str:
    pips = _named(tile.pips)
    return f"{tile.number}: {pips}?" if tile.is_doubtful else pips


def _words(kept: TileSet) -> Phrase:
    before, after = (f"{100 * share:.1f}" for share in kept.misread)
    if kept.weights:
        better = phrase(
            "in worse light {before} % of the halves are misread as shipped, {after} % with what was learned",
            before=before,
            after=after,
        )
    elif kept.is_too_doubtful:
        better = phrase(
            "too many of them are in doubt, so nothing is learned: put them right, or lay them in better light;"
            " where signs stand for the numbers, say what each double is"
        )
    else:
        better = phrase(
            "what was learned is not used, for it reads no better: {after} % of the halves are misread in worse light,"
            " {before} % without it",
            before=before,
            after=after,
        )
    return phrase(
        "{tiles} tiles of a set to double-{highest}; {better}",
        tiles=len(kept.tiles),
        highest=kept.max_pips,
        better=better,
    )


def _warnings(kept: TileSet, learned: Learned, tiles: tuple[LearnedTile, ...]) -> list[Phrase]:
    said = [] if kept.is_too_doubtful else _about_tiles(kept, tiles)
    backs = sum(one.backs for one in learned.seen)
    if backs:
        turn = plural(
            "1 tile lies face down: turn it over to have it learned too.",
            "{number} tiles lie face down: turn them over to have them learned too.",
            number=backs,
        )
        said.append(turn)
    return said


def _about_tiles(kept: TileSet, tiles: tuple[LearnedTile, ...]) -> list[Phrase]:
    said, count = [], kept.count
    doubtful = [tile for tile in tiles if tile.is_doubtful]
    if doubtful:
        taken = listed(
            phrase("{number} (taken for {tile})", number=tile.number, tile=_named(tile.pips)) for tile in doubtful
        )
        said.append(phrase("In doubt: {tiles}. What is wrong can be put right on the page.", tiles=taken))
    if count.missing:
        said.append(_missing(count.missing))
    if count.twice:
        said.append(phrase("There twice: {tiles}.", tiles=listed(_named(pair[::-1]) for pair in count.twice)))
    shown = {pips for tile in tiles for pips in tile.pips}
    unseen = [str(number) for number, rgb in enumerate(kept.look.pips_rgb, 1) if rgb is None and number in shown]
    if unseen:
        pale = phrase(
            "Pips hardly unlike the face: {numbers}. More light, or light from the side, helps.", numbers=listed(unseen)
        )
        said.append(pale)
    return said


def _missing(pairs: tuple[Pips, ...]) -> Phrase:
    named = listed(_named(pair[::-1]) for pair in pairs[:_MOST_NAMED])
    more = len(pairs) - _MOST_NAMED
    if more > 0:
        return phrase("Missing: {tiles} and {more} more.", tiles=named, more=more)
    return phrase("Missing: {tiles}.", tiles=named)


def _named(pips: Pips) -> str:
    return f"{pips[0]}-{pips[1]}"
